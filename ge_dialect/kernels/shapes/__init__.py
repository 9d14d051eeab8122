"""Shape functions of operators: what is known about outputs from what is known about inputs.

They serve folding and import (make a model static), `ge-verify` (check what a text says) and planning.
"""

from __future__ import annotations

from ge_dialect.kernels.shapes.facts import is_data_dependent, value_dependent_inputs
from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Info,
    Inputs,
    OpaqueInfo,
    Outputs,
    Shape,
    ShapeError,
    TensorInfo,
    Values,
    shape_text,
)
from ge_dialect.kernels.shapes.registry import find, infer

__all__ = [
    "UNKNOWN",
    "Info",
    "Inputs",
    "OpaqueInfo",
    "Outputs",
    "Shape",
    "ShapeError",
    "TensorInfo",
    "Values",
    "find",
    "infer",
    "is_data_dependent",
    "shape_text",
    "value_dependent_inputs",
]
