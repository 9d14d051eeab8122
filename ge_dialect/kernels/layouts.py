"""How a node's tensors lie in memory, where that is not their origin format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import NoneAttr, TensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.formats.transform import Layout

SlotLayouts: TypeAlias = tuple[Layout | None, ...]


@dataclass(frozen=True, slots=True)
class Layouts:
    """The layout of each input and output; None for a tensor that lies in its origin format."""

    inputs: SlotLayouts
    outputs: SlotLayouts


def layout_of_type(kind: Attribute) -> Layout | None:
    """The layout that a tensor type's descriptor says; None where storage is origin."""
    if not isinstance(kind, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", kind)
    desc = tensor.encoding
    if isinstance(desc, NoneAttr) or not isinstance(desc, DescAttr):
        return None
    origin = desc.origin_format
    if origin is None or origin == desc.format:
        return None
    stored = dims_of(tensor) or ()
    shape = stored if desc.origin_shape is None else desc.origin_shape
    layout = Layout.of(desc.format, origin, shape, dtype_of(tensor.element_type), c0=desc.c0)
    return layout.seen_in(stored)


def layouts_of_types(inputs: Iterable[Attribute], outputs: Iterable[Attribute]) -> Layouts | None:
    """The layouts of all slots, None when no tensor has one."""
    ins = tuple(layout_of_type(kind) for kind in inputs)
    outs = tuple(layout_of_type(kind) for kind in outputs)
    if any(layout is not None for layout in (*ins, *outs)):
        return Layouts(ins, outs)
    return None


def has_descriptor(kinds: Sequence[Attribute]) -> bool:
    """Whether a type has a descriptor at all: a quick test before looking closer."""
    return any(
        isinstance(kind, TensorType)
        and isinstance(cast("TensorType[Attribute]", kind).encoding, DescAttr)
        for kind in kinds
    )
