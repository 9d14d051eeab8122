"""Types of the collective operators, which onnx does not know.

For inference alone each stands as an operator of ONNX with the same effect on shapes, so that what follows has types.
"""

from __future__ import annotations

from onnx import ModelProto, NodeProto, helper

GE_DOMAINS = ("npu", "ge")
"""Domains whose operators are GE's: the type is the operator's name, the attributes are GE's, there is no `source`."""

_LIKE_INPUT = frozenset({"HcomAllReduce", "HcomBroadcast", "HcomAllToAll"})
_NUM_OUTPUTS_SINCE = 18


def _opset(model: ModelProto) -> int:
    return next((x.version for x in model.opset_import if x.domain in ("", "ai.onnx")), 0)


GREATEST_GROUP = 1 << 16
"""A greater `rank_size` is taken for damage: the shape of its result stays unknown."""


def stand_in(node: NodeProto, model: ModelProto) -> None:
    """Turn a node of GE's domains in place into an ONNX node with an output of the same type, where there is one.

    HcomAllGather joins all ranks' inputs on axis 0, HcomReduceScatter leaves each rank its part of axis 0, the
    operators that only exchange or reduce keep the shape. Nodes of several inputs or outputs stay as they are.
    """
    ranks = next((x.i for x in node.attribute if x.name == "rank_size"), 0)
    version = _opset(model)
    if len(node.input) != 1 or len(node.output) != 1 or not version:
        return
    op_type = node.op_type
    if op_type in _LIKE_INPUT:
        _become(node, "Identity", list(node.input), list(node.output), {})
    elif op_type == "HcomAllGather" and 0 < ranks <= GREATEST_GROUP:
        _become(node, "Concat", list(node.input) * ranks, list(node.output), {"axis": 0})
    elif op_type == "HcomReduceScatter" and 0 < ranks <= GREATEST_GROUP:
        rest = [f"{node.output[0]}::part{i}" for i in range(1, ranks)]
        parts = [node.output[0], *rest]
        count = {"num_outputs": ranks} if version >= _NUM_OUTPUTS_SINCE else {}
        _become(node, "Split", list(node.input), parts, {"axis": 0, **count})


def _become(
    node: NodeProto, op: str, inputs: list[str], outputs: list[str], attrs: dict[str, int]
) -> None:
    node.CopyFrom(NodeProto(op_type=op, input=inputs, output=outputs))
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attrs.items())
