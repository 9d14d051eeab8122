"""Walking the graphs of a model of unknown shape: nodes in, steps of a host program out.

How nodes that own graphs are lowered is told by a table, so that those rules can be built on this walk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, NoneType
from xdsl.ir import Operation, SSAValue

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
    HostInputOp,
    HostOp,
    HostOutputOp,
    HostVariableOp,
    ModelOp,
    Placement,
    RecordOp,
    WaitOp,
)
from ge_dialect.lowering.tasks.host_frees import with_frees
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue
from ge_dialect.lowering.tasks.host_steps import (
    SHAPE_READERS,
    StepNode,
    call_steps,
    launch_steps,
    node_of,
    view_steps,
)
from ge_dialect.lowering.tasks.host_types import host_type, is_host_only, is_tensor
from ge_dialect.lowering.tasks.model import model_inputs, operator_ids, output_names

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


_IN_HEADER = frozenset({"ge.stream_num", "ge.event_num", "ge.unknown_shape", "ge.host_streams"})
"""Attributes of a graph that the program's header, or its being one, says."""


Lower: TypeAlias = Callable[["HostLowering", Operation], None]
"""Appends the steps of a node."""


class HostLowering:
    """One run: graphs in, steps out. `builder` collects the steps, `values` knows what each value of `ge` became."""

    def __init__(self, module: ModuleOp, owners: Mapping[str, Lower]) -> None:
        """`owners`: how the types that own graphs are lowered."""
        self._owners = owners
        self.values: dict[SSAValue, HostValue] = {}
        self.table = graph_table(module)
        self.models = {
            text_of(op.sym_name) for op in module.body.block.ops if isinstance(op, ModelOp)
        }
        self.root = graphs(module)[0]
        self.builder = HostBuilder(get_int(self.root, "ge.event_num", 0) or 0)
        walked = [op for op, _ in walk_nodes(module)]
        self.ids = dict(zip(walked, operator_ids(walked), strict=True))
        self._guarded = not get_flag(self.root, "ge.single_op_scene")
        self.streams = 1

    def run(self) -> HostOp:
        """Lower the root graph."""
        for op, number in model_inputs(self.root):
            self._input(op, number)
        self.lower_graph(self.root, None)
        root, scope = self.root, self.builder.scope
        kept = {
            name: value
            for name, value in root.attributes.items()
            if name.startswith("ge.") and name not in _IN_HEADER
        }
        return HostOp.make(
            root.sym_name.data,
            [*self.builder.prelude, *with_frees(scope.ops, scope.owned)],
            stream_num=max(self.streams, get_int(root, "ge.stream_num", 0) or 0),
            event_num=self.builder.events,
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
            for event in _events(op, "_recv_event_ids"):
                self.builder.append(WaitOp.make(event, stream=self.stream(op)))
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
            for event in _events(op, "_send_event_ids"):
                self.builder.append(RecordOp.make(event, stream=self.stream(op)))
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
            if (names := op.attributes.get("ge.dim_names")) is not None:
                made.attributes["ge.dim_names"] = names
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
        elif (lower := self._owners.get(kind)) is not None:
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
        kind = ge_type(op)
        ins = self.operands(op)
        results = data_results(op)
        kinds = [result.type for result in results]
        node = node_of(op, self.ids[op], guarded=self._guarded)
        tensors_only = all(not is_host_only(x) for x in (*kinds, *(value.kind for value in ins)))
        if kind in VIEW_TYPES and ins and is_tensor(ins[0].kind):
            self._view(op, node, ins)
        elif kind in SHAPE_READERS:
            self._call(op, node, [self.builder.get(x, Placement.ANY) for x in ins])
        elif get_text(op, "ge.engine") == HOST_CPU or not tensors_only:
            self._call(op, node, [self.builder.get(x, Placement.HOST) for x in ins])
        else:
            stream = self.stream(op)
            values, launch = launch_steps(self.builder, node, ins, kinds, stream)
            self._set(results, values, launch, stream)

    def _view(self, op: Operation, node: StepNode, ins: Sequence[HostValue]) -> None:
        """A view is where its first input is; one that nothing but a kernel can make is a call there."""
        results = data_results(op)
        made = view_steps(self.builder, node, ins, results[0].type) if len(results) == 1 else None
        if made is not None:
            self._set(results, [made], ins[0].launch, ins[0].stream)
        else:
            self._call(op, node, [self.builder.get(x, Placement.HOST) for x in ins])

    def _call(self, op: Operation, node: StepNode, ins: Sequence[SSAValue]) -> None:
        results = data_results(op)
        self._set(results, call_steps(self.builder, node, ins, [x.type for x in results]))

    def _set(
        self,
        results: Sequence[SSAValue],
        values: Sequence[SSAValue],
        launch: Operation | None = None,
        stream: int = 0,
    ) -> None:
        """Note what the outputs of a node became."""
        for result, ssa in zip(results, values, strict=True):
            ssa.name_hint = result.name_hint
            self.values[result] = self.builder.value(result.type, ssa, launch, stream)

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
        for ssa in made.results:
            self.builder.own(ssa, stream)
        self._set(results, made.results, made, stream)

    def stream(self, op: Operation) -> int:
        """The stream of a node; one without is on stream 0."""
        stream = max(get_int(op, "ge.stream", -1) or 0, 0)
        self.streams = max(self.streams, stream + 1)
        return stream


def _events(op: Operation, name: str) -> Sequence[int]:
    """The events of a node (ge-dynamic-events)."""
    return ge_attr(op, name, ()) if "attrs" in op.properties else ()
