"""Several devices side by side: they take turns, and their collectives meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ge_dialect.runtime.collectives import (
    POINT_TO_POINT,
    Collective,
    message_of,
    perform,
    transfer,
)
from ge_dialect.runtime.compute import Thunk
from ge_dialect.runtime.device import Device
from ge_dialect.runtime.errors import DeadlockError, LoadError
from ge_dialect.runtime.instruction import Instruction
from ge_dialect.runtime.options import DeviceOptions


@dataclass(slots=True)
class _Arrival:
    """One rank at a collective."""

    device: Device
    instruction: Instruction
    time: float


@dataclass(slots=True)
class _Message:
    """What a Send left for a Receive: who sent it, when it was there, and the bytes once they are read."""

    sender: Collective
    time: float
    data: list[bytes] = field(default_factory=list[bytes])


class Cluster:
    """The devices of a step and the places where their collectives meet."""

    def __init__(self, devices: Sequence[Device], options: DeviceOptions) -> None:
        """Raises LoadError for a group with ranks that do not exist."""
        self.devices = devices
        self._groups = options.groups
        self._world = tuple(range(len(devices)))
        for name, ranks in options.groups.items():
            if not set(ranks) <= set(self._world):
                raise LoadError(
                    f"group '{name}' has the ranks {list(ranks)}, there are {len(devices)} devices"
                )
        self._arrivals: dict[tuple[str, int, int], dict[int, _Arrival]] = {}
        self._rounds: dict[tuple[int, str, int], int] = {}
        self._messages: dict[tuple[str, int, int, int], list[_Message]] = {}
        self._receivers: dict[tuple[str, int, int, int], list[tuple[Device, Instruction]]] = {}
        self._perform: Callable[[Thunk], object] = _call

    def run(
        self,
        step: int,
        perform_task: Callable[[Instruction], object],
        perform_collective: Callable[[Thunk], object],
    ) -> None:
        """Run one step on all devices, one task of each in turn.

        Computing tasks are handed to `perform_task` and collectives to `perform_collective`, in the order in which
        they run. Raises DeadlockError and what the tasks raise.
        """
        self._arrivals.clear()
        self._rounds.clear()
        self._messages.clear()
        self._receivers.clear()
        self._perform = perform_collective
        for device in self.devices:
            device.begin(step, perform_task, self)
        if len(self.devices) == 1:
            turn = self.devices[0].turn
            while turn():
                pass
        else:
            while any([device.turn() for device in self.devices]):
                pass
        self._check_drained()
        for device in self.devices:
            device.end()

    def _check_drained(self) -> None:
        """Choice E15."""
        several = len(self.devices) > 1
        heads = [
            (f"rank {device.rank} " if several else "")
            + f"stream {stream}: {head} waits for {head.awaited()}"
            for device in self.devices
            for stream, head in device.blocked()
        ]
        if heads:
            raise DeadlockError("deadlock: " + "; ".join(heads))

    def arrive(self, device: Device, instruction: Instruction, time: float) -> float | None:
        """A device is at a collective: the time at which it is over for it, None when it has to wait."""
        found = instruction.collective
        assert found is not None
        if found.kind in POINT_TO_POINT:
            return self._point_to_point(device, instruction, found, time)
        ranks = self._ranks(found)
        if device.rank not in ranks:
            raise LoadError(f"{instruction}: rank {device.rank} is not in group '{found.group}'")
        # A loop passes the same task several times: each pass is a meeting of its own.
        visit = (device.rank, found.group, found.sequence)
        round_ = self._rounds.get(visit, 0)
        self._rounds[visit] = round_ + 1
        arrivals = self._arrivals.setdefault((found.group, found.sequence, round_), {})
        arrivals[device.rank] = _Arrival(device, instruction, time)
        if len(arrivals) < len(ranks):
            return None
        members = [arrivals[rank] for rank in ranks]
        collectives = [x for m in members if (x := m.instruction.collective) is not None]
        self._perform(lambda: perform(collectives, ranks))
        over = max(member.time + member.instruction.duration for member in members)
        for member in members:
            if member.device is not device:
                member.device.wake(member.instruction.stream, over)
        return over

    def _ranks(self, found: Collective) -> tuple[int, ...]:
        return self._groups.get(found.group, self._world)

    def _point_to_point(
        self, device: Device, instruction: Instruction, found: Collective, time: float
    ) -> float | None:
        """A Send leaves its bytes and goes on; a Receive waits for them. Order within a channel is kept."""
        if found.peer not in self._world:
            raise LoadError(f"{instruction}: there is no rank {found.peer}")
        if found.kind == "Send":
            key = (found.group, device.rank, found.peer, found.tag)
            message = _Message(found, time + instruction.duration)
            self._perform(lambda: message.data.append(message_of(found)))
            waiting = self._receivers.get(key)
            if waiting:
                receiver, head = waiting.pop(0)
                assert head.collective is not None
                receiver.wake(head.stream, self._deliver(message, head.collective))
            else:
                self._messages.setdefault(key, []).append(message)
            return message.time
        key = (found.group, found.peer, device.rank, found.tag)
        messages = self._messages.get(key)
        if messages:
            return self._deliver(messages.pop(0), found)
        self._receivers.setdefault(key, []).append((device, instruction))
        return None

    def _deliver(self, message: _Message, found: Collective) -> float:
        self._perform(lambda: transfer(message.data.pop(), found))
        return message.time


def _call(thunk: Thunk) -> None:
    thunk()
