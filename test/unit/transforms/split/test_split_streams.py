"""Splitting: the queue entries that are counted are those that the lowering makes, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.analysis.attached import attached_ids
from ge_dialect.dialects.ge.access import get_int, graphs, node_name
from ge_dialect.dialects.ge_task import EventWaitOp, ModelOp
from ge_dialect.program import context, make_passes
from ge_dialect.transforms.split.ge_split_streams import choose_huge_streams, split_streams
from ge_dialect.transforms.split.limits import RESERVED_TASKS, StreamLimitError, StreamLimits
from ge_dialect.transforms.split.queue_entries import PlannedCounts, entry_table
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import SyncModel, stream_of

KERNEL = 'ge.engine = "AIcoreEngine"'


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def run(passes: str, module: ModuleOp) -> None:
    for each in make_passes(passes):
        each.apply(context(), module)
    module.verify()


def model_of(module: ModuleOp) -> SyncModel:
    model = SyncModel.of(module)
    assert model is not None
    return model


def by_name(module: ModuleOp) -> dict[str, Operation]:
    return {node_name(op): op for op in model_of(module).nodes}


def chain(count: int, streams: int = 1, attrs: str = "") -> ModuleOp:
    """`count` kernels in a row on `streams` streams in turn, between an input and an output."""
    lines = ['%n = ge.data index 0 {ge.name = "x"} : tensor<4xf32>']
    for number in range(count):
        lines.append(
            f'%n{number} = ge.op "Relu" (%n{number - 1 if number else ""}) {attrs} {{ge.name = "n{number}", '
            f"{KERNEL}, ge.stream = {number % streams} : i64}} : tensor<4xf32>"
        )
    lines.append(f'ge.net_output (%n{count - 1}) {{ge.name = "out", ge.stream = 0 : i64}}')
    return parse("ge.graph @main {\n" + "\n".join(lines) + "\n}")


def emitted(module: ModuleOp) -> dict[int, int]:
    """Queue entries of each stream of the task list."""
    model = next(op for op in module.body.block.ops if isinstance(op, ModelOp))
    found: dict[int, int] = {}
    for task in model.tasks():
        stream = task.properties["stream"].value.data  # pyright: ignore
        found[stream] = found.get(stream, 0) + 1 + isinstance(task, EventWaitOp)
    return found


def counted(module: ModuleOp) -> dict[int, int]:
    model = model_of(module)
    counts = PlannedCounts(model)
    found: dict[int, int] = {}
    for entries in entry_table(model, counts, 1024).values():
        for stream, count in entries.items():
            found[stream] = found.get(stream, 0) + count
    counts.close()
    return found


def test_what_is_counted_is_made() -> None:
    module = chain(30, streams=3)
    run("ge-plan-memory,ge-insert-events,ge-optimize-events,ge-insert-sync-nodes", module)
    entries = counted(module)
    assert "is_first_node" not in str(module)
    run("convert-ge-to-ge-task", module)
    assert entries == emitted(module)
    assert sorted(entries) == [0, 1, 2]


def test_no_piece_is_longer_than_a_stream() -> None:
    module = chain(200)
    run("ge-plan-memory,ge-split-streams{max_tasks=60},ge-insert-sync-nodes,ge-verify-sync", module)
    root = graphs(module)[0]
    # A piece takes 33 entries beside the 27 in reserve: 32 kernels behind FUSION_START, then 33 each.
    assert [stream_of(by_name(module)[f"n{k}"]) for k in (0, 31, 32, 64, 65, 199)] == [
        0,
        0,
        1,
        1,
        2,
        6,
    ]
    assert get_int(root, "ge.stream_num") == 7
    assert get_int(root, "ge.event_num") == 6
    run("ge-default-streams,convert-ge-to-ge-task", module)
    entries = emitted(module)
    assert sorted(entries) == list(range(7))
    assert max(entries.values()) <= 60


@pytest.mark.parametrize("count", [331, 332, 333])
def test_the_reserve(count: int) -> None:
    module = chain(count, attrs="attrs {_node_sqe_num = 3 : i64}")
    run("ge-split-streams", module)
    assert [stream_of(by_name(module)[f"n{k}"]) for k in (330, count - 1)] == [0, int(count > 332)]


def test_unlimited_depth_cuts_nothing() -> None:
    module = chain(200)
    before = str(module)
    run("ge-split-streams{max_tasks=60 unlimited_depth=true}", module)
    assert str(module) == before


@pytest.mark.parametrize(
    "line",
    [
        '%b = ge.op "Case" (%a) subgraphs [@main] {ge.name = "b", ge.stream = 0 : i64} : tensor<4xf32>',
        'ge.stream_active attrs {subgraph_first_active = true} {ge.name = "b", ge.stream = 0 : i64}',
        'ge.label_set label_index 0 {ge.name = "b", ge.stream = 0 : i64}',
        'ge.label_goto label_index 0 {ge.name = "b", ge.stream = 0 : i64}',
        'ge.label_switch (%a) label_list [0] {ge.name = "b", ge.stream = 0 : i64}',
    ],
)
def test_control_flow_stays_where_it_began(line: str) -> None:
    module = parse(
        f"""ge.graph @main {{
          %x = ge.data index 0 {{ge.name = "x"}} : tensor<4xf32>
          %a = ge.op "Relu" (%x) attrs {{_node_sqe_num = 9 : i64}} {{ge.name = "a", {KERNEL}, ge.stream = 0 : i64}} : tensor<4xf32>
          {line}
          %c = ge.op "Relu" (%x) attrs {{_node_sqe_num = 1 : i64}} {{ge.name = "c", {KERNEL}, ge.stream = 0 : i64}} : tensor<4xf32>
        }}"""
    )
    run("ge-split-streams{max_tasks=36}", module)
    nodes = by_name(module)
    assert (stream_of(nodes["a"]), stream_of(nodes["b"]), stream_of(nodes["c"])) == (0, 0, 1)


class AttachedCounts:
    """One entry on the main stream of a node, ten on each attached stream."""

    def generated(self, op: Operation) -> Mapping[int, int]:
        if not attached_ids(op):
            return {}
        return {stream_of(op): 1, **{stream: 10 for stream in attached_ids(op)}}

    def assigned(self, op: Operation, *, attached: bool = False) -> int | None:
        return None


def test_attached_streams_are_cut_too() -> None:
    module = chain(
        6,
        attrs=(
            "attrs {_attached_stream_info_list = [{_attached_resource_id = 2 : i64}, {_attached_resource_id = 1 : i64}]}"
        ),
    )
    model = model_of(module)
    events = Events()
    split = split_streams(model, AttachedCounts(), StreamLimits(27 + 25), events)  # pyright: ignore
    nodes = by_name(module)
    assert [attached_ids(nodes[f"n{k}"]) for k in range(6)] == [
        [2, 1], [2, 1], [4, 3], [4, 3], [6, 5], [6, 5],
    ]  # fmt: skip
    assert split.logic_of == {3: 1, 4: 2, 5: 1, 6: 2}
    assert split.starts == {nodes["n2"]: [3, 4], nodes["n4"]: [5, 6]}
    assert events.side_send == {nodes["n1"]: {1: [0], 2: [1]}, nodes["n3"]: {3: [2], 4: [3]}}
    assert events.side_recv == {nodes["n2"]: {3: [0], 4: [1]}, nodes["n4"]: {5: [2], 6: [3]}}
    assert not events.send
    assert not events.recv


def test_huge_streams() -> None:
    module = chain(10)
    model = model_of(module)
    counts = PlannedCounts(model)
    fits = RESERVED_TASKS + 10 + 3  # kernels, two fusion brackets, the end of the graph
    assert choose_huge_streams(model, counts, StreamLimits(fits), 1) == []
    assert choose_huge_streams(model, counts, StreamLimits(fits - 1), 1) == [0]
    assert choose_huge_streams(model, counts, StreamLimits(fits - 1, None), 1) == []
    with pytest.raises(StreamLimitError, match="2 main streams"):
        choose_huge_streams(model, counts, StreamLimits(), 2)


def test_a_device_that_does_not_answer() -> None:
    module = chain(1)
    model = model_of(module)
    with pytest.raises(StreamLimitError, match="how many tasks"):
        split_streams(model, PlannedCounts(model), StreamLimits(None), Events())
    with pytest.raises(StreamLimitError, match="unlimited"):
        StreamLimits(unlimited_depth=None).is_unlimited()


def test_an_activation_counts_an_entry_a_piece() -> None:
    module = parse(
        f"""ge.graph @main {{
          %x = ge.data index 0 {{ge.name = "x"}} : tensor<4xf32>
          ge.stream_active active_stream_list [1, 2] {{ge.name = "start", ge.stream = 0 : i64}}
          %a = ge.op "Relu" (%x) attrs {{_node_sqe_num = 21 : i64}} {{ge.name = "a", {KERNEL}, ge.stream = 1 : i64}} : tensor<4xf32>
          %b = ge.op "Relu" (%x) attrs {{_node_sqe_num = 10 : i64}} {{ge.name = "b", {KERNEL}, ge.stream = 2 : i64}} : tensor<4xf32>
        }}"""
    )
    model = model_of(module)
    table = entry_table(model, PlannedCounts(model), 10)
    assert table[by_name(module)["start"]] == {0: 4}
