"""Pass `ge-mark-cv-parallel`: vector work that may run beside the cube unit."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import CV_PARALLEL
from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel, has_ge_attr
from ge_dialect.dialects.ge.access import ge_attr, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode
from ge_dialect.transforms.streams.stream_pass import StreamPass

CORE_TYPE, MIX_IS_AIV = "_cube_vector_core_type", "_mix_is_aiv"


@dataclass(frozen=True)
class GeMarkCvParallel(StreamPass):
    """In mode `cv`, mark vector nodes (AIV) that do not stand between two cube nodes (AIC) in a row of dependencies.

    Expects a topological order; runs before engine sub-graphs are made. `_cube_vector_core_type` says what a node is:
    `AIV`, `MIX_AIV`, or `MIX` with `_mix_is_aiv` are AIV, anything else AIC. Compared are the nearest AIC nodes before
    and after it in the order of the graph. A vector node that depends on the one before and has none after it stays;
    otherwise it is marked unless it depends on the one before *and* the one after depends on it. Guarantees afterwards:
    marked nodes, and no others, have `_enable_cv_parallel`. A marked node counts as vector engine, which has streams of
    its own (spec/streams.md section 1.6).

    Options:
    * `auto`: the text of `ge.autoMultistreamParallelMode`; the root graph's `ge.auto_multistream_mode` wins. Nothing
      happens unless it is `cv`.

    Raises StreamError (E10001) for a text that is no mode.

    Before and after, for a vector node that nothing links to the cube nodes around it:

        %v = ge.op "Relu" (%y) attrs {_cube_vector_core_type = "AIV"} {ge.name = "v"} : tensor<2xf32>
        %v = ge.op "Relu" (%y) attrs {_cube_vector_core_type = "AIV", _enable_cv_parallel = true} {ge.name = "v"}
            : tensor<2xf32>
    """

    name = "ge-mark-cv-parallel"

    auto: str = ""

    def assign(self, model: StreamModel) -> bool:
        root = None if model.root is None else model.root.graph
        if effective_auto_mode(root, self.auto).kind != "cv":
            return False
        marked = [_mark(view) for view in model.graphs]
        return any(marked)


def _is_aiv(core_type: object, mix_is_aiv: object) -> bool:
    return core_type in ("AIV", "MIX_AIV") or (core_type == "MIX" and mix_is_aiv is True)


def _mark(view: GraphNodes) -> bool:
    """One sweep forward and one back: ways between neighbouring cube nodes only lead through what lies in between."""
    cubes: list[int] = []
    vectors: list[int] = []
    for index, op in enumerate(view.nodes):
        if has_ge_attr(op, CORE_TYPE):
            aiv = _is_aiv(ge_attr(op, CORE_TYPE), ge_attr(op, MIX_IS_AIV))
            (vectors if aiv else cubes).append(index)
    if not vectors:
        return False
    behind = _reached(len(view.nodes), cubes, view.sources)
    before = _reached_backwards(len(view.nodes), cubes, view.readers)
    last = cubes[-1] if cubes else -1
    changed = False
    for index in vectors:
        op = view.nodes[index]
        if (index > last and behind[index]) or (behind[index] and before[index]):
            continue
        if isinstance(op, GeNode):
            set_ge_attr(op, CV_PARALLEL, True)
            changed = True
    return changed


def _reached(count: int, cubes: list[int], sources: list[list[int]]) -> list[bool]:
    """Whether a way leads to each node from the nearest cube node before it."""
    is_cube = set(cubes)
    reached = [False] * count
    nearest = -1
    for index in range(count):
        if nearest >= 0:
            reached[index] = any(
                source == nearest or (source > nearest and reached[source])
                for source in sources[index]
            )
        if index in is_cube:
            nearest = index
    return reached


def _reached_backwards(count: int, cubes: list[int], readers: list[list[int]]) -> list[bool]:
    """Whether a way leads from each node to the nearest cube node after it."""
    is_cube = set(cubes)
    reached = [False] * count
    nearest = count
    for index in reversed(range(count)):
        if nearest < count:
            reached[index] = any(
                reader == nearest or (reader < nearest and reached[reader])
                for reader in readers[index]
            )
        if index in is_cube:
            nearest = index
    return reached
