"""The map of a task list: what lies where while its tasks run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import OpResult, SSAValue

from ge_dialect.analysis.memory_check import ByteOwners
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import get_int, get_text, node_name
from ge_dialect.dialects.ge_task import BufferOp, ModelOp, TaskOp
from ge_dialect.tools.memory_map.model import MapBuffer, MemoryMap, Role
from ge_dialect.tools.memory_map.of_graph import OWN_SPACES

Range = tuple[str, int, int]
"""Space, first byte and byte behind the last."""


@dataclass(slots=True, eq=False)
class _Life:
    """Bytes that a task wrote, and the numbers of the first and last task that touch them."""

    range: Range
    name: str
    type: str
    role: Role
    start: int
    end: int
    over: int = 0
    """How many more tasks wrote exactly over it while they read it."""

    def buffer(self) -> MapBuffer:
        _, low, high = self.range
        name = self.name + (f" and {self.over} written over it" if self.over else "")
        return MapBuffer(name, self.start, self.end + 1, high - low, low, self.type, self.role)


def maps_of_tasks(model: ModelOp) -> list[MemoryMap]:
    """The maps of the spaces of a task list in which memory is reused; time is the number of the task.

    A rectangle is what one task wrote, with what others wrote over it in place. Who reads a view reads what lies there:
    a run that a node without task joins or cuts up is shown as the pieces that were written, each from its own first
    write on. O(n log n).
    """
    lives = _lives(model)
    tail = model.zero_copy_size.value.data
    found: list[MemoryMap] = []
    for space, size in model.arenas.data.items():
        if space in OWN_SPACES or not isinstance(size, IntegerAttr):
            continue
        buffers = [life.buffer() for life in lives if life.range[0] == space]
        made = MemoryMap(
            model.sym_name.data, buffers, size.value.data, 0, "", "task", space, size.value.data
        )
        if space == "hbm":
            bound = get_int(model, "ge.lower_bound_bytes", 0) or 0
            kind = get_text(model, "ge.lower_bound_kind") or "max live"
            made = replace(made, peak=made.peak - tail, bound=bound, bound_kind=kind)
        found.append(made)
    return found


class _Replay:
    """Who owns which bytes while the tasks run in order."""

    def __init__(self) -> None:
        self.lives: list[_Life] = []
        self._owners: dict[str, ByteOwners] = {}

    def write(self, life: _Life) -> None:
        space, low, high = life.range
        self._owners.setdefault(space, ByteOwners()).claim(low, high, life)
        self.lives.append(life)

    def there(self, place: Range) -> list[_Life]:
        """What lies in a range now."""
        owners = self._owners.get(place[0])
        found = [] if owners is None else owners.owners_of(place[1], place[2])
        return [each for each in found if isinstance(each, _Life)]

    def run(self, at: int, op: TaskOp) -> None:
        """Task number `at` runs."""
        ins, outs, scratch = _operands(op)
        read = [life for place in ins for life in self.there(place)]
        for life in read:
            life.end = at
        name = node_name(op) or op.name
        for index, place in enumerate(outs):
            same = next((x for x in read if x.range == place and x.role is Role.FEATURE), None)
            if same is not None:
                same.over += 1
            else:
                self.write(_Life(place, f"{name}:{index}", _type(op), Role.FEATURE, at, at))
        for index, place in enumerate(scratch):
            text = f"{name} workspace {index}"
            self.write(_Life(place, text, _type(op), Role.WORKSPACE, at, at))


def _lives(model: ModelOp) -> list[_Life]:
    ops = list(model.body.block.ops)
    views = [op for op in ops if isinstance(op, BufferOp)]
    replay = _Replay()
    for view in views:
        if view.input is not None:
            name = text_of(view.io_name) or f"input {view.input.value.data}"
            replay.write(_Life(_range(view), name, "Data", Role.INPUT, 0, 0))
    tasks = [op for op in ops if isinstance(op, TaskOp)]
    for at, op in enumerate(tasks):
        replay.run(at, op)
    for view in views:
        if view.output is None:
            continue
        for life in replay.there(_range(view)):
            life.end = max(len(tasks) - 1, life.end)
            if life.role is Role.FEATURE:
                life.role = Role.OUTPUT
    return replay.lives


def _operands(op: TaskOp) -> tuple[list[Range], list[Range], list[Range]]:
    """What a task reads, writes, and uses as scratch memory."""
    outs: Sequence[SSAValue] = getattr(op, "outs", ())
    scratch: Sequence[SSAValue] = getattr(op, "workspaces", ())
    others = set(chain(outs, scratch)) - set(getattr(op, "ins", ()))
    return (
        list(_ranges(value for value in op.operands if value not in others)),
        list(_ranges(outs)),
        list(_ranges(scratch)),
    )


def _ranges(values: Iterable[SSAValue]) -> Iterator[Range]:
    for value in values:
        if isinstance(value, OpResult) and isinstance(value.op, BufferOp):
            yield _range(value.op)


def _range(view: BufferOp) -> Range:
    low = view.offset.value.data
    return view.space.data, low, low + view.size.value.data


def _type(op: TaskOp) -> str:
    return text_of(op.properties.get("type")) or op.name.removeprefix("ge_task.")
