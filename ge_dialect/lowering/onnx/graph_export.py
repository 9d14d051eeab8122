"""One `ge.graph` becomes one ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, numpy_helper
from xdsl.dialects.builtin import DictionaryAttr, NoneType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.ge import (
    AbsentOp,
    ConstantOp,
    DataOp,
    GateOp,
    GeNode,
    GraphOp,
    NetOutputOp,
    TokenOp,
)
from ge_dialect.dialects.ge.access import (
    control_operands,
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_int,
    get_text,
    is_absent,
    node_name,
    source_op,
    subgraph_names,
)
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.location import location_text
from ge_dialect.lowering.onnx.attributes import attribute_to_onnx, python_to_onnx
from ge_dialect.lowering.onnx.constants import tensor_proto
from ge_dialect.lowering.onnx.errors import OnnxExportError
from ge_dialect.lowering.onnx.export_view import ExportView
from ge_dialect.lowering.onnx.metadata import add_metadata, desc_metadata, node_metadata
from ge_dialect.lowering.onnx.names import Names
from ge_dialect.lowering.onnx.op_table import TWIN_OF_GE
from ge_dialect.lowering.onnx.subgraphs import (
    CAPTURED,
    LOOP_OWN_INPUTS,
    attributes_in_slots,
)
from ge_dialect.lowering.onnx.twins.form import Const, OnnxForm
from ge_dialect.lowering.onnx.value_types import type_to_onnx


@dataclass(slots=True)
class ModelExport:
    """What all graphs of one model share while it is written."""

    versions: dict[str, int]
    table: Mapping[str, GraphOp]
    ge_domain: str
    names: Names = field(default_factory=Names)
    left_out: list[str] = field(default_factory=list[str])
    """Nodes without data inputs and outputs, which only order or synchronize: ONNX has no place for them."""


class GraphExport:
    """Writes one graph. `captured` gives the `ge.data` that stand for values of enclosing graphs those values' names;
    None for the main graph, whose inputs and outputs keep their names."""

    def __init__(
        self, model: ModelExport, graph: GraphOp, captured: Mapping[int, str] | None = None
    ) -> None:
        self.model = model
        self.graph = graph
        self.captured = captured
        self.proto = GraphProto(name=graph.sym_name.data)
        self.values: dict[SSAValue, str] = {}
        self._constants: dict[tuple[bytes, tuple[int, ...]], str] = {}
        self._output: NetOutputOp | None = None

    def build(self) -> GraphProto:
        """The ONNX graph. Raises OnnxExportError for what ONNX cannot say."""
        ops = list(self.graph.block.ops)
        inputs = [op for op in ops if isinstance(op, DataOp)]
        inputs.sort(key=lambda op: ge_attr(op, "index", 0))
        self._output = next((op for op in ops if isinstance(op, NetOutputOp)), None)
        for op in inputs:
            self._add_input(op)
        self._name_outputs()
        for op in ops:
            if isinstance(op, GateOp):
                self.values[op.output] = self._use(op.value)
            elif isinstance(op, GeNode) and not isinstance(op, DataOp | ConstantOp | NetOutputOp):
                self._add_node(op)
            elif not isinstance(op, DataOp | ConstantOp | NetOutputOp | AbsentOp | TokenOp):
                raise OnnxExportError(f"'{op.name}' is not an op of the dialect ge")
        self._add_outputs()
        return self.proto

    # --- inputs and outputs ---------------------------------------------------------------------------------------

    def _add_input(self, op: DataOp) -> None:
        values = data_results(op)
        if not values:
            raise OnnxExportError("an input without a value", location_text(op))
        value = values[0]
        if self.captured is not None and get_text(op, "ge.formal") in (None, CAPTURED):
            index = get_int(op, "ge.parent_node_index", -1)
            if index is not None and index in self.captured:
                self.values[value] = self.captured[index]
                return
        name = self._fresh(value, node_name(op))
        self.values[value] = name
        info = self.proto.input.add(name=name)
        names = op.attributes.get("ge.dim_names")
        kind = type_to_onnx(value.type, None if names is None else to_python(names))
        if kind is not None:
            info.type.CopyFrom(kind)
        add_metadata(info, node_metadata(op.attributes))

    def _output_names(self) -> list[str]:
        if self._output is None:
            return []
        count = len(data_operands(self._output))
        names = self._output.attributes.get("ge.output_names")
        given: list[str] = [] if names is None else to_python(names)
        return given if len(given) == count else [f"output{i}" for i in range(count)]

    def _name_outputs(self) -> None:
        """Values that are outputs of the main graph are called like them from the start."""
        if self._output is None or self.captured is not None:
            return
        for value, name in zip(data_operands(self._output), self._output_names(), strict=True):
            owner = value.owner
            if value in self.values:
                continue
            if isinstance(owner, ConstantOp):
                if node_name(owner) == name:
                    self._use(value)
            elif not isinstance(owner, GateOp):
                self.values[value] = self.model.names.given(name)

    def _add_outputs(self) -> None:
        if self._output is None:
            return
        main = self.captured is None
        taken: set[str] = set()
        for value, name in zip(data_operands(self._output), self._output_names(), strict=True):
            source = self._use(value)
            made_here = isinstance(value.owner, GeNode) and not isinstance(
                value.owner, DataOp | ConstantOp
            )
            if source in taken or not (source == name if main else made_here):
                name = self.model.names.given(name)
                self.proto.node.add(
                    op_type="Identity", input=[source], output=[name], name=f"output_{name}"
                )
            else:
                name = source
            taken.add(name)
            info = self.proto.output.add(name=name)
            if (kind := type_to_onnx(value.type)) is not None:
                info.type.CopyFrom(kind)
        add_metadata(self.proto, node_metadata(self._output.attributes, "net_output."))

    # --- values ---------------------------------------------------------------------------------------------------

    def _fresh(self, value: SSAValue, node: str) -> str:
        main_input = self.captured is None and isinstance(value.owner, DataOp)
        return self.model.names.given(node if main_input else value.name_hint or node or "value")

    def _use(self, value: SSAValue) -> str:
        """The name of a value; a constant becomes an initializer when it is first used."""
        if is_absent(value):
            return ""
        name = self.values.get(value)
        if name is not None:
            return name
        owner = value.owner
        if not isinstance(owner, ConstantOp):
            assert isinstance(owner, Operation)
            raise OnnxExportError("a value is used before it is made", f'node "{node_name(owner)}"')
        name = self.model.names.given(node_name(owner) or "constant")
        self.values[value] = name
        tensor = tensor_proto(name, owner.value)
        add_metadata(tensor, node_metadata(owner.attributes))
        self.proto.initializer.append(tensor)
        return name

    def _constant(self, constant: Const, node: str) -> str:
        """The initializer for an input that GE has as an attribute; equal ones are one."""
        key = (constant.value.tobytes(), constant.value.shape)
        name = self._constants.get(key)
        if name is None:
            name = self._constants[key] = self.model.names.given(f"{node}_{constant.role}")
            array = np.ascontiguousarray(constant.value).reshape(constant.value.shape)
            self.proto.initializer.append(numpy_helper.from_array(array, name))
        return name

    # --- nodes ----------------------------------------------------------------------------------------------------

    def _add_node(self, op: GeNode) -> None:
        name = node_name(op)
        if not data_operands(op) and not data_results(op):
            self.model.left_out.append(name)
            return
        try:
            node = self._node(op)
        except OnnxExportError as error:
            if error.location is None:
                error.location = f'node "{name}"'
            raise
        node.name = name
        for k, result in enumerate(data_results(op)):
            if isinstance(result.type, NoneType):
                node.output.append("")
                continue
            output = self.values.get(result)
            if output is None:
                hint = name if k == 0 else f"{name}_{k}"
                output = self.values[result] = self._fresh(result, hint)
            node.output.append(output)
            kind = type_to_onnx(result.type)
            if kind is not None and not self._is_output(result):
                self.proto.value_info.add(name=output).type.CopyFrom(kind)
        entries = [*node_metadata(op.attributes), *desc_metadata(op)]
        controls = [node_name(x.owner) for x in control_operands(op) if isinstance(x.owner, GeNode)]
        if controls:
            entries.append(("ge.control_inputs", ", ".join(controls)))
        add_metadata(node, entries)
        self.proto.node.append(node)

    def _is_output(self, value: SSAValue) -> bool:
        return any(use.operation is self._output for use in value.uses)

    def _node(self, op: GeNode) -> NodeProto:
        source = source_op(op)
        if source is None and ge_type(op) == "If" and len(subgraph_names(op)) == 2:
            return self._owner(op, "If", "", 1)
        if source is not None:
            domain = "" if source.domain == "ai.onnx" else source.domain
            if subgraph_names(op):
                return self._owner(op, source.op, domain, self._own_inputs(op, source.op))
            return self._verbatim(op, source.op, domain, data_operands(op))
        if subgraph_names(op):
            own = self._own_inputs(op, ge_type(op))
            return self._owner(op, ge_type(op), self._ge_domain(), own)
        twin = TWIN_OF_GE.get(ge_type(op))
        form = None if twin is None else twin.to_onnx(ExportView(op, self.model.versions[""]))
        if form is not None:
            return self._twin(op, form)
        return self._verbatim(op, ge_type(op), self._ge_domain(), data_operands(op))

    def _ge_domain(self) -> str:
        domain = self.model.ge_domain
        self.model.versions.setdefault(domain, 1)
        return domain

    def _twin(self, op: GeNode, form: OnnxForm) -> NodeProto:
        operands = data_operands(op)
        if form.inputs is None:
            names = [self._use(x) for x in operands]
        else:
            names: list[str] = []
            for slot in form.inputs:
                if slot is None:
                    names.append("")
                elif isinstance(slot, int):
                    names.append(self._use(operands[slot]))
                else:
                    names.append(self._constant(slot, node_name(op)))
        node = NodeProto(op_type=form.op, input=_trimmed(names))
        node.attribute.extend(python_to_onnx(key, value) for key, value in form.attrs.items())
        return node

    def _verbatim(
        self, op: GeNode, op_type: str, domain: str, operands: Sequence[SSAValue]
    ) -> NodeProto:
        names = _trimmed([self._use(x) for x in operands])
        node = NodeProto(op_type=op_type, domain=domain, input=names)
        node.attribute.extend(attribute_to_onnx(key, x) for key, x in _ge_attributes(op).items())
        return node

    # --- sub-graphs -----------------------------------------------------------------------------------------------

    def _body_inputs(self, op: GeNode) -> list[DataOp]:
        return [
            data
            for name in subgraph_names(op)
            if (graph := self.model.table.get(name)) is not None
            for data in graph.block.ops
            if isinstance(data, DataOp)
        ]

    def _own_inputs(self, op: GeNode, op_type: str) -> int:
        """The number of inputs that are the node's own; behind them come those that its bodies capture."""
        inputs = self._body_inputs(op)
        fed = [
            index
            for data in inputs
            if get_text(data, "ge.formal") is None
            and (index := get_int(data, "ge.parent_node_index")) is not None
        ]
        if op_type in ("Scan", "SequenceMap") and fed:
            return max(fed) + 1
        if op_type == "Loop":
            return max([*fed, len(LOOP_OWN_INPUTS) - 1]) + 1
        captured = [
            index
            for data in inputs
            if get_text(data, "ge.formal") == CAPTURED
            and (index := get_int(data, "ge.parent_node_index")) is not None
        ]
        return min(captured, default=len(data_operands(op)))

    def _owner(self, op: GeNode, op_type: str, domain: str, own: int) -> NodeProto:
        operands = data_operands(op)
        node = self._verbatim(op, op_type, domain, operands[:own])
        captured = {i: self._use(x) for i, x in enumerate(operands) if i >= own}
        symbols = subgraph_names(op)
        attributes = attributes_in_slots(op_type, domain)
        if attributes is None:
            noted = op.attributes.get("ge.subgraph_names")
            given: list[str] = [] if noted is None else to_python(noted)
            attributes = tuple(given)
        if len(attributes) != len(symbols):
            raise OnnxExportError(
                f"{op_type} owns {len(symbols)} graphs, but {len(attributes)} attributes are known to hold them"
            )
        for attribute, symbol in zip(attributes, symbols, strict=True):
            graph = self.model.table.get(symbol)
            if graph is None:
                raise OnnxExportError(f"graph @{symbol} is not in the module")
            body = GraphExport(self.model, graph, captured).build()
            add_metadata(body, node_metadata(graph.attributes))
            held = next((x for x in node.attribute if x.name == attribute), None)
            if held is not None:
                held.type = AttributeProto.GRAPHS
                if held.HasField("g"):
                    held.graphs.append(held.g)
                    held.ClearField("g")
                held.graphs.append(body)
            else:
                node.attribute.add(name=attribute, type=AttributeProto.GRAPH).g.CopyFrom(body)
        return node


def _trimmed(names: list[str]) -> list[str]:
    while names and not names[-1]:
        names.pop()
    return names


def _ge_attributes(op: GeNode) -> dict[str, Attribute]:
    """The node's GE attributes as IR attributes: those in `attrs` and the typed properties."""
    found: dict[str, Attribute] = {}
    properties = op.properties
    if isinstance(attrs := properties.get("attrs"), DictionaryAttr):
        found.update(attrs.data)
    for name, spelling in op.GE_ATTRS.items():
        if name in properties and name not in ("source", "value"):
            found[spelling] = properties[name]
    return found
