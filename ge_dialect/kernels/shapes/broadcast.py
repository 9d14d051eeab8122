"""Numpy's broadcasting with unknown dimensions (ONNX: multidirectional broadcasting)."""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.kernels.shapes.info import Shape, ShapeError, TensorInfo, shape_text
from ge_dialect.kernels.spec import OpSpec


def broadcast_dim(a: int, b: int) -> int | None:
    """The common dimension, None when there is none.

    An unknown dimension beside a known one other than 1 can only be 1 or the same, so the known one is the result.
    """
    if a == b or b == 1:
        return a
    if a == 1 or a < 0:
        return b
    return a if b < 0 else None


def broadcast_pair(a: Shape, b: Shape) -> Shape | None:
    """The common shape, None when there is none."""
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    result = list(a[:lead])
    for x, y in zip(a[lead:], b, strict=True):
        dim = broadcast_dim(x, y)
        if dim is None:
            return None
        result.append(dim)
    return tuple(result)


def broadcast_infos(spec: OpSpec, infos: Sequence[TensorInfo]) -> Shape | None:
    """The common shape of tensors, None when it depends on one of unknown rank. Raises ShapeError."""
    result: Shape = ()
    unknown = False
    for index, info in enumerate(infos):
        if info.shape is None:
            unknown = True
            continue
        common = broadcast_pair(result, info.shape)
        if common is None:
            raise ShapeError(
                f"{spec.type} input {index} has shape {shape_text(info.shape)},"
                f" which does not broadcast with {shape_text(result)}"
            )
        result = common
    return None if unknown else result
