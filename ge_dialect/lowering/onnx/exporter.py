"""`ge` -> ONNX model."""

from __future__ import annotations

import onnx
from onnx import ModelProto
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import text_of, text_of_key
from ge_dialect.dialects.ge.access import get_int, get_text, graph_table, graphs, nodes
from ge_dialect.lowering.onnx.collectives import GE_DOMAINS
from ge_dialect.lowering.onnx.errors import OnnxExportError
from ge_dialect.lowering.onnx.graph_export import GraphExport, ModelExport
from ge_dialect.lowering.onnx.metadata import add_metadata, node_metadata
from ge_dialect.lowering.onnx.opset_choice import chosen_opsets

OLDEST_IR_VERSION = 4
"""Before, an initializer had to be an input as well."""

DEFAULT_IR_VERSION = 10
"""For a module that does not say: the first version with metadata on nodes."""


def export_onnx(module: ModuleOp) -> ModelProto:
    """Write a module of `ge` as an ONNX model that other tools can open; what came from ONNX computes the same there.

    GE types with a twin in ONNX become that; the others become nodes of the domain `ge` (`npu` where the module
    imports that), which no other tool computes. `ge.*` attributes are metadata properties of the nodes, inputs and
    initializers they stand on, those of the main graph of the model. Control edges are the node property
    `ge.control_inputs`; nodes that only order or synchronize are left out, their names in the model property
    `ge.left_out`. Weights are copied into the model.

    Raises OnnxExportError for what ONNX cannot say and WeightsError for constants whose bytes are not there.
    """
    main = next(iter(graphs(module)), None)
    if main is None:
        raise OnnxExportError("the module holds no ge.graph")
    everything: list[Operation] = [op for graph in graphs(module) for op in nodes(graph)]
    versions = chosen_opsets(module, everything)
    ge_domain = next((domain for domain in GE_DOMAINS if domain in versions), GE_DOMAINS[-1])
    state = ModelExport(versions, graph_table(module), ge_domain)
    graph = GraphExport(state, main).build()
    model = ModelProto(ir_version=_ir_version(module), graph=graph)
    for domain, version in versions.items():
        model.opset_import.add(domain=domain, version=version)
    producer = get_text(module, "ge.producer")
    model.producer_name = "ge-dialect" if producer is None else producer
    entries = [*node_metadata(module.attributes), *node_metadata(main.attributes)]
    if isinstance(noted := module.attributes.get("ge.metadata"), DictionaryAttr):
        entries += [(text_of_key(key), text_of(value) or "") for key, value in noted.data.items()]
    if state.left_out:
        entries.append(("ge.left_out", ", ".join(state.left_out)))
    add_metadata(model, entries)
    return model


def _ir_version(module: ModuleOp) -> int:
    noted = get_int(module, "ge.ir_version")
    if noted is None:
        return min(DEFAULT_IR_VERSION, onnx.IR_VERSION)
    return max(noted, OLDEST_IR_VERSION)
