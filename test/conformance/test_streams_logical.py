"""Static logical streams against the facts of streams.json (any file of that schema): allocation and single passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest
from stream_case_graphs import (
    Json,
    cluster_module,
    entries_name,
    expanded,
    nodes_by_name,
    stream_module,
    stream_of,
)
from stream_expect import caught, check_logical, check_status, check_streams, run
from stream_links import on_links
from stream_options import AUTO, chain_of, options_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.transforms.streams.ge_cluster_engines import GeClusterEngines
from ge_dialect.transforms.streams.ge_stream_all_reduce import GeStreamAllReduce
from ge_dialect.transforms.streams.ge_stream_dependency import GeStreamDependency
from ge_dialect.transforms.streams.ge_stream_independent import GeStreamIndependent
from ge_dialect.transforms.streams.ge_stream_ineffective import GeStreamIneffective
from ge_dialect.transforms.streams.ge_stream_label import GeStreamLabel
from ge_dialect.transforms.streams.ge_stream_mde_group import GeStreamMdeGroup
from ge_dialect.transforms.streams.ge_stream_node_update import GeStreamNodeUpdate
from ge_dialect.transforms.streams.ge_stream_parallel_group import GeStreamParallelGroup
from ge_dialect.transforms.streams.ge_stream_refresh import GeStreamRefresh
from ge_dialect.transforms.streams.ge_stream_single import GeStreamSingle
from ge_dialect.transforms.streams.ge_stream_skipped_engine import GeStreamSkippedEngine
from ge_dialect.transforms.streams.ge_transfer_stream_labels import GeTransferStreamLabels
from ge_dialect.transforms.streams.stream_pass import StreamPass

# --- the static way -----------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("static_logical", "static_logical_attached"))
def test_static(case: Json) -> None:
    expect = case["expect"]
    module = cluster_module(case)
    # The case gives labels and engine sub-graphs ready.
    left_out: tuple[type[ModulePass], ...] = (GeTransferStreamLabels, GeClusterEngines)
    if not case.get("refresh_continuous", True):
        # Numbers before they are compressed. A whole graph without nodes leaves nothing to these either.
        left_out += (GeStreamRefresh,)
        if "graph" not in case:
            left_out += (GeStreamSkippedEngine, GeStreamIneffective)
    chain = [step for step in chain_of(case) if not isinstance(step, left_out)]
    if not check_status(expect, run(module, on_links(case, chain))):
        return
    found = nodes_by_name(module)
    first = {
        cluster["name"]: found[entries_name(cluster["nodes"][0])]
        for cluster in case.get("engine_subgraphs", ())
    }
    for name, stream in expect.get("subgraph_streams", {}).items():
        assert stream_of(first[name]) == stream, name
    for one, other in expect.get("equal", ()):
        assert stream_of(first[one]) == stream_of(first[other])
    for one, other in expect.get("different", ()):
        assert stream_of(first[one]) != stream_of(first[other])
    check_logical(expect, module, found)


# --- single passes ------------------------------------------------------------------------------------------------------

STEPS: Mapping[str, Callable[[Json], StreamPass]] = {
    "UpdateForMdeGroupPass": lambda _: GeStreamMdeGroup(),
    "AssignByLabelPass": lambda _: GeStreamLabel(),
    "IndependentStreamPass": lambda _: GeStreamIndependent(),
    "AssignByDependencyPass": lambda case: GeStreamDependency(
        options_of(case).max_parallel, options_of(case).memory_priority
    ),
    "NodeStreamUpdatePass": lambda _: GeStreamNodeUpdate(),
    "UpdateForParallelGroupPass": lambda _: GeStreamParallelGroup(),
    "AllReduceParallelPass": lambda case: GeStreamAllReduce(
        case.get("context", {}).get("hcom_parallel", False) or options_of(case).hcom_parallel
    ),
    "UpdateForSkippedEnginePass": lambda _: GeStreamSkippedEngine(),
    "OptimizeIneffectiveMultiStreamPass": lambda _: GeStreamIneffective(),
    "SingleStreamPass": lambda case: GeStreamSingle(case.get("options", {}).get(AUTO, "")),
}
OF_ENGINE_SUBGRAPHS = (GeStreamLabel, GeStreamIndependent, GeStreamDependency, GeStreamSingle)
"""Passes that give streams to engine sub-graphs and leave it to another to give them to the nodes."""


@pytest.mark.cases(levels=tuple(f"pass:{name}" for name in STEPS))
def test_pass(case: Json) -> None:
    expect, context = case["expect"], case.get("context", {})
    step = STEPS[case["level"].removeprefix("pass:")](case)
    module = cluster_module(case, 0) if "engine_subgraphs" in case else _one_node_each(case)
    root = graphs(module)[0]
    if "next_stream" in context:
        root.attributes["ge.next_stream"] = i64(context["next_stream"])
    before = {name: stream_of(op) for name, op in nodes_by_name(module).items()}
    if isinstance(step, GeStreamMdeGroup):
        # To this pass alone, which runs first, a node that nobody has touched is on stream 0.
        for entry in expanded(case)["nodes"]:
            if entry.get("stream") == -1:
                nodes_by_name(module)[entry["name"]].attributes["ge.stream"] = i64(-1)
    changed: list[bool] = []
    if not check_status(expect, caught(lambda: changed.append(step.assign(StreamModel(module))))):
        return
    found = nodes_by_name(module)
    if expect.get("result") == "NOT_CHANGED":
        assert not changed[0]
        assert before == {name: stream_of(op) for name, op in found.items()}
    if isinstance(step, OF_ENGINE_SUBGRAPHS):
        show_cluster_streams(found.values())
    if "next_stream" in expect:
        assert (get_int(root, "ge.next_stream") or 0) == expect["next_stream"]
    for cluster in case.get("engine_subgraphs", ()):
        if cluster["name"] in expect.get("subgraph_streams", {}):
            op = found[entries_name(cluster["nodes"][0])]
            assert stream_of(op) == expect["subgraph_streams"][cluster["name"]]
    check_streams(expect, found)


def show_cluster_streams(ops: Iterable[Operation]) -> None:
    """Put nodes on the streams of their engine sub-graphs."""
    for op in ops:
        if "ge.cluster" in op.attributes:
            op.attributes["ge.stream"] = i64(get_int(op, "ge.cluster_stream", -1) or 0)


def _one_node_each(case: Json) -> ModuleOp:
    """The graph of a case; each node with an engine is an engine sub-graph that has the node's stream."""
    module = stream_module(case)
    for graph in graphs(module):
        rank = 0
        for op in graph.block.ops:
            if "ge.engine" in op.attributes:
                op.attributes["ge.cluster"] = i64(rank)
                op.attributes["ge.cluster_stream"] = i64(stream_of(op))
                rank += 1
    return module
