"""Calls of a model's own functions are replaced by the functions' nodes before anything else is looked at."""

from __future__ import annotations

import onnx
from onnx import inliner

from ge_dialect.lowering.onnx.errors import OnnxImportError


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without functions of its own. Operators that a schema defines as functions stay operators.

    Raises OnnxImportError when a function cannot be inlined.
    """
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model, convert_version=False)
    except (RuntimeError, ValueError, TypeError) as error:
        raise OnnxImportError(f"the model's functions cannot be inlined: {error}") from None
