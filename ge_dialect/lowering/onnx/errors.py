"""What can go wrong between an ONNX model and the IR."""

from __future__ import annotations

from ge_dialect.formats.errors import GeError


class OnnxImportError(GeError):
    """The ONNX model cannot be imported: damaged, inconsistent, or of a version that is not supported."""


class OnnxExportError(GeError):
    """The module says something that an ONNX model cannot say."""
