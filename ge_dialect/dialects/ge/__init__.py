"""The dialect `ge`: graphs of GE nodes, tensors with storage formats, control edges (design.md section 4)."""

from __future__ import annotations

from xdsl.ir import Dialect

from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, GraphOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import (
    NODE_OF_TYPE,
    NODES,
    ConcatOp,
    ConstantOp,
    DataOp,
    LabelGotoOp,
    LabelSetOp,
    LabelSwitchOp,
    NetOutputOp,
    OpOp,
    PackOp,
    RecvNotifyOp,
    RecvOp,
    SendNotifyOp,
    SendOp,
    SplitOp,
    StreamActiveOp,
    StreamSwitchOp,
    VariableOp,
)
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.ge.types import (
    TYPES,
    Complex32Type,
    ControlType,
    HiFloat8Type,
    MapType,
    OptionalType,
    ResourceType,
    SequenceType,
    StringType,
    UndefinedType,
    VariantType,
)
from ge_dialect.dialects.ge.weights import ExternalAttr, StringElementsAttr

Ge = Dialect(
    "ge",
    [GraphOp, AbsentOp, TokenOp, GateOp, *NODES],
    [*TYPES, DescAttr, StringElementsAttr, ExternalAttr],
)

__all__ = [
    "NODES",
    "NODE_OF_TYPE",
    "AbsentOp",
    "Complex32Type",
    "ConcatOp",
    "ConstantOp",
    "ControlType",
    "DataOp",
    "DescAttr",
    "ExternalAttr",
    "GateOp",
    "Ge",
    "GeNode",
    "GraphOp",
    "HiFloat8Type",
    "LabelGotoOp",
    "LabelSetOp",
    "LabelSwitchOp",
    "MapType",
    "NetOutputOp",
    "OpOp",
    "OptionalType",
    "PackOp",
    "RecvNotifyOp",
    "RecvOp",
    "ResourceType",
    "SendNotifyOp",
    "SendOp",
    "SequenceType",
    "SourceOp",
    "SplitOp",
    "StreamActiveOp",
    "StreamSwitchOp",
    "StringElementsAttr",
    "StringType",
    "TokenOp",
    "UndefinedType",
    "VariableOp",
    "VariantType",
]
