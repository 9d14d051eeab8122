"""Operators on tensors whose storage format differs from their origin format.

Attributes of an operator (axes, shapes, data formats) are in terms of the origin, so a kernel is given its inputs in
origin format and shape and its results are laid out again. Kernels themselves know nothing of storage formats.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ge_dialect.formats.transform import Layout, from_storage, to_storage
from ge_dialect.kernels.kernel import Kernel, as_value
from ge_dialect.kernels.layouts import SlotLayouts
from ge_dialect.kernels.spec import OpSpec, Value, is_array


def relaid(kernel: Kernel) -> Kernel:
    """`kernel` for nodes whose `spec.layouts` says how their tensors lie."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        layouts = spec.layouts
        if layouts is None:
            return kernel.evaluate(spec, inputs)
        given = [
            from_storage(value, layout) if layout is not None and is_array(value) else value
            for value, layout in zip(inputs, _filled(layouts.inputs, len(inputs)), strict=True)
        ]
        results = [as_value(result) for result in kernel.evaluate(spec, given)]
        return [
            np.array(to_storage(value, layout)) if layout is not None and is_array(value) else value
            for value, layout in zip(results, _filled(layouts.outputs, len(results)), strict=True)
        ]

    return Kernel(evaluate)


def _filled(layouts: SlotLayouts, count: int) -> Sequence[Layout | None]:
    """One entry a value: attributes that are inputs in other versions of an operator have no layout."""
    return [*layouts, *[None] * (count - len(layouts))][:count]
