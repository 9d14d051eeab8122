"""Steps on shapes, storage, placement and order: spec/host_execution.md sections 10.2 and 10.4."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import parse_operand_list, print_operand_list
from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    as_properties,
    ints_of,
    parse_clauses,
    print_clauses,
)
from ge_dialect.dialects.ge_task.host_step import (
    STREAM,
    HostStepOp,
    PlainStepOp,
    placement_of,
    rank_of,
)
from ge_dialect.dialects.ge_task.types import (
    PlacedTensorType,
    Placement,
    ShapeType,
    tensor_bytes,
)


@irdl_op_definition
class ShapeOfOp(PlainStepOp):
    """The shape record of a tensor; its bytes are not touched. Text: `%s = ge_task.shape_of(%x)`."""

    name = "ge_task.shape_of"
    tensor = operand_def(PlacedTensorType)
    result = result_def(ShapeType)

    @classmethod
    def infer_result(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Attribute | None:
        return ShapeType(rank_of(operands[0].type)) if len(operands) == 1 else None

    @classmethod
    def make(cls, tensor: SSAValue) -> Self:
        """The shape of `tensor`."""
        return cls.build_step((tensor,))

    def verify_step(self) -> None:
        self.verify_inferred()


@irdl_op_definition
class ShapeConstOp(PlainStepOp):
    """A shape that is known. Text: `%s = ge_task.shape_const [2, 3]`."""

    name = "ge_task.shape_const"
    HEAD: ClassVar[Clause | None] = Clause("", "dims", Form.INTS)
    HAS_OPERANDS: ClassVar[bool] = False
    dims = prop_def(DenseArrayBase[I64])
    result = result_def(ShapeType)

    @classmethod
    def infer_result(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Attribute | None:
        return ShapeType(len(ints_of(properties["dims"])))

    @classmethod
    def make(cls, dims: Sequence[int]) -> Self:
        """The shape `dims`."""
        return cls.build_step(dims=list(dims))

    def verify_step(self) -> None:
        self.verify_inferred()
        for dim in ints_of(self.dims):
            if dim < 0:
                raise VerifyException(f"'{self.name}' dims must be >= 0, got {dim}")


@irdl_op_definition
class ReadShapeOp(HostStepOp):
    """Reads back the shapes that a kernel found for its outputs, behind a `sync` of its stream: one small copy.

    For kernels that only know their outputs' shapes once they ran ("class 3"); `view` then gives each tensor its shape.
    Text: `%s, %t = ge_task.read_shape(%y, %i) stream 0`.
    """

    name = "ge_task.read_shape"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    tensors = var_operand_def(PlacedTensorType)
    stream = opt_prop_def(IntegerAttr[I64])
    shapes = var_result_def(ShapeType)

    @classmethod
    def make(cls, *tensors: SSAValue, stream: int | None = None) -> Self:
        """The shapes that the kernel published for `tensors`."""
        return cls.create(
            operands=tensors,
            result_types=[ShapeType(rank_of(x.type)) for x in tensors],
            properties=as_properties({"stream": stream}),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tensors = parse_operand_list(parser)
        properties: dict[str, Attribute] = {}
        parse_clauses(parser, cls.CLAUSES, properties)
        return cls.create(
            operands=tensors,
            result_types=[ShapeType(rank_of(x.type)) for x in tensors],
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, tuple(self.operands))
        print_clauses(printer, self.CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)

    def verify_step(self) -> None:
        wanted = [ShapeType(rank_of(x.type)) for x in self.operands]
        if not wanted:
            raise VerifyException(f"'{self.name}' needs a tensor")
        if [x.type for x in self.results] != wanted:
            raise VerifyException(f"'{self.name}' results should be one shape a tensor")


def _verify_shape(op: PlainStepOp, shape: SSAValue | None, result: Attribute) -> None:
    """Raise VerifyException unless `shape` fits the result, or the result's type says all without one."""
    if not isinstance(result, PlacedTensorType):
        return
    if shape is None:
        if isinstance(result.tensor, TensorType) and result.tensor.has_static_shape():
            return
        raise VerifyException(f"'{op.name}' needs a shape: {result.tensor} has unknown dimensions")
    given, wanted = rank_of(shape.type), rank_of(result)
    if given is not None and wanted is not None and given != wanted:
        raise VerifyException(
            f"'{op.name}' shape of rank {given} does not fit a tensor of rank {wanted}"
        )


@irdl_op_definition
class AllocOp(PlainStepOp):
    """New storage for a tensor, of the shape given or of the static shape of its type; not cleared.

    On the device the storage may be used by `stream` at once.
    Text: `%y = ge_task.alloc(%s) stream 0 : device tensor<?x4xf32>`.
    """

    name = "ge_task.alloc"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    shape = opt_operand_def(ShapeType)
    stream = opt_prop_def(IntegerAttr[I64])
    result = result_def(PlacedTensorType)

    @classmethod
    def make(
        cls,
        type: PlacedTensorType,
        shape: SSAValue | None = None,
        *,
        stream: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """Storage for a tensor of type `type`; host storage needs no stream."""
        return cls.build_step(() if shape is None else (shape,), type, attributes, stream=stream)

    def verify_step(self) -> None:
        type = self.result.type
        _verify_shape(self, self.shape, type)
        if placement_of(type) is Placement.ANY:
            raise VerifyException(f"'{self.name}' must say host or device, got any")
        if placement_of(type) is Placement.DEVICE and self.stream is None:
            raise VerifyException(f"'{self.name}' of device memory needs a stream")


@irdl_op_definition
class FreeOp(PlainStepOp):
    """The value is not read again. Its storage goes back, on the device in the order of `stream`, when no other value
    refers to it: a view, or what a branch or loop has made of it. Text: `ge_task.free(%y) stream 0`."""

    name = "ge_task.free"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    HAS_RESULT: ClassVar[bool] = False
    tensor = operand_def(PlacedTensorType)
    stream = opt_prop_def(IntegerAttr[I64])

    @classmethod
    def make(cls, tensor: SSAValue, *, stream: int | None = None) -> Self:
        """The end of the storage behind `tensor`."""
        return cls.build_step((tensor,), stream=stream)


@irdl_op_definition
class ViewOp(PlainStepOp):
    """The storage of a tensor under another shape or type; nothing is copied (Reshape and its like). The storage
    lives as long as one of the two.

    Text: `%y = ge_task.view(%x, %s) : device tensor<?x4xf32>`; without a shape the result's type is static.
    """

    name = "ge_task.view"
    tensor = operand_def(PlacedTensorType)
    shape = opt_operand_def(ShapeType)
    result = result_def(PlacedTensorType)

    @classmethod
    def make(
        cls,
        type: PlacedTensorType,
        tensor: SSAValue,
        shape: SSAValue | None = None,
        *,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """`tensor` seen as `type`."""
        return cls.build_step((tensor,) if shape is None else (tensor, shape), type, attributes)

    def verify_step(self) -> None:
        source, result = self.tensor.type, self.result.type
        _verify_shape(self, self.shape, result)
        if placement_of(source) is not placement_of(result):
            raise VerifyException(f"'{self.name}' cannot move a tensor from {source} to {result}")
        old = tensor_bytes(source.tensor) if isinstance(source, PlacedTensorType) else None
        new = tensor_bytes(result.tensor)
        if old is not None and new is not None and new > old:
            raise VerifyException(f"'{self.name}' sees {new} bytes in a tensor of {old}")


class MoveStepOp(PlainStepOp, ABC):
    """A step that gives a tensor in another placement; the result type is the operand's in that placement."""

    SOURCES: ClassVar[tuple[Placement, ...]] = ()
    TARGET: ClassVar[Placement]

    @classmethod
    def infer_result(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Attribute | None:
        type = operands[0].type if len(operands) == 1 else None
        return (
            PlacedTensorType(type.tensor, cls.TARGET)
            if isinstance(type, PlacedTensorType)
            else None
        )

    def verify_step(self) -> None:
        self.verify_inferred()
        found = placement_of(self.operands[0].type)
        if found not in self.SOURCES:
            wanted = " or ".join(place.value for place in self.SOURCES)
            raise VerifyException(
                f"'{self.name}' takes a tensor in {wanted} memory, got {self.operands[0].type}"
            )


class CopyStepOp(MoveStepOp, ABC):
    """A copy between host and device, on `stream`."""

    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    tensor = operand_def(PlacedTensorType)
    stream = prop_def(IntegerAttr[I64])
    result = result_def(PlacedTensorType)

    @classmethod
    def make(
        cls,
        tensor: SSAValue,
        *,
        stream: int,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The copy of `tensor`."""
        return cls.build_step((tensor,), None, attributes, stream=stream)


@irdl_op_definition
class H2dOp(CopyStepOp):
    """Copies to the device, in the order of `stream` (the consumer's); the host goes on.

    Text: `%d = ge_task.h2d(%h) stream 0`.
    """

    name = "ge_task.h2d"
    SOURCES: ClassVar[tuple[Placement, ...]] = (Placement.HOST,)
    TARGET: ClassVar[Placement] = Placement.DEVICE


@irdl_op_definition
class D2hOp(CopyStepOp):
    """Copies to the host, behind a `sync` of the producer's stream, and waits. `%h = ge_task.d2h(%d) stream 0`."""

    name = "ge_task.d2h"
    SOURCES: ClassVar[tuple[Placement, ...]] = (Placement.DEVICE,)
    TARGET: ClassVar[Placement] = Placement.HOST


class EnsureStepOp(MoveStepOp, ABC):
    """Copies only when the tensor turns out to be elsewhere; on the default stream 0.

    For tensors whose placement is known at run time only.
    """

    SOURCES: ClassVar[tuple[Placement, ...]] = (Placement.HOST, Placement.DEVICE, Placement.ANY)
    tensor = operand_def(PlacedTensorType)
    result = result_def(PlacedTensorType)

    @classmethod
    def make(cls, tensor: SSAValue, *, attributes: Mapping[str, Attribute] | None = None) -> Self:
        """`tensor`, wherever it is, at this placement."""
        return cls.build_step((tensor,), None, attributes)


@irdl_op_definition
class EnsureDeviceOp(EnsureStepOp):
    """The tensor in device memory; the copy is asynchronous. `%d = ge_task.ensure_device(%x)`."""

    name = "ge_task.ensure_device"
    TARGET: ClassVar[Placement] = Placement.DEVICE


@irdl_op_definition
class EnsureHostOp(EnsureStepOp):
    """The tensor in host memory; a copy is preceded by a sync of the default stream. `%h = ge_task.ensure_host(%x)`."""

    name = "ge_task.ensure_host"
    TARGET: ClassVar[Placement] = Placement.HOST


@irdl_op_definition
class SyncOp(PlainStepOp):
    """Waits until everything issued on `stream` is done. Text: `ge_task.sync stream 0`."""

    name = "ge_task.sync"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    HAS_OPERANDS: ClassVar[bool] = False
    HAS_RESULT: ClassVar[bool] = False
    stream = prop_def(IntegerAttr[I64])

    @classmethod
    def make(cls, *, stream: int) -> Self:
        """The wait for `stream`."""
        return cls.build_step(stream=stream)


class HostEventOp(PlainStepOp, ABC):
    """Issues an event operation on `stream`; the host goes on."""

    HEAD: ClassVar[Clause | None] = Clause("", "event", Form.INT)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM,)
    HAS_OPERANDS: ClassVar[bool] = False
    HAS_RESULT: ClassVar[bool] = False
    event = prop_def(IntegerAttr[I64])
    stream = prop_def(IntegerAttr[I64])

    @classmethod
    def make(cls, event: int, *, stream: int) -> Self:
        """The operation on event number `event`."""
        return cls.build_step(event=event, stream=stream)


@irdl_op_definition
class RecordOp(HostEventOp):
    """Marks the event as recorded once `stream` gets there. Text: `ge_task.record 0 stream 1`."""

    name = "ge_task.record"


@irdl_op_definition
class WaitOp(HostEventOp):
    """Blocks `stream` until the event is recorded, then resets it. Text: `ge_task.wait 0 stream 0`."""

    name = "ge_task.wait"


HOST_MEMORY_OPS = (
    ShapeOfOp,
    ShapeConstOp,
    ReadShapeOp,
    AllocOp,
    FreeOp,
    ViewOp,
    H2dOp,
    D2hOp,
    EnsureDeviceOp,
    EnsureHostOp,
    SyncOp,
    RecordOp,
    WaitOp,
)
