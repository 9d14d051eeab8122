"""How passes ask about nodes: by GE's terms, never by the Python class of the op.

All of it works on ops of other dialects too, as far as the question makes sense for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    NoneType,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.rewriter import Rewriter

from ge_dialect.dialects.attrs import UNIT, array_items, i64, i64_array, string_attr, text_of
from ge_dialect.dialects.ge.attr_values import from_python, to_python
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.graph import AbsentOp, GraphOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.ge.types import ControlType, UndefinedType
from ge_dialect.formats.dtypes import DType, dtype_by_name

UNKNOWN_DIM = -1


# --- nodes -------------------------------------------------------------------------------------------------------


def ge_type(op: Operation) -> str:
    """The GE operator type; for an op that is no node, its IR name."""
    if isinstance(op, GeNode):
        name = op.properties.get("type")
        return (text_of(name) or "") if name is not None else (op.DEFAULT_TYPE or "")
    return op.name


def node_name(op: Operation) -> str:
    """The node's name, unique in its graph; "" when it has none."""
    return text_of(op.attributes.get("ge.name")) or ""


def set_node_name(op: Operation, name: str) -> None:
    """Give the node a name."""
    op.attributes["ge.name"] = string_attr(name)


def source_op(op: Operation) -> SourceOp | None:
    """The operator of another framework that the node still follows; None for a node that follows GE's own type."""
    text = text_of(op.properties.get("source"))
    return None if text is None else SourceOp.parse(text)


def ge_attrs(op: Operation) -> dict[str, Any]:
    """All GE attributes of the node as Python values, under GE's names: `attrs` and the typed properties."""
    values: dict[str, Any] = {}
    properties = op.properties
    if isinstance(attrs := properties.get("attrs"), DictionaryAttr):
        for key, value in attrs.data.items():
            values[key] = to_python(value)
    if isinstance(op, GeNode):
        for name, spelling in op.GE_ATTRS.items():
            if name in properties and name not in ("source", "value"):
                values[spelling] = to_python(properties[name])
    return values


def ge_attr(op: Operation, name: str, default: Any = None) -> Any:
    """One GE attribute of the node as a Python value, `default` when the node does not have it."""
    properties = op.properties
    if isinstance(attrs := properties.get("attrs"), DictionaryAttr) and name in attrs.data:
        return to_python(attrs.data[name])
    if isinstance(op, GeNode):
        for key, spelling in op.GE_ATTRS.items():
            if spelling == name and key in properties:
                return to_python(properties[key])
    return default


def set_ge_attr(op: GeNode, name: str, value: Any) -> None:
    """Set one GE attribute of the node, where its class keeps it; None removes it. Takes what `from_python` takes."""
    for key, spelling in op.GE_ATTRS.items():
        if spelling == name:
            if value is None:
                op.properties.pop(key, None)
            else:
                op.properties[key] = from_python(value)
            return
    attrs = op.properties.get("attrs")
    kept = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
    if value is None:
        kept.pop(name, None)
    else:
        kept[name] = from_python(value)
    if kept:
        op.properties["attrs"] = DictionaryAttr(kept)
    else:
        op.properties.pop("attrs", None)


def subgraph_names(op: Operation) -> list[str]:
    """The names of the graphs that the node owns, in slot order."""
    return [
        x.string_value()
        for x in array_items(op.properties.get("subgraphs"))
        if isinstance(x, SymbolRefAttr)
    ]


# --- discardable `ge.*` attributes ---------------------------------------------------------------------------------


def get_int(op: Operation, name: str, default: int | None = None) -> int | None:
    """The integer attribute `name`, `default` when it is not there."""
    value = op.attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def get_ints(op: Operation, name: str) -> list[int] | None:
    """The integer list attribute `name`, None when it is not there."""
    value = op.attributes.get(name)
    return None if value is None else to_python(value)


def get_text(op: Operation, name: str) -> str | None:
    """The string attribute `name`, None when it is not there."""
    return text_of(op.attributes.get(name))


def get_flag(op: Operation, name: str) -> bool:
    """Whether the unit attribute `name` is there (or a boolean one is true)."""
    value = op.attributes.get(name)
    if isinstance(value, IntegerAttr):
        return bool(value.value.data)
    return isinstance(value, UnitAttr)


def set_int(op: Operation, name: str, value: int) -> None:
    """Set the integer attribute `name`."""
    op.attributes[name] = i64(value)


def set_ints(op: Operation, name: str, values: Sequence[int]) -> None:
    """Set the integer list attribute `name`."""
    op.attributes[name] = i64_array(values)


def set_flag(op: Operation, name: str, value: bool = True) -> None:
    """Set the unit attribute `name`, or remove it."""
    if value:
        op.attributes[name] = UNIT
    else:
        op.attributes.pop(name, None)


# --- edges ---------------------------------------------------------------------------------------------------------


def is_control(value: SSAValue) -> bool:
    """Whether a value is a control edge."""
    return isinstance(value.type, ControlType)


def is_absent(value: SSAValue) -> bool:
    """Whether a value is that of an unwired slot."""
    return isinstance(value.type, NoneType)


def data_operands(op: Operation) -> Sequence[SSAValue]:
    """The data inputs, slot by slot, unwired ones included."""
    operands = op.operands
    if not operands or not isinstance(operands[-1].type, ControlType):
        return operands
    return [x for x in operands if not isinstance(x.type, ControlType)]


def control_operands(op: Operation) -> Sequence[SSAValue]:
    """The control inputs."""
    operands = op.operands
    if not operands or not isinstance(operands[-1].type, ControlType):
        return ()
    return [x for x in operands if isinstance(x.type, ControlType)]


def data_results(op: Operation) -> Sequence[OpResult]:
    """The data outputs, slot by slot."""
    results = op.results
    return results[:-1] if results and isinstance(results[-1].type, ControlType) else results


def control_result(op: Operation) -> OpResult | None:
    """The control output, None as long as nothing needed one."""
    results = op.results
    return results[-1] if results and isinstance(results[-1].type, ControlType) else None


def ensure_control_result(op: Operation) -> SSAValue:
    """The control output, added to the op in place when it has none (the op stays the same object).

    An op of another dialect gets a `ge.token` behind it instead. Raises ValueError for one without results.
    """
    if (existing := control_result(op)) is not None:
        return existing
    if isinstance(op, GeNode):
        result = OpResult(ControlType(), op, len(op.results))
        op.results = SSAValues((*op.results, result))
        return result
    if not op.results:
        raise ValueError(f"'{op.name}' has no result that a ge.token could follow")
    token = TokenOp(op.results[0])
    block = op.parent
    assert block is not None
    block.insert_op_after(token, op)
    return token.output


def add_control_edge(source: Operation, target: Operation) -> None:
    """Order `target` behind `source` unless a control edge does so already."""
    value = ensure_control_result(source)
    if any(operand is value for operand in target.operands):
        return
    target.operands = [*target.operands, value]


# --- graphs --------------------------------------------------------------------------------------------------------


def graphs(module: ModuleOp) -> list[GraphOp]:
    """The graphs of a model; the first is the root."""
    return [op for op in module.body.block.ops if isinstance(op, GraphOp)]


def graph_table(module: ModuleOp) -> dict[str, GraphOp]:
    """The graphs of a model by name."""
    return {graph.sym_name.data: graph for graph in graphs(module)}


def graph_of(op: Operation) -> GraphOp:
    """The graph that a node stands in. Raises ValueError for an op outside any."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, GraphOp):
        parent = parent.parent_op()
    if parent is None:
        raise ValueError(f"'{op.name}' is in no ge.graph")
    return parent


def nodes(graph: GraphOp) -> Iterator[Operation]:
    """The ops of a graph that are nodes (no `ge.absent`), in block order."""
    for op in graph.body.block.ops:
        if not isinstance(op, AbsentOp):
            yield op


def absent_value(graph: GraphOp) -> SSAValue:
    """The value of the graph's (first) `ge.absent`, made at the start of the block when there is none."""
    block = graph.body.block
    for op in block.ops:
        if isinstance(op, AbsentOp):
            return op.output
    absent = AbsentOp()
    if (first := block.first_op) is None:
        block.add_op(absent)
    else:
        block.insert_op_before(absent, first)
    return absent.output


# --- descriptors -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorDesc:
    """What GE's tensor descriptor of one slot says.

    `shape`/`origin_shape`: -1 is an unknown dimension, None an unknown rank. `attrs` is the slot's dictionary.
    """

    shape: tuple[int, ...] | None
    dtype: DType
    format: str
    origin_shape: tuple[int, ...] | None
    origin_format: str
    encoding: DescAttr | None
    attrs: DictionaryAttr


_NO_ATTRS = DictionaryAttr({})
_UNDEFINED = dtype_by_name("UNDEFINED")


def slot_attrs(op: Operation, side: str, index: int) -> DictionaryAttr:
    """The dictionary of data slot `index`; `side` is "arg" (inputs) or "res" (outputs)."""
    slots = array_items(op.attributes.get(f"ge.{side}_attrs"))
    attrs = slots[index] if index < len(slots) else None
    return attrs if isinstance(attrs, DictionaryAttr) else _NO_ATTRS


def set_slot_attr(op: Operation, side: str, index: int, key: str, value: Attribute | None) -> None:
    """Set (or with None remove) one entry of a data slot's dictionary; empty dictionaries all over are left out."""
    count = len(data_operands(op) if side == "arg" else data_results(op))
    if index >= count:
        raise IndexError(f"'{op.name}' has {count} data {side} slots, there is no slot {index}")
    slots = [dict(slot_attrs(op, side, i).data) for i in range(count)]
    if value is None:
        slots[index].pop(key, None)
    else:
        slots[index][key] = value
    if any(slots):
        op.attributes[f"ge.{side}_attrs"] = ArrayAttr([DictionaryAttr(slot) for slot in slots])
    else:
        op.attributes.pop(f"ge.{side}_attrs", None)


def desc_of_type(kind: Attribute, attrs: DictionaryAttr = _NO_ATTRS) -> TensorDesc:
    """The descriptor that a value's type and a slot's dictionary give together."""
    shape: tuple[int, ...] | None = None
    element: Attribute = UndefinedType()
    encoding: Attribute | None = attrs.data.get("desc")
    if isinstance(kind, TensorType):
        tensor = cast("TensorType[Attribute]", kind)
        shape = dims_of(tensor)
        element = tensor.element_type
        encoding = tensor.encoding
    elif isinstance(kind, UnrankedTensorType):
        element = cast("UnrankedTensorType[Attribute]", kind).element_type
    try:
        dtype = dtype_of(element)
    except KeyError:
        dtype = _UNDEFINED
    if not isinstance(encoding, DescAttr):
        return TensorDesc(shape, dtype, "ND", shape, "ND", None, attrs)
    origin = encoding.origin_shape
    return TensorDesc(
        shape,
        dtype,
        encoding.format,
        shape if origin is None else origin,
        encoding.origin_format or encoding.format,
        encoding,
        attrs,
    )


def input_desc(op: Operation, index: int) -> TensorDesc:
    """The descriptor of data input `index`: the slot's own `type` where it has one, else its value's."""
    attrs = slot_attrs(op, "arg", index)
    own = attrs.data.get("type")
    return desc_of_type(data_operands(op)[index].type if own is None else own, attrs)


def output_desc(op: Operation, index: int) -> TensorDesc:
    """The descriptor of data output `index`."""
    return desc_of_type(data_results(op)[index].type, slot_attrs(op, "res", index))


def set_result_type(op: Operation, index: int, kind: Attribute) -> OpResult:
    """Give result `index` another type and drop the overrides of its consumers' descriptors that have gone stale.

    An input's own `type` is stale when it had been said because it differed from the old type and now equals the new.
    """
    result = op.results[index]
    if result.type == kind:
        return result
    new = Rewriter.replace_value_with_new_type(result, kind)
    for use in list(new.uses):
        user = use.operation
        if slot_attrs(user, "arg", use.index).data.get("type") == kind:
            set_slot_attr(user, "arg", use.index, "type", None)
    return op.results[index]


def dims_of(kind: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type, -1 for an unknown dimension (xDSL has another number); None: unknown rank."""
    if not isinstance(kind, TensorType):
        return None
    shape = cast("TensorType[Attribute]", kind).get_shape()
    if DYNAMIC_INDEX not in shape:
        return shape
    return tuple(UNKNOWN_DIM if dim == DYNAMIC_INDEX else dim for dim in shape)


def static_shape(kind: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type without unknown dimensions, else None."""
    if not isinstance(kind, TensorType):
        return None
    shape = cast("TensorType[Attribute]", kind).get_shape()
    return None if DYNAMIC_INDEX in shape else shape


def is_static(op: Operation) -> bool:
    """Whether all data the node reads and writes are tensors of known shape."""
    return all(
        isinstance(value.type, ControlType | NoneType) or static_shape(value.type) is not None
        for value in (*op.operands, *op.results)
    )
