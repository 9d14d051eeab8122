"""Checks on shapes and graphs that concat, pack and split share (spec/no_task.md 2.1, 2.3, 2.4)."""

from __future__ import annotations

from collections.abc import Iterator

from ge_dialect.analysis.explain import Step
from ge_dialect.analysis.model_graphs import ModelGraphs, discontiguous, is_dynamic
from ge_dialect.dialects.ge.access import data_results
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.no_task.candidate import Candidate, shape_of, text


def single_op_scene(graph: GraphOp, model: ModelGraphs) -> Step:
    """The graph is one operator that runs alone: its memory belongs to the caller."""
    single = model.single_op_scene(graph)
    found = "the graph is in single-operator mode" if single else "not in single-operator mode"
    return Step("single_op_scene", not single, found)


def memory_discontiguous(graph: GraphOp) -> Step:
    """Memory is not one pool, so nothing can be laid end to end."""
    apart = discontiguous(graph)
    found = "memory is allocated piece by piece" if apart else "memory is one pool"
    return Step("memory_discontiguous", not apart, found)


def graph_checks(graph: GraphOp, model: ModelGraphs) -> Iterator[Step]:
    """What rules out a whole graph, in the reference's order."""
    yield single_op_scene(graph, model)
    yield memory_discontiguous(graph)


def unknown_shape_op(candidate: Candidate, reason: str = "unknown_shape_op") -> Step:
    """No storage shape of the node has an unknown dimension; scalars and empty tensors are known."""
    outputs = len(data_results(candidate.op))
    for side, count, desc in (
        ("input", candidate.inputs, candidate.input),
        ("output", outputs, candidate.output),
    ):
        for index in range(count):
            shape = shape_of(desc(index))
            if any(dim < 0 for dim in shape):
                return Step(
                    reason,
                    False,
                    f"{side} {index} has storage shape {text(shape)}",
                    {side: index, "shape": text(shape)},
                )
    return Step(reason, True, f"all of {candidate.inputs} inputs and {outputs} outputs are known")


def unknown_owner_graph(candidate: Candidate, reason: str = "unknown_owner_graph") -> Step:
    """The node's own graph is not of unknown shape; its parents do not matter."""
    dynamic = is_dynamic(candidate.graph)
    name = candidate.graph.sym_name.data
    return Step(
        reason,
        not dynamic,
        f"graph @{name} is {'' if dynamic else 'not '}of unknown shape",
        {"graph": name},
    )
