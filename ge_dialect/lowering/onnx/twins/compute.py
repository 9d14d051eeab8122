"""Convolution, matrix product, softmax, reductions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.lowering.onnx.twins.form import (
    Const,
    GeForm,
    GeNodeView,
    OnnxForm,
    OnnxNode,
    Twin,
    i64_vector,
    ints,
    only_attrs,
)

_TRUE, _FALSE = from_python(True), from_python(False)


def _flag(value: object) -> Attribute:
    return _TRUE if value else _FALSE


# --- Conv ----------------------------------------------------------------------------------------------------------


def _conv_pads(node: OnnxNode, strides: list[int], dilations: list[int]) -> list[int] | None:
    """Top, bottom, left, right; None when they follow from dimensions that are not known."""
    auto_pad = node.text("auto_pad", "NOTSET")
    if auto_pad == "VALID":
        return [0, 0, 0, 0]
    if auto_pad == "NOTSET":
        given = node.ints("pads") or [0, 0, 0, 0]
        if len(given) != 4 or min(given) < 0:
            return None
        return [given[0], given[2], given[1], given[3]]
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        return None
    sizes, kernel = node.shape(0), node.ints("kernel_shape")
    if kernel is None:
        filters = node.shape(1)
        kernel = None if filters is None else list(filters[2:])
    if sizes is None or kernel is None or len(kernel) != 2 or -1 in sizes[2:] or -1 in kernel:
        return None
    pads: list[int] = []
    for size, window, stride, dilation in zip(sizes[2:], kernel, strides, dilations, strict=True):
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        small, large = total // 2, total - total // 2
        pads += [small, large] if auto_pad == "SAME_UPPER" else [large, small]
    return pads


def _conv_to_ge(node: OnnxNode) -> GeForm | None:
    shape = node.shape(0)
    if shape is None or len(shape) != 4:
        return None
    strides = node.ints("strides") or [1, 1]
    dilations = node.ints("dilations") or [1, 1]
    if len(strides) != 2 or len(dilations) != 2:
        return None
    pads = _conv_pads(node, strides, dilations)
    if pads is None:
        return None
    return GeForm(
        "Conv2D",
        attrs={
            "strides": i64_array([1, 1, *strides]),
            "pads": i64_array(pads),
            "dilations": i64_array([1, 1, *dilations]),
            "groups": i64(node.int("group", 1)),
            "data_format": string("NCHW"),
        },
    )


def _conv_to_onnx(node: GeNodeView) -> OnnxForm | None:
    attrs = node.attrs
    if not only_attrs(node, "strides", "pads", "dilations", "groups", "data_format"):
        return None
    strides, dilations = attrs.get("strides", [1] * 4), attrs.get("dilations", [1] * 4)
    pads = attrs.get("pads", [0] * 4)
    if attrs.get("data_format") != "NCHW" or [len(strides), len(dilations), len(pads)] != [4] * 3:
        return None
    if strides[:2] != [1, 1] or dilations[:2] != [1, 1]:
        return None
    top, bottom, left, right = pads
    return OnnxForm(
        "Conv",
        attrs={
            "strides": strides[2:],
            "dilations": dilations[2:],
            "pads": [top, left, bottom, right],
            "group": int(attrs.get("groups", 1)),
        },
    )


# --- MatMul --------------------------------------------------------------------------------------------------------

_MATMUL_ATTRS = {"adj_x1": _FALSE, "adj_x2": _FALSE}


def _matmul_to_ge(node: OnnxNode) -> GeForm | None:
    return GeForm("BatchMatMulV2", attrs=_MATMUL_ATTRS) if node.only() else None


def _matmul_to_onnx(node: GeNodeView) -> OnnxForm | None:
    transposed = node.attrs.get("adj_x1") or node.attrs.get("adj_x2")
    if not only_attrs(node, "adj_x1", "adj_x2") or transposed or node.n_inputs != 2:
        return None
    return OnnxForm("MatMul")


# --- Softmax -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Softmax:
    """Softmax over one axis. ONNX's older versions flatten the input to a matrix first, which is another operator
    unless the axis is the last."""

    onnx: str
    ge: str

    def to_ge(self, node: OnnxNode) -> GeForm | None:
        if node.version < 13 or not node.only("axis"):
            return None
        return GeForm(self.ge, attrs={"axes": i64_array([node.int("axis", -1)])})

    def to_onnx(self, node: GeNodeView) -> OnnxForm | None:
        axes = ints(node.attrs.get("axes", [-1]))
        if len(axes) != 1 or not only_attrs(node, "axes"):
            return None
        if node.version < 13:
            shape = node.shape(0)
            if axes[0] != -1 and (shape is None or axes[0] != len(shape) - 1):
                return None
        return OnnxForm(self.onnx, attrs={"axis": axes[0]})


# --- Reductions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reduce:
    """Axes are attributes in `<op>D`, an input in `<op>`."""

    op: str
    axes_input_since: int

    def to_ge(self, node: OnnxNode) -> GeForm | None:
        keep = _flag(node.int("keepdims", 1))
        noop = node.int("noop_with_empty_axes", 0)
        axes = node.ints("axes")
        if axes is None and node.wired(1):
            value = node.const(1)
            if value is None:
                return None if noop else GeForm(self.op, (0, 1), {"keep_dims": keep})
            axes = ints(value.reshape(-1))
        if noop and not axes:
            return None
        return GeForm(self.op + "D", (0,), {"axes": i64_array(axes or ()), "keep_dims": keep})

    def to_onnx(self, node: GeNodeView) -> OnnxForm | None:
        keep = int(node.attrs.get("keep_dims", False))
        as_input = node.version >= self.axes_input_since
        if node.type == self.op:
            if not as_input or node.n_inputs != 2 or not only_attrs(node, "keep_dims"):
                return None
            return OnnxForm(self.op, (0, 1), {"keepdims": keep})
        if node.n_inputs != 1 or not only_attrs(node, "axes", "keep_dims"):
            return None
        axes = ints(node.attrs.get("axes", ()))
        if not axes:
            return OnnxForm(self.op, (0,), {"keepdims": keep})
        if as_input:
            return OnnxForm(self.op, (0, Const(i64_vector(axes), "axes")), {"keepdims": keep})
        return OnnxForm(self.op, (0,), {"axes": axes, "keepdims": keep})


REDUCTIONS: tuple[tuple[str, int], ...] = (
    ("ReduceSum", 13),
    ("ReduceMean", 18),
    ("ReduceMax", 18),
    ("ReduceMin", 18),
    ("ReduceProd", 18),
)
"""(operator, opset in which the axes became an input)."""


def _softmax(onnx: str, ge: str) -> Twin:
    row = _Softmax(onnx, ge)
    return Twin(onnx, (ge,), row.to_ge, row.to_onnx, "since opset 13")


def _reduce(op: str, axes_input_since: int) -> Twin:
    row = _Reduce(op, axes_input_since)
    return Twin(
        op,
        (op + "D", op),
        row.to_ge,
        row.to_onnx,
        "D: axes constant or none; not with noop_with_empty_axes and axes that are or may be empty",
    )


ROWS: tuple[Twin, ...] = (
    Twin(
        "Conv",
        ("Conv2D",),
        _conv_to_ge,
        _conv_to_onnx,
        "x of rank 4, pads known and not negative",
    ),
    Twin("MatMul", ("BatchMatMulV2",), _matmul_to_ge, _matmul_to_onnx),
    _softmax("Softmax", "SoftmaxV2"),
    _softmax("LogSoftmax", "LogSoftmaxV2"),
    *(_reduce(op, since) for op, since in REDUCTIONS),
)
