"""One ONNX graph becomes one `ge.graph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, defs
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    NoneType,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64, string, string_attr
from ge_dialect.dialects.ge import (
    NODE_OF_TYPE,
    DataOp,
    GeNode,
    GraphOp,
    NetOutputOp,
    OpOp,
    SourceOp,
)
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.lowering.onnx.attributes import GRAPH_KINDS, attribute_from_onnx
from ge_dialect.lowering.onnx.collectives import GE_DOMAINS
from ge_dialect.lowering.onnx.constants import ExternalFiles, sparse_elements, tensor_elements
from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.names import Names, symbol_name
from ge_dialect.lowering.onnx.node_view import NodeView
from ge_dialect.lowering.onnx.op_table import TWIN_OF_ONNX
from ge_dialect.lowering.onnx.order import ListedNode
from ge_dialect.lowering.onnx.scope import Captures, PendingConstant, Scope
from ge_dialect.lowering.onnx.subgraphs import (
    LOOP_OWN_INPUTS,
    attributes_in_slots,
    formal_attributes,
    formal_type,
    owned_graphs,
)
from ge_dialect.lowering.onnx.twins.form import Const, GeForm
from ge_dialect.lowering.onnx.value_types import (
    UNKNOWN,
    unranked_of_text,
    with_unknown_rank,
)

_NONE = NoneType()


@dataclass(slots=True)
class ModelImport:
    """What all graphs of one model share while it is imported."""

    file: FileLineColLoc
    files: ExternalFiles
    versions: dict[str, int]
    symbols: Names = field(default_factory=Names)
    graphs: list[GraphOp] = field(default_factory=list[GraphOp])
    sources: dict[tuple[str, str], Attribute] = field(
        default_factory=dict[tuple[str, str], Attribute]
    )

    @property
    def name(self) -> str:
        """The model's name in errors."""
        return self.file.filename.data

    def source(self, domain: str, op: str) -> Attribute:
        """The property `source` of an operator: its domain, name and the version that is in force."""
        key = (domain, op)
        text = self.sources.get(key)
        if text is None:
            text = self.sources[key] = string_attr(str(self.source_op(domain, op)))
        return text

    def source_op(self, domain: str, op: str) -> SourceOp:
        """The operator's version in force. Operators without schema have the version of their operator set."""
        version = self.versions[domain]
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
    names: Mapping[str, list[str] | None],
    initializers: Sequence[onnx.TensorProto],
    sparse: Sequence[onnx.SparseTensorProto],
) -> GraphOp:
    """Build the main graph; its sub-graphs follow it in `model.graphs`. `names` gives the inputs' dimensions names."""
    scope = Scope(model.file, model.files, reserved=(node.name for node in graph.node))
    builder = GraphImport(model, scope, symbol, graph)
    for index, item in enumerate(inputs):
        attributes: dict[str, Attribute] = {}
        if (named := names.get(item.name)) is not None:
            attributes["ge.dim_names"] = ArrayAttr([string_attr(text) for text in named])
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
        for proto in self.graph.node:
            node = ListedNode(proto)
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
        standard = not domain
        if standard and op_type == "Constant":
            if outputs and outputs[0]:
                constant = PendingConstant(name, partial(self._constant_elements, attributes))
                scope.add_constant(outputs[0], constant)
            return
        if node.owns_graphs:
            self._add_owner(node, name, domain)
            return
        if standard and (twin := TWIN_OF_ONNX.get(op_type)) is not None:
            view = NodeView(attributes, inputs, len(outputs), scope, model.versions[""])
            form = twin.to_ge(view)
            if form is not None:
                self._add_twin(form, node, name)
                return
        values = {key: attribute_from_onnx(item, model.files) for key, item in attributes.items()}
        operands = [scope.value(x) if x else scope.absent() for x in inputs]
        if domain in GE_DOMAINS:
            self._add(op_type, operands, values, node, name)
        else:
            self._add(op_type, operands, values, node, name, model.source(domain, op_type))

    def _add_twin(self, form: GeForm, node: ListedNode, name: str) -> None:
        scope, inputs = self.scope, node.inputs
        if form.inputs is None:
            operands = [scope.value(x) if x else scope.absent() for x in inputs]
        else:
            operands: list[SSAValue] = []
            for slot in form.inputs:
                if isinstance(slot, int):
                    wired = slot < len(inputs) and inputs[slot]
                    operands.append(scope.value(inputs[slot]) if wired else scope.absent())
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

    def _add_owner(self, node: ListedNode, name: str, domain: str) -> None:
        """A node with sub-graphs: the values that those use of this graph become further inputs of the node."""
        proto, scope, model = node.proto, self.scope, self.model
        op_type, inputs = proto.op_type, node.inputs
        standard = not domain
        if standard and op_type == "Loop":
            inputs += [""] * (len(LOOP_OWN_INPUTS) - len(inputs))
        operands = [scope.value(x) if x else scope.absent() for x in inputs]
        version = model.source_op(domain, op_type).version
        known = op_type if standard else ""
        captures = Captures(len(operands), marked=known != "If")
        symbols: list[str] = []
        for attribute, graph in owned_graphs(proto):
            symbol = model.symbols.given(symbol_name(f"{self.symbol}_{name}_{attribute}", "body"))
            symbols.append(symbol)
            self._import_body(graph, symbol, captures, operands, known, version)
        operands += captures.values
        values = {
            item.name: attribute_from_onnx(item, model.files)
            for item in proto.attribute
            if item.type not in GRAPH_KINDS
        }
        attributes: dict[str, Attribute] = {}
        if attributes_in_slots(op_type, domain) is None:
            names = [attribute for attribute, _ in owned_graphs(proto)]
            attributes["ge.subgraph_names"] = ArrayAttr([string(x) for x in names])
        source = None if known == "If" else model.source(domain, op_type)
        op = self._add(op_type, operands, values, node, name, source)
        op.properties["subgraphs"] = ArrayAttr([SymbolRefAttr(symbol) for symbol in symbols])
        op.attributes.update(attributes)

    def _import_body(
        self,
        graph: GraphProto,
        symbol: str,
        captures: Captures,
        operands: Sequence[SSAValue],
        owner: str,
        version: int,
    ) -> None:
        model = self.model
        reserved = (node.name for node in graph.node)
        scope = Scope(model.file, model.files, self.scope, captures, reserved)
        body = GraphImport(model, scope, symbol, graph)
        constants = {tensor.name for tensor in graph.initializer}
        formals = [item for item in graph.input if item.name not in constants]
        for index, item in enumerate(formals):
            kind = formal_type(owner, version, index, scope.type_of(item.name), operands)
            body.add_input(item.name, index, kind, formal_attributes(owner, version, index))
        body.add_constants(graph.initializer, graph.sparse_initializer)
        body.build()

    def _add(
        self,
        ge_type: str,
        operands: Sequence[SSAValue],
        attrs: Mapping[str, Attribute],
        node: ListedNode,
        name: str,
        source: Attribute | None = None,
    ) -> Operation:
        """Make the node and know its outputs."""
        scope, outputs = self.scope, node.outputs
        if not (node.owns_graphs or ge_type in _OUTPUTS_COUNT):
            while outputs and not outputs[-1]:
                outputs.pop()
        types: list[Attribute] = []
        for output in outputs:
            if not output:
                types.append(operands[0].type if ge_type in _OUTPUTS_COUNT else _NONE)
                continue
            kind = scope.type_of(output)
            if kind is UNKNOWN:
                kind = self._guessed_type(node, len(types), operands)
            types.append(kind)
        cls, properties = _properties(ge_type, attrs, source)
        op = cls.create(
            operands=operands,
            result_types=types,
            properties=properties,
            attributes={"ge.name": string_attr(name)},
            location=scope.place(name),
        )
        scope.ops.append(op)
        for output, result in zip(outputs, op.results, strict=True):
            if output:
                scope.define(output, result)
        return op

    def _guessed_type(
        self, node: ListedNode, index: int, operands: Sequence[SSAValue]
    ) -> Attribute:
        """What is sure about an output that onnx infers nothing for: the element type, where the operator's schema
        says it or says that it is an input's, or a collective operator passes it on."""
        proto = node.proto
        if proto.domain in GE_DOMAINS:
            passes_on = operands and proto.op_type.startswith("Hcom")
            return with_unknown_rank(operands[0].type) if passes_on else UNKNOWN
        version = self.model.versions[proto.domain]
        try:
            schema = defs.get_schema(proto.op_type, version, proto.domain)
        except defs.SchemaError:
            return UNKNOWN
        if not schema.outputs:
            return UNKNOWN
        wanted = schema.outputs[min(index, len(schema.outputs) - 1)].type_str
        if wanted.startswith("tensor("):
            return unranked_of_text(wanted)
        for formal, operand in zip(schema.inputs, operands, strict=False):
            if formal.type_str == wanted:
                return with_unknown_rank(operand.type)
        return UNKNOWN

    def _constant_elements(self, attributes: dict[str, AttributeProto]) -> Attribute:
        """The elements of a Constant node, in whichever of its attributes they are."""
        if len(attributes) != 1:
            raise OnnxImportError(
                f"a Constant has exactly one attribute, this one has {len(attributes)}"
            )
        ((key, item),) = attributes.items()
        match key:
            case "value":
                return tensor_elements(item.t, self.model.files)
            case "sparse_value":
                return sparse_elements(item.sparse_tensor, self.model.files)
            case "value_int":
                return elements_attr(np.array(item.i, dtype=np.int64))
            case "value_ints":
                return elements_attr(np.array(item.ints, dtype=np.int64))
            case "value_float":
                return elements_attr(np.array(item.f, dtype=np.float32))
            case "value_floats":
                return elements_attr(np.array(item.floats, dtype=np.float32))
            case "value_string":
                return elements_attr(np.array(item.s, dtype=object))
            case "value_strings":
                return elements_attr(np.array(list(item.strings), dtype=object))
            case _:
                raise OnnxImportError(f'a Constant has no attribute "{key}"')


_OUTPUTS_COUNT = frozenset({"SplitD", "SplitVD", "SplitV", "Split"})
"""Types whose number of outputs says what they do, so that unused ones stay."""


def _properties(
    ge_type: str, attrs: Mapping[str, Attribute], source: Attribute | None
) -> tuple[type[GeNode], dict[str, Attribute]]:
    """The class of a node and its properties: attributes that the class declares are properties of their own."""
    cls = OpOp if source is not None else NODE_OF_TYPE.get(ge_type, OpOp)
    properties: dict[str, Attribute] = {}
    if ge_type != cls.DEFAULT_TYPE:
        properties["type"] = string(ge_type) if ge_type.isascii() else string_attr(ge_type)
    if source is not None:
        properties["source"] = source
    rest = attrs
    if cls is not OpOp:
        declared = {spelling: prop for prop, spelling in cls.GE_ATTRS.items()}
        rest: Mapping[str, Attribute] = {}
        for key, value in attrs.items():
            if key in declared:
                properties[declared[key]] = value
            else:
                rest[key] = value
    if rest:
        properties["attrs"] = DictionaryAttr(rest)
    return cls, properties
