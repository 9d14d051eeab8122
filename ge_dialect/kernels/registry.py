"""From a node's operator to its kernel.

GE's own operators are found by type. Operators that came from ONNX unchanged are found by domain, name and version;
those without a kernel of ours are computed by onnx's reference implementation, which is imported when first needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType

import numpy as np

from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.errors import KERNEL_FAULTS, KernelInputError, UnsupportedOpError
from ge_dialect.kernels.fused import FUSED_TYPE, fused_kernel
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, as_value, bind_by_evaluating
from ge_dialect.kernels.relaid import relaid
from ge_dialect.kernels.spec import Array, OpSpec, Value
from ge_dialect.kernels.widening import SUMS_OF_PRODUCTS, widened

FAMILIES: tuple[str, ...] = (
    "unary",
    "binary",
    "logic",
    "matmul",
    "conv",
    "conv_transpose",
    "pooling",
    "softmax",
    "normalization",
    "reduction",
    "shape",
    "joining",
    "gather",
    "slicing",
    "create",
    "cast",
    "resize",
    "recurrent",
    "quantize",
    "classical",
    "optional",
    "transdata",
    "updates",
)
"""Modules of this package, each with `GE_KERNELS` (by type) and `ONNX_KERNELS` (rows); no key may occur twice."""

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})


@cache
def _ge_table() -> Mapping[str, Kernel]:
    table: dict[str, Kernel] = {}
    for name in FAMILIES:
        kernels: Mapping[str, Kernel] = import_module(f"ge_dialect.kernels.{name}").GE_KERNELS
        for type_, kernel in kernels.items():
            if type_ in table:
                raise AssertionError(f"two kernels for the type {type_}")
            table[type_] = kernel
    return MappingProxyType(table)


@cache
def _onnx_table() -> Mapping[tuple[str, str], tuple[OnnxKernel, ...]]:
    table: dict[tuple[str, str], tuple[OnnxKernel, ...]] = {}
    for name in FAMILIES:
        rows: Sequence[OnnxKernel] = import_module(f"ge_dialect.kernels.{name}").ONNX_KERNELS
        for row in rows:
            key = (row.domain, row.op)
            table[key] = (*table.get(key, ()), row)
    return MappingProxyType(table)


def find(spec: OpSpec, *, wide_sums: bool = False) -> Kernel:
    """The kernel of a node; with `wide_sums`, float32 products are summed in float64 (`kernels.widening`).

    Raises UnsupportedOpError, naming operator and domain.
    """
    kernel = _find(spec)
    if wide_sums and (spec.type if spec.source is None else spec.source.op) in SUMS_OF_PRODUCTS:
        kernel = widened(kernel)
    return kernel if spec.layouts is None else relaid(kernel)


def _find(spec: OpSpec) -> Kernel:
    source = spec.source
    if source is None:
        if spec.type == FUSED_TYPE:
            return fused_kernel(spec, find)
        kernel = _ge_table().get(spec.type)
        if kernel is None:
            raise UnsupportedOpError(f"no kernel for operators of the type {spec.type}")
        return kernel
    domain = source.domain or "ai.onnx"
    for row in _onnx_table().get((domain, source.op), ()):
        if row.since <= source.version and (row.until is None or source.version <= row.until):
            return row.kernel
    if domain == "ai.onnx" and source.op in CONTROL_FLOW:
        raise UnsupportedOpError(f"{source} runs subgraphs, which is no kernel's business")
    # Imports onnx: only when it is needed.
    from ge_dialect.kernels.reference import reference_kernel

    return reference_kernel(source)


def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Compute a node: `spec.n_outputs` new values.

    Inputs are arrays, lists, dicts or None for an absent slot. Raises UnsupportedOpError and KernelInputError.
    Floating-point exceptions (overflow, 0/0) give inf and nan without warnings.
    """
    kernel = find(spec)
    try:
        with np.errstate(all="ignore"):
            results = kernel.evaluate(spec, inputs)
    except KERNEL_FAULTS as error:
        if isinstance(error, GeError):
            raise
        text = f"{spec.type}: {type(error).__name__}: {error}"
        raise KernelInputError(text) from error
    return [as_value(result) for result in results[: spec.n_outputs]]


def bind(
    spec: OpSpec,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
    *,
    wide_sums: bool = False,
) -> Thunk:
    """Prepare a node that runs on fixed memory; each call of the answer computes outputs from inputs.

    Only shapes and element types are looked at here, values only in the call, so memory may be filled later. An output
    may be exactly the memory of an input of an elementwise operator; other overlaps of outputs with inputs are not
    allowed. An output that is None is not wanted. Raises KernelShapeError, here or in the call, when a view has not
    the shape and element type of the result. The call does not silence numpy's floating-point warnings: run
    programs under `np.errstate(all="ignore")`.
    """
    kernel = find(spec, wide_sums=wide_sums)
    if kernel.bind is not None:
        thunk = kernel.bind(spec, inputs, outputs)
        if thunk is not None:
            return thunk
    return bind_by_evaluating(kernel.evaluate, spec, inputs, outputs)
