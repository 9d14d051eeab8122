"""Whether every step of a host program runs behind what it reads: clocks of streams, walked in the order of issue.

Knows nothing of how programs are made. Both branches of an If are walked and loops twice; what one of them leaves
unordered counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

Clock = dict[int, int]
"""How many steps of each stream are done for certain."""

_NO_WORK = frozenset({"ge_task.alloc", "ge_task.free", "ge_task.shape_of", "ge_task.shape_const"})
_ALIASES = frozenset({"ge_task.view", "ge_task.list_new", "ge_task.list_append"})
_ON_STREAM_0 = frozenset({"ge_task.ensure_device", "ge_task.list_stack"})
_FROM_HOST = frozenset({"ge_task.const", "ge_task.variable", "ge_task.input", "ge_task.absent"})


@dataclass
class HostOrder:
    """`unordered`: (name of the step that reads, stream, stream of the writer)."""

    unordered: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    waits: int = 0

    def __post_init__(self) -> None:
        self._issued: Clock = {}
        self._streams: dict[int, Clock] = {}
        self._host: Clock = {}
        self._events: dict[int, Clock] = {}
        self._writers: dict[SSAValue, frozenset[tuple[int, int]]] = {}

    def walk(self, block: Block) -> Sequence[SSAValue]:
        """Go through the steps; what the block yields."""
        for op in block.ops:
            if op.name == "ge_task.yield":
                return op.operands
            self._step(op)
        return ()

    def _of(self, value: SSAValue) -> frozenset[tuple[int, int]]:
        return self._writers.get(value, frozenset())

    def _set(self, values: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        for value, source in zip(values, sources, strict=False):
            self._writers[value] = self._of(value) | self._of(source)

    def _step(self, op: Operation) -> None:
        match op.name:
            case "ge_task.if" | "ge_task.case":
                for region in op.regions:
                    self._set(op.results, self.walk(region.block))
            case "ge_task.while":
                cond, body = (region.block for region in op.regions)
                self._set(cond.args, op.operands)
                for _ in range(2):
                    self.walk(cond)
                    self._set(body.args, cond.args)
                    self._set(cond.args, self.walk(body))
                self._set(op.results, cond.args)
            case "ge_task.record":
                self._events[_number(op, "event")] = dict(self._issue(_number(op, "stream")))
            case "ge_task.wait":
                self.waits += 1
                _join(self._issue(_number(op, "stream")), self._events.pop(_number(op, "event")))
            case "ge_task.sync":
                _join(self._host, self._issue(_number(op, "stream")))
            case name if name in _ALIASES:
                for value in op.results:
                    self._writers[value] = frozenset().union(*map(self._of, op.operands))
            case name if name not in _NO_WORK and name not in _FROM_HOST:
                self._work(op)

    def _work(self, op: Operation) -> None:
        written = list(op.results)
        reads = [x for x in op.operands if x.type.name in ("ge_task.tensor", "ge_task.list")]
        if op.name == "ge_task.launch":
            outs = list(getattr(op, "outs"))
            written += outs
            reads = [x for x in reads if x not in outs]
        if "stream" not in op.properties and op.name not in _ON_STREAM_0:
            # The host itself: shapes, tilings, calls, outputs. An output waits for all streams.
            if op.name == "ge_task.host_call":
                # What is on the device is looked at for its shape alone.
                on_host = [x for x in reads if ", host>" in str(x.type)]
                self._check(op, on_host, -1, self._host)
            return
        stream = _number(op, "stream") if "stream" in op.properties else 0
        clock = self._issue(stream)
        self._check(op, reads, stream, clock)
        stamp = frozenset({(stream, clock[stream])})
        for value in written:
            self._writers[value] = stamp
        if op.name == "ge_task.d2h":
            _join(self._host, clock)

    def _check(self, op: Operation, reads: Sequence[SSAValue], stream: int, clock: Clock) -> None:
        for value in reads:
            for writer, number in self._of(value):
                if clock.get(writer, 0) < number:
                    self.unordered.append((op.name, stream, writer))

    def _issue(self, stream: int) -> Clock:
        """One more step of a stream, behind all that the host has waited for."""
        clock = self._streams.setdefault(stream, {})
        _join(clock, self._host)
        self._issued[stream] = clock[stream] = self._issued.get(stream, 0) + 1
        return clock


def _join(clock: Clock, other: Clock) -> None:
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, 0), number)


def _number(op: Operation, name: str) -> int:
    value = op.properties[name]
    assert isinstance(value, IntegerAttr)
    return value.value.data
