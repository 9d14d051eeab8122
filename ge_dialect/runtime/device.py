"""One emulated device: streams that take turns, flags, activation, jumps, the simulated clock.

The rules are those of spec/tasks.md sections 3.1 and 3.2; where they leave a point open, `DeviceOptions` decides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from ge_dialect.runtime.errors import LoadError, RunawayError, RunError
from ge_dialect.runtime.instruction import Action, Flag, Instruction
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.streams import State, Stream, Turns
from ge_dialect.runtime.sync import Flags
from ge_dialect.runtime.timeline import Flow, Interval


class Meeting(Protocol):
    """Where a device takes its collectives; see `cluster.Cluster`."""

    def arrive(self, device: Device, instruction: Instruction, time: float) -> float | None:
        """The time at which the collective is over, None when the device has to wait for other ranks."""
        ...


class Device:
    """One rank. `turn` runs the head of one stream, so that several devices can be run side by side."""

    def __init__(
        self,
        rank: int,
        instructions: Sequence[Instruction],
        stream_num: int,
        not_started: frozenset[int],
        options: DeviceOptions,
    ) -> None:
        """`not_started`: streams that only an activation starts (spec/tasks.md 3.1).

        Raises LoadError for a stream beyond the header's count.
        """
        self.rank = rank
        self.options = options
        self.streams = [Stream(id) for id in range(stream_num)]
        for instruction in instructions:
            if not 0 <= instruction.stream < stream_num:
                raise LoadError(
                    f"{instruction}: stream {instruction.stream} is out of range: stream_num is {stream_num}"
                )
            self.streams[instruction.stream].add(instruction)
        self._not_started = not_started
        self._has_end = any(x.action is Action.END for x in instructions)
        self.warnings: dict[str, None] = {}
        self._flags = Flags()
        self._turns = Turns(None)
        self._perform: Callable[[Instruction], object] = _run
        self._meeting: Meeting | None = None
        self._actions = {
            Action.COMPUTE: self._compute,
            Action.NOTHING: self._nothing,
            Action.RECORD: self._record,
            Action.WAIT: self._wait,
            Action.ACTIVATE: self._activate,
            Action.SWITCH: self._switch,
            Action.GOTO: self._goto,
            Action.END: self._end,
            Action.EXIT: self._exit,
            Action.COLLECTIVE: self._collective,
        }

    def begin(
        self,
        step: int,
        perform: Callable[[Instruction], object],
        meeting: Meeting | None = None,
    ) -> None:
        """Put the device at the beginning of step number `step` (choice E13).

        `perform` is called with each computing task when its turn comes.
        """
        options = self.options
        rng = None
        if options.order == "random":
            rng = random.Random(f"{options.seed}/{step}/{self.rank}")
        self._turns = Turns(rng)
        self._perform = perform
        self._meeting = meeting
        self._flags.begin(options.external_notifies)
        self.complete = False
        self.executed = 0
        self.counts: dict[str, int] = {}
        self.intervals: list[Interval] = []
        self.flows: list[Flow] = []
        self.worked: dict[str, float] = {}
        self._records: dict[Flag, Interval] = {}
        for stream in self.streams:
            stream.reset()
        for stream in self.streams:
            if stream.id not in self._not_started and stream.queue:
                self._start(stream, 0.0)

    def turn(self) -> bool:
        """Run the head of the stream whose turn it is, or find out that it has to wait; False when none can run.

        Raises TaskError and RunawayError.
        """
        id = self._turns.next()
        if id is None:
            return False
        stream = self.streams[id]
        head = stream.queue[stream.counter]
        self._actions[head.action](stream, head)
        return True

    def blocked(self) -> list[tuple[int, Instruction]]:
        """Stream and head task of every stream that has begun and cannot go on, by ascending stream."""
        return [(x.id, x.queue[x.counter]) for x in self.streams if x.state is State.BLOCKED]

    def end(self) -> None:
        """Close a step whose streams have all drained. Raises RunError when END_GRAPH did not run."""
        if self._has_end and not self.complete:
            raise RunError(
                "all streams drained, but END_GRAPH has not run: its stream was never started"
            )
        for kind, flag in self._flags.left():
            if (kind, flag) in {("notify", x) for x in self.options.external_notifies}:
                continue
            self._odd(f"{kind} {flag} is left recorded", self.options.left_recorded == "error")

    @property
    def time(self) -> float:
        """Simulated microseconds since the step began."""
        return max((stream.time for stream in self.streams), default=0.0)

    def wake(self, id: int, time: float) -> None:
        """What the head of a blocked stream waits for is there, since `time`."""
        stream = self.streams[id]
        if stream.state is not State.BLOCKED:  # MODEL_EXIT has dropped its rest
            return
        stream.granted = time
        self._unblock(stream)

    # Streams

    def _start(self, stream: Stream, time: float) -> None:
        stream.start(time)
        if stream.state is State.RUNNING:
            self._turns.add(stream.id)

    def _drain(self, stream: Stream) -> None:
        stream.counter = len(stream.queue)
        if stream.state is State.RUNNING:
            self._turns.remove(stream.id)
        stream.state = State.DRAINED

    def _block(self, stream: Stream) -> None:
        stream.state = State.BLOCKED
        self._turns.remove(stream.id)

    def _unblock(self, stream: Stream) -> None:
        stream.state = State.RUNNING
        self._turns.add(stream.id)

    def _done(self, stream: Stream, head: Instruction, start: float | None = None) -> None:
        """The head has run; the next one is the head."""
        begun = stream.time if start is None else start
        stream.time = begun + head.duration
        self.executed += 1
        if self.executed > self.options.max_tasks:
            raise RunawayError(
                f"more than {self.options.max_tasks} tasks ran in one step, the last: {head}, stream {stream.id}"
            )
        self.counts[head.kind.op] = self.counts.get(head.kind.op, 0) + 1
        if head.duration:
            self.worked[head.kind.op] = self.worked.get(head.kind.op, 0.0) + head.duration
        if self.options.record_timeline:
            self._note(_interval(head, begun, stream.time), head)
        stream.counter += 1
        if stream.counter >= len(stream.queue):
            self._drain(stream)

    def _note(self, interval: Interval, head: Instruction) -> None:
        """Put a task on the timeline; from a record an arrow leads to the wait that it satisfies."""
        self.intervals.append(interval)
        flag = head.flag
        if flag is None:
            return
        if head.action is Action.RECORD:
            self._records[flag] = interval
        elif head.action is Action.WAIT and (source := self._records.pop(flag, None)) is not None:
            self.flows.append(Flow(flag[0], source, interval))

    def _odd(self, message: str, error: bool) -> None:
        if error:
            raise RunError(message)
        self.warnings.setdefault(message)

    # One function an action

    def _compute(self, stream: Stream, head: Instruction) -> None:
        self._perform(head)
        self._done(stream, head)

    def _nothing(self, stream: Stream, head: Instruction) -> None:
        self._done(stream, head)

    def _record(self, stream: Stream, head: Instruction) -> None:
        assert head.flag is not None
        self._done(stream, head)
        twice, waiting = self._flags.record(head.flag, stream.time)
        if twice:
            self._odd(
                f"{head}: {head.flag[0]} {head.flag[1]} is recorded already",
                self.options.double_record == "error",
            )
        if waiting is not None:
            self.wake(waiting, stream.time)

    def _wait(self, stream: Stream, head: Instruction) -> None:
        assert head.flag is not None
        recorded = stream.granted
        stream.granted = None
        if recorded is None:
            recorded = self._flags.take(head.flag)
        if recorded is None:
            self._flags.wait(head.flag, stream.id)
            self._block(stream)
            return
        self._done(stream, head, max(stream.time, recorded))

    def _activate(self, stream: Stream, head: Instruction) -> None:
        self._done(stream, head)
        self._start_target(head, head.target, stream.time)

    def _start_target(self, head: Instruction, target: int | None, time: float) -> None:
        if target is None:
            return
        if not 0 <= target < len(self.streams):
            raise RunError(
                f"{head}: there is no stream {target}, stream_num is {len(self.streams)}"
            )
        stream = self.streams[target]
        if stream.state is State.IDLE or (
            stream.state is State.DRAINED and self.options.reactivation == "restart"
        ):
            self._start(stream, time)

    def _switch(self, stream: Stream, head: Instruction) -> None:
        assert head.choose is not None
        target = head.choose()
        self._done(stream, head)
        self._start_target(head, target, stream.time)
        stops = target is not None and self.options.switch_true_stops_current
        if stops and stream.state is State.RUNNING and target != stream.id:
            self._drain(stream)

    def _goto(self, stream: Stream, head: Instruction) -> None:
        label = head.target if head.choose is None else head.choose()
        position = None if label is None else stream.labels.get(label)
        if position is None:
            raise RunError(f"{head}: label {label} is not set on stream {stream.id}")
        self._done(stream, head)
        if stream.state is State.DRAINED:
            self._unblock(stream)
        stream.counter = position

    def _end(self, stream: Stream, head: Instruction) -> None:
        self.complete = True
        self._done(stream, head)
        if stream.state is State.RUNNING:
            follower = stream.queue[stream.counter]
            self._odd(
                f"{follower} runs behind END_GRAPH on stream {stream.id}",
                self.options.after_end_graph == "error",
            )

    def _exit(self, stream: Stream, head: Instruction) -> None:
        self.complete = True
        self._done(stream, head)
        others = self.streams if self.options.model_exit == "all_streams" else [stream]
        for each in others:
            if each.state in (State.RUNNING, State.BLOCKED):
                self._drain(each)

    def _collective(self, stream: Stream, head: Instruction) -> None:
        assert self._meeting is not None
        over = stream.granted
        stream.granted = None
        if over is None:
            over = self._meeting.arrive(self, head, stream.time)
        if over is None:
            self._block(stream)
            return
        self._done(stream, head, max(stream.time, over - head.duration))


def _run(instruction: Instruction) -> None:
    assert instruction.run is not None
    instruction.run()


def _interval(head: Instruction, start: float, end: float) -> Interval:
    name = head.name or head.type or head.kind.op
    return Interval(f"stream {head.stream}", name, head.kind.op, head.type, head.index, start, end)
