"""Memory plans of random graphs, under a checker that replays them; and the checker under broken plans."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, f32
from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.liveness import liveness
from ge_dialect.analysis.memory_check import arenas_of, check_plan, place_of
from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge import ConstantOp, DataOp, GraphOp, NetOutputOp, OpOp
from ge_dialect.dialects.ge.access import get_int, get_ints, node_name
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.transforms.engines.ge_assign_engines import GeAssignEngines
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory


def tensor(rng: random.Random) -> TensorType:
    return TensorType(f32, [rng.choice([0, 1, 100, 120, 128, 1000])])


def random_graph(seed: int, count: int, streams: int = 1) -> GraphOp:
    """Inputs, constants, nodes with one or two outputs (some absent), views, workspaces, outputs of every kind."""
    rng = random.Random(seed)
    ops: list[Operation] = []
    values: list[SSAValue] = []
    for index in range(rng.randrange(1, 4)):
        ops.append(
            DataOp.make((), (tensor(rng),), {"index": i64(index)}, {"ge.name": string(f"x{index}")})
        )
        values.append(ops[-1].results[0])
    for index in range(rng.randrange(3)):
        value = elements_attr(np.zeros(rng.choice([1, 200]), np.float32))
        ops.append(
            ConstantOp.make((), (value.type,), {"value": value}, {"ge.name": string(f"k{index}")})
        )
        values.append(ops[-1].results[0])
    for index in range(count):
        read = [rng.choice(values[-8:]) for _ in range(rng.randrange(1, 4))]
        marks = {"ge.name": string(f"n{index}")}
        if rng.random() < 0.2:
            op = OpOp.make(read[:1], [read[0].type], {"type": string("Reshape")}, marks)
        else:
            kinds = [tensor(rng) for _ in range(rng.choice([1, 1, 2]))]
            if rng.random() < 0.1:
                kinds.append(NoneType())
            op = OpOp.make(read, kinds, {"type": string("Foo")}, marks)
            if streams > 1:
                op.attributes["ge.stream"] = i64(rng.randrange(streams))
            if rng.random() < 0.1:
                op.attributes["ge.workspace_bytes"] = i64_array([700, 10])
        ops.append(op)
        values.extend(value for value in op.results if isinstance(value.type, TensorType))
    outputs = [rng.choice(values) for _ in range(rng.randrange(1, 4))]
    ops.append(NetOutputOp.make(outputs, (), {}, {"ge.name": string("out")}))
    graph = GraphOp("main")
    graph.block.add_ops(ops)
    return graph


def planned(graph: GraphOp) -> GraphOp:
    module = ModuleOp([graph])
    GeAssignEngines().apply(Context(), module)
    GePlanMemory().apply(Context(), module)
    return graph


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_plans_are_right_and_not_below_the_bound(seed: int, count: int) -> None:
    graph = planned(random_graph(seed, count))
    assert check_plan(graph) == []
    peak, bound = get_int(graph, "ge.peak_bytes"), get_int(graph, "ge.lower_bound_bytes")
    tail = get_int(graph, "ge.zero_copy_size")
    assert peak is not None
    assert bound is not None
    assert tail is not None
    assert peak >= bound
    assert arenas_of(graph)["hbm"] == peak + tail


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(2, 4))
def test_plans_are_right_with_streams_side_by_side(seed: int, count: int, streams: int) -> None:
    assert check_plan(planned(random_graph(seed, count, streams))) == []


@given(st.integers(0, 10**6))
def test_the_same_graph_gives_the_same_plan(seed: int) -> None:
    assert str(planned(random_graph(seed, 30))) == str(planned(random_graph(seed, 30)))


def chain(count: int) -> GraphOp:
    graph = GraphOp("main")
    kind = TensorType(f32, [100])
    ops: list[Operation] = [DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})]
    for index in range(count):
        marks = {"ge.name": string(f"n{index}")}
        ops.append(OpOp.make([ops[-1].results[0]], [kind], {"type": string("Foo")}, marks))
    ops.append(NetOutputOp.make([ops[-1].results[0]], (), {}, {"ge.name": string("out")}))
    graph.block.add_ops(ops)
    return graph


def problems_after(graph: GraphOp, name: str, offset: int) -> str:
    op = next(op for op in graph.block.ops if node_name(op) == name)
    op.attributes["ge.offsets"] = i64_array([offset])
    return "\n".join(check_plan(graph))


def test_the_checker_finds_what_is_wrong() -> None:
    graph = planned(chain(4))
    places = {node_name(op): place_of(op, 0) for op in graph.block.ops if op.results}
    assert places == {
        "x": ("hbm", 1536),
        "n0": ("hbm", 512),
        "n1": ("hbm", 0),
        "n2": ("hbm", 512),
        "n3": ("hbm", 1024),
    }
    for name, offset, problem in (
        ("n1", 512, '"n1":0 is written over its own input "n0":0'),
        ("x", 512, '"n0":0 is written over its own input "x":0'),
        ("n0", 32, "not aligned to 512"),
        ("n0", 2048, "lies outside the 2048 bytes"),
        ("n0", -1, '"n0":0 has no place'),
    ):
        assert problem in problems_after(planned(chain(4)), name, offset)


def test_the_checker_finds_a_reader_that_comes_too_late() -> None:
    graph = planned(chain(4))
    ops = {node_name(op): op for op in graph.block.ops}
    ops["n3"].operands = [ops["n2"].results[0], ops["n0"].results[0]]
    assert check_plan(graph) == ['"n3" reads "n0":0 in hbm[512, 960), written over by "n2":0']


def test_the_checker_finds_an_output_that_is_written_over() -> None:
    graph = GraphOp("main")
    kind = TensorType(f32, [100])
    x = DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})
    a = OpOp.make([x.results[0]], [kind], {"type": string("Foo")}, {"ge.name": string("a")})
    b = OpOp.make([x.results[0]], [kind], {"type": string("Foo")}, {"ge.name": string("b")})
    graph.block.add_ops(
        [x, a, b, NetOutputOp.make([a.results[0], b.results[0]], (), {}, {"ge.name": string("o")})]
    )
    planned(graph)
    assert check_plan(graph) == []
    b.attributes["ge.offsets"] = a.attributes["ge.offsets"]
    assert check_plan(graph) == ['"o" reads "a":0 in hbm[0, 448), written over by "b":0']


def test_the_checker_finds_missing_order_between_streams() -> None:
    """c takes the bytes of a, which b on the other stream reads, and nothing orders c behind b."""
    graph = GraphOp("main")
    kind = TensorType(f32, [100])

    def node(name: str, stream: int, *read: SSAValue) -> OpOp:
        marks = {"ge.name": string(name), "ge.stream": i64(stream)}
        return OpOp.make(read, [kind], {"type": string("Foo")}, marks)

    x = DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})
    a = node("a", 0, x.results[0])
    b = node("b", 1, a.results[0])
    c = node("c", 0, x.results[0])
    out = NetOutputOp.make(
        [b.results[0], c.results[0]], (), {}, {"ge.name": string("o"), "ge.stream": i64(0)}
    )
    graph.block.add_ops([x, a, b, c, out])
    planned(graph)
    assert check_plan(graph) == []
    c.attributes["ge.offsets"] = a.attributes["ge.offsets"]
    assert check_plan(graph) == ['"c":0 takes the bytes of "a":0, but nothing orders it behind "b"']
    c.operands = [b.results[0]]  # now it is ordered
    assert check_plan(graph) == []


def test_liveness_of_a_view_is_that_of_its_input() -> None:
    graph = chain(2)
    first = next(op for op in graph.block.ops if node_name(op) == "n0")
    view = OpOp.make([first.results[0]], [TensorType(f32, [10, 10])], {"type": string("Reshape")})
    block = graph.block
    last = block.last_op
    assert last is not None
    block.insert_op_before(view, last)
    live = liveness(graph)
    memory = live.of[first.results[0]]
    assert live.of[view.results[0]] is memory
    assert (memory.start, memory.end) == (1, 3)


def test_a_large_chain_needs_two_blocks() -> None:
    graph = planned(chain(3000))
    assert get_int(graph, "ge.peak_bytes") == 1024
    assert get_ints(next(iter(graph.block.ops)), "ge.offsets") == [1536]
