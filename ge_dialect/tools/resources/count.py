"""What the parts of a module take: graphs by the tasks that will be made, task lists by those that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.memory_check import arenas_of
from ge_dialect.analysis.streams.host_streams import HOST_STREAMS
from ge_dialect.dialects.ge.access import get_int, get_ints, graphs
from ge_dialect.dialects.ge.nodes import LabelSetOp
from ge_dialect.dialects.ge_task import HostOp, ModelOp, TaskOp
from ge_dialect.dialects.ge_task.clauses import ints_of
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.tools.resources.model import Ids, Resources, Usage
from ge_dialect.transforms.split.ge_split_streams import HUGE_STREAMS
from ge_dialect.transforms.split.queue_entries import PlannedCounts, entry_table
from ge_dialect.transforms.sync.model import (
    EVENT_NUM,
    NO_STREAM,
    NOTIFY_NUM,
    SyncModel,
    stream_of,
)

DEFAULT_DEVICE = "default"
HOST_SPACES = frozenset({"host", "host_svm", "session"})
"""Memory spaces that are not the device's."""


def resources_of(module: ModuleOp, device: str = "") -> Resources:
    """What a module takes, against the limits of a device profile (`default` without a name).

    Raises GeError when there is nothing to count, TaskGenerationError for a node of a graph that cannot become tasks,
    ProfileError for an unknown device.
    """
    profile = load_profile(device or DEFAULT_DEVICE)
    parts = [_task_list(op) for op in module.walk() if isinstance(op, ModelOp)]
    parts += [_host_program(op) for op in module.walk() if isinstance(op, HostOp)]
    if graphs(module):
        parts.insert(0, _graph(module, profile.limits.tasks_per_stream or 1024))
    if not parts:
        raise GeError("--resources: the module has neither a graph nor a task list")
    return Resources(profile.name, profile.limits, parts)


def _graph(module: ModuleOp, max_tasks: int) -> Usage:
    """The graphs of a module as one model. Counting puts marks on nodes, so it is done on a copy.

    What a graph of unknown shape takes is known at run time only, but for its streams and events.
    """
    copy = module.clone()
    # The host's streams are counted like any.
    graphs(copy)[0].attributes.pop(HOST_STREAMS, None)
    model = SyncModel.of(copy)
    assert model is not None
    root = model.root
    if not is_known(module):
        used = {stream_of(op) for op in model.nodes} - {NO_STREAM}
        return Usage(
            root.sym_name.data,
            "graph of unknown shape",
            Ids(max(model.streams, 1), sorted(used)),
            _ids(get_int(root, EVENT_NUM, 0) or 0, ()),
        )
    counts = PlannedCounts(model)
    tasks: dict[int, int] = {}
    for entries in entry_table(model, counts, max_tasks).values():
        for stream, count in entries.items():
            tasks[stream] = tasks.get(stream, 0) + count
    events: set[int] = set()
    notifies: set[int] = set()
    labels: set[int] = set()
    for op in model.nodes:
        for name, into in (("event_id", events), ("notify_id", notifies)):
            into.update(_number(op, name))
        for name in ("ge.send_events", "ge.recv_events"):
            events.update(get_ints(op, name) or ())
        if isinstance(op, LabelSetOp):
            labels.update(_number(op, "label_index"))
    arenas = {
        space: size
        for graph in model.graphs.graphs
        for space, size in arenas_of(graph).items()
        if space not in HOST_SPACES
    }
    streams = max(model.streams, 1 + max(tasks, default=-1))
    return Usage(
        root.sym_name.data,
        "graph",
        Ids(streams, sorted(tasks)),
        _ids(get_int(root, EVENT_NUM, 0) or 0, events),
        _ids(get_int(root, NOTIFY_NUM, 0) or 0, notifies),
        _ids(0, labels),
        tasks,
        tuple(get_ints(root, HUGE_STREAMS) or ()),
        arenas or None,
    )


def _number(op: Operation, name: str) -> Iterator[int]:
    value = op.properties.get(name)
    if isinstance(value, IntegerAttr):
        yield value.value.data


def _ids(declared: int, used: Iterable[int]) -> Ids:
    found = sorted(used)
    return Ids(max(declared, found[-1] + 1 if found else 0), found)


def _task_list(model: ModelOp) -> Usage:
    tasks: dict[int, int] = {}
    used: dict[str, set[int]] = {"event": set(), "notify": set(), "label": set()}
    for op in model.body.block.ops:
        if not isinstance(op, TaskOp):
            continue
        stream = op.stream.value.data
        tasks[stream] = tasks.get(stream, 0) + op.hardware_tasks()
        for name, into in used.items():
            into.update(_number(op, name))
    notifies = {number for number in used["notify"] if number < model.notify_num.value.data}
    memory = {
        space: size.value.data
        for space, size in model.arenas.data.items()
        if isinstance(size, IntegerAttr) and space not in HOST_SPACES
    }
    huge = model.huge_streams
    return Usage(
        model.sym_name.data,
        "task list",
        Ids(model.stream_num.value.data, sorted(tasks)),
        Ids(model.event_num.value.data, sorted(used["event"])),
        Ids(model.notify_num.value.data, sorted(notifies)),
        Ids(model.label_num.value.data, sorted(used["label"])),
        tasks,
        tuple(ints_of(huge)) if isinstance(huge, DenseArrayBase) else (),
        memory,
    )


def _host_program(host: HostOp) -> Usage:
    """What a host-scheduled program says of itself; its tasks are issued and its memory is taken at run time."""
    streams: set[int] = set()
    events: set[int] = set()
    for op in host.walk():
        if op is not host:
            streams.update(_number(op, "stream"))
            events.update(_number(op, "event"))
    return Usage(
        host.sym_name.data,
        "host program",
        Ids(host.stream_num.value.data, sorted(streams)),
        Ids(host.event_num.value.data, sorted(events)),
    )
