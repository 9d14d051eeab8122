"""What is known across the border between a node and the graphs that it owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import NoneType
from xdsl.ir import Operation

from ge_dialect.analysis.node_info import info_of_type
from ge_dialect.dialects.attrs import string_attr
from ge_dialect.dialects.engine_types import BRANCH_TYPES, CALL_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    ge_type,
    get_int,
    get_text,
    is_absent,
    node_name,
    set_result_type,
    source_op,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp, NetOutputOp
from ge_dialect.kernels.shapes.info import Info, TensorInfo
from ge_dialect.transforms.canonicalize.constants import ConstantTable
from ge_dialect.transforms.canonicalize.plain_tensor import Shape
from ge_dialect.transforms.canonicalize.refine import narrowed

PASSED_AS_THEY_ARE = BRANCH_TYPES | CALL_TYPES
"""Owners whose graphs run at most once, on the node's own inputs. (A loop's inputs change from round to round.)"""

CAPTURED = "captured"
"""`ge.formal` of a graph input that is a value around the owner, the same in each round of a loop."""

_COPIED_BYTES = 1024
"""Constants up to this size are repeated in the graph that reads them: shapes, axes, scalars; no weights."""


def narrow_inputs(op: Operation, graph: GraphOp, constants: ConstantTable) -> int:
    """Give the graph's inputs the types of what the owner passes, and repeat small constants inside.

    Of a loop's body only inputs that are the same in each round count.
    Returns the number of inputs that changed. Raises ValueError for a contradiction.
    """
    changed = 0
    operands = data_operands(op)
    as_they_are = ge_type(op) in PASSED_AS_THEY_ARE and source_op(op) is None
    for node in list(graph.block.ops):
        if not isinstance(node, DataOp) or not (
            as_they_are or get_text(node, "ge.formal") == CAPTURED
        ):
            continue
        index = get_int(node, "ge.parent_node_index")
        if index is None or not 0 <= index < len(operands) or is_absent(operands[index]):
            continue
        value = operands[index]
        info = info_of_type(value.type)
        if isinstance(info, TensorInfo):
            old = node.results[0].type
            new = narrowed(old, info.shape, info.dtype)
            if new is not old and new != old:
                set_result_type(node, 0, new)
                changed += 1
        array = constants.array(value)
        if (
            array is not None
            and array.nbytes <= _COPIED_BYTES
            and node.results[0].first_use is not None
        ):
            _repeat(node, value.owner, graph)
            changed += 1
    return changed


def _repeat(node: DataOp, source: object, graph: GraphOp) -> None:
    """Let the readers of a graph input read a copy of the constant that the owner passes."""
    assert isinstance(source, ConstantOp)
    name = string_attr(f"{node_name(node)}/{node_name(source)}")
    copy = ConstantOp.make(
        (), (source.results[0].type,), dict(source.properties), {"ge.name": name}
    )
    copy.location = source.location
    graph.block.insert_op_after(copy, node)
    node.results[0].replace_all_uses_with(copy.results[0])


def joined(one: Shape | None, other: Shape | None) -> Shape | None:
    """The shape that holds for either of two tensors: unknown where they differ."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else -1 for a, b in zip(one, other, strict=True))


def output_infos(names: Sequence[str], table: Mapping[str, GraphOp]) -> list[Info | None]:
    """What holds for each output of an owner, whichever of its graphs ran; [] when one is missing or has no outputs."""
    found: list[Info | None] | None = None
    for name in names:
        graph = table.get(name)
        last = None if graph is None else _net_output(graph)
        if last is None:
            return []
        infos = [
            None if isinstance(v.type, NoneType) else info_of_type(v.type)
            for v in data_operands(last)
        ]
        found = (
            infos if found is None else [_either(a, b) for a, b in zip(found, infos, strict=False)]
        )
    return found or []


def _either(one: Info | None, other: Info | None) -> Info | None:
    if (
        not isinstance(one, TensorInfo)
        or not isinstance(other, TensorInfo)
        or one.dtype is not other.dtype
    ):
        return None
    return TensorInfo(one.dtype, joined(one.shape, other.shape))


def _net_output(graph: GraphOp) -> NetOutputOp | None:
    op = graph.block.last_op
    while op is not None and not isinstance(op, NetOutputOp):
        op = op.prev_op
    return op
