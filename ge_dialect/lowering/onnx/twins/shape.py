"""Operators that change a tensor's shape or type and no number, and those that speak about shapes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import i64, i64_array
from ge_dialect.formats.dtypes import dtype_by_cpp, dtype_by_name, dtype_by_onnx
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

_INT64 = dtype_by_name("INT64").cpp
assert _INT64 is not None


# --- Transpose, Reshape --------------------------------------------------------------------------------------------


def _transpose_to_ge(node: OnnxNode) -> GeForm | None:
    perm = node.ints("perm")
    if perm is None:
        shape = node.shape(0)
        if shape is None:
            return None
        perm = list(range(len(shape)))[::-1]
    return GeForm("TransposeD", attrs={"perm": i64_array(perm)})


def _transpose_to_onnx(node: GeNodeView) -> OnnxForm | None:
    if not only_attrs(node, "perm") or "perm" not in node.attrs or node.n_inputs != 1:
        return None
    return OnnxForm("Transpose", attrs={"perm": ints(node.attrs["perm"])})


def _reshape_to_ge(node: OnnxNode) -> GeForm | None:
    if not node.only("allowzero"):
        return None
    allow = node.int("allowzero", 0)
    return GeForm("Reshape", attrs={"allowzero": i64(1)} if allow else {})


def _reshape_to_onnx(node: GeNodeView) -> OnnxForm | None:
    allow = int(node.attrs.get("allowzero", 0))
    if not only_attrs(node, "allowzero") or node.n_inputs != 2 or (allow and node.version < 14):
        return None
    return OnnxForm("Reshape", attrs={"allowzero": 1} if allow else {})


# --- Squeeze, Unsqueeze --------------------------------------------------------------------------------------------

_AXES_INPUT_SINCE = 13


@dataclass(frozen=True, slots=True)
class _Axes:
    """Axes are the attribute `attr` of `ge`, an input of `run_time`."""

    onnx: str
    ge: str
    attr: str
    run_time: str
    optional: bool

    def to_ge(self, node: OnnxNode) -> GeForm | None:
        axes = node.ints("axes")
        if axes is None and node.wired(1):
            value = node.const(1)
            if value is None:
                return GeForm(self.run_time, (0, 1))
            axes = ints(value.reshape(-1))
        if axes is None and not self.optional:
            return None
        return GeForm(self.ge, (0,), {self.attr: i64_array(axes or ())})

    def to_onnx(self, node: GeNodeView) -> OnnxForm | None:
        as_input = node.version >= _AXES_INPUT_SINCE
        if node.type == self.run_time:
            return OnnxForm(self.onnx, (0, 1)) if as_input and node.n_inputs == 2 else None
        if not only_attrs(node, self.attr) or node.n_inputs != 1:
            return None
        axes = ints(node.attrs.get(self.attr, ()))
        if not axes and self.optional:
            return OnnxForm(self.onnx, (0,))
        if as_input:
            return OnnxForm(self.onnx, (0, Const(i64_vector(axes), "axes")))
        return OnnxForm(self.onnx, (0,), {"axes": axes})


def _axes(onnx: str, ge: str, attr: str, run_time: str, optional: bool) -> Twin:
    row = _Axes(onnx, ge, attr, run_time, optional)
    condition = (
        f"{ge}: axes constant{' or none' if optional else ''}; {run_time}: axes a run-time input"
    )
    return Twin(onnx, (ge, run_time), row.to_ge, row.to_onnx, condition)


# --- Cast, Shape, Size -----------------------------------------------------------------------------------------------


def _cast_to_ge(node: OnnxNode) -> GeForm | None:
    if not node.only("to", "saturate"):
        return None
    try:
        number = dtype_by_onnx(node.int("to", 0)).cpp
    except KeyError:
        return None
    if number is None:
        return None
    attrs: dict[str, Attribute] = {"dst_type": i64(number)}
    if not node.int("saturate", 1):
        attrs["saturate"] = i64(0)
    return GeForm("Cast", attrs=attrs)


def _cast_to_onnx(node: GeNodeView) -> OnnxForm | None:
    if not only_attrs(node, "dst_type", "saturate") or "dst_type" not in node.attrs:
        return None
    try:
        number = dtype_by_cpp(int(node.attrs["dst_type"])).onnx
    except KeyError:
        return None
    if not number:
        return None
    attrs = {"to": number}
    if not node.attrs.get("saturate", 1):
        if node.version < 19:
            return None
        attrs["saturate"] = 0
    return OnnxForm("Cast", attrs=attrs)


def _shape_to_ge(node: OnnxNode) -> GeForm | None:
    attrs: dict[str, Attribute] = {"dtype": i64(_INT64)}
    for name in ("start", "end"):
        if node.has(name):
            attrs[name] = i64(node.int(name, 0))
    return GeForm("Shape", attrs=attrs)


def _shape_to_onnx(node: GeNodeView) -> OnnxForm | None:
    if not only_attrs(node, "dtype", "start", "end") or node.attrs.get("dtype") != _INT64:
        return None
    attrs = {name: int(node.attrs[name]) for name in ("start", "end") if name in node.attrs}
    return OnnxForm("Shape", attrs=attrs) if not attrs or node.version >= 15 else None


def _size_to_ge(node: OnnxNode) -> GeForm | None:
    return GeForm("Size", attrs={"dtype": i64(_INT64)}) if node.only() else None


def _size_to_onnx(node: GeNodeView) -> OnnxForm | None:
    if not only_attrs(node, "dtype") or node.attrs.get("dtype") != _INT64:
        return None
    return OnnxForm("Size")


ROWS: tuple[Twin, ...] = (
    Twin(
        "Transpose",
        ("TransposeD",),
        _transpose_to_ge,
        _transpose_to_onnx,
        "perm given or rank known",
    ),
    Twin("Reshape", ("Reshape",), _reshape_to_ge, _reshape_to_onnx),
    _axes("Squeeze", "Squeeze", "axis", "SqueezeV3", optional=True),
    _axes("Unsqueeze", "Unsqueeze", "axes", "UnsqueezeV3", optional=False),
    Twin("Cast", ("Cast",), _cast_to_ge, _cast_to_onnx, "GE has the type; no round_mode"),
    Twin("Shape", ("Shape",), _shape_to_ge, _shape_to_onnx),
    Twin("Size", ("Size",), _size_to_ge, _size_to_onnx),
)
