"""Whether a model is of known shape: all memory can be planned and one task list can be made before it runs.

Everything else is scheduled by the host, which learns sizes while it runs.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.ge.access import (
    ge_type,
    get_flag,
    graphs,
    source_op,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.types import (
    ControlType,
    MapType,
    OptionalType,
    ResourceType,
    SequenceType,
    StringType,
    UndefinedType,
    VariantType,
)
from ge_dialect.kernels.shapes.facts import is_data_dependent
from ge_dialect.kernels.spec import OpSpec

_NO_NUMBERS = (StringType, ResourceType, VariantType, UndefinedType)
_HOST_VALUES = (SequenceType, OptionalType, MapType)


def is_known(module: ModuleOp) -> bool:
    """Whether all graphs hold nothing but tensors of numbers of known shape, no node owns a graph, and no output's
    shape depends on data."""
    return unknown_reason(module) is None


def unknown_reason(module: ModuleOp) -> tuple[Operation, str] | None:
    """The first node, in graph and block order, that makes the model one of unknown shape, and why; None for none."""
    sized: set[int] = set()
    for graph in graphs(module):
        if get_flag(graph, "ge.unknown_shape"):
            return graph, "the graph is marked ge.unknown_shape"
        for op in graph.block.ops:
            if (reason := node_reason(op, sized)) is not None:
                return op, reason
    return None


def node_reason(op: Operation, sized: set[int] | None = None) -> str | None:
    """What a node makes that has no size before the model runs, in words; None when everything has one.

    `sized` remembers, for a sweep in which no type changes, the identities of types that have a size: models have few.
    """
    if subgraph_names(op):
        return f"{ge_type(op)} owns sub-graphs"
    for index, result in enumerate(op.results):
        kind = result.type
        if sized is not None and id(kind) in sized:
            continue
        if (reason := type_reason(kind)) is not None:
            return f"output {index} of {ge_type(op)} {reason}"
        if sized is not None:
            sized.add(id(kind))
    if isinstance(op, GeNode) and is_data_dependent(OpSpec(ge_type(op), {}, 0, source_op(op))):
        return f"the output shape of {ge_type(op)} depends on data"
    return None


def type_reason(kind: Attribute) -> str | None:
    """Why a value of this type has no size before the model runs, None when it has one (or is no data)."""
    if isinstance(kind, TensorType):
        tensor = cast("TensorType[Attribute]", kind)
        element = tensor.element_type
        if isinstance(element, _NO_NUMBERS):
            return f"has elements of type {element}"
        return "has an unknown dimension" if static_shape(tensor) is None else None
    if isinstance(kind, ControlType | NoneType):
        return None
    if isinstance(kind, UnrankedTensorType):
        return "has an unknown rank"
    if isinstance(kind, _HOST_VALUES):
        return f"is {kind}, which the host keeps"
    return None
