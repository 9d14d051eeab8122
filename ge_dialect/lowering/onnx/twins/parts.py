"""Operators that join tensors, cut them or pick from them."""

from __future__ import annotations

from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import i64, i64_array
from ge_dialect.lowering.onnx.twins.form import (
    Const,
    GeForm,
    GeNodeView,
    Input,
    OnnxForm,
    OnnxNode,
    Twin,
    i64_vector,
    ints,
    only_attrs,
)

# --- Concat --------------------------------------------------------------------------------------------------------


def _concat_to_ge(node: OnnxNode) -> GeForm | None:
    if not node.has("axis"):
        return None
    attrs: dict[str, Attribute] = {"concat_dim": i64(node.int("axis", 0)), "N": i64(node.n_inputs)}
    return GeForm("ConcatD", attrs=attrs)


def _concat_to_onnx(node: GeNodeView) -> OnnxForm | None:
    dim = node.attrs.get("concat_dim")
    if not only_attrs(node, "concat_dim", "N") or not isinstance(dim, int):
        return None
    return OnnxForm("Concat", attrs={"axis": dim})


# --- Split ---------------------------------------------------------------------------------------------------------

_SIZES_INPUT_SINCE = 13
_NUM_OUTPUTS_SINCE = 18


def _split_to_ge(node: OnnxNode) -> GeForm | None:
    axis, count = node.int("axis", 0), node.n_outputs
    sizes = node.ints("split")
    if sizes is None and node.wired(1):
        value = node.const(1)
        if value is None:
            dim = Const(i64_vector([axis]).reshape(()), "split_dim", shared=True)
            return GeForm("SplitV", (0, 1, dim), {"num_split": i64(count)})
        sizes = ints(value.reshape(-1))
    if sizes is None and node.has("num_outputs"):
        sizes = _chunks(node, axis, count)
        if sizes is None:
            return None
    attrs: dict[str, Attribute] = {"split_dim": i64(axis), "num_split": i64(count)}
    if sizes is None or len(set(sizes)) == 1:
        return GeForm("SplitD", (0,), attrs)
    attrs["size_splits"] = i64_array(sizes)
    return GeForm("SplitVD", (0,), attrs)


def _chunks(node: OnnxNode, axis: int, count: int) -> list[int] | None:
    """The sizes of `count` parts of which the last may be smaller, None when they follow from an unknown dimension."""
    shape = node.shape(0)
    if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] < 0:
        return None
    size = shape[axis]
    part = -(-size // count)
    sizes = [max(0, min(part, size - i * part)) for i in range(count)]
    return sizes if sum(sizes) == size else None


def _split_to_onnx(node: GeNodeView) -> OnnxForm | None:
    attrs = node.attrs
    if node.type == "SplitV":
        axis = node.const(2)
        if axis is None or node.version < _SIZES_INPUT_SINCE or not only_attrs(node, "num_split"):
            return None
        return OnnxForm("Split", (0, 1), {"axis": int(axis.reshape(-1)[0])})
    dim = attrs.get("split_dim")
    if node.n_inputs != 1 or not isinstance(dim, int):
        return None
    if node.type == "SplitD":
        if node.version >= _NUM_OUTPUTS_SINCE:
            return OnnxForm("Split", (0,), {"axis": dim, "num_outputs": node.n_outputs})
        return OnnxForm("Split", (0,), {"axis": dim})
    sizes = ints(attrs.get("size_splits", ()))
    if len(sizes) != node.n_outputs:
        return None
    if node.version >= _SIZES_INPUT_SINCE:
        return OnnxForm("Split", (0, Const(i64_vector(sizes), "split")), {"axis": dim})
    return OnnxForm("Split", (0,), {"axis": dim, "split": sizes})


# --- Gather --------------------------------------------------------------------------------------------------------


def _gather_to_ge(node: OnnxNode) -> GeForm | None:
    if not node.only("axis"):
        return None
    axis = Const(i64_vector([node.int("axis", 0)]).reshape(()), "axis", shared=True)
    return GeForm("GatherV2", (0, 1, axis))


def _gather_to_onnx(node: GeNodeView) -> OnnxForm | None:
    axis = node.const(2) if node.n_inputs == 3 else None
    if axis is None or node.attrs.get("batch_dims", 0) or not only_attrs(node, "batch_dims"):
        return None
    return OnnxForm("Gather", (0, 1), {"axis": int(axis.reshape(-1)[0])})


# --- Slice ---------------------------------------------------------------------------------------------------------

_LIMITS_INPUT_SINCE = 10


def _slice_to_ge(node: OnnxNode) -> GeForm | None:
    if node.version >= _LIMITS_INPUT_SINCE:
        if not node.only() or node.n_inputs < 3:
            return None
        inputs: list[Input] = [i if node.wired(i) else None for i in range(5)]
        return GeForm("StridedSliceV2", inputs)
    starts, ends, axes = node.ints("starts"), node.ints("ends"), node.ints("axes")
    if starts is None or ends is None:
        return None
    return GeForm(
        "StridedSliceV2",
        (
            0,
            Const(i64_vector(starts), "begin"),
            Const(i64_vector(ends), "end"),
            None if axes is None else Const(i64_vector(axes), "axes"),
            None,
        ),
    )


def _slice_to_onnx(node: GeNodeView) -> OnnxForm | None:
    if node.attrs or not 3 <= node.n_inputs <= 5:
        return None
    if node.version >= _LIMITS_INPUT_SINCE:
        return OnnxForm("Slice", [i if node.wired(i) else None for i in range(node.n_inputs)])
    attrs: dict[str, list[int]] = {}
    for i, name in ((1, "starts"), (2, "ends"), (3, "axes")):
        if i < node.n_inputs and node.wired(i):
            value = node.const(i)
            if value is None:
                return None
            attrs[name] = ints(value.reshape(-1))
    if node.n_inputs == 5 and node.wired(4):
        steps = node.const(4)
        if steps is None or (steps != 1).any():
            return None
    return OnnxForm("Slice", (0,), attrs)


ROWS: tuple[Twin, ...] = (
    Twin("Concat", ("ConcatD",), _concat_to_ge, _concat_to_onnx),
    Twin(
        "Split",
        ("SplitD", "SplitVD", "SplitV"),
        _split_to_ge,
        _split_to_onnx,
        "SplitD: equal parts; SplitVD: constant sizes; SplitV: sizes a run-time input; not with num_outputs and an"
        " unknown dimension",
    ),
    Twin("Gather", ("GatherV2",), _gather_to_ge, _gather_to_onnx),
    Twin("Slice", ("StridedSliceV2",), _slice_to_ge, _slice_to_onnx),
)
