"""A model with shapes known at run time only, as one host-scheduled program (spec/host_execution.md section 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, NoneType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.task_count import task_error
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.engine_table import HOST_CPU
from ge_dialect.dialects.engine_types import VIEW_TYPES
from ge_dialect.dialects.ge import ConstantOp, DataOp, NetOutputOp, VariableOp
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_flag,
    get_int,
    get_text,
    graph_table,
    graphs,
    is_absent,
    node_name,
    source_op,
)
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, GraphOp, TokenOp
from ge_dialect.dialects.ge_task import (
    ExecuteOp,
    HostCallOp,
    HostInputOp,
    HostOp,
    HostOutputOp,
    HostVariableOp,
    LaunchOp,
    ModelOp,
    Placement,
    RecordOp,
    WaitOp,
)
from ge_dialect.kernels.shapes.facts import value_dependent_inputs
from ge_dialect.kernels.spec import spec_of
from ge_dialect.lowering.tasks.emit import node_properties
from ge_dialect.lowering.tasks.host_branches import BRANCHES
from ge_dialect.lowering.tasks.host_loops import LOOPS
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue
from ge_dialect.lowering.tasks.host_types import host_type, is_host_only, is_tensor
from ge_dialect.lowering.tasks.model import model_inputs, operator_ids, output_names

SHAPE_READERS = frozenset({"Shape", "ShapeN", "Size", "Rank", "GatherShapes"})
"""Types that look at the shape record of their inputs only (spec/host_execution.md 10.3)."""

FORWARDERS = frozenset(
    {
        "Identity",
        "IdentityN",
        "ReadVariableOp",
        "MemcpyAsync",
        "MemcpyAddrAsync",
        "RefIdentity",
        "Snapshot",
    }
    | {"StopGradient", "PreventGradient", "GuaranteeConst", "PlaceholderWithDefault"}
)
"""Types whose output k is input k: values of a host program are never written, so no copy is needed."""

NO_STEP = frozenset(
    {
        "Send",
        "Recv",
        "SendNotify",
        "RecvNotify",
        "SendMem",
        "RecvMem",
        "StreamActive",
        "NoOp",
        "ControlTrigger",
    }
)
"""Types that only order other nodes: the host takes its steps in order (spec/tasks.md section 7)."""

REFUSED = frozenset(
    """StreamSwitch StreamSwitchN StreamMerge Enter RefEnter NextIteration RefNextIteration LoopCond Exit RefExit Switch
    RefSwitch Merge RefMerge LabelSet LabelGoto LabelGotoEx LabelSwitch LabelSwitchByIndex ModelExit For Stack StackPush
    StackPop StackClose""".split()
)
"""Types that a host-scheduled graph cannot have."""


_IN_HEADER = frozenset({"ge.stream_num", "ge.event_num", "ge.unknown_shape"})
"""Attributes of a graph that the program's header, or its being one, says."""


def lower_host_program(module: ModuleOp) -> HostOp:
    """The program of the model's root graph; sub-graphs become regions.

    Raises TaskGenerationError, naming the node, for what a host program cannot do.
    """
    return HostLowering(module).run()


class HostLowering:
    """One run: graphs in, steps out. `builder` collects the steps, `values` knows what each value of `ge` became."""

    def __init__(self, module: ModuleOp) -> None:
        self.builder = HostBuilder()
        self.values: dict[SSAValue, HostValue] = {}
        self.table = graph_table(module)
        self.models = {
            text_of(op.sym_name) for op in module.body.block.ops if isinstance(op, ModelOp)
        }
        self.root = graphs(module)[0]
        walked = [op for op, _ in walk_nodes(module)]
        self.ids = dict(zip(walked, operator_ids(walked), strict=True))
        self.streams = 1
        self.events = 0

    def run(self) -> HostOp:
        """Lower the root graph."""
        for op, number in model_inputs(self.root):
            self._input(op, number)
        self.lower_graph(self.root, None)
        root = self.root
        kept = {
            name: value
            for name, value in root.attributes.items()
            if name.startswith("ge.") and name not in _IN_HEADER
        }
        return HostOp.make(
            root.sym_name.data,
            [*self.builder.prelude, *self.builder.scope.ops],
            stream_num=max(self.streams, get_int(root, "ge.stream_num", 0) or 0),
            event_num=max(self.events, get_int(root, "ge.event_num", 0) or 0),
            attributes=kept,
        )

    # --- graphs -------------------------------------------------------------------------------------------------

    def lower_graph(
        self, graph: GraphOp, inputs: Mapping[int, HostValue] | None
    ) -> list[HostValue]:
        """Append the steps of a graph's nodes to the open region; the values of its outputs.

        `inputs` gives a sub-graph's `ge.data` by the number of the owning node's input; None for the root graph,
        whose inputs and outputs are the program's. The values of a sub-graph with `ge.formal` are set by its owner.
        """
        outputs: list[HostValue] = []
        for op in graph.block.ops:
            match op:
                case AbsentOp() | TokenOp():
                    pass
                case GateOp():
                    self.values[op.output] = self.value(op.value)
                case DataOp():
                    if inputs is not None:
                        self._formal(op, inputs)
                case NetOutputOp():
                    outputs = [self.value(x) for x in data_operands(op)]
                    if inputs is None:
                        self._outputs(op, outputs)
                case _:
                    self._node(op)
        return outputs

    def subgraph(self, op: Operation, name: str) -> GraphOp:
        """A graph that a node owns. Raises TaskGenerationError when it is not there."""
        graph = self.table.get(name)
        if graph is None:
            raise task_error(op, f"owns graph @{name}, which is not in the module")
        return graph

    def value(self, value: SSAValue) -> HostValue:
        """What a value of `ge` became."""
        if is_absent(value):
            return self.builder.absent()
        found = self.values.get(value)
        if found is None:
            owner = value.owner
            assert isinstance(owner, Operation)
            raise task_error(owner, "is used before it is computed: run ge-topo-sort first")
        return found

    def operands(self, op: Operation) -> list[HostValue]:
        """What the node's data inputs became."""
        return [self.value(x) for x in data_operands(op)]

    def _formal(self, op: DataOp, inputs: Mapping[int, HostValue]) -> None:
        result = data_results(op)[0]
        if result in self.values:
            return
        index = get_int(op, "ge.parent_node_index")
        if index is None:
            index = ge_attr(op, "index")
        value = None if index is None else inputs.get(index)
        if value is None:
            raise task_error(
                op, f"is no input of the node that owns its graph: ge.parent_node_index is {index}"
            )
        self.values[result] = value

    def _input(self, op: DataOp, number: int) -> None:
        for result in data_results(op)[:1]:
            fed_on_host = get_flag(op, "ge.host_tensor_as_model_input")
            kind = host_type(result.type, Placement.HOST if fed_on_host else Placement.ANY)
            made = HostInputOp.make(kind, number, name=None, attributes={})
            name = op.attributes.get("ge.name")
            if name is not None:
                made.properties["name"] = name
            self.builder.prelude.append(made)
            made.results[0].name_hint = result.name_hint
            self.values[result] = self.builder.value(result.type, made.results[0])

    def _outputs(self, op: NetOutputOp, values: Sequence[HostValue]) -> None:
        for index, (value, name) in enumerate(zip(values, output_names(op), strict=True)):
            if isinstance(value.kind, NoneType):
                continue
            ssa = self.builder.get(value, Placement.ANY)
            self.builder.append(HostOutputOp.make(ssa, index, name=name))

    # --- nodes --------------------------------------------------------------------------------------------------

    def _node(self, op: Operation) -> None:
        kind = ge_type(op)
        if isinstance(op, ConstantOp):
            result = data_results(op)[0]
            self.values[result] = self.builder.constant(op.value, result.type)
        elif isinstance(op, VariableOp):
            self._variable(op)
        elif (lower := BRANCHES.get(kind) or LOOPS.get(kind)) is not None:
            lower(self, op)
        elif kind in FORWARDERS:
            for value, result in zip(data_operands(op), data_results(op), strict=False):
                self.values[result] = self.value(value)
        elif kind in REFUSED and source_op(op) is None:
            raise task_error(op, "cannot run in a host-scheduled graph")
        elif "subgraphs" in op.properties:
            raise task_error(
                op, "owns graphs, and no rule says how a host-scheduled graph runs them"
            )
        elif kind not in NO_STEP:
            self._compute(op)

    def _variable(self, op: VariableOp) -> None:
        for result in data_results(op)[:1]:
            made = HostVariableOp.make(host_type(result.type, Placement.DEVICE), node_name(op))
            self.builder.prelude.append(made)
            self.values[result] = self.builder.value(result.type, made.results[0])

    def _compute(self, op: Operation) -> None:
        for event in ge_attr(op, "_recv_event_ids", ()):
            self._event(WaitOp.make(event, stream=self.stream(op)), event)
        kind = ge_type(op)
        ins = self.operands(op)
        results = [result.type for result in data_results(op)]
        tensors_only = all(not is_host_only(x) for x in (*results, *(value.kind for value in ins)))
        if kind in VIEW_TYPES and ins and is_tensor(ins[0].kind):
            self._view(op, ins, results)
        elif kind in SHAPE_READERS:
            self._host_call(
                op, [self.builder.get(x, Placement.ANY) for x in ins], results, Placement.HOST
            )
        elif get_text(op, "ge.engine") == HOST_CPU or not tensors_only:
            self._host_call(
                op, [self.builder.get(x, Placement.HOST) for x in ins], results, Placement.HOST
            )
        else:
            self._launch(op, ins, results)
        for event in ge_attr(op, "_send_event_ids", ()):
            self._event(RecordOp.make(event, stream=self.stream(op)), event)

    def _view(self, op: Operation, ins: Sequence[HostValue], results: Sequence[Attribute]) -> None:
        """A view is where its first input is; the other inputs are shapes, which the host reads."""
        place = Placement.HOST if ins[0].placement is None else ins[0].placement
        first = self.builder.get(ins[0], place)
        rest = [self.builder.get(x, Placement.HOST) for x in ins[1:]]
        self._host_call(op, [first, *rest], results, place, ins[0])

    def _host_call(
        self,
        op: Operation,
        ins: Sequence[SSAValue],
        results: Sequence[Attribute],
        placement: Placement,
        viewed: HostValue | None = None,
    ) -> None:
        types = [host_type(x, placement) for x in results]
        made = HostCallOp.make("", ins, types, op_index=self.ids[op])
        self._finish(op, made)
        launch, stream = (None, 0) if viewed is None else (viewed.launch, viewed.stream)
        for result, ssa in zip(data_results(op), made.results, strict=True):
            self.values[result] = self.builder.value(result.type, ssa, launch, stream)

    def _launch(
        self, op: Operation, ins: Sequence[HostValue], results: Sequence[Attribute]
    ) -> None:
        """Inputs whose elements the shape function reads are wanted on the host too (10.4); constants are there."""
        types = [host_type(x, Placement.DEVICE) for x in results]
        stream = self.stream(op)
        read = value_dependent_inputs(spec_of(op), len(ins))
        values = [
            self.builder.get(ins[k], Placement.HOST)
            for k in read
            if ins[k].constant is None and not isinstance(ins[k].kind, NoneType)
        ]
        operands = [self.builder.get(x, Placement.DEVICE, stream) for x in ins]
        made = LaunchOp.make(
            "", operands, types, stream=stream, shape_values=values, op_index=self.ids[op]
        )
        self._finish(op, made)
        for result, ssa in zip(data_results(op), made.results, strict=True):
            self.values[result] = self.builder.value(result.type, ssa, made, stream)

    def execute(self, op: Operation, model: str) -> None:
        """Append the one step of a node whose graph is the task list `model`."""
        stream = self.stream(op)
        ins = [self.builder.get(x, Placement.DEVICE, stream) for x in self.operands(op)]
        results = data_results(op)
        types = [host_type(x.type, Placement.DEVICE) for x in results]
        made = ExecuteOp.make(model, ins, types, stream=stream, op_index=self.ids[op])
        if (name := op.attributes.get("ge.name")) is not None:
            made.attributes["ge.name"] = name
        made.location = op.location
        self.builder.append(made)
        for result, ssa in zip(results, made.results, strict=True):
            ssa.name_hint = result.name_hint
            self.values[result] = self.builder.value(result.type, ssa, made, stream)

    def _finish(self, op: Operation, made: HostCallOp | LaunchOp) -> None:
        made.properties.update(node_properties(op))
        name = op.attributes.get("ge.name")
        if name is not None:
            made.attributes["ge.name"] = name
        made.location = op.location
        for result, ssa in zip(data_results(op), made.results, strict=True):
            ssa.name_hint = result.name_hint
        self.builder.append(made)

    def stream(self, op: Operation) -> int:
        """The stream of a node; one without is on stream 0."""
        stream = max(get_int(op, "ge.stream", -1) or 0, 0)
        self.streams = max(self.streams, stream + 1)
        return stream

    def _event(self, op: Operation, event: int) -> None:
        self.events = max(self.events, event + 1)
        self.builder.append(op)
