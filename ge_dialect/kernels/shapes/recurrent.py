"""Recurrent layers: RNN, GRU, LSTM."""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import int_attr, rank_of, tensor_input
from ge_dialect.kernels.spec import OpSpec


def recurrent(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, w, r, ...) -> (y [steps, directions, batch, hidden], last state [directions, batch, hidden], last cell).

    With layout 1 (x is [batch, steps, features]) y is [batch, steps, directions, hidden] and a state
    [batch, directions, hidden].
    """
    x, r = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 2)
    directions = 2 if spec.string("direction", "forward") == "bidirectional" else 1
    hidden = int_attr(spec, "hidden_size", UNKNOWN)
    if r.shape is not None:
        rank_of(spec, 2, r.shape, 3, 3)
        hidden = r.shape[2] if hidden < 0 else hidden
    steps = batch = UNKNOWN
    batch_first = bool(spec.attrs.get("layout", 0))
    if x.shape is not None:
        rank_of(spec, 0, x.shape, 3, 3)
        batch, steps = x.shape[:2] if batch_first else (x.shape[1], x.shape[0])
    if batch_first:
        y, state = (batch, steps, directions, hidden), (batch, directions, hidden)
    else:
        y, state = (steps, directions, batch, hidden), (directions, batch, hidden)
    return [TensorInfo(x.dtype, y), *[TensorInfo(x.dtype, state)] * 2]


GE_SHAPES: MappingProxyType[str, ShapeFunction] = MappingProxyType({})

ONNX_SHAPES: tuple[OnnxShape, ...] = tuple(
    OnnxShape(op, recurrent, since=7) for op in ("RNN", "GRU", "LSTM")
)
