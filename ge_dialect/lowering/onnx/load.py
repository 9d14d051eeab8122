"""Reading a model file, and the checks that stand before everything else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import defs

from ge_dialect.lowering.onnx.errors import OnnxImportError

OLDEST_OPSET = 7
"""Operators of older versions broadcast by attributes, among other things. A model of an older opset is imported only
if all its operators mean there what they mean in this one."""

DEFAULT_DOMAINS = ("", "ai.onnx")
"""The two spellings of ONNX's own operator set."""


def load_model(path: Path) -> onnx.ModelProto:
    """Read a binary ONNX file. External data stays where it is.

    Raises OnnxImportError for a file that cannot be read, is no ONNX model or is cut short.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise OnnxImportError(f"cannot read the model: {reason}", str(path)) from None
    return model_of_bytes(data, str(path))


def model_of_bytes(data: bytes, name: str = "<model>") -> onnx.ModelProto:
    """The model serialized in `data`; `name` stands in errors. Raises OnnxImportError for bytes that are none."""
    if not data:
        raise OnnxImportError("the file is empty, not an ONNX model", name)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        # Field 1, the IR version, comes first in every file that any exporter writes.
        if data[0] == 0x08:
            raise OnnxImportError("the ONNX model is cut short or damaged", name) from None
        raise OnnxImportError("not an ONNX model", name) from None
    if not model.HasField("graph") or model.ir_version <= 0:
        raise OnnxImportError("not an ONNX model: it has no graph or no IR version", name)
    return model


def opset_versions(model: onnx.ModelProto) -> dict[str, int]:
    """Version of each operator set that the model imports; ONNX's own is under "".

    Raises OnnxImportError when that one is newer than the installed onnx knows, for a version below 1, and when a set
    is imported in two versions.
    """
    versions: dict[str, int] = {}
    for entry in model.opset_import:
        domain = "" if entry.domain in DEFAULT_DOMAINS else entry.domain
        told = f'operator set "{domain or "ai.onnx"}"'
        if entry.version < 1 or entry.version >= 1 << 31:
            raise OnnxImportError(f"{told} cannot have the version {entry.version}")
        if versions.setdefault(domain, entry.version) != entry.version:
            raise OnnxImportError(
                f"{told} is imported in the versions {versions[domain]} and {entry.version}"
            )
    if not versions:
        raise OnnxImportError("not an ONNX model: it imports no operator set")
    version = versions.get("")
    newest = defs.onnx_opset_version()
    if version is not None and version > newest:
        raise OnnxImportError(
            f"opset {version} is newer than the installed onnx {onnx.__version__} knows ({newest});"
            " install a newer onnx"
        )
    return versions


def settle_operator_sets(graph: onnx.GraphProto, versions: Mapping[str, int]) -> None:
    """Spell ONNX's own domain in one way, in place, in all graphs.

    Raises OnnxImportError for an operator from a set that the model does not import.
    """
    for node in graph.node:
        if node.domain == "ai.onnx":
            node.domain = ""
        if node.domain not in versions:
            name = f' "{node.name}"' if node.name else ""
            raise OnnxImportError(
                f'node{name}: the model imports no operator set "{node.domain or "ai.onnx"}",'
                f" which {node.op_type} is from"
            )
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                settle_operator_sets(attribute.g, versions)
            elif attribute.type == onnx.AttributeProto.GRAPHS:
                for inner in attribute.graphs:
                    settle_operator_sets(inner, versions)


def has_outdated_operators(graph: onnx.GraphProto, version: int) -> bool:
    """Whether a graph of opset `version`, older than 7, has operators whose definition has changed up to opset 7."""
    return any(not node.domain and _changed(node.op_type, version) for node in graph.node)


def _changed(op: str, version: int) -> bool:
    try:
        old = defs.get_schema(op, version, "").since_version
        return old != defs.get_schema(op, OLDEST_OPSET, "").since_version
    except defs.SchemaError:
        return True
