"""What the analysis of task counts says, against what the lowering makes and against counts written down here."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.segments import mark_first_and_last
from ge_dialect.analysis.task_count import (
    TaskGenerationError,
    hardware_tasks,
    hardware_tasks_by_stream,
    pieces,
    task_count,
)
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.attrs import UNIT, i64, i64_array
from ge_dialect.dialects.ge import (
    DataOp,
    GraphOp,
    LabelSetOp,
    NetOutputOp,
    OpOp,
    RecvOp,
    SendOp,
    StreamActiveOp,
)
from ge_dialect.dialects.ge.access import set_slot_attr
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.lowering.tasks.convert_ge_to_ge_task import ConvertGeToGeTask
from ge_dialect.lowering.tasks.model import TaskCountError, lower_known_model

FLOAT = dtype_by_name("FLOAT")
VECTOR = tensor_type(FLOAT, (128,))

KINDS: dict[str, tuple[dict[str, object], str | None, int]] = {
    # type: GE attributes, engine, tasks without brackets
    "Relu": ({}, "AIcoreEngine", 1),
    "Fused": ({"_kernel_list_first_name": "k"}, "AIcoreEngine", 1),
    "Mix": ({"notify_id": [0, 1], "_attached_stream_id": 1}, "AIcoreEngine", 6),
    "Vec": ({}, "VectorEngine", 1),
    "Cpu": ({}, "DNN_VM_AICPU_ASCEND", 1),
    "CpuTf": ({}, "DNN_VM_AICPU", 1),
    "Host": ({}, "DNN_VM_HOST_CPU", 1),
    "Mine": ({}, "DNN_VM_CUSTOM", 1),
    "HcomAllReduce": ({"_hccl_task_num": 7}, "DNN_HCCL", 1),
    "Dvpp": ({}, "DNN_VM_DVPP", 1),
    "Dsa": ({}, "DSAEngine", 1),
    "Identity": ({}, None, 1),
    "MemcpyAsync": ({"_rt_memcpy_kind": 1}, None, 1),
    "MemcpyAddrAsync": ({}, None, 1),
    "Reshape": ({}, None, 0),
    "NoOp": ({}, None, 0),
    "Send": ({"event_id": 0}, None, 1),
    "Recv": ({"event_id": 0}, None, 1),
    "RecvMem": ({"event_id": 0}, None, 1),
    "LabelSet": ({}, None, 1),
    "StreamActive": ({}, None, 2),
    "NoTask": ({}, "AIcoreEngine", 0),
}
BRACKETED = {"Relu", "Fused", "Mix", "Vec"}
COMPUTES = {kind for kind, (_, engine, _) in KINDS.items() if engine} | {
    "Identity",
    "MemcpyAsync",
    "MemcpyAddrAsync",
    "Reshape",
}


def make(kind: str, name: str, value: SSAValue, stream: int, label: int) -> Operation:
    attrs, engine, _ = KINDS[kind]
    attributes: dict[str, Attribute] = {"ge.name": StringAttr(name), "ge.stream": i64(stream)}
    if engine:
        attributes["ge.engine"] = StringAttr(engine)
    if kind == "NoTask":
        attributes["ge.no_task"] = UNIT
    if kind == "Send":
        return SendOp.make((), (), {"event_id": i64(0)}, {**attributes, "ge.stream": i64(0)})
    if kind == "Recv":
        return RecvOp.make((), (), {"event_id": i64(0)}, {**attributes, "ge.stream": i64(1)})
    if kind == "LabelSet":
        return LabelSetOp.make((), (), {"label_index": i64(label)}, attributes)
    if kind == "StreamActive":
        return StreamActiveOp.make((), (), {"active_stream_list": i64_array([0, 1])}, attributes)
    properties: dict[str, Attribute] = {"type": StringAttr(kind)}
    if attrs:
        properties["attrs"] = from_python(attrs)
    if kind not in COMPUTES:
        return OpOp.make((), (), properties, attributes)
    return OpOp.make([value], [VECTOR], properties, {**attributes, "ge.offsets": i64_array([0])})


def random_graph(seed: int, size: int = 60) -> tuple[ModuleOp, list[tuple[str, Operation]]]:
    random = Random(seed)
    data = DataOp.make(
        (), [VECTOR], {"index": i64(0)}, {"ge.name": StringAttr("x"), "ge.offsets": i64_array([0])}
    )
    value: SSAValue = data.results[0]
    made: list[tuple[str, Operation]] = []
    for k in range(size):
        kind = random.choice(list(KINDS))
        op = make(kind, f"n{k}", value, random.randrange(2), k)
        if op.results:
            value = op.results[0]
        made.append((kind, op))
    for kind in ("Send", "Recv"):
        made.append((kind, make(kind, kind, value, 0, 0)))
    end = NetOutputOp.make([value], (), {}, {"ge.name": StringAttr("out"), "ge.stream": i64(0)})
    graph = GraphOp("main")
    graph.block.add_ops([data, *(op for _, op in made), end])
    return ModuleOp([graph]), made


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("brackets", [True, False])
def test_counts_are_those_of_the_list(seed: int, brackets: bool) -> None:
    module, made = random_graph(seed)
    mark_first_and_last(op for op, _ in walk_nodes(module))
    counted = {op.attributes["ge.name"]: task_count(op, brackets) for _, op in made}
    for kind, op in made:
        marks = sum(mark in op.attributes for mark in ("ge.is_first_node", "ge.is_last_node"))
        expected = KINDS[kind][2] + (marks if brackets and kind in BRACKETED else 0)
        assert task_count(op, brackets) == expected, kind
    ConvertGeToGeTask(fusion_brackets=brackets).apply(Context(), module)
    (model,) = module.body.block.ops
    assert isinstance(model, ModelOp)
    model.verify()
    emitted = Counter(task.attributes["ge.name"] for task in model.tasks())
    assert emitted == {**{name: n for name, n in counted.items() if n}, StringAttr("out"): 1}


@pytest.mark.parametrize("seed", range(6))
def test_hardware_counts_are_those_of_the_tasks_unless_the_node_says(seed: int) -> None:
    module, made = random_graph(seed)
    mark_first_and_last(op for op, _ in walk_nodes(module))
    counted = {op.attributes["ge.name"]: (kind, hardware_tasks(op)) for kind, op in made}
    model = lower_known_model(module)
    sums: Counter[Attribute] = Counter()
    for task in model.tasks():
        sums[task.attributes["ge.name"]] += task.hardware_tasks()
    said = {"HcomAllReduce": 7, "MemcpyAsync": 3, "RecvMem": 5}
    for name, (kind, count) in counted.items():
        assert count == said.get(kind, sums[name]), kind


def test_hardware_counts_by_stream() -> None:
    value = DataOp.make((), [VECTOR]).results[0]
    assert hardware_tasks_by_stream(make("Mix", "m", value, 0, 0)) == {0: 3, 1: 3}
    assert hardware_tasks_by_stream(make("Recv", "r", value, 1, 0)) == {1: 2}
    assert hardware_tasks_by_stream(make("HcomAllReduce", "h", value, 2, 0)) == {2: 7}
    unplaced = make("Reshape", "s", value, 0, 0)
    del unplaced.attributes["ge.stream"]
    assert hardware_tasks_by_stream(unplaced) == {}
    relu = make("Relu", "q", value, 0, 0)
    del relu.attributes["ge.stream"]
    assert hardware_tasks_by_stream(relu) == {0: 1}


def test_copies_are_cut_into_pieces() -> None:
    gib = 1 << 30
    assert pieces(9 * gib, 3) == [4 * gib, 4 * gib, gib]
    assert pieces(8 * gib, 3) == [4 * gib, 4 * gib]
    assert pieces(100 << 20, 1) == [64 << 20, 36 << 20]
    assert pieces(0, 3) == []


def test_a_large_copy_makes_a_task_a_piece_each_with_its_own_place() -> None:
    large = tensor_type(FLOAT, (3 << 29,))
    data = DataOp.make(
        (), [large], {"index": i64(0)}, {"ge.name": StringAttr("x"), "ge.offsets": i64_array([0])}
    )
    copy = OpOp.make(
        [data.results[0]],
        [large],
        {"type": StringAttr("Identity")},
        {"ge.name": StringAttr("copy"), "ge.stream": i64(0), "ge.offsets": i64_array([6 << 30])},
    )
    graph = GraphOp("main")
    graph.block.add_ops([data, copy])
    model = lower_known_model(ModuleOp([graph]))
    model.verify()
    counts = [task.properties["count"].value.data for task in model.tasks()]  # pyright: ignore
    places = [task.operands[1].owner.offset.value.data for task in model.tasks()]  # pyright: ignore
    assert counts == [4 << 30, 2 << 30]
    assert places == [6 << 30, 10 << 30]


def test_a_builder_that_strays_from_the_plan_is_an_error_that_names_the_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ge_dialect.lowering.tasks import model as lowering

    module, _ = random_graph(0)
    monkeypatch.setattr(lowering, "planned_tasks", lambda *_: ())
    with pytest.raises(TaskCountError, match='internal error: node "n'):
        lower_known_model(module)


def test_ids_are_places_in_the_walk_over_sub_graphs() -> None:
    """The nodes that a node owns come right behind it, depth first."""
    inner = GraphOp("inner")
    inner.block.add_op(NetOutputOp.make((), (), {}, {"ge.name": StringAttr("inner_out")}))
    deep = GraphOp("deep")
    deep.block.add_op(NetOutputOp.make((), (), {}, {"ge.name": StringAttr("deep_out")}))

    def call(name: str, target: str) -> Operation:
        owned = ArrayAttr([SymbolRefAttr(target)])
        properties = {"type": StringAttr("PartitionedCall"), "subgraphs": owned}
        return OpOp.make((), (), properties, {"ge.name": StringAttr(name)})

    inner.block.insert_op_before(call("to_deep", "deep"), inner.block.first_op)  # pyright: ignore
    root = GraphOp("main")
    end = NetOutputOp.make((), (), {}, {"ge.name": StringAttr("out"), "ge.stream": i64(0)})
    root.block.add_ops([call("to_inner", "inner"), call("to_nothing", "missing"), end])
    module = ModuleOp([root, deep, inner])
    names = [op.attributes["ge.name"].data for op, _ in walk_nodes(module)]  # pyright: ignore
    assert names == ["to_inner", "to_deep", "deep_out", "inner_out", "to_nothing", "out"]
    model = lower_known_model(module)
    (task,) = model.tasks()
    assert task.op_index == i64(5), "only the root's NetOutput ends a model of known shape"


def test_a_mark_of_the_source_counts() -> None:
    value = DataOp.make((), [VECTOR]).results[0]
    relu = make("Relu", "r", value, 0, 0)
    relu.properties["attrs"] = from_python({"_no_task": True})
    assert task_count(relu) == 0
    mark_first_and_last([relu])
    assert "ge.is_first_node" not in relu.attributes
    relu.attributes["ge.no_task"] = from_python(False)
    assert task_count(relu) == 1, "a mark of a pass goes before that of the source"


def test_queue_entries_of_a_collective_by_type_and_on_all_attached_streams() -> None:
    attrs = {
        "_hccl_task_num": 7,
        "_hccl_attached_task_num": 4,
        "_attached_stream_info_list": [{"_attached_resource_id": 3}, {"_attached_resource_id": 5}],
    }
    for kind, counts in (("HcomReduce", {0: 7, 3: 4, 5: 4}), ("Relu", {0: 1})):
        op = OpOp.make(
            (),
            (),
            {"type": StringAttr(kind), "attrs": from_python(attrs)},
            {"ge.stream": i64(0), "ge.engine": StringAttr("DNN_VM_CUSTOM")},
        )
        assert hardware_tasks_by_stream(op) == counts


@pytest.mark.parametrize(
    ("own", "above", "tasks"),
    [
        ((), (), 0),
        ((), ("ge.unknown_shape",), 1),
        ((), ("ge.dynamic_shape_partitioned",), 1),
        (("ge.unknown_shape",), ("ge.unknown_shape",), 0),
    ],
)
def test_a_known_graph_below_an_unknown_one_ends_a_model(
    own: tuple[str, ...], above: tuple[str, ...], tasks: int
) -> None:
    inner = GraphOp("inner", attributes={name: UNIT for name in own})
    end = NetOutputOp.make((), (), {}, {"ge.name": StringAttr("end")})
    inner.block.add_op(end)
    owned = ArrayAttr([SymbolRefAttr("inner")])
    root = GraphOp("main", attributes={name: UNIT for name in above})
    root.block.add_op(
        OpOp.make((), (), {"type": StringAttr("PartitionedCall"), "subgraphs": owned}, {})
    )
    ModuleOp([root, inner])
    assert task_count(end) == tasks


def test_an_empty_kernel_lib_is_filled_on_a_stream() -> None:
    """Without a stream the node takes no part in segments, and makes no task."""
    value = DataOp.make((), [VECTOR]).results[0]
    placed, unplaced = make("Relu", "p", value, 0, 0), make("Relu", "u", value, 0, 0)
    for op in (placed, unplaced):
        op.attributes |= {"ge.kernel_lib": StringAttr(""), "ge.engine": StringAttr("")}
    del unplaced.attributes["ge.stream"]
    mark_first_and_last([placed, unplaced])
    assert (task_count(placed), task_count(unplaced)) == (3, 0)
    assert placed.attributes["ge.kernel_lib"] == StringAttr("AIcoreEngine")


def test_a_node_does_not_zero_its_own_input() -> None:
    data = DataOp.make(
        (), [VECTOR], {"index": i64(0)}, {"ge.name": StringAttr("x"), "ge.offsets": i64_array([0])}
    )
    relu = make("Relu", "r", data.results[0], 0, 0)
    graph = GraphOp("main")
    graph.block.add_ops([data, relu])
    attrs = {"need_gentask_atomic": True, "atomic_output_index": [0]}
    relu.properties["attrs"] = from_python(attrs)
    with pytest.raises(TaskGenerationError, match="zeroes output 0 first, which lies on one"):
        lower_known_model(ModuleOp([graph]))
    relu.attributes["ge.offsets"] = i64_array([512])
    relu.properties["attrs"] = from_python({**attrs, "atomic_output_index": [1]})
    graph.detach()
    module = ModuleOp([graph])
    with pytest.raises(TaskGenerationError, match=r"zeroes outputs \[1\], it has 1"):
        lower_known_model(module)


def test_a_descriptor_in_memory_is_copied_with_its_tensor() -> None:
    data = DataOp.make(
        (), [VECTOR], {"index": i64(0)}, {"ge.name": StringAttr("x"), "ge.offsets": i64_array([0])}
    )
    copy = make("Identity", "copy", data.results[0], 0, 0)
    copy.attributes["ge.offsets"] = i64_array([512])
    graph = GraphOp("main")
    graph.block.add_ops([data, copy])
    set_slot_attr(copy, "arg", 0, "_tensor_desc_mem_offset", i64(4096))
    with pytest.raises(TaskGenerationError, match="output 0 has no place for it"):
        task_count(copy)
    set_slot_attr(copy, "res", 0, "_tensor_desc_mem_offset", i64(8192))
    model = lower_known_model(ModuleOp([graph]))
    model.verify()
    first, second = model.tasks()
    assert (first.name, second.name) == ("ge_task.memcpy_async", "ge_task.memcpy_addr_async")
    places = [value.owner.offset.value.data for value in second.operands]  # pyright: ignore
    assert (second.properties["count"], places) == (i64(1008), [4096, 8192])
