"""ONNX models to the dialect `ge` and back.

The functions are loaded when first asked for: importing this package does not import onnx.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ge_dialect.lowering.onnx.errors import OnnxExportError, OnnxImportError

if TYPE_CHECKING:
    from ge_dialect.lowering.onnx.exporter import export_onnx
    from ge_dialect.lowering.onnx.importer import import_onnx

_LAZY = {
    "export_onnx": "ge_dialect.lowering.onnx.exporter",
    "import_onnx": "ge_dialect.lowering.onnx.importer",
}

__all__ = ["OnnxExportError", "OnnxImportError", "export_onnx", "import_onnx"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
