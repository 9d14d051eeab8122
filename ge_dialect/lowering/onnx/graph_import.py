"""One ONNX graph becomes one `ge.graph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, defs
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    NoneType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge_dialect.dialects.attrs import i64, string, string_attr
from ge_dialect.dialects.ge import NODE_OF_TYPE, DataOp, GeNode, GraphOp, NetOutputOp, OpOp, SourceOp
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.lowering.onnx.attributes import GRAPH_KINDS, attribute_from_onnx
from ge_dialect.lowering.onnx.constants import (
    ExternalFiles,
    onnx_array,
    sparse_elements,
    tensor_elements,
)
from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.load import DEFAULT_DOMAINS
from ge_dialect.lowering.onnx.names import Names, symbol_name
from ge_dialect.lowering.onnx.node_view import NodeView
from ge_dialect.lowering.onnx.op_table import TWIN_OF_ONNX
from ge_dialect.lowering.onnx.order import ListedNode, sorted_nodes
from ge_dialect.lowering.onnx.scope import PendingConstant, Scope
from ge_dialect.lowering.onnx.twins.form import Const, GeForm
from ge_dialect.lowering.onnx.value_types import UNKNOWN, dim_names, with_unknown_rank

GE_DOMAINS = ("npu", "ge")
"""Domains whose operators are GE's: the type is the operator's name, the attributes are GE's, there is no `source`."""

GRAPH_ATTRIBUTES = {
    "If": ("then_branch", "else_branch"),
    "Loop": ("body",),
    "Scan": ("body",),
    "SequenceMap": ("body",),
}
"""Operators that own sub-graphs, with the attributes that hold them in slot order. Other operators note the names of
their attributes in `ge.subgraph_names`."""

_NONE = NoneType()


@dataclass(slots=True)
class ModelImport:
    """What all graphs of one model share while it is imported."""

    file: FileLineColLoc
    files: ExternalFiles
    versions: dict[str, int]
    symbols: Names = field(default_factory=Names)
    graphs: list[GraphOp] = field(default_factory=list[GraphOp])
    sources: dict[tuple[str, str], StringAttr] = field(
        default_factory=dict[tuple[str, str], StringAttr]
    )

    @property
    def name(self) -> str:
        """The model's name in errors."""
        return self.file.filename.data

    def source(self, domain: str, op: str) -> StringAttr:
        """The property `source` of an operator: its domain, name and the version that is in force."""
        key = (domain, op)
        text = self.sources.get(key)
        if text is None:
            text = self.sources[key] = StringAttr(str(self.source_op(domain, op)))
        return text

    def source_op(self, domain: str, op: str) -> SourceOp:
        """The operator's version in force. Operators without schema have the version of their operator set.

        Raises OnnxImportError for an operator of ONNX's own set when the model does not import that.
        """
        version = self.versions.get(domain)
        if version is None:
            if not domain:
                raise OnnxImportError(f"the model imports no operator set that {op} could be from")
            version = 1
        try:
            version = defs.get_schema(op, version, domain).since_version
        except defs.SchemaError:
            pass
        return SourceOp(domain or "ai.onnx", op, version)


def import_graph(
    model: ModelImport,
    graph: GraphProto,
    symbol: str,
    inputs: Sequence[onnx.ValueInfoProto],
    initializers: Sequence[onnx.TensorProto],
    sparse: Sequence[onnx.SparseTensorProto],
) -> GraphOp:
    """Build the main graph; its sub-graphs follow it in `model.graphs`."""
    scope = Scope(model.file, model.files, reserved=(node.name for node in graph.node))
    builder = GraphImport(model, scope, symbol, graph)
    for index, item in enumerate(inputs):
        names = dim_names(item.type)
        attributes: dict[str, Attribute] = {}
        if names is not None:
            attributes["ge.dim_names"] = ArrayAttr([string_attr(text) for text in names])
        builder.add_input(item.name, index, builder.scope.type_of(item.name), attributes)
    builder.add_constants(initializers, sparse)
    return builder.build()


class GraphImport:
    """Builds one graph, in the order of its nodes."""

    def __init__(self, model: ModelImport, scope: Scope, symbol: str, graph: GraphProto) -> None:
        self.model = model
        self.scope = scope
        self.symbol = symbol
        self.graph = graph
        self.op = GraphOp(symbol)
        model.graphs.append(self.op)
        types = scope.types
        for group in (graph.value_info, graph.output, graph.input):
            for item in group:
                types[item.name] = item.type

    def add_input(
        self, name: str, index: int, kind: Attribute, attributes: dict[str, Attribute]
    ) -> None:
        """Make the `ge.data` of an input. Raises OnnxImportError for a name that is taken."""
        scope = self.scope
        if not name:
            raise OnnxImportError(f"input {index} of graph {self.symbol} has no name")
        if name in scope.values:
            raise OnnxImportError(f'two inputs are called "{name}"')
        node_name = scope.names.given(name)
        op = DataOp.create(
            result_types=(kind,),
            properties={"index": i64(index)},
            attributes={"ge.name": string_attr(node_name), **attributes},
            location=scope.place(node_name),
        )
        scope.inputs.append(op)
        scope.define(name, op.results[0])

    def add_constants(
        self, initializers: Sequence[onnx.TensorProto], sparse: Sequence[onnx.SparseTensorProto]
    ) -> None:
        """Know the graph's initializers; they become nodes when first used."""
        for tensor in initializers:
            self.scope.add_initializer(tensor)
        for item in sparse:
            self.scope.add_sparse_initializer(item)

    def build(self) -> GraphOp:
        """Make all nodes. Raises OnnxImportError, naming the node."""
        scope, model = self.scope, self.model
        defined = {*scope.values, *scope.constants}
        for node in sorted_nodes(self.graph, defined):
            try:
                self._add_node(node)
            except OnnxImportError as error:
                if error.location is None:
                    error.location = f"{model.name}: node {node.label()}"
                raise
        outputs = [item.name for item in self.graph.output]
        name = scope.names.given("NetOutput")
        net_output = NetOutputOp.create(
            operands=[scope.value(output) for output in outputs],
            attributes={
                "ge.name": string(name),
                "ge.output_names": ArrayAttr([string_attr(output) for output in outputs]),
            },
            location=scope.place(name),
        )
        self.op.block.add_ops([*scope.finished_ops(), net_output])
        return self.op

    # --- nodes ----------------------------------------------------------------------------------------------------

    def _add_node(self, node: ListedNode) -> None:
        proto, scope, model = node.proto, self.scope, self.model
        op_type, domain, name = proto.op_type, proto.domain, proto.name
        attributes = {item.name: item for item in proto.attribute}
        name = scope.names.given(name) if name else scope.names.made(op_type)
        inputs, outputs = node.inputs, node.outputs
        while inputs and not inputs[-1]:
            inputs.pop()
        standard = domain in DEFAULT_DOMAINS
        if standard and op_type == "Constant":
            constant = PendingConstant(name, partial(self._constant_elements, attributes))
            scope.add_constant(outputs[0], constant)
            return
        if node.owns_graphs:
            self._add_owner(node, name, "" if standard else domain)
            return
        if standard and (twin := TWIN_OF_ONNX.get(op_type)) is not None:
            version = model.versions.get("")
            if version is None:
                model.source("", op_type)  # raises
                version = 0
            view = NodeView(attributes, inputs, len(outputs), scope, version)
            form = twin.to_ge(view)
            if form is not None:
                self._add_twin(form, node, name)
                return
        values = {key: attribute_from_onnx(item, model.files) for key, item in attributes.items()}
        operands = [scope.value(x) if x else scope.absent() for x in inputs]
        if domain in GE_DOMAINS:
            self._add(op_type, operands, values, node, name)
        else:
            source = model.source("" if standard else domain, op_type)
            self._add(op_type, operands, values, node, name, source)

    def _add_twin(self, form: GeForm, node: ListedNode, name: str) -> None:
        scope, inputs = self.scope, node.inputs
        if form.inputs is None:
            operands = [scope.value(x) if x else scope.absent() for x in inputs]
        else:
            operands: list[SSAValue] = []
            for slot in form.inputs:
                if isinstance(slot, int):
                    operands.append(scope.value(inputs[slot]) if inputs[slot] else scope.absent())
                elif slot is None:
                    operands.append(scope.absent())
                else:
                    operands.append(self._new_constant(slot, name))
        self._add(form.type, operands, form.attrs, node, name)

    def _new_constant(self, constant: Const, node_name: str) -> SSAValue:
        elements = elements_attr(constant.value)
        if constant.shared:
            return self.scope.shared_constant(constant.role, elements, constant.value)
        return self.scope.new_constant(
            self.scope.names.given(f"{node_name}_{constant.role}"), elements
        )

    def _add(
        self,
        ge_type: str,
        operands: Sequence[SSAValue],
        attrs: dict[str, Attribute] | object,
        node: ListedNode,
        name: str,
        source: StringAttr | None = None,
        attributes: dict[str, Attribute] | None = None,
        subgraphs: Attribute | None = None,
    ) -> None:
        raise NotImplementedError
