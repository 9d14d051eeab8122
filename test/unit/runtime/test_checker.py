"""What the checker proves of a task list, and what it refuses to believe."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.runtime.checker import check

Parse = Callable[[str], ModuleOp]

BUFFERS = """
  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
  %a = ge_task.buffer hbm at 64 size 16 : tensor<4xf32>
  %half = ge_task.buffer hbm at 72 size 8 : tensor<2xf32>
  %b = ge_task.buffer hbm at 128 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 192 size 16 output 0 name "y" : tensor<4xf32>
"""
GOOD = """
  ge_task.kernel "Neg"(%x) -> (%a) stream 0 op 0
  ge_task.event_record 0 stream 0 op 1
  ge_task.event_wait 0 stream 1 op 2
  ge_task.kernel "Abs"(%a) -> (%b) stream 1 op 3
  ge_task.event_record 1 stream 1 op 4
  ge_task.event_wait 1 stream 0 op 5
  ge_task.kernel "Neg"(%b) -> (%a) stream 0 op 6
  ge_task.kernel "Neg"(%a) -> (%y) stream 0 op 7
  ge_task.end_graph stream 0 op 8
"""


def findings(parse: Parse, tasks: str, streams: int = 2) -> list[str]:
    module = parse(
        f"ge_task.model @m streams {streams} events 4 notifies 1 arenas {{hbm = 512}} {{ {BUFFERS} {tasks} }}"
    )
    model = module.body.block.first_op
    assert isinstance(model, ModelOp)
    return [str(finding) for finding in check(model)]


def test_a_good_list(parse: Parse) -> None:
    assert findings(parse, GOOD) == []


def test_read_of_what_may_not_be_written(parse: Parse) -> None:
    tasks = GOOD.replace("ge_task.event_record 0 stream 0 op 1\n", "").replace(
        "ge_task.event_wait 0 stream 1 op 2\n", ""
    )
    found = findings(parse, tasks)
    assert any("[hazard]" in x and "hbm [64, 80)" in x for x in found)


def test_write_over_what_may_not_be_read(parse: Parse) -> None:
    tasks = GOOD.replace("ge_task.event_record 1 stream 1 op 4\n", "").replace(
        "ge_task.event_wait 1 stream 0 op 5\n", ""
    )
    found = findings(parse, tasks)
    assert any("[hazard]" in x for x in found)


def test_hazard_through_a_partial_overlap(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.kernel "Neg"(%x) -> (%a) stream 0
        ge_task.kernel "Neg"(%a) -> (%y) stream 0
        ge_task.kernel "Unheard"(%x) -> (%half) stream 1
        """,
    )
    assert len(found) >= 1
    assert all("[hazard]" in x for x in found)


def test_order_through_a_third_stream(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.kernel "Neg"(%x) -> (%a) stream 0
        ge_task.event_record 0 stream 0
        ge_task.event_wait 0 stream 2
        ge_task.event_record 1 stream 2
        ge_task.event_wait 1 stream 1
        ge_task.kernel "Abs"(%a) -> (%y) stream 1
        """,
        3,
    )
    assert found == []


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("(%a) stream 0 op 0", "(%b) stream 0 op 0", "reads hbm [64, 80) before all of it was written"),
        ("-> (%y)", "-> (%b)", "'y' is hbm [192, 208), which nothing writes"),
        ("op 7", "op 3", "task 7 (kernel, stream 0) stands apart from the other tasks of node 3"),
        ("ge_task.end_graph stream 0 op 8", "ge_task.end_graph stream 0 op 8 ge_task.end_graph stream 1 op 9",
         "is a second END_GRAPH"),
        ("ge_task.end_graph stream 0 op 8", "ge_task.end_graph stream 0 op 8 ge_task.nop stream 0 op 9",
         "stands behind END_GRAPH"),
        ("ge_task.end_graph", "ge_task.event_record 2 stream 0 op 9 ge_task.end_graph",
         "records event 2, which nothing waits for"),
        ("ge_task.end_graph", "ge_task.notify_wait 0 stream 0 op 9 ge_task.end_graph",
         "waits for notify 0, which nothing records"),
    ],
)  # fmt: skip
def test_findings(parse: Parse, old: str, new: str, wanted: str) -> None:
    found = findings(parse, GOOD.replace(old, new))
    assert any(wanted in x for x in found), found


def test_circle(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.event_wait 0 stream 0
        ge_task.event_record 1 stream 0
        ge_task.event_wait 1 stream 1
        ge_task.event_record 0 stream 1
        ge_task.kernel "Neg"(%x) -> (%y) stream 0
        """,
    )
    assert any("[order]" in x and "can never run" in x for x in found)


def test_activation_orders_and_is_needed(parse: Parse) -> None:
    payload = 'payload {"_switch_branch_node_label" = "b"}'
    tasks = f"""
      ge_task.kernel "Neg"(%x) -> (%a) stream 0
      ge_task.stream_active 1 stream 0 {payload}
      ge_task.kernel "Neg"(%a) -> (%y) stream 1
    """
    assert findings(parse, tasks) == []
    assert any("[hazard]" in x for x in findings(parse, tasks.replace(payload, "")))
    reached = tasks.replace("ge_task.stream_active 1 stream 0", "ge_task.stream_active 1 stream 1")
    assert any("[order]" in x for x in findings(parse, reached))


def test_merged_inputs_share_their_place(parse: Parse) -> None:
    def found(payload: str) -> list[str]:
        return findings(
            parse,
            f"""
            ge_task.memcpy_async(%x) -> (%y) count 16 type "StreamMerge" stream 0 op 3 payload {{{payload}}}
            """,
        )

    assert found("input_i = array<i64: 0, 0>") == []
    assert found('input_i = array<i64: 64, 64>, input_spaces = ["p2p_ddr", "p2p_ddr"]') == []
    (apart,) = found("input_i = array<i64: 0, 64, 0>")
    assert "copies input 0, the inputs lie apart: hbm at 0, hbm at 64 [merge]" in apart
    assert any(
        "[merge]" in x for x in found('input_i = array<i64: 0, 0>, input_spaces = ["hbm", "host"]')
    )


def test_nodes_without_task_have_none(parse: Parse) -> None:
    tasks = """
      ge_task.virtual "ConcatD"(%x) -> (%x) op 0 tasks 1 bytes 16
      ge_task.kernel "Neg"(%x) -> (%y) stream 0 op {}
    """
    assert findings(parse, tasks.format(1)) == []
    assert any(
        "belongs to node 0, which makes no task" in x for x in findings(parse, tasks.format(0))
    )


TWICE = """
  ge_task.kernel "Neg"(%x) -> (%a) stream 0 op 0
  ge_task.event_record 0 stream 0 op 1
  ge_task.event_wait 0 stream 1 op 2
  ge_task.kernel "Abs"(%a) -> (%b) stream 1 op 3
  ge_task.event_record 1 stream 1 op 4
  ge_task.event_wait 1 stream 0 op 5
  ge_task.event_record 0 stream 0 op 6
  ge_task.event_wait 0 stream 1 op 7
  ge_task.kernel "Neg"(%b) -> (%y) stream 1 op 8
"""


def test_a_flag_may_be_used_again_behind_its_wait(parse: Parse) -> None:
    assert findings(parse, TWICE) == []


def test_record_before_the_flag_was_taken(parse: Parse) -> None:
    """Without the answer, stream 0 may record twice before stream 1 takes the first."""
    tasks = TWICE.replace("ge_task.event_record 1 stream 1 op 4\n", "").replace(
        "ge_task.event_wait 1 stream 0 op 5\n", ""
    )
    assert findings(parse, tasks) == [
        "error: task 4 (event_record, stream 0) may record its flag before task 2 (event_wait, stream 1) has taken it [early]"
    ]


def test_wait_that_takes_the_flag_of_another(parse: Parse) -> None:
    """Stream 0 sends and waits for the answer under one number: it may take back its own record."""
    found = findings(
        parse,
        TWICE.replace("event_record 1", "event_record 0").replace("event_wait 1", "event_wait 0"),
    )
    assert any(
        "task 5 (event_wait, stream 0) may take the flag before task 2 (event_wait, stream 1)" in x
        for x in found
    )


@pytest.mark.parametrize("inside", [True, False])
def test_flags_between_jumps(parse: Parse, inside: bool) -> None:
    record = "ge_task.event_record 0 stream 0 op 3\n"
    loop = f"ge_task.label_set 0 stream 0 op 2\n {record if inside else ''} ge_task.stream_label_goto 0 stream 0 op 4\n"
    module = parse(
        f"ge_task.model @m streams 2 events 1 labels 1 arenas {{hbm = 512}} {{ {loop} {'' if inside else record} "
        "ge_task.event_wait 0 stream 1 op 5 }"
    )
    model = module.body.block.first_op
    assert isinstance(model, ModelOp)
    wanted = [
        "warning: task 1 (event_record, stream 0) stands between jumps, which may repeat it or leave it out [jumps]"
    ]
    assert [str(finding) for finding in check(model)] == (wanted if inside else [])
