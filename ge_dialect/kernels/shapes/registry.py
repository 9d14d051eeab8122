"""From a node's operator to its shape function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.errors import KERNEL_FAULTS
from ge_dialect.kernels.shapes.facts import CONTROL_FLOW_ONNX
from ge_dialect.kernels.shapes.info import (
    Inputs,
    OnnxShape,
    Outputs,
    ShapeError,
    ShapeFunction,
    Values,
)
from ge_dialect.kernels.spec import OpSpec

FAMILIES: tuple[str, ...] = (
    "elementwise",
    "products",
    "windows",
    "joins",
    "views",
    "extents",
    "indexing",
    "reductions",
    "normalization",
    "creation",
    "collectives",
    "recurrent",
    "quantization",
    "resizing",
    "attention",
)
"""Modules of this package, each with `GE_SHAPES` (by type) and `ONNX_SHAPES` (rows); no key may occur twice."""


@cache
def _ge_table() -> Mapping[str, ShapeFunction]:
    table: dict[str, ShapeFunction] = {}
    for name in FAMILIES:
        functions: Mapping[str, ShapeFunction] = import_module(
            f"ge_dialect.kernels.shapes.{name}"
        ).GE_SHAPES
        for type_, function in functions.items():
            if type_ in table:
                raise AssertionError(f"two shape functions for the type {type_}")
            table[type_] = function
    return MappingProxyType(table)


@cache
def _onnx_table() -> Mapping[tuple[str, str], tuple[OnnxShape, ...]]:
    table: dict[tuple[str, str], tuple[OnnxShape, ...]] = {}
    for name in FAMILIES:
        rows: Sequence[OnnxShape] = import_module(f"ge_dialect.kernels.shapes.{name}").ONNX_SHAPES
        for row in rows:
            key = (row.domain, row.op)
            table[key] = (*table.get(key, ()), row)
    return MappingProxyType(table)


@cache
def _onnx_function(source: SourceOp) -> ShapeFunction | None:
    for row in _onnx_table().get((source.domain, source.op), ()):
        if row.since <= source.version and (row.until is None or source.version <= row.until):
            return row.function
    if source.domain == "ai.onnx" and source.op in CONTROL_FLOW_ONNX:
        return None
    from ge_dialect.kernels.shapes.onnx_inference import (  # imports onnx: only when it is needed
        infer_by_onnx,
        schema_of,
    )

    return None if schema_of(source) is None else infer_by_onnx


def find(spec: OpSpec) -> ShapeFunction | None:
    """The shape function of a node; None for an operator that nothing is known about, or that owns graphs."""
    if spec.source is None:
        return _ge_table().get(spec.type)
    return _onnx_function(spec.source)


def infer(spec: OpSpec, inputs: Inputs, values: Values = ()) -> Outputs:
    """What is known about the `spec.n_outputs` outputs of a node.

    `inputs` has one entry an input slot (None: not wired), `values` the elements of inputs where they are known;
    `value_dependent_inputs` says for which inputs they matter. An entry None of the answer says that nothing is known;
    a dimension -1 or a rank None only that this part is not. What is said is true of every run.
    Raises ShapeError when inputs and attributes do not go together.
    """
    function = find(spec)
    count = spec.n_outputs
    if function is None:
        return [None] * count
    try:
        outputs = function(spec, inputs, values)
    except KERNEL_FAULTS as error:  # ranks and lengths that a function has not looked at
        if isinstance(error, GeError):
            raise
        raise ShapeError(f"{spec.type}: {type(error).__name__}: {error}") from error
    if len(outputs) != count:
        outputs = [*outputs[:count], *[None] * (count - len(outputs))]
    return outputs
