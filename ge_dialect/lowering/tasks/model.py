"""A known-shape model as one task list (spec/tasks.md sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.segments import mark_first_and_last
from ge_dialect.analysis.task_count import (
    makes_no_task,
    owns_ffts_graph,
    planned_tasks,
    task_error,
    task_rule,
)
from ge_dialect.analysis.task_kinds import TaskRule
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.ge import ConstantOp, DataOp, NetOutputOp
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    get_int,
    graphs,
    is_absent,
    node_name,
)
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge_task import ModelOp, VirtualOp
from ge_dialect.dialects.ge_task.sync import EXTERNAL_NOTIFY
from ge_dialect.dialects.ge_task.task import TaskOp
from ge_dialect.formats.errors import GeError
from ge_dialect.lowering.tasks.buffers import BufferTable
from ge_dialect.lowering.tasks.emit import BUILDERS, NodeTasks
from ge_dialect.lowering.tasks.fusion_groups import Issue, in_groups
from ge_dialect.lowering.tasks.profiling import Profile
from ge_dialect.lowering.tasks.virtual import virtual_op

_HEADER_OF_GRAPH = (
    "ge.arenas",
    "ge.zero_copy_size",
    "ge.stream_num",
    "ge.event_num",
    "ge.notify_num",
)
_COUNTED = {
    "stream": "stream_num",
    "true_stream": "stream_num",
    "active_stream": "stream_num",
    "event": "event_num",
    "notify": "notify_num",
    "label": "label_num",
}


class TaskCountError(GeError):
    """A node made other tasks than the analysis of task counts says: an error of this project, not of the model."""


def lower_known_model(
    module: ModuleOp,
    brackets: bool = True,
    *,
    groups: bool = False,
    profile: Profile | None = None,
) -> ModelOp:
    """The task list of the model, all of whose graphs have known shapes, with planned memory and assigned streams.

    Marks first and last nodes on the way. `groups` brings the nodes of a fusion group together, `profile` puts time
    stamps around nodes. Raises TaskGenerationError, naming the node, where a rule is broken.
    """
    root = graphs(module)[0]
    walked = list(walk_nodes(module))
    mark_first_and_last(op for op, _ in walked)
    ids = operator_ids([op for op, _ in walked])
    candidates = {op for op, _ in walk_nodes(module, lambda op: not owns_ffts_graph(op))}
    buffers = BufferTable()
    _model_inputs(root, buffers)
    issues: list[Issue] = []
    if profile is not None:
        profile.look(op for op, _ in walked)
    for (op, graph), op_index in zip(walked, ids, strict=True):
        if op not in candidates:
            continue
        if isinstance(op, ConstantOp):
            _weights(op, buffers)
        if isinstance(op, NetOutputOp) and graph is root:
            _model_outputs(op, buffers)
        if makes_no_task(op) and data_results(op):
            issues.append(Issue(op, [virtual_op(op, op_index, buffers)]))
            continue
        rule = task_rule(op)
        if rule is TaskRule.NONE:
            continue
        stream = get_int(op, "ge.stream", -1)
        node = NodeTasks(op, graph, buffers, max(stream or 0, 0), op_index, brackets)
        made = BUILDERS[rule](node)
        _check(op, made, rule, brackets)
        stamped = made if profile is None else profile.around(op, made)
        issues.append(Issue(op, list(stamped)))
    if groups:
        issues = in_groups(issues)
    return _model(root, buffers, [task for issue in issues for task in issue.made])


def operator_ids(nodes: list[Operation]) -> list[int]:
    """The id of each node: `ge.id` where it has one, else its place in the walk; all places when ids would clash."""
    ids = [
        place if (own := get_int(op, "ge.id")) is None else own for place, op in enumerate(nodes)
    ]
    return ids if len(set(ids)) == len(ids) else list(range(len(nodes)))


def _check(op: Operation, made: list[TaskOp], rule: TaskRule, brackets: bool) -> None:
    planned = planned_tasks(op, brackets, rule)
    if len(made) != len(planned) or any(
        task.name != f"ge_task.{kind}" for task, kind in zip(made, planned, strict=True)
    ):
        raise TaskCountError(
            f'internal error: node "{node_name(op)}" made {[task.name for task in made]}, planned were {list(planned)}'
        )


# --- inputs and outputs -----------------------------------------------------------------------------------------


def model_inputs(root: GraphOp) -> list[tuple[DataOp, int]]:
    """The inputs of the model with their numbers: `index`, else the place among the inputs.

    Raises TaskGenerationError when two have the same number.
    """
    found: list[tuple[DataOp, int]] = []
    taken: set[int] = set()
    for place, op in enumerate(op for op in root.block.ops if isinstance(op, DataOp)):
        index = op.properties.get("index")
        number = index.value.data if isinstance(index, IntegerAttr) else place
        if number in taken:
            raise task_error(op, f"has index {number}, as another input of the model does")
        taken.add(number)
        found.append((op, number))
    return found


def output_names(op: NetOutputOp) -> list[str | None]:
    """The model's name of each output; None where it has none."""
    names = op.attributes.get("ge.output_names")
    listed: list[str] = [] if names is None else [str(x) for x in to_python(names)]
    count = len(data_operands(op))
    return [*listed, *[None] * count][:count]


def _model_inputs(root: GraphOp, buffers: BufferTable) -> None:
    for op, number in model_inputs(root):
        for value in data_results(op)[:1]:
            buffers.model_input(value, number, node_name(op))


def _weights(op: ConstantOp, buffers: BufferTable) -> None:
    """Make the buffer that carries the constant's bytes, which views of it and model outputs do not."""
    for value in data_results(op):
        if value.first_use is not None:
            buffers.of(value)


def _model_outputs(op: NetOutputOp, buffers: BufferTable) -> None:
    for index, (value, name) in enumerate(zip(data_operands(op), output_names(op), strict=True)):
        if not is_absent(value):
            buffers.model_output(op, index, index, name)


# --- header -----------------------------------------------------------------------------------------------------


def _model(root: GraphOp, buffers: BufferTable, tasks: list[TaskOp | VirtualOp]) -> ModelOp:
    counts = _used(tasks)
    for count in ("stream_num", "event_num", "notify_num"):
        counts[count] = max(counts[count], get_int(root, f"ge.{count}", 0) or 0)
    arenas = dict(buffers.ends)
    planned = root.attributes.get("ge.arenas")
    if isinstance(planned, DictionaryAttr):
        arenas = {
            space: size.value.data
            for space, size in planned.data.items()
            if isinstance(size, IntegerAttr)
        }
    kept = {
        name: value
        for name, value in root.attributes.items()
        if name not in _HEADER_OF_GRAPH and name.startswith("ge.")
    }
    made = ModelOp.make(
        root.sym_name.data,
        [*buffers.ops, *tasks],
        stream_num=counts["stream_num"],
        event_num=counts["event_num"],
        notify_num=counts["notify_num"],
        label_num=counts["label_num"],
        arenas=arenas,
        zero_copy_size=get_int(root, "ge.zero_copy_size", 0) or 0,
        attributes=kept,
    )
    return made


def _used(tasks: Iterable[TaskOp | VirtualOp]) -> dict[str, int]:
    """How many of each resource the tasks' numbers need: one more than the highest, at least one stream."""
    counts = {"stream_num": 1, "event_num": 0, "notify_num": 0, "label_num": 0}
    for task in tasks:
        properties = task.properties
        for name in properties.keys() & _COUNTED.keys():
            value = properties[name]
            if not isinstance(value, IntegerAttr):
                continue  # of a time stamp, `notify` is a flag
            number = value.value.data
            if name == "notify" and number == EXTERNAL_NOTIFY:
                continue
            resource = _COUNTED[name]
            if number >= counts[resource]:
                counts[resource] = number + 1
        for name, resource in (("labels", "label_num"), ("true_streams", "stream_num")):
            if name in properties:
                counts[resource] = max(counts[resource], 1 + max(_numbers(properties[name])))
    return counts


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    return attribute.get_values()  # pyright: ignore
