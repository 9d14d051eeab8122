"""Which operator sets a model to be written imports."""

from __future__ import annotations

from onnx import defs
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import text_of_key
from ge_dialect.dialects.ge.access import node_name, source_op
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.lowering.onnx.errors import OnnxExportError

DEFAULT_OPSET = 21
"""For a module that does not say: the first version whose types hold four-bit integers."""


def _domain(source: SourceOp) -> str:
    return "" if source.domain == "ai.onnx" else source.domain


def version_in_force(op: str, version: int, domain: str) -> int | None:
    """The version of the operator's definition that an operator set of `version` holds, None without schema."""
    try:
        return defs.get_schema(op, version, domain).since_version
    except defs.SchemaError:
        return None


def chosen_opsets(module: ModuleOp, nodes: list[Operation]) -> dict[str, int]:
    """Domain -> version: those that the module notes (`ge.opset_imports`), else the newest that its nodes ask for.

    Raises OnnxExportError for a node that follows another version of its operator than the set holds.
    """
    versions: dict[str, int] = {}
    noted = module.attributes.get("ge.opset_imports")
    if isinstance(noted, DictionaryAttr):
        for key, value in noted.data.items():
            if isinstance(value, IntegerAttr):
                versions["" if key == "ai.onnx" else text_of_key(key)] = value.value.data
    sources = [(op, source) for op in nodes if (source := source_op(op)) is not None]
    if "" not in versions:
        wanted = max((s.version for _, s in sources if not _domain(s)), default=0)
        agrees = all(
            version_in_force(s.op, DEFAULT_OPSET, "") in (None, s.version)
            for _, s in sources
            if not _domain(s)
        )
        versions[""] = DEFAULT_OPSET if agrees else wanted
    for op, source in sources:
        domain = _domain(source)
        version = versions.setdefault(domain, source.version)
        held = version_in_force(source.op, version, domain)
        if held is not None and held != source.version:
            raise OnnxExportError(
                f"{source} is asked for, but opset {version} of {source.domain} holds version {held}",
                f'node "{node_name(op)}"',
            )
    return versions
