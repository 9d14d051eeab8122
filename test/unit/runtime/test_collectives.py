"""One program on several ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.runtime import (
    DeadlockError,
    DeviceOptions,
    Executable,
    LoadError,
    RunError,
    load_ranks,
)

Loader = Callable[..., Executable]
Parse = Callable[[str], ModuleOp]

A = np.arange(8, dtype=np.float32).reshape(4, 2)
B = 10 * A + 1


def model(type: str, rows: int, attrs: str = "", stream: str = "streams 1") -> str:
    return f"""
    ge_task.model @m {stream} arenas {{hbm = 1024}} {{
      %x = ge_task.buffer hbm at 0 size 32 input 0 name "x" : tensor<4x2xf32>
      %a = ge_task.buffer hbm at 64 size 32 : tensor<4x2xf32>
      %y = ge_task.buffer hbm at 128 size {rows * 8} output 0 name "y" : tensor<{rows}x2xf32>
      ge_task.kernel "Neg"(%x) -> (%a) stream 0
      ge_task.hccl "{type}"(%a) -> (%y) stream 0 attrs {{group = "g"{attrs}}} {{ge.name = "c"}}
      ge_task.end_graph stream 0
    }}"""


@pytest.mark.parametrize("order", ["round_robin", "random"])
@pytest.mark.parametrize(
    ("type", "rows", "attrs", "wanted"),
    [
        ("HcomAllReduce", 4, ', reduction = "sum"', [A + B, A + B]),
        ("HcomAllReduce", 4, ', reduction = "max"', [np.maximum(-A, -B) * -1] * 2),
        ("HcomAllGather", 8, ", rank_size = 2 : i64", [np.concatenate([A, B])] * 2),
        ("HcomReduceScatter", 2, ', reduction = "sum"', [(A + B)[:2], (A + B)[2:]]),
        ("HcomBroadcast", 4, ", root_rank = 1 : i64", [B, B]),
        ("HcomReduce", 4, ', root_rank = 1 : i64, reduction = "sum"', [A, A + B]),
        ("HcomAllToAll", 4, "", [np.concatenate([A[:2], B[:2]]), np.concatenate([A[2:], B[2:]])]),
    ],
)
def test_two_ranks(
    loaded: Loader, type: str, rows: int, attrs: str, wanted: list[np.ndarray], order: str
) -> None:
    executable = loaded(model(type, rows, attrs), ranks=2, order=order)
    for factor in (1, 2):
        result = executable.run_ranks([[A * factor], [B * factor]])
        for found, expected in zip(result.ranks, wanted, strict=True):
            np.testing.assert_array_equal(found["y"], -expected * factor)


def test_one_rank_copies(loaded: Loader) -> None:
    np.testing.assert_array_equal(loaded(model("HcomAllReduce", 4)).run([A])["y"], -A)
    gathered = loaded(model("HcomAllGather", 8, ", rank_size = 2 : i64")).run([A])["y"]
    np.testing.assert_array_equal(gathered, -np.concatenate([A, A]))


def test_groups_of_some_ranks(loaded: Loader) -> None:
    executable = loaded(model("HcomAllReduce", 4), ranks=4, groups={"g": (0, 1, 2, 3)})
    result = executable.run_ranks([[A], [B], [A], [B]])
    np.testing.assert_array_equal(result.ranks[3]["y"], -2 * (A + B))
    with pytest.raises(LoadError, match="rank 2 is not in group 'g'"):
        loaded(model("HcomAllReduce", 4), ranks=3, groups={"g": (0, 1)}).run([A])
    with pytest.raises(LoadError, match="there are 2 devices"):
        loaded(model("HcomAllReduce", 4), ranks=2, groups={"g": (0, 5)})


def test_collectives_meet_by_issue_order_not_by_turn(loaded: Loader) -> None:
    """Two collectives of one group on two streams: k-th with k-th on every rank, whatever runs first."""
    text = """
    ge_task.model @m streams 2 arenas {hbm = 1024} {
      %x = ge_task.buffer hbm at 0 size 32 input 0 name "x" : tensor<4x2xf32>
      %s = ge_task.buffer hbm at 64 size 32 output 0 name "sum" : tensor<4x2xf32>
      %m = ge_task.buffer hbm at 128 size 32 output 1 name "max" : tensor<4x2xf32>
      ge_task.hccl "HcomAllReduce"(%x) -> (%s) stream 0 attrs {group = "g", reduction = "sum"}
      ge_task.hccl "HcomAllReduce"(%x) -> (%m) stream 1 attrs {group = "g", reduction = "max"}
    }"""
    for seed in range(6):
        result = loaded(text, ranks=2, order="random", seed=seed).run_ranks([[A], [B]])
        np.testing.assert_array_equal(result["sum"], A + B)
        np.testing.assert_array_equal(result["max"], B)


def test_ranks_that_do_not_meet(parse: Parse) -> None:
    def run(one: str, other: str) -> None:
        load_ranks([parse(one), parse(other)], DeviceOptions(ranks=2)).run([A])

    reduce = model("HcomAllReduce", 4)
    waits = r"rank 0 stream 0: .* waits for the other ranks of group 'g'"
    with pytest.raises(DeadlockError, match=waits):
        run(reduce, reduce.replace('"g"', '"h"'))
    with pytest.raises(RunError, match="rank 0 is at AllReduce, rank 1 at Broadcast"):
        run(reduce, model("HcomBroadcast", 4))
    gather = model("HcomAllGather", 16)
    with pytest.raises(RunError, match="AllGather of 2 ranks"):
        run(gather, gather)


def test_send_and_receive_between_programs(parse: Parse) -> None:
    head = """
      %x = ge_task.buffer hbm at 0 size 32 input 0 name "x" : tensor<4x2xf32>
      %y = ge_task.buffer hbm at 64 size 32 output 0 name "y" : tensor<4x2xf32>
    """
    sender = f"""ge_task.model @m streams 1 arenas {{hbm = 256}} {{ {head}
      ge_task.hccl "HcomSend"(%x) -> () stream 0 attrs {{dest_rank = 1 : i64, sr_tag = 5 : i64}}
      ge_task.hccl "HcomReceive"() -> (%y) stream 0 attrs {{src_rank = 1 : i64, sr_tag = 6 : i64}}
    }}"""
    answerer = f"""ge_task.model @m streams 1 arenas {{hbm = 256}} {{ {head}
      %got = ge_task.buffer hbm at 128 size 32 : tensor<4x2xf32>
      ge_task.hccl "HcomReceive"() -> (%got) stream 0 attrs {{src_rank = 0 : i64, sr_tag = 5 : i64}}
      ge_task.kernel "Add"(%got, %x) -> (%y) stream 0
      ge_task.hccl "HcomSend"(%y) -> () stream 0 attrs {{dest_rank = 0 : i64, sr_tag = 6 : i64}}
    }}"""
    executable = load_ranks([parse(sender), parse(answerer)], DeviceOptions(ranks=2))
    for factor in (1, 3):
        result = executable.run_ranks([[A * factor], [B]])
        np.testing.assert_array_equal(result.ranks[0]["y"], A * factor + B)


def test_number_of_inputs_and_programs(loaded: Loader, parse: Parse) -> None:
    with pytest.raises(RunError, match="inputs for 1 ranks are given, there are 2"):
        loaded(model("HcomAllReduce", 4), ranks=2).run_ranks([[A]])
    with pytest.raises(LoadError, match="2 programs are given for 3 ranks"):
        load_ranks([parse(model("HcomAllReduce", 4))] * 2, DeviceOptions(ranks=3))
