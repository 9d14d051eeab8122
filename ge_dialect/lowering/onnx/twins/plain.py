"""Operators that differ in name alone, or in the name of an attribute."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr, f32

from ge_dialect.lowering.onnx.twins.form import (
    GeForm,
    GeNodeView,
    OnnxForm,
    OnnxNode,
    Twin,
    only_attrs,
)

SAME_NAME: tuple[str, ...] = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Log",
    "Neg", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh", "Relu", "Softplus", "Softsign", "Reciprocal",
    "Round", "Identity", "PRelu", "Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "Expand", "Range",
    "Tile",
)  # fmt: skip
"""Same name, same inputs, no attributes."""

RENAMED: tuple[tuple[str, str], ...] = (
    ("Not", "LogicalNot"),
    ("And", "LogicalAnd"),
    ("Or", "LogicalOr"),
    ("Xor", "LogicalXor"),
    ("GreaterOrEqual", "GreaterEqual"),
    ("LessOrEqual", "LessEqual"),
    ("Where", "SelectV2"),
)
"""(ONNX, GE): another name, same inputs, no attributes."""

PAIRWISE: tuple[tuple[str, str], ...] = (("Max", "Maximum"), ("Min", "Minimum"))
"""(ONNX, GE): GE's takes exactly two inputs."""

FLOAT_ATTRIBUTE: tuple[tuple[str, str, str, str, float], ...] = (
    ("LeakyRelu", "LeakyRelu", "alpha", "negative_slope", 0.01),
    ("Elu", "Elu", "alpha", "alpha", 1.0),
)
"""(ONNX, GE, ONNX's attribute, GE's attribute, default)."""


@dataclass(frozen=True, slots=True)
class _Name:
    """Another name and nothing else; `arity` None: any number of inputs."""

    onnx: str
    ge: str
    arity: int | None = None

    def to_ge(self, node: OnnxNode) -> GeForm | None:
        if not node.only() or (self.arity is not None and node.n_inputs != self.arity):
            return None
        return GeForm(self.ge)

    def to_onnx(self, node: GeNodeView) -> OnnxForm | None:
        return OnnxForm(self.onnx) if not node.attrs else None


@dataclass(frozen=True, slots=True)
class _FloatAttribute:
    """One float attribute under another name."""

    onnx: str
    ge: str
    onnx_attr: str
    ge_attr: str
    default: float

    def to_ge(self, node: OnnxNode) -> GeForm | None:
        if not node.only(self.onnx_attr):
            return None
        value = node.float(self.onnx_attr, self.default)
        return GeForm(self.ge, attrs={self.ge_attr: FloatAttr(value, f32)})

    def to_onnx(self, node: GeNodeView) -> OnnxForm | None:
        if not only_attrs(node, self.ge_attr):
            return None
        value = float(node.attrs.get(self.ge_attr, self.default))
        return OnnxForm(self.onnx, attrs={self.onnx_attr: value})


def _name(onnx: str, ge: str, arity: int | None = None, condition: str = "") -> Twin:
    row = _Name(onnx, ge, arity)
    return Twin(onnx, (ge,), row.to_ge, row.to_onnx, condition)


def _float_attribute(onnx: str, ge: str, onnx_attr: str, ge_attr: str, default: float) -> Twin:
    row = _FloatAttribute(onnx, ge, onnx_attr, ge_attr, default)
    return Twin(onnx, (ge,), row.to_ge, row.to_onnx)


ROWS: tuple[Twin, ...] = (
    *(_name(name, name) for name in SAME_NAME),
    *(_name(onnx, ge) for onnx, ge in RENAMED),
    *(_name(onnx, ge, 2, "exactly two inputs") for onnx, ge in PAIRWISE),
    *(_float_attribute(*row) for row in FLOAT_ATTRIBUTE),
)
