"""Pass `ge-host-fusion`: host nodes that hang together become one node."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, OpResult
from xdsl.passes import ModulePass

from ge_dialect.analysis.order import is_sorted, topological_order
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import (
    control_operands,
    control_result,
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_flag,
    get_text,
    graphs,
    is_absent,
    node_name,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import OpOp
from ge_dialect.dialects.ge.types import ResourceType, VariantType
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.fused import FUSED_TYPE
from ge_dialect.kernels.registry import find
from ge_dialect.kernels.spec import OpSpec, spec_of
from ge_dialect.transforms.engines.ge_assign_engines import placement_type
from ge_dialect.transforms.host.cycles import on_cycles
from ge_dialect.transforms.host.fused_node import NODE_NAMES, build
from ge_dialect.transforms.host.regions import MAX_GROWTH, Component, Edge, fused_regions
from ge_dialect.transforms.host.roles import kernel_lib
from ge_dialect.transforms.host.support import HOST_NAMES, HostKernels, kernels_of

Generate = Callable[[OpSpec], object]
"""Makes the code of a fused node; a GeError says that it cannot."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to become of one graph: its nodes in order, and the components of candidates among them."""

    graph: GraphOp
    ops: list[Operation]
    components: list[Component]


@dataclass(frozen=True, slots=True)
class _Joined:
    """The nodes of a component, in order, and the fused nodes that will replace them.

    Each fused node comes with its last original, whose place it takes, and the values that its results replace.
    """

    graph: GraphOp
    originals: list[Operation]
    made: list[OpOp]
    places: list[Operation]
    replaced: list[list[OpResult]]


@dataclass(frozen=True)
class GeHostFusion(ModulePass):
    """Join small-shape host nodes that read each other into one node of the type FusedHostCpu.

    Expects `ge-host-exec` to have moved nodes. A moved node takes part when it has no graphs, no control edges, no
    `_resource_list`, at least one output, every input wired and every output of known shape. Nodes that hang together
    become one; where a node has two readers that have nothing to do with each other, there is one fused node for each
    end, and what they share is computed in each (spec/host_execution.md section 9). Guarantees afterwards: same
    results; the fused node carries its nodes in `attrs`, from which its kernel is one Python function; all or nothing
    over all graphs when a region has no code. Nodes that would depend on themselves when joined are left apart.

    Options:
    * `max-growth`: regions may have, with what is computed twice, so many times the nodes that they replace;
    * `kernels`: as for `ge-host-exec`.

    Remarks: `passed` for each fused node, `missed` for each group of candidates that stays, with the reason.

    Before and after (both nodes on the host CPU):

        %a = ge.op "GatherV2" (%s, %k, %z) {ge.name = "a", ...} : tensor<1xi64>
        %b = ge.op "Mul" (%a, %k) {ge.name = "b", ...} : tensor<1xi64>

        %b = ge.op "FusedHostCpu" (%s, %k, %z) attrs {_fused_body = [...], _fused_outputs = array<i64: 1>, ...}
            {ge.name = "FusedHostCpu_0", ...} : tensor<1xi64>
    """

    name = "ge-host-fusion"

    max_growth: int = MAX_GROWTH
    kernels: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_growth < 0:
            raise GeError(f"max-growth is not below 0, got {self.max_growth}", self.name)
        fuse(op, kernels_of(self.kernels), self.max_growth)


def fuse(
    module: ModuleOp,
    kernels: HostKernels,
    max_growth: int = MAX_GROWTH,
    generate: Generate = find,
) -> int:
    """Fuse all graphs of a module or, when `generate` fails for a region, none; the number of fused nodes."""
    number = _first_free_number(module)
    joined: list[_Joined] = []
    for graph in graphs(module):
        plan = _plan(graph, kernels, max_growth)
        for part in plan.components:
            if part.refusal is not None:
                _report_left(plan.ops[part.nodes[0]], part)
                continue
            joined.append(_join(plan, part, number))
            number += len(part.regions)
    made = [node for each in joined for node in each.made]
    try:
        for node in made:
            generate(spec_of(node))
    except GeError as error:
        for node in made:
            node.drop_all_references()
        said = f"nothing is fused, a region has no code: {error.message}"
        emit_remark(module, GeHostFusion.name, "missed", said, condition="no-code")
        return 0
    for each in joined:
        _replace(each)
    for graph in dict.fromkeys(each.graph for each in joined):
        _restore_order(graph)
    return len(made)


def _plan(graph: GraphOp, kernels: HostKernels, max_growth: int) -> _Plan:
    ops = list(graph.block.ops)
    candidates = [is_candidate(op, kernels) for op in ops]
    if sum(candidates) < 2:
        return _Plan(graph, ops, [])
    if not is_sorted(ops):
        ops = topological_order(ops)
        candidates = [is_candidate(op, kernels) for op in ops]
    number = {op: index for index, op in enumerate(ops)}
    edges = [
        Edge(number[x.op], x.index, target)
        for target, op in enumerate(ops)
        for x in op.operands
        if isinstance(x, OpResult) and x.op in number
    ]
    components = fused_regions(candidates, edges, max_growth)
    for part in on_cycles(len(ops), edges, components):
        part.refusal, part.regions = "cycle", []
    return _Plan(graph, ops, components)


def is_candidate(op: Operation, kernels: HostKernels) -> bool:
    """Whether a node may become part of a fused one (section 9).

    A node whose storage formats differ from its origin formats may not: the body keeps no descriptors.
    """
    if not isinstance(op, GeNode) or not _is_moved(op):
        return False
    kind = placement_type(op)
    if kind == FUSED_TYPE or kind not in kernels.types or subgraph_names(op):
        return False
    if ge_attr(op, "_resource_list") is not None or control_operands(op):
        return False
    control, results, operands = control_result(op), data_results(op), data_operands(op)
    if not results or (control is not None and control.first_use is not None):
        return False
    return (
        all(static_shape(result.type) is not None for result in results)
        and not any(is_absent(value) for value in operands)
        and not any(_is_handle(value.type) for value in (*operands, *results))
        and spec_of(op).layouts is None
    )


def _is_moved(op: Operation) -> bool:
    if (get_text(op, "ge.engine"), kernel_lib(op)) != HOST_NAMES:
        return False
    return get_flag(op, "ge.small_shape_host_cpu") or bool(ge_attr(op, "SmallShapeHostcpu", False))


def _is_handle(kind: Attribute) -> bool:
    if not isinstance(kind, TensorType | UnrankedTensorType):
        return False
    tensor = cast("TensorType[Attribute] | UnrankedTensorType[Attribute]", kind)
    return isinstance(tensor.element_type, ResourceType | VariantType)


def _join(plan: _Plan, part: Component, number: int) -> _Joined:
    joined = _Joined(plan.graph, [plan.ops[node] for node in part.nodes], [], [], [])
    for index, region in enumerate(part.regions):
        ops = [plan.ops[node] for node in region.nodes]
        outputs = [data_results(plan.ops[node])[slot] for node, slot in region.outputs]
        joined.made.append(build(ops, outputs, number + index))
        joined.places.append(ops[-1])
        joined.replaced.append(outputs)
    return joined


def _replace(joined: _Joined) -> None:
    block = joined.graph.block
    for made, place, outputs in zip(joined.made, joined.places, joined.replaced, strict=True):
        block.insert_op_before(made, place)
        for old, new in zip(outputs, made.results, strict=True):
            old.replace_all_uses_with(new)
    for op in reversed(joined.originals):
        op.detach()
        op.erase(safe_erase=False)
    for made in joined.made:
        names = ge_attr(made, NODE_NAMES)
        said = f"{len(names)} host nodes became {node_name(made)}: {', '.join(names)}"
        emit_remark(made, GeHostFusion.name, "passed", said, nodes=len(names))


def _restore_order(graph: GraphOp) -> None:
    """Readers of an output that a fused node gives later than the original did may stand in front of it."""
    ops = list(graph.block.ops)
    if is_sorted(ops):
        return
    for op in ops:
        op.detach()
    graph.block.add_ops(topological_order(ops))


def _first_free_number(module: ModuleOp) -> int:
    """The number behind those of fused nodes that are there already."""
    numbers = [
        int(match[1])
        for graph in graphs(module)
        for op in graph.block.ops
        if (match := _FUSED_NAME.fullmatch(node_name(op))) is not None
    ]
    return max(numbers, default=-1) + 1


_FUSED_NAME = re.compile(rf"{FUSED_TYPE}_([0-9]+)")


def _report_left(first: Operation, part: Component) -> None:
    said = f'{len(part.nodes)} host nodes from {ge_type(first)} "{node_name(first)}" on stay apart: {part.refusal}'
    emit_remark(
        first,
        GeHostFusion.name,
        "missed",
        said,
        condition=part.refusal,
        nodes=len(part.nodes),
    )
