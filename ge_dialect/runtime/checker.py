"""What can be proved of a task list without running it (spec/tasks.md section 3.3).

`ge_task.model`'s verifier knows ids, arenas and pairs; this sweep knows order. The tasks of one stream run in list
order, an event (notify, memory word) orders its record before the wait it belongs to, an activation orders itself
before the first task of its stream: two tasks on different streams that touch the same bytes, one of them writing,
must be ordered by these alone. A flag that is used again must not be recorded, nor waited for, before the wait of the
use before is through: a stream that arrives early would take a record that is not its own.

Jumps and restarted streams are not followed: a list is looked at as if each task ran once, in list order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge_task import (
    TASK_KINDS,
    BufferOp,
    EndGraphOp,
    EventRecordOp,
    EventWaitOp,
    MemcpyAsyncOp,
    MemEventRecordOp,
    MemEventWaitOp,
    ModelOp,
    NotifyRecordOp,
    NotifyWaitOp,
    StreamActiveOp,
    StreamSwitchNOp,
    StreamSwitchOp,
    TaskOp,
)
from ge_dialect.runtime.executor import not_started
from ge_dialect.runtime.jumps import between_jumps
from ge_dialect.runtime.memory import Extent, extent_of
from ge_dialect.runtime.properties import number, numbers, operand_groups

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken condition: its short name, how bad it is, and which task does what."""

    condition: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} [{self.condition}]"


RECORDS = {EventRecordOp: "event", NotifyRecordOp: "notify", MemEventRecordOp: "word"}
WAITS = {EventWaitOp: "event", NotifyWaitOp: "notify", MemEventWaitOp: "word"}


@dataclass(slots=True, eq=False)
class _Task:
    """A task as the sweep sees it. `position` counts the tasks of its stream from 1."""

    index: int
    op: TaskOp
    stream: int
    position: int
    joins: list[_Task]
    after: _Task | None = None
    """Of a record or a wait: the wait of the use before of the same flag."""

    def __str__(self) -> str:
        name = text_of(self.op.attributes.get("ge.name"))
        shown = f' "{name}"' if name else ""
        return (
            f"task {self.index}{shown} ({TASK_KINDS[self.op.TASK_TYPE].op}, stream {self.stream})"
        )


def check(model: ModelOp) -> list[Finding]:
    """Everything that is wrong with the list of `model`, in list order by condition; empty when all is proved.

    Expects a model that verifies. Linear in tasks, times streams for lists of several streams.
    """
    return list(_Checker(model).run())


class _Checker:
    def __init__(self, model: ModelOp) -> None:
        self._model = model
        self._streams = model.stream_num.value.data
        self._tasks: list[_Task] = []
        self._queues: list[list[_Task]] = [[] for _ in range(self._streams)]
        for index, op in enumerate(model.tasks()):
            stream = number(op, "stream")
            task = _Task(index, op, stream, len(self._queues[stream]) + 1, [])
            self._tasks.append(task)
            self._queues[stream].append(task)

    def run(self) -> Iterator[Finding]:
        """All findings."""
        yield from self._contiguous()
        yield from self._without_task()
        yield from self._merges()
        yield from self._end_graph()
        yield from self._pairs()
        yield from self._jumped_over()
        yield from self._reachable()
        order = self._order()
        if len(order) < len(self._tasks):
            ordered = set(order)
            stuck = next(task for task in self._tasks if task not in ordered)
            yield Finding(
                "order", "error", f"{stuck} can never run: what it waits for waits for it"
            )
            return
        yield from _Hazards(self._model, self._streams).sweep(order)

    def _contiguous(self) -> Iterator[Finding]:
        """The tasks of one node stand together."""
        seen: set[int] = set()
        last: int | None = None
        for task in self._tasks:
            value = task.op.properties.get("op_index")
            node = value.value.data if isinstance(value, IntegerAttr) else None
            if node is not None and node != last and node in seen:
                yield Finding(
                    "contiguous",
                    "error",
                    f"{task} stands apart from the other tasks of node {node}",
                )
            if node is not None:
                seen.add(node)
            last = node

    def _without_task(self) -> Iterator[Finding]:
        """A node that stands there as one without task has none."""
        virtual = {
            index.value.data
            for op in self._model.virtuals()
            if isinstance(index := op.properties.get("op_index"), IntegerAttr)
        }
        if not virtual:
            return
        for task in self._tasks:
            index = task.op.properties.get("op_index")
            if isinstance(index, IntegerAttr) and index.value.data in virtual:
                message = f"{task} belongs to node {index.value.data}, which makes no task"
                yield Finding("no_task", "error", message)

    def _merges(self) -> Iterator[Finding]:
        """The inputs of a StreamMerge share one place: its task copies input 0 alone (choice E27)."""
        for task in self._tasks:
            payload = task.op.payload if isinstance(task.op, MemcpyAsyncOp) else None
            listed = payload.data.get("input_i") if payload is not None else None
            if payload is None or not isinstance(listed, DenseArrayBase):
                continue
            offsets = list(listed.iter_values())
            spaces = payload.data.get("input_spaces")
            names = ["hbm"] * len(offsets) if spaces is None else to_python(spaces)
            places = dict.fromkeys(zip(names, offsets, strict=False))
            if len(places) > 1:
                shown = ", ".join(f"{space} at {offset}" for space, offset in places)
                yield Finding(
                    "merge", "error", f"{task} copies input 0, the inputs lie apart: {shown}"
                )

    def _end_graph(self) -> Iterator[Finding]:
        """At most one END_GRAPH, and nothing behind it on its stream (choice E8)."""
        ends = [task for task in self._tasks if isinstance(task.op, EndGraphOp)]
        for task in ends[1:]:
            yield Finding("end_graph", "error", f"{task} is a second END_GRAPH, after {ends[0]}")
        for task in ends:
            queue = self._queues[task.stream]
            if task.position < len(queue):
                yield Finding(
                    "end_graph",
                    "error",
                    f"{queue[task.position]} stands behind END_GRAPH on its stream",
                )

    def _pairs(self) -> Iterator[Finding]:
        """Joins each wait to its record: the k-th record of a flag in list order belongs to the k-th wait."""
        records: dict[tuple[str, int], list[_Task]] = {}
        waits: dict[tuple[str, int], list[_Task]] = {}
        for task in self._tasks:
            for table, found in ((RECORDS, records), (WAITS, waits)):
                kind = table.get(type(task.op))  # pyright: ignore[reportArgumentType]
                if kind is not None:
                    found.setdefault((kind, number(task.op, kind)), []).append(task)
        for flag in sorted({*records, *waits}):
            sent, received = records.get(flag, []), waits.get(flag, [])
            shown = f"{flag[0]} {flag[1]}"
            # A notify or memory word may pair with another model or device.
            severity: Severity = "error" if flag[0] == "event" else "warning"
            for task in sent[len(received) :]:
                yield Finding("pairs", severity, f"{task} records {shown}, which nothing waits for")
            for task in received[len(sent) :]:
                yield Finding("pairs", severity, f"{task} waits for {shown}, which nothing records")
            for record, wait in zip(sent, received, strict=False):
                wait.joins.append(record)
                if record.stream == wait.stream:
                    yield Finding("pairs", severity, f"{wait} waits for {shown} of its own stream")
            for last, *following in zip(received, sent[1:], received[1:], strict=False):
                for task in following:
                    task.after = last

    def _jumped_over(self) -> Iterator[Finding]:
        """Flags are counted: what jumps repeat or leave out does not fit its partner on another stream."""
        for queue in self._queues:
            repeated = between_jumps([task.op for task in queue])
            for task, found in zip(queue, repeated, strict=True):
                if found and type(task.op) in (*RECORDS, *WAITS):
                    said = f"{task} stands between jumps, which may repeat it or leave it out"
                    yield Finding("jumps", "warning", said)

    def _reachable(self) -> Iterator[Finding]:
        """Joins the first task of a stream that only an activation starts to the activation."""
        waiting = not_started(self._model)
        activated: set[int] = set()
        for task in self._tasks:
            for target in _targets(task.op):
                if target in waiting and target not in activated and self._queues[target]:
                    activated.add(target)
                    self._queues[target][0].joins.append(task)
        for stream in sorted(waiting - activated):
            if self._queues[stream]:
                yield Finding("activation", "error", f"stream {stream} is never started")

    def _order(self) -> list[_Task]:
        """The tasks so that each stands behind what it is ordered behind, in list order as far as that goes.

        Shorter than the list when tasks wait for each other in a circle.
        """
        order: list[_Task] = []
        done: set[_Task] = set()
        blocked: dict[_Task, list[_Task]] = {}
        ready = [(queue[0].index, queue[0].stream) for queue in self._queues if queue]
        heapq.heapify(ready)
        while ready:
            index, stream = heapq.heappop(ready)
            task = self._tasks[index]
            missing = next((x for x in task.joins if x not in done), None)
            if missing is not None:
                blocked.setdefault(missing, []).append(task)
                continue
            done.add(task)
            order.append(task)
            freed = blocked.pop(task, [])
            queue = self._queues[stream]
            if task.position < len(queue):
                freed.append(queue[task.position])
            for each in freed:
                heapq.heappush(ready, (each.index, each.stream))
        return order


def _targets(op: TaskOp) -> Sequence[int]:
    """The streams that a task may start."""
    if isinstance(op, StreamActiveOp):
        return (number(op, "active_stream"),)
    if isinstance(op, StreamSwitchOp):
        return (number(op, "true_stream"),)
    if isinstance(op, StreamSwitchNOp):
        return numbers(op, "true_streams")
    return ()


class _Space:
    """One memory space cut into cells at every border of a buffer: who wrote each last, who has read it since.

    `writer` and `written` are stream and position of the last writer (-1, 0: nobody); `readers` holds for each stream
    the position of its last reader since then.
    """

    def __init__(self, borders: NDArray[np.int64], streams: int) -> None:
        self.borders = borders
        cells = max(0, len(borders) - 1)
        self.writer = np.full(cells, -1, np.int64)
        self.written = np.zeros(cells, np.int64)
        self.readers = np.zeros((streams, cells), np.int64)
        self.filled = np.zeros(cells, np.bool_)

    def cells(self, extent: Extent) -> slice:
        """The cells of an extent."""
        low, high = np.searchsorted(self.borders, (extent.start, extent.stop))
        return slice(int(low), int(high))


class _Hazards:
    """The sweep over bytes. `clock[s]` of a task is the last position of stream `s` that is ordered before it."""

    def __init__(self, model: ModelOp, streams: int) -> None:
        self._count = streams
        buffers = model.buffers()
        borders: dict[str, set[int]] = {}
        for buffer in buffers:
            extent = extent_of(buffer)
            if extent.stop > extent.start:
                borders.setdefault(extent.space, set()).update((extent.start, extent.stop))
        self._spaces = {
            space: _Space(np.array(sorted(found), np.int64), streams)
            for space, found in sorted(borders.items())
        }
        for buffer in buffers:
            extent = extent_of(buffer)
            space = self._spaces.get(extent.space)
            given = buffer.input is not None or buffer.value is not None or extent.space == "var"
            if space is not None and given:
                space.filled[space.cells(extent)] = True
        self._outputs = [x for x in buffers if x.output is not None]

    def sweep(self, order: Sequence[_Task]) -> Iterator[Finding]:
        """Findings in execution order."""
        zero = np.zeros(self._count, np.int64)
        current = [zero] * self._count
        at_record: dict[_Task, NDArray[np.int64]] = {}
        joined = {join for task in order for join in task.joins}
        for task in order:
            clock = current[task.stream]
            if task.after is not None:
                yield from self._early(task, task.after, clock, at_record)
            if task.joins:
                clock = np.maximum.reduce([clock, *(at_record[join] for join in task.joins)])
                current[task.stream] = clock
            if task in joined:
                seen = clock.copy()
                seen[task.stream] = task.position
                at_record[task] = seen
            if task.op.operands:
                yield from self._task(task, clock)
        for buffer in self._outputs:
            extent = extent_of(buffer)
            space = self._spaces.get(extent.space)
            if space is not None and not space.filled[space.cells(extent)].all():
                name = text_of(buffer.io_name) or f"output {number(buffer, 'output')}"
                yield Finding("unwritten", "error", f"'{name}' is {extent}, which nothing writes")

    def _early(
        self,
        task: _Task,
        last: _Task,
        clock: NDArray[np.int64],
        at_record: Mapping[_Task, NDArray[np.int64]],
    ) -> Iterator[Finding]:
        """A record or wait that may run before the wait of the use before of its flag has taken that flag."""
        starts = [at_record[x] for x in task.joins if type(x.op) not in RECORDS]
        known = np.maximum.reduce([clock, *starts])
        if last.stream != task.stream and known[last.stream] < last.position:
            does = "record its flag" if type(task.op) in RECORDS else "take the flag"
            yield Finding("early", "error", f"{task} may {does} before {last} has taken it")

    def _task(self, task: _Task, clock: NDArray[np.int64]) -> Iterator[Finding]:
        ordered = clock.copy()
        ordered[task.stream] = task.position
        ins, outs, workspaces = operand_groups(task.op)
        for value in ins:
            if isinstance(value.owner, BufferOp):
                yield from self._read(task, extent_of(value.owner), ordered)
        for value in (*outs, *workspaces):
            if isinstance(value.owner, BufferOp):
                yield from self._write(task, extent_of(value.owner), ordered)

    def _read(self, task: _Task, extent: Extent, ordered: NDArray[np.int64]) -> Iterator[Finding]:
        space = self._spaces.get(extent.space)
        if space is None or extent.start == extent.stop:
            return
        cells = space.cells(extent)
        if not space.filled[cells].all():
            yield Finding(
                "unwritten", "error", f"{task} reads {extent} before all of it was written"
            )
        yield from self._behind_writer(task, "reads", extent, space, cells, ordered)
        space.readers[task.stream, cells] = task.position

    def _write(self, task: _Task, extent: Extent, ordered: NDArray[np.int64]) -> Iterator[Finding]:
        space = self._spaces.get(extent.space)
        if space is None or extent.start == extent.stop:
            return
        cells = space.cells(extent)
        yield from self._behind_writer(task, "writes", extent, space, cells, ordered)
        if self._count > 1:
            latest = space.readers[:, cells].max(axis=1)
            for stream in np.flatnonzero(latest > ordered).tolist():
                yield Finding(
                    "hazard",
                    "error",
                    f"{task} writes {extent}, which a task on stream {stream} may not have read yet",
                )
            space.readers[:, cells] = 0
        space.writer[cells] = task.stream
        space.written[cells] = task.position
        space.filled[cells] = True

    def _behind_writer(
        self,
        task: _Task,
        does: str,
        extent: Extent,
        space: _Space,
        cells: slice,
        ordered: NDArray[np.int64],
    ) -> Iterator[Finding]:
        if self._count == 1:
            return
        writers = space.writer[cells]
        late = (writers >= 0) & (space.written[cells] > ordered[writers])
        for stream in np.unique(writers[late]).tolist():
            yield Finding(
                "hazard",
                "error",
                f"{task} {does} {extent}, which a task on stream {stream} may not have written yet",
            )
