"""ONNX's Attention."""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    Shape,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import int_attr, optional_input, rank_of, tensor_input
from ge_dialect.kernels.spec import OpSpec


def _heads(spec: OpSpec, inputs: Inputs, index: int, name: str) -> Shape:
    """Input `index` as [batch, heads, length, size]; one of rank 3, [batch, length, heads * size], has its number of
    heads in the attribute `name`."""
    shape = tensor_input(spec, inputs, index).shape
    if shape is None:
        return (UNKNOWN,) * 4
    if rank_of(spec, index, shape, 3, 4) == 4:
        return shape
    heads = int_attr(spec, name)
    batch, length, hidden = shape
    if heads < 1 or (hidden >= 0 and hidden % heads):
        raise ShapeError(
            f"{spec.type} input {index} has {hidden} features, which {heads} heads do not share evenly"
        )
    return (batch, heads, length, UNKNOWN if hidden < 0 else hidden // heads)


def attention(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(q, k, v, mask, past_key, past_value) -> (y, present_key, present_value, scores).

    y has the rank of q; present tensors and scores have four dimensions, and the length of past and new together.
    """
    q = tensor_input(spec, inputs, 0)
    batch, q_heads, q_length, _ = _heads(spec, inputs, 0, "q_num_heads")
    _, kv_heads, kv_length, key_size = _heads(spec, inputs, 1, "kv_num_heads")
    _, v_heads, _, value_size = _heads(spec, inputs, 2, "kv_num_heads")
    past = optional_input(spec, inputs, 4)
    past_length = 0
    if past is not None:
        past_length = (
            UNKNOWN if past.shape is None else past.shape[rank_of(spec, 4, past.shape, 4, 4) - 2]
        )
    total = UNKNOWN if kv_length < 0 or past_length < 0 else kv_length + past_length
    y: Shape | None = (batch, q_heads, q_length, value_size)
    if q.shape is None:
        y = None
    elif len(q.shape) == 3:
        hidden = UNKNOWN if q_heads < 0 or value_size < 0 else q_heads * value_size
        y = (batch, q_length, hidden)
    key, value = tensor_input(spec, inputs, 1), tensor_input(spec, inputs, 2)
    return [
        TensorInfo(q.dtype, y),
        TensorInfo(key.dtype, (batch, kv_heads, total, key_size)),
        TensorInfo(value.dtype, (batch, v_heads, total, value_size)),
        TensorInfo(q.dtype, (batch, q_heads, q_length, total)),
    ]


GE_SHAPES: MappingProxyType[str, ShapeFunction] = MappingProxyType({})

ONNX_SHAPES: tuple[OnnxShape, ...] = (OnnxShape("Attention", attention),)
