"""Rules that hold inside one graph: order, names, inputs and outputs."""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import (
    control_result,
    data_operands,
    data_results,
    ge_type,
    get_int,
    node_name,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode, verify_control_last
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.verify.attribute_checks import attribute_findings, checked
from ge_dialect.transforms.verify.finding import Finding, Findings
from ge_dialect.transforms.verify.node_attrs import node_attr_findings


def graph_findings(graph: GraphOp, owner: Operation | None) -> Findings:
    """`owner` is the node that the graph belongs to, None for the root and for graphs whose owner is not here."""
    yield from attribute_findings(graph, "graph")
    names: dict[str, Operation] = {}
    indices: dict[int, Operation] = {}
    net_output: Operation | None = None
    seen: set[SSAValue] = set()
    for op in graph.block.ops:
        yield from _operand_findings(op, graph, seen)
        seen.update(op.results)
        if op.attributes:
            yield from attribute_findings(op, "node")
        if (name := node_name(op)) and names.setdefault(name, op) is not op:
            yield Finding(
                op, f'second node named "{name}" in graph @{graph.sym_name.data}{_see(names[name])}'
            )
        if isinstance(op, GeNode):
            yield from checked(op, verify_control_last)
            yield from node_attr_findings(op)
            if "ge.consumers" in op.attributes:
                yield from _consumer_findings(op)
        if isinstance(op, NetOutputOp):
            if net_output is not None:
                yield Finding(
                    op, f"second NetOutput in graph @{graph.sym_name.data}{_see(net_output)}"
                )
            net_output = op
        elif isinstance(op, DataOp):
            yield from _data_findings(op, graph, indices, owner)


def _see(op: Operation) -> str:
    place = location_text(op)
    return f"; the first is at {place}" if place is not None and 'node "' not in place else ""


def _operand_findings(op: Operation, graph: GraphOp, seen: set[SSAValue]) -> Findings:
    for index, operand in enumerate(op.operands):
        if operand not in seen:
            yield Finding(
                op, f"operand {index} of {ge_type(op)} {_why_not_seen(operand, op, graph)}"
            )
    for region in op.regions:
        inside: list[SSAValue] = []
        for block in region.blocks:
            inside += block.args
            seen.update(block.args)
            for inner in block.ops:
                yield from _operand_findings(inner, graph, seen)
                inside += inner.results
                seen.update(inner.results)
        seen.difference_update(inside)  # they end with their region


def _why_not_seen(value: SSAValue, user: Operation, graph: GraphOp) -> str:
    owner = value.owner
    if isinstance(owner, Block):
        return "is a block argument of a region that does not enclose it"
    parent = owner.parent_op()
    while parent is not None and not isinstance(parent, GraphOp):
        parent = parent.parent_op()
    if owner is user:
        return "is its own output"
    what = f'"{node_name(owner)}"' if node_name(owner) else f"a {ge_type(owner)}"
    if parent is None:
        return f"comes from {what}, which is in no graph"
    if parent is not graph:
        return f"comes from {what} in another graph, @{parent.sym_name.data}; sub-graphs take values through ge.data"
    return f"comes from {what}, which stands behind it: the block is not in topological order"


def _data_findings(
    op: DataOp, graph: GraphOp, indices: dict[int, Operation], owner: Operation | None
) -> Findings:
    if op.index is not None:
        index = op.index.value.data
        if index < 0:
            yield Finding(op, f"{ge_type(op)} has the negative index {index}")
        elif indices.setdefault(index, op) is not op:
            yield Finding(
                op,
                f"second graph input with index {index} in graph @{graph.sym_name.data}{_see(indices[index])}",
            )
    slot = get_int(op, "ge.parent_node_index")
    if slot is None or owner is None:
        return
    count = len(data_operands(owner))
    if not 0 <= slot < count:
        name = node_name(owner) or ge_type(owner)
        yield Finding(
            op, f'ge.parent_node_index {slot} is out of range: "{name}" has {count} inputs'
        )


def _consumer_findings(op: GeNode) -> Findings:
    """Entries are `name:slot`, slot -1 for a control edge; each must be an edge of the graph, and none twice."""
    edges = {
        f"{node_name(use.operation)}:{use.index}"
        for result in data_results(op)
        for use in result.uses
    }
    if isinstance(control := control_result(op), OpResult):
        edges |= {f"{node_name(use.operation)}:-1" for use in control.uses}
    listed: set[str] = set()
    for item in getattr(op.attributes["ge.consumers"], "data", ()):
        text = text_of(item)
        if text is None:
            continue
        if text not in edges:
            yield Finding(op, f'ge.consumers lists "{text}", which does not read this node')
        if text in listed:
            yield Finding(op, f'ge.consumers lists "{text}" twice')
        listed.add(text)
