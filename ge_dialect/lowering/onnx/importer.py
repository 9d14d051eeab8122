"""ONNX model -> `ge`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
from xdsl.dialects.builtin import DictionaryAttr, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import dictionary_key, i64, string_attr
from ge_dialect.dialects.collector import collector_paused
from ge_dialect.lowering.onnx.constants import ExternalFiles
from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.functions import inline_functions
from ge_dialect.lowering.onnx.graph_import import ModelImport, import_graph
from ge_dialect.lowering.onnx.load import (
    OLDEST_OPSET,
    has_outdated_operators,
    load_model,
    opset_versions,
    settle_operator_sets,
)
from ge_dialect.lowering.onnx.names import symbol_name
from ge_dialect.lowering.onnx.order import sort_nodes
from ge_dialect.lowering.onnx.shapes import substitute_dims, with_inferred_types, without_weights
from ge_dialect.lowering.onnx.upgrade import upgraded
from ge_dialect.lowering.onnx.value_types import dim_names
from ge_dialect.lowering.onnx.well_formed import check_nodes, check_text


def import_onnx(
    model: onnx.ModelProto | str | Path,
    *,
    dims: Mapping[str, int] | None = None,
    name: str | None = None,
    folder: str | Path | None = None,
) -> ModuleOp:
    """Import an ONNX model (one older than opset 7 as onnx converts it); a ModelProto is not changed.

    `dims` gives symbolic dimensions of the inputs their sizes: by name, or `input:axis` for a nameless one; those not
    given stay unknown (-1), their names in `ge.dim_names`. `name` is what errors and locations call the model
    (default: the file's path). `folder` is where external data of a ModelProto lies (default for a path: the file's
    folder); nothing outside it is opened.

    The module holds the main graph and behind it the sub-graphs of If, Loop, Scan, ... as siblings. Operators with a
    twin in GE are GE's (see `ge_dialect.lowering.onnx.op_table`), others keep ONNX's definition (property `source`);
    operators of the domains `npu` and `ge` are GE's under their own name.

    Raises OnnxImportError (a GeError) for whatever makes the import impossible.
    """
    if isinstance(model, onnx.ModelProto):
        name = name or "<model>"
    else:
        path = Path(model)
        name = name or str(path)
        folder = path.parent if folder is None else folder
        model = load_model(path)
    try:
        with collector_paused():
            return _import(model, dims or {}, name, None if folder is None else Path(folder))
    except OnnxImportError as error:
        if error.location is None:
            error.location = name
        raise


def _import(
    model: onnx.ModelProto, dims: Mapping[str, int], name: str, folder: Path | None
) -> ModuleOp:
    check_text(model)
    versions = opset_versions(model)
    version = versions.get("", OLDEST_OPSET)
    if version < OLDEST_OPSET and has_outdated_operators(model.graph, version):
        model = upgraded(model, version)
        versions = opset_versions(model)
    files = ExternalFiles(folder)
    typed = inline_functions(without_weights(model, versions, files))
    settle_operator_sets(typed.graph, versions)
    check_nodes(typed.graph, versions)
    sort_nodes(typed.graph)
    names = {item.name: dim_names(item.type) for item in typed.graph.input}
    if dims:
        substitute_dims(typed, dims)
    typed = with_inferred_types(typed)
    initializers = model.graph.initializer
    sparse = model.graph.sparse_initializer
    constants = {tensor.name for tensor in initializers}
    constants.update(item.values.name for item in sparse)
    inputs = [item for item in typed.graph.input if item.name not in constants]
    file = FileLineColLoc(StringAttr(name), IntAttr(0), IntAttr(0))
    state = ModelImport(file, files, versions)
    symbol = state.symbols.given(symbol_name(model.graph.name, "main"))
    import_graph(state, typed.graph, symbol, inputs, names, initializers, sparse)
    return ModuleOp(list(state.graphs), _model_attributes(model, versions))


def _model_attributes(model: onnx.ModelProto, versions: dict[str, int]) -> dict[str, Attribute]:
    imports = {
        dictionary_key(domain) or "ai.onnx": i64(version) for domain, version in versions.items()
    }
    attributes: dict[str, Attribute] = {
        "ge.ir_version": i64(model.ir_version),
        "ge.opset_imports": DictionaryAttr(imports),
    }
    if model.producer_name:
        producer = f"{model.producer_name} {model.producer_version}".strip()
        attributes["ge.producer"] = string_attr(producer)
    if model.metadata_props:
        attributes["ge.metadata"] = DictionaryAttr(
            {dictionary_key(item.key): string_attr(item.value) for item in model.metadata_props}
        )
    return attributes
