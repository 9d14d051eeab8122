"""The types of `ge_task`: views of device memory in a task list, and the values of a host program."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntAttr,
    NoneAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from ge_dialect.dialects.ge.element_types import elements_bytes

TensorLike: TypeAlias = "TensorType[Attribute] | UnrankedTensorType[Attribute]"
"""A builtin tensor type, with or without a rank."""


def as_tensor(type: Attribute) -> TensorLike | None:
    """`type` when it is a builtin tensor type, with or without a rank; else None."""
    if isinstance(type, TensorType | UnrankedTensorType):
        return cast(TensorLike, type)
    return None


def as_ranked(type: Attribute) -> TensorType[Attribute] | None:
    """`type` when it is a builtin tensor type with a rank; else None."""
    return cast("TensorType[Attribute]", type) if isinstance(type, TensorType) else None


def tensor_bytes(tensor: Attribute) -> int | None:
    """Exact bytes of a buffer of this tensor type, None when a dimension or the element width is unknown.

    Elements of less than eight bits take one byte each (see `DType.buffer_bytes`).
    """
    ranked = as_ranked(tensor)
    if ranked is None or DYNAMIC_INDEX in ranked.get_shape():
        return None
    return elements_bytes(ranked.element_type, prod(ranked.get_shape()))


def _parse_tensor(parser: AttrParser) -> TensorLike:
    """Parse a tensor type; raises ParseError where another type stands."""
    start = parser.pos
    type = parser.parse_type()
    tensor = as_tensor(type)
    if tensor is None:
        parser.raise_error(f"expected a tensor type, got {type}", start, parser.pos)
    return tensor


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A view of device memory: the bytes of one tensor of this type, at an address that the buffer's op gives.

    The tensor's shape is the storage shape; other facts about the storage are its encoding.
    """

    name = "ge_task.buffer"
    tensor: TensorType | UnrankedTensorType = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (_parse_tensor(parser),)


class Placement(StrEnum):
    """Where the bytes of a host program's tensor are; `any`: known at run time only."""

    HOST = "host"
    DEVICE = "device"
    ANY = "any"


@irdl_attr_definition
class PlacementAttr(EnumAttribute[Placement], SpacedOpaqueSyntaxAttribute):
    """A placement as an attribute."""

    name = "ge_task.placement"


@irdl_attr_definition
class PlacedTensorType(ParametrizedAttribute, TypeAttribute):
    """A tensor of a host program: shape record on the host, bytes in host or device memory.

    The value refers to storage, so steps that take it as destination write what later readers see.
    `any` is for model inputs without a mark and for what comes out of regions that disagree.
    """

    name = "ge_task.tensor"
    tensor: TensorType | UnrankedTensorType = param_def()
    placement: PlacementAttr = param_def()

    def __init__(self, tensor: TensorLike, placement: Placement | PlacementAttr) -> None:
        if isinstance(placement, Placement):
            placement = PlacementAttr(placement)
        super().__init__(tensor, placement)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tensor = _parse_tensor(parser)
            parser.parse_punctuation(",")
            return tensor, PlacementAttr(parser.parse_str_enum(Placement))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.tensor)
            printer.print_string(f", {self.placement.data.value}")


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """A shape known at run time, in host memory: `rank` numbers, or `*` for an unknown rank."""

    name = "ge_task.shape"
    rank: IntAttr | NoneAttr = param_def()

    def __init__(self, rank: int | IntAttr | NoneAttr | None) -> None:
        if rank is None:
            rank = NoneAttr()
        super().__init__(IntAttr(rank) if isinstance(rank, int) else rank)

    def known_rank(self) -> int | None:
        """The rank, None when it is unknown."""
        return None if isinstance(self.rank, NoneAttr) else self.rank.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            if parser.parse_optional_punctuation("*") is not None:
                return (NoneAttr(),)
            return (IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            rank = self.rank
            printer.print_string("*" if isinstance(rank, NoneAttr) else str(rank.data))


@irdl_attr_definition
class TilingType(ParametrizedAttribute, TypeAttribute):
    """What tiling found for one launch: tiling data, block dimension, schedule mode."""

    name = "ge_task.tiling"


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """A host value that is no tensor: a sequence, an optional or a map, whose type in dialect `ge` is the parameter."""

    name = "ge_task.object"
    type: Attribute = param_def()


@irdl_attr_definition
class ListType(ParametrizedAttribute, TypeAttribute):
    """A growing list of tensors in which a loop collects what each iteration yields; the parameter types an element."""

    name = "ge_task.list"
    element: TensorType | UnrankedTensorType = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (_parse_tensor(parser),)
