"""Nodes that take the place of a node that owned graphs, in the block of the root graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import UNIT, i64, i64_array, string, string_attr
from ge_dialect.dialects.engine_table import ENGINES
from ge_dialect.dialects.ge.access import desc_of_type, node_name, set_slot_attr, static_shape
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import (
    ConstantOp,
    LabelGotoOp,
    LabelSetOp,
    LabelSwitchOp,
    OpOp,
)
from ge_dialect.dialects.ge.weights import elements_attr, tensor_type
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.transforms.canonicalize.inlining import NameSet
from ge_dialect.transforms.engines.select import Names, Policy, select

BOOL, INT32, INT64 = (dtype_by_name(name) for name in ("BOOL", "INT32", "INT64"))


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor of known shape."""
    shape = static_shape(value.type)
    assert shape is not None, "only models of known shape are lowered"
    return shape


class FlatGraph:
    """Puts nodes in front of `place`, the node of the root graph that is being replaced.

    Names start with that of `owner`, the node that asked for them. Engines are given where `place` has one.
    """

    def __init__(self, root: GraphOp, below: Sequence[GraphOp] = ()) -> None:
        """`below`: the graphs whose nodes will move here, with the labels that they set."""
        self.root = root
        self.place: Operation | None = None
        self.last: Operation = root
        """The node that was put there last."""
        self.names = NameSet(root)
        self.labels = _labels_used((root, *below))
        self._constants: dict[tuple[str, tuple[int, ...], bytes], SSAValue] = {}
        self._engines: dict[str, dict[str, Attribute]] = {}

    # --- nodes ------------------------------------------------------------------------------------------------

    def move(self, op: Operation, name: str) -> None:
        """Take over a node of an owned graph under the first free name like `name`."""
        if op.parent is not None:
            op.parent.detach_op(op)
        if name:
            op.attributes["ge.name"] = string_attr(self.names.free(name))
        op.attributes.pop("ge.id", None)
        self._insert(op)

    def node(
        self,
        owner: Operation,
        kind: str,
        operands: Sequence[SSAValue],
        result: Attribute,
        attrs: dict[str, object] | None = None,
        reuse_input: int | None = None,
    ) -> SSAValue:
        """A node of GE type `kind` with one result, which with `reuse_input` is that input's memory."""
        properties: dict[str, Attribute] = {"type": string(kind)}
        if attrs:
            properties["attrs"] = DictionaryAttr({k: from_python(v) for k, v in attrs.items()})
        made = OpOp.make(operands, [result], properties, self._attributes(owner, kind))
        if reuse_input is not None:
            set_slot_attr(made, "res", 0, "reuse_input", i64(reuse_input))
        return self._insert(made).results[0]

    def copy(self, owner: Operation, value: SSAValue, over: SSAValue | None = None) -> SSAValue:
        """A copy of `value`: into memory of its own, or over the memory of `over`."""
        operands = [value] if over is None else [value, over]
        kind = value.type if over is None else over.type
        made = self.node(owner, "Identity", operands, kind, None, None if over is None else 1)
        assert isinstance(made, OpResult)
        made.op.attributes["ge.keep"] = UNIT
        return made

    def constant(self, array: np.ndarray) -> SSAValue:
        """A constant, made once at the start of the graph."""
        key = (str(array.dtype), array.shape, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            kind = "Const"
            value = elements_attr(array)
            attributes: dict[str, Attribute] = {
                "ge.name": string_attr(self.names.free(f"{self.root.sym_name.data}/Const")),
                **self._engine(kind),
            }
            op = ConstantOp.make((), (value.type,), {"value": value}, attributes)
            first = self.root.block.first_op
            assert first is not None
            self.root.block.insert_op_before(op, first)
            found = self._constants[key] = op.results[0]
        return found

    def dtype(self, value: SSAValue) -> np.dtype[Any]:
        """numpy's element type of a tensor of numbers."""
        found = desc_of_type(value.type).dtype.numpy
        assert found is not None
        return found

    def number(self, value: int) -> SSAValue:
        """An int64 scalar constant."""
        return self.constant(np.array(value, np.int64))

    def truth(self, owner: Operation, value: SSAValue) -> SSAValue:
        """0 or 1 as an int32 of the shape of `value`: whether it is other than zero."""
        shape = shape_of(value)
        if value.type != tensor_type(BOOL, shape):
            zero = self.constant(np.zeros((), self.dtype(value)))
            value = self.node(owner, "NotEqual", [value, zero], tensor_type(BOOL, shape))
        return self.cast(owner, value)

    def cast(self, owner: Operation, value: SSAValue) -> SSAValue:
        """The value as int32."""
        kind = tensor_type(INT32, shape_of(value))
        if value.type == kind:
            return value
        return self.node(owner, "Cast", [value], kind, {"dst_type": INT32.cpp})

    def as_type(self, owner: Operation, value: SSAValue, kind: Attribute) -> SSAValue:
        """The value seen with the shape of `kind`, which has as many elements."""
        if value.type == kind:
            return value
        shape = self.constant(np.array(static_shape(kind), np.int64))
        return self.node(owner, "Reshape", [value, shape], kind)

    # --- labels -----------------------------------------------------------------------------------------------

    def new_label(self) -> int:
        """The next free label."""
        self.labels += 1
        return self.labels - 1

    def label_set(
        self, owner: Operation, label: int, values: Sequence[SSAValue] = ()
    ) -> list[SSAValue]:
        """Set a label; the results are `values` under a new name, in the same memory."""
        made = LabelSetOp.make(
            values,
            [x.type for x in values],
            {"label_index": i64(label)},
            {**self._attributes(owner, "LabelSet"), **_views(len(values), 0)},
        )
        return list(self._insert(made).results)

    def label_goto(self, owner: Operation, label: int, alive: Sequence[SSAValue] = ()) -> None:
        """Jump; the memory of `alive` is in use until here."""
        properties: dict[str, Attribute] = {"label_index": i64(label)}
        attributes = self._attributes(owner, "LabelGotoEx")
        self._insert(LabelGotoOp.make(alive, (), properties, attributes))

    def label_switch(
        self,
        owner: Operation,
        index: SSAValue,
        labels: Sequence[int],
        values: Sequence[SSAValue] = (),
    ) -> list[SSAValue]:
        """Jump to the label that `index` counts; the results are `values` under a new name, in the same memory."""
        made = LabelSwitchOp.make(
            [index, *values],
            [x.type for x in values],
            {"label_list": i64_array(labels)},
            {**self._attributes(owner, "LabelSwitchByIndex"), **_views(len(values), 1)},
        )
        return list(self._insert(made).results)

    # --- parts ------------------------------------------------------------------------------------------------

    def _insert(self, op: Operation) -> Operation:
        assert self.place is not None
        self.root.block.insert_op_before(op, self.place)
        self.last = op
        return op

    def _attributes(self, owner: Operation, kind: str) -> dict[str, Attribute]:
        name = self.names.free(f"{node_name(owner)}/{kind}")
        return {"ge.name": string_attr(name), **self._engine(kind)}

    def _engine(self, kind: str) -> dict[str, Attribute]:
        if self.place is None or "ge.engine" not in self.place.attributes:
            return {}
        found = self._engines.get(kind)
        if found is None:
            names = select(kind, Names(), Policy()).names
            row = ENGINES.get(names.engine)
            lib = names.kernel_lib or ("" if row is None else row.kernel_lib)
            found = self._engines[kind] = {
                "ge.engine": string(names.engine),
                "ge.kernel_lib": string(lib),
            }
        return found


def _views(count: int, first: int) -> dict[str, Attribute]:
    """The slots of results that are the memory of the inputs from `first` on."""
    if not count:
        return {}
    slots = [DictionaryAttr({"reuse_input": i64(first + k)}) for k in range(count)]
    return {"ge.res_attrs": ArrayAttr(slots)}


def _labels_used(found: Sequence[GraphOp]) -> int:
    """One more than the highest label that the graphs set."""
    highest = -1
    for graph in found:
        for op in graph.block.ops:
            if isinstance(op, LabelSetOp) and op.label_index is not None:
                highest = max(highest, op.label_index.value.data)
    return highest + 1
