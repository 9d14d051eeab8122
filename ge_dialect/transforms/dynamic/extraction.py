"""From a cluster of nodes to a graph of its own and the node that calls it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import i64, string, string_attr
from ge_dialect.dialects.engine_table import ENGINES, GE_LOCAL, RTS
from ge_dialect.dialects.ge.access import data_operands, data_results, is_absent, node_name
from ge_dialect.dialects.ge.graph import AbsentOp, GraphOp
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp, NetOutputOp, OpOp

CALL = "PartitionedCall"


def extract(members: Sequence[Operation], name: str) -> tuple[GraphOp, OpOp]:
    """Move nodes, which are in order, into a new graph called `name`; the call stands where the last of them stood.

    Values from outside become inputs of the call in the order of first use, values that others read its outputs.
    Constants are repeated (their bytes are shared), so that the graph holds its own weights.
    """
    inside = set(members)
    inputs: dict[SSAValue, SSAValue] = {}
    prelude: list[Operation] = []
    constants: list[Operation] = []
    for op in members:
        for slot, value in enumerate(data_operands(op)):
            if value.owner in inside:
                continue
            if (own := inputs.get(value)) is None:
                own = inputs[value] = _inner(value, name, prelude, constants)
            op.operands[slot] = own
    outputs = [
        result
        for op in members
        for result in data_results(op)
        if any(use.operation not in inside for use in result.uses)
    ]
    passed = [value for value in inputs if not _is_own(value)]
    call = _call(name, passed, outputs)
    last = members[-1]
    call.location = members[0].location
    block = last.parent
    assert block is not None
    block.insert_op_after(call, last)
    for result, made in zip(outputs, call.results, strict=True):
        made.name_hint = result.name_hint
        result.replace_uses_with_if(made, lambda use: use.operation not in inside)
    for op in members:
        block.detach_op(op)
    graph = GraphOp(name, attributes={"ge.unknown_shape": BoolAttr.from_bool(False)})
    graph.block.add_ops([*prelude, *constants, *members, _net_output(name, outputs)])
    return graph, call


def _is_own(value: SSAValue) -> bool:
    """Whether the cluster gets a copy of the value's producer instead of the value."""
    return isinstance(value.owner, ConstantOp) or is_absent(value)


def _inner(
    value: SSAValue, name: str, prelude: list[Operation], constants: list[Operation]
) -> SSAValue:
    """What stands for a value from outside: a graph input, a copy of the constant, an absent slot."""
    if is_absent(value):
        op: Operation = AbsentOp()
        constants.append(op)
    elif isinstance(value.owner, ConstantOp):
        op = value.owner.clone()
        op.attributes["ge.name"] = string_attr(f"{name}/{node_name(value.owner)}")
        constants.append(op)
    else:
        index = len(prelude)
        attributes = _attributes(f"{name}/input_{index}", GE_LOCAL)
        attributes["ge.parent_node_index"] = i64(index)
        op = DataOp.make((), (value.type,), {"index": i64(index)}, attributes)
        prelude.append(op)
    result = op.results[0]
    result.name_hint = value.name_hint
    return result


def _attributes(name: str, engine: str) -> dict[str, Attribute]:
    return {
        "ge.name": string_attr(name),
        "ge.engine": string(engine),
        "ge.kernel_lib": string(ENGINES[engine].kernel_lib),
    }


def _call(name: str, inputs: Sequence[SSAValue], outputs: Sequence[OpResult]) -> OpOp:
    return OpOp.make(
        inputs,
        [result.type for result in outputs],
        {"type": string(CALL), "subgraphs": ArrayAttr([SymbolRefAttr(name)])},
        _attributes(name, GE_LOCAL),
    )


def _net_output(name: str, outputs: Sequence[OpResult]) -> NetOutputOp:
    return NetOutputOp.make(outputs, (), {}, _attributes(f"{name}/output", RTS))
