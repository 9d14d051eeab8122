"""The generic node, and the nodes whose attributes passes of this project read and write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser

from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.source import verify_source
from ge_dialect.dialects.ge.weights import elements_type


@irdl_op_definition
class OpOp(GeNode):
    """A node of any type, known or not.

    `source` names the operator of another framework that the node still follows, with its version; such a node has
    that operator's attributes in `attrs`. A node without `source` follows GE's definition of its type.

        %y = ge.op "Clip" (%x, %none, %none) source "ai.onnx::Clip@13" {ge.name = "clip"} : tensor<2xf32>
    """

    name = "ge.op"
    source = opt_prop_def(StringAttr | BytesAttr)
    GE_ATTRS: ClassVar = {"source": "source"}

    def verify_(self) -> None:
        super().verify_()
        verify_source(self)


@irdl_op_definition
class DataOp(GeNode):
    """An input of the graph; `index` is its place among the inputs. In a sub-graph `ge.parent_node_index` says which
    input of the owning node it is."""

    name = "ge.data"
    index = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "Data"
    GE_TYPES: ClassVar = ("Data", "RefData", "AippData", "AnnData", "QueueData")
    GE_ATTRS: ClassVar = {"index": "index"}


@irdl_op_definition
class ConstantOp(GeNode):
    """A constant; `value` holds its elements, dense, elided or external (see `ge_dialect.dialects.ge.weights`)."""

    name = "ge.constant"
    value = prop_def(Attribute)
    DEFAULT_TYPE: ClassVar = "Const"
    GE_TYPES: ClassVar = ("Const", "Constant")
    GE_ATTRS: ClassVar = {"value": "value"}

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        made = super().parse(parser)
        for word in ("dense", "dense_resource"):
            if "value" not in made.properties and parser.parse_optional_keyword(word):
                parser.raise_error(f"expected 'value {word}<...>': the keyword 'value' is missing")
        return made

    @classmethod
    def implied_types(cls, properties: Mapping[str, Attribute]) -> list[Attribute]:
        value = properties.get("value")
        kind = None if value is None else elements_type(value)
        return [] if kind is None else [kind]


@irdl_op_definition
class VariableOp(GeNode):
    """Memory that outlives a step."""

    name = "ge.variable"
    DEFAULT_TYPE: ClassVar = "Variable"
    GE_TYPES: ClassVar = ("Variable", "VariableV2", "VarHandleOp")


@irdl_op_definition
class NetOutputOp(GeNode):
    """The outputs of the graph, as operands. At most one a graph, maybe none, not always last."""

    name = "ge.net_output"
    DEFAULT_TYPE: ClassVar = "NetOutput"
    GE_TYPES: ClassVar = ("NetOutput",)


@irdl_op_definition
class ConcatOp(GeNode):
    """Joins its inputs along axis `concat_dim`. The types differ in where the axis comes from: an attribute (ConcatD,
    ConcatV2D, PhonyConcat), the last input (ConcatV2) or the first (Concat)."""

    name = "ge.concat"
    concat_dim = opt_prop_def(IntegerAttr | DenseArrayBase)
    n = opt_prop_def(IntegerAttr, prop_name="N")
    DEFAULT_TYPE: ClassVar = "ConcatD"
    GE_TYPES: ClassVar = ("ConcatD", "Concat", "ConcatV2", "ConcatV2D", "PhonyConcat")
    GE_ATTRS: ClassVar = {"concat_dim": "concat_dim", "N": "N"}


@irdl_op_definition
class PackOp(GeNode):
    """Stacks its inputs along a new axis `axis`."""

    name = "ge.pack"
    axis = opt_prop_def(IntegerAttr)
    n = opt_prop_def(IntegerAttr, prop_name="N")
    DEFAULT_TYPE: ClassVar = "Pack"
    GE_TYPES: ClassVar = ("Pack",)
    GE_ATTRS: ClassVar = {"axis": "axis", "N": "N"}


@irdl_op_definition
class SplitOp(GeNode):
    """Cuts its input along axis `split_dim`, evenly (SplitD, Split) or into `size_splits` (SplitVD, SplitV). Axis and
    sizes are attributes (SplitD, SplitVD, PhonySplit) or inputs: Split (split_dim, x),
    SplitV (x, size_splits, split_dim)."""

    name = "ge.split"
    split_dim = opt_prop_def(IntegerAttr | DenseArrayBase)
    num_split = opt_prop_def(IntegerAttr | DenseArrayBase)
    size_splits = opt_prop_def(DenseArrayBase)
    DEFAULT_TYPE: ClassVar = "SplitD"
    GE_TYPES: ClassVar = ("SplitD", "Split", "SplitV", "SplitVD", "PhonySplit")
    GE_ATTRS: ClassVar = {
        "split_dim": "split_dim",
        "num_split": "num_split",
        "size_splits": "size_splits",
    }


@irdl_op_definition
class SendOp(GeNode):
    """Records event `event_id` on its stream."""

    name = "ge.send"
    event_id = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "Send"
    GE_TYPES: ClassVar = ("Send",)
    GE_ATTRS: ClassVar = {"event_id": "event_id"}


@irdl_op_definition
class RecvOp(GeNode):
    """Makes its stream wait for event `event_id`."""

    name = "ge.recv"
    event_id = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "Recv"
    GE_TYPES: ClassVar = ("Recv",)
    GE_ATTRS: ClassVar = {"event_id": "event_id"}


@irdl_op_definition
class SendNotifyOp(GeNode):
    """Records notify `notify_id` on its stream; its waiter may be on another device."""

    name = "ge.send_notify"
    notify_id = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "SendNotify"
    GE_TYPES: ClassVar = ("SendNotify",)
    GE_ATTRS: ClassVar = {"notify_id": "notify_id"}


@irdl_op_definition
class RecvNotifyOp(GeNode):
    """Makes its stream wait for notify `notify_id`."""

    name = "ge.recv_notify"
    notify_id = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "RecvNotify"
    GE_TYPES: ClassVar = ("RecvNotify",)
    GE_ATTRS: ClassVar = {"notify_id": "notify_id"}


@irdl_op_definition
class StreamActiveOp(GeNode):
    """Starts the streams of `active_stream_list`; one task each."""

    name = "ge.stream_active"
    active_stream_list = opt_prop_def(DenseArrayBase)
    DEFAULT_TYPE: ClassVar = "StreamActive"
    GE_TYPES: ClassVar = ("StreamActive",)
    GE_ATTRS: ClassVar = {"active_stream_list": "active_stream_list"}


@irdl_op_definition
class StreamSwitchOp(GeNode):
    """Compares input 0 with input 1 (`switch_condition`: 0 ==, 1 !=, 2 >, 3 >=, 4 <, 5 <=) and starts the one stream of
    `active_stream_list` when it holds."""

    name = "ge.stream_switch"
    active_stream_list = opt_prop_def(DenseArrayBase)
    switch_condition = opt_prop_def(IntegerAttr)
    switch_data_type = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "StreamSwitch"
    GE_TYPES: ClassVar = ("StreamSwitch",)
    GE_ATTRS: ClassVar = {
        "active_stream_list": "active_stream_list",
        "switch_condition": "switch_condition",
        "switch_data_type": "_switch_data_type",
    }


@irdl_op_definition
class LabelSetOp(GeNode):
    """Marks a place of its stream as label `label_index`. Results, if there are any, are the operands in the same
    memory: what goes into a stretch with jumps, or comes out of it, goes through its first and its last label."""

    name = "ge.label_set"
    label_index = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "LabelSet"
    GE_TYPES: ClassVar = ("LabelSet",)
    GE_ATTRS: ClassVar = {"label_index": "_label_switch_index"}


@irdl_op_definition
class LabelGotoOp(GeNode):
    """Jumps to label `label_index`. Operands, if there are any, are values whose memory is in use until here, as what
    is behind the label reads it again."""

    name = "ge.label_goto"
    label_index = opt_prop_def(IntegerAttr)
    DEFAULT_TYPE: ClassVar = "LabelGotoEx"
    GE_TYPES: ClassVar = ("LabelGotoEx", "LabelGoto")
    GE_ATTRS: ClassVar = {"label_index": "_label_switch_index"}


@irdl_op_definition
class LabelSwitchOp(GeNode):
    """Jumps to the label of `label_list` that input 0, an int32 scalar, counts. Results, if there are any, are the
    other operands in the same memory, for what is behind the labels."""

    name = "ge.label_switch"
    label_list = opt_prop_def(DenseArrayBase)
    DEFAULT_TYPE: ClassVar = "LabelSwitchByIndex"
    GE_TYPES: ClassVar = ("LabelSwitchByIndex", "LabelSwitch")
    GE_ATTRS: ClassVar = {"label_list": "_label_switch_list"}


NODES: tuple[type[GeNode], ...] = (
    OpOp,
    DataOp,
    ConstantOp,
    VariableOp,
    NetOutputOp,
    ConcatOp,
    PackOp,
    SplitOp,
    SendOp,
    RecvOp,
    SendNotifyOp,
    RecvNotifyOp,
    StreamActiveOp,
    StreamSwitchOp,
    LabelSetOp,
    LabelGotoOp,
    LabelSwitchOp,
)

NODE_OF_TYPE: dict[str, type[GeNode]] = {
    ge_type: node for node in NODES if node.GE_TYPES is not None for ge_type in node.GE_TYPES
}
"""The dedicated class of a GE operator type; every other type is an `OpOp`."""
