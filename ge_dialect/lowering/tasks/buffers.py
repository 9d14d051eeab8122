"""The buffers of a task list: one view of planned memory a value and descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import NoneType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.sizes import value_bytes
from ge_dialect.analysis.task_count import input_type, task_error
from ge_dialect.dialects.attrs import i64, string_attr
from ge_dialect.dialects.ge import ConstantOp, DataOp
from ge_dialect.dialects.ge.access import data_operands, data_results, get_ints
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.dialects.ge_task import AbsentOp as AbsentBuffer
from ge_dialect.dialects.ge_task import BufferOp, BufferType
from ge_dialect.formats.dtypes import dtype_by_name

_BYTE = dtype_by_name("INT8")
_HBM = "hbm"


class BufferTable:
    """Makes buffers when they are first asked for and remembers them; `ops` are all of them in that order.

    A value's place is its producer's `ge.offsets` and `ge.spaces`, its size the exact bytes of the type under which it
    is seen. Raises TaskGenerationError for a value without planned memory.
    """

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        self.ends: dict[str, int] = {}
        self._values: dict[SSAValue, SSAValue] = {}
        self._views: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        self._pieces: dict[tuple[str, int, int], SSAValue] = {}
        self._types: dict[Attribute, tuple[BufferType, int]] = {}
        self._layouts: dict[Operation, tuple[Sequence[int], Sequence[str] | None]] = {}
        self._absent: SSAValue | None = None

    # --- what tasks ask for -----------------------------------------------------------------------------------

    def inputs(self, op: Operation) -> list[SSAValue]:
        """The node's data inputs, slot by slot, each as the node sees it."""
        if "ge.arg_attrs" not in op.attributes:
            return [self._values.get(value) or self.of(value) for value in data_operands(op)]
        return [self.input(op, i) for i in range(len(data_operands(op)))]

    def input(self, op: Operation, index: int) -> SSAValue:
        """Data input `index` as the node sees it."""
        value = data_operands(op)[index]
        kind = input_type(op, index)
        return self.of(value) if kind == value.type else self.view(value, kind)

    def outputs(self, op: Operation) -> list[SSAValue]:
        """The node's data outputs, slot by slot; one without memory of its own is absent."""
        found: list[SSAValue] = []
        for index, value in enumerate(data_results(op)):
            if isinstance(value.type, NoneType) or self._layout(op)[0][index] < 0:
                found.append(self.absent())
            else:
                found.append(self.of(value))
        return found

    def workspaces(self, op: Operation) -> list[SSAValue]:
        """The node's workspaces, as bytes."""
        offsets = get_ints(op, "ge.workspace_offsets")
        if not offsets:
            if get_ints(op, "ge.workspace_bytes"):
                raise task_error(op, "has workspaces without a place: run ge-plan-memory first")
            return []
        sizes = get_ints(op, "ge.workspace_bytes") or []
        if len(sizes) != len(offsets):
            raise task_error(op, f"has {len(offsets)} workspace offsets for {len(sizes)} sizes")
        return [self.piece(_HBM, offset, size) for offset, size in zip(offsets, sizes, strict=True)]

    # --- buffers ------------------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> SSAValue:
        """The buffer of a value under its own type; the stand-in for an absent one."""
        found = self._values.get(value)
        if found is None:
            found = self._make(value)
            self._values[value] = found
        return found

    def view(self, value: SSAValue, kind: Attribute) -> SSAValue:
        """The memory of a value seen as a tensor of type `kind`."""
        key = (value, kind)
        found = self._views.get(key)
        if found is None:
            if isinstance(value.type, NoneType):
                return self.absent()
            space, offset = self.place(value)
            found = self._buffer(_producer(value)[0], kind, space, offset)
            self._views[key] = found
        return found

    def piece(self, space: str, offset: int, size: int) -> SSAValue:
        """Plain bytes of a memory space."""
        key = (space, offset, size)
        found = self._pieces.get(key)
        if found is None:
            found = self._add(
                BufferOp.make(tensor_type(_BYTE, (size,)), space, offset, size),
                space,
                offset + size,
            )
            self._pieces[key] = found
        return found

    def absent(self) -> SSAValue:
        """The stand-in for a slot that is not wired."""
        if self._absent is None:
            op = AbsentBuffer.make()
            self.ops.append(op)
            self._absent = op.results[0]
        return self._absent

    def model_input(self, value: SSAValue, index: int, name: str | None) -> None:
        """Make the buffer of a graph input."""
        owner, _ = _producer(value)
        space, offset = self.place(value)
        buffer = self._buffer(owner, value.type, space, offset, role=_role("input", index, name))
        buffer.name_hint = value.name_hint
        self._values[value] = buffer

    def model_output(self, op: Operation, slot: int, index: int, name: str | None) -> None:
        """Make the buffer of model output `index`, which input `slot` of node `op` gives.

        It is the value's own buffer when that has no role yet and the type is the same, else another view of it.
        """
        value = data_operands(op)[slot]
        kind = input_type(op, slot)
        if kind == value.type and not isinstance(_producer(value)[0], DataOp | ConstantOp):
            buffer = self.of(value).owner
            assert isinstance(buffer, BufferOp)
            if "output" not in buffer.properties:
                buffer.properties.update(_role("output", index, name))
                return
        space, offset = self.place(value)
        self._buffer(op, kind, space, offset, role=_role("output", index, name))

    def place(self, value: SSAValue) -> tuple[str, int]:
        """Memory space and byte offset of a value."""
        op, index = _producer(value)
        offsets, spaces = self._layout(op)
        if index >= len(offsets) or offsets[index] < 0:
            raise task_error(op, f"has no memory for output {index}, which is read")
        return (_HBM if spaces is None else spaces[index]), offsets[index]

    def _layout(self, op: Operation) -> tuple[Sequence[int], Sequence[str] | None]:
        found = self._layouts.get(op)
        if found is None:
            offsets = get_ints(op, "ge.offsets")
            count = len(data_results(op))
            if offsets is None:
                raise task_error(op, "has no ge.offsets: run ge-plan-memory first")
            if len(offsets) != count:
                raise task_error(op, f"has {len(offsets)} offsets for {count} outputs")
            spaces: list[str] | None = None
            if "ge.spaces" in op.attributes:
                spaces = [str(x) for x in to_python(op.attributes["ge.spaces"])]
            if spaces is not None and len(spaces) != count:
                raise task_error(op, f"has {len(spaces)} memory spaces for {count} outputs")
            found = (offsets, spaces)
            self._layouts[op] = found
        return found

    def _make(self, value: SSAValue) -> SSAValue:
        if isinstance(value.type, NoneType):
            return self.absent()
        base = _base(value)
        if base is not value:
            return self.of(base)
        op, _ = _producer(value)
        if isinstance(op, AbsentOp):
            return self.absent()
        space, offset = self.place(value)
        content = {"value": op.properties["value"]} if isinstance(op, ConstantOp) else None
        buffer = self._buffer(op, value.type, space, offset, role=content)
        buffer.name_hint = value.name_hint
        return buffer

    def _buffer(
        self,
        op: Operation,
        kind: Attribute,
        space: str,
        offset: int,
        *,
        role: dict[str, Attribute] | None = None,
    ) -> SSAValue:
        known = self._types.get(kind)
        if known is None:
            size = value_bytes(kind)
            if size is None or not isinstance(kind, TensorType):
                raise task_error(
                    op, f"has data of type {kind}, whose bytes are not known at compile time"
                )
            known = (BufferType(cast(TensorType[Attribute], kind)), size)
            self._types[kind] = known
        buffer_type, size = known
        made = BufferOp.make(buffer_type, space, offset, size)
        if role is not None:
            made.properties.update(role)
        return self._add(made, space, offset + size)

    def _add(self, op: BufferOp, space: str, end: int) -> SSAValue:
        self.ops.append(op)
        if end > self.ends.get(space, 0):
            self.ends[space] = end
        return op.results[0]


def _role(kind: str, index: int, name: str | None) -> dict[str, Attribute]:
    role: dict[str, Attribute] = {kind: i64(index)}
    if name:
        role["name"] = string_attr(name)
    return role


def _base(value: SSAValue) -> SSAValue:
    """The value whose memory `value` is, through `ge.gate`."""
    while isinstance(value.owner, GateOp):
        value = value.owner.value
    return value


def _producer(value: SSAValue) -> tuple[Operation, int]:
    """The node that gives a value, and which of its outputs it is."""
    base = _base(value)
    owner = base.owner
    assert isinstance(owner, Operation), "graphs have no block arguments"
    return owner, base.index  # pyright: ignore
