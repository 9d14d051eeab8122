"""Search for a plan within a capacity: the same tree as in the compiled kernel, in Python.

Plans are built from the bottom up. A node takes the lowest level at which an unplaced buffer can lie, a section (see
sections.py) that has such buffers, and tries each of them there; if none goes there, all buffers of the section lie
higher, and the node is decided again. This is complete for plans in which nothing can drop: in such a plan every
buffer lies on the ground or on another, so the lowest of the section, if not at the level, begins where some buffer
of another section ends at the least. A plan of least total height is one, so there is one if there is any plan.

What keeps the tree small:

* sections whose buffers cannot all fit above the places they have been raised to end a branch (`SearchState`);
* parts of the problem that no conflict joins any more are solved one after the other;
* a buffer that no neighbour can get below of is placed at once; a section is not raised past one that could then drop;
* of equal buffers in one place only one is tried;
* states that failed are remembered: the same heap of buffers can be stacked in many orders. A later state may take the
  place of an earlier one in the table, in the kernel and here alike;
* after some nodes everything starts over with another rule for what comes first, since a bad first choice costs more
  than all others together. What is remembered stays.

Fixed buffers are placed when the level comes to them; before, others keep clear of them. When the lowest member of a
group is placed, the others become fixed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np

from ge_dialect.analysis.packing.model import Model
from ge_dialect.analysis.packing.outcome import Feature, Limits, Outcome, Verdict
from ge_dialect.analysis.packing.search_state import SearchState

MOST_SECTIONS = 512
"""Sections looked at in one choice."""
STRATEGIES = 16
"""Four rules for sections times four for buffers; when all had their turn runs get longer, and keys get noise."""
_MASK = (1 << 64) - 1


class _Stage(Enum):
    ENTER = auto()
    DECIDE = auto()
    TRY = auto()
    CHILD = auto()


@dataclass(slots=True)
class _Parts:
    """Parts that are solved one after the other; `next` is the first that is not."""

    parts: list[list[int]]
    next: int = 0


@dataclass(slots=True)
class _Node:
    """One connected part. `items` may still list buffers that are placed, `left` of them are not."""

    items: list[int]
    left: int
    code: int
    entry: int
    stage: _Stage = _Stage.ENTER
    start_code: int = 0
    mark: int = 0
    level: int = 0
    section: int = -1
    certain: bool = False
    next: int = 0
    choices: list[int] = field(default_factory=list[int])


class TreeSearch:
    """One search; `run` once."""

    def __init__(self, model: Model, capacity: int, limits: Limits) -> None:
        self.model = model
        self.limits = limits
        features = limits.features
        self.state = SearchState(model, capacity, inference=Feature.INFERENCE in features)
        self.dominance = Feature.DOMINANCE in features
        self.split = Feature.SPLIT in features
        self.known: dict[int, int] | None = {} if Feature.TABLE in features else None
        self.places = (1 << limits.table_bits) - 1
        self.twin: list[int] = model.twin.tolist()
        self.fixed: list[int] = model.fixed.tolist()
        self.nodes = 0
        self.restarts = 0
        self.deadline = time.monotonic() + limits.seconds
        self.limit = 0
        self.section_rule = self.order_rule = 0
        self.noise = False
        self._random = 88172645463325252
        self._stack: list[_Node | _Parts] = []

    def run(self) -> Outcome:
        """Search until decided or out of limits."""
        limits = self.limits
        run = float(limits.first_nodes)
        while True:
            limit = self.nodes + int(run) if Feature.RESTART in limits.features else limits.nodes
            self.limit = min(limit, limits.nodes)
            self._strategy(self.restarts)
            verdict = self._root()
            if verdict is not Verdict.LIMIT:
                break
            self.state.undo(0)
            self.restarts += 1
            if self.nodes >= limits.nodes or time.monotonic() > self.deadline:
                break
            if self.restarts % STRATEGIES == 0:
                run *= 1.5
        offsets = np.array(self.state.offset, dtype=np.int64) if verdict is Verdict.FITS else None
        return Outcome(verdict, offsets, self.nodes, self.restarts)

    def _strategy(self, number: int) -> None:
        self.section_rule = number % 4
        self.order_rule = (number // 4 + number) % 4
        self.noise = number >= STRATEGIES

    def _root(self) -> Verdict:
        state = self.state
        for v, at in enumerate(self.fixed):
            if (at >= 0 and not state.pin_to(v, at)) or (
                state.low[v] + state.size[v] > state.capacity
            ):
                state.clear_queue()
                return Verdict.NONE
        state.queue_all()
        if not state.propagate():
            return Verdict.NONE
        return self._explore()

    def _explore(self) -> Verdict:
        """Depth first, with a stack of its own: paths are as long as there are buffers."""
        self._stack = []
        self._enter_parts(list(range(self.model.count)))
        result: Verdict | None = None  # None: something was entered
        while self._stack and result is not Verdict.LIMIT:
            top = self._stack[-1]
            if isinstance(top, _Parts):
                if result is not Verdict.NONE:
                    result = self._next_part(top)
            else:
                result = self._step(top, result)
            if result is None:
                continue
            if isinstance(top, _Node) and result is Verdict.NONE:
                self.state.undo(top.entry)
                if self.known is not None and top.left > 1:
                    self.known[top.code & self.places] = top.code
            self._stack.pop()
        assert result is not None
        return result

    def _enter_parts(self, items: list[int]) -> None:
        placed = self.state.placed
        seen: set[int] = set()
        parts: list[list[int]] = []
        for v in items:
            if not placed[v] and v not in seen:
                parts.append(self._component(v, seen))
        self._stack.append(_Parts(sorted(parts, key=len)))

    def _joined(self, u: int) -> list[int]:
        """What conflicts or a group join to u."""
        state = self.state
        group = state.group[u]
        if group >= 0 and state.pin[u] < 0:
            return state.near[u] + state.members[group]
        return state.near[u]

    def _component(self, start: int, seen: set[int]) -> list[int]:
        placed = self.state.placed
        found = [start]
        seen.add(start)
        for u in found:
            for v in self._joined(u):
                if not placed[v] and v not in seen:
                    seen.add(v)
                    found.append(v)
        return found

    def _next_part(self, parts: _Parts) -> Verdict | None:
        if parts.next == len(parts.parts):
            return Verdict.FITS
        part = parts.parts[parts.next]
        parts.next += 1
        code = sum(self.state.code_of(v) for v in part)
        self._stack.append(_Node(part, len(part), code, len(self.state.changes)))
        return None

    def _step(self, node: _Node, result: Verdict | None) -> Verdict | None:
        """One step of the node on top of the stack; `result` is what its last child gave."""
        if node.stage is _Stage.ENTER:
            return self._look_up(node)
        if node.stage is _Stage.DECIDE:
            if not self._decide(node):
                return Verdict.LIMIT
        elif node.stage is _Stage.CHILD:
            if result is not Verdict.NONE:
                return result
            self.state.undo(node.mark)
            node.stage = _Stage.TRY
        if node.next < len(node.choices):
            node.next += 1
            return self._try(node, node.choices[node.next - 1])
        if node.certain or not self._raise_section(node):
            return Verdict.NONE
        node.stage = _Stage.DECIDE
        return None

    def _look_up(self, node: _Node) -> Verdict | None:
        node.start_code = self.state.code
        if self.known is not None and node.left > 1:
            if self.known.get(node.code & self.places) == node.code:
                return Verdict.NONE
        if len(node.items) > 2 * node.left + 16:
            node.items = [v for v in node.items if not self.state.placed[v]]
        node.stage = _Stage.DECIDE
        return None

    def _decide(self, node: _Node) -> bool:
        """Choose level, section and buffers to try; False when the limits are reached."""
        state = self.state
        self.nodes += 1
        if self.nodes > self.limit or (self.nodes % 64 == 0 and time.monotonic() > self.deadline):
            return False
        open_items = [v for v in node.items if not state.placed[v]]
        level = min(state.low[v] for v in open_items)
        node.level, node.next, node.stage = level, 0, _Stage.TRY
        pinned = [v for v in open_items if state.pin[v] == level] if state.pins else []
        if pinned:
            node.certain, node.choices = True, pinned[:1]
            return True
        node.certain = False
        node.section = self._choose_section(open_items, level)
        node.choices = self._candidates(node.section, level)
        if self.dominance:
            for u in node.choices:
                if state.group[u] < 0 and self._nothing_below(u, level + state.size[u], ()):
                    node.certain, node.choices = True, [u]
                    break
        return True

    def _choose_section(self, items: list[int], level: int) -> int:
        state = self.state
        placed, low = state.placed, state.low
        seen: dict[int, tuple[float, float]] = {}
        for u in items:
            if low[u] != level:
                continue
            if len(seen) >= MOST_SECTIONS:
                break
            for c in state.sections_of[u]:
                if c not in seen:
                    at_level = sum(not placed[v] and low[v] == level for v in state.sections[c])
                    seen[c] = self._section_key(c, level, at_level)
        return min(seen, key=seen.__getitem__)

    def _section_key(self, c: int, level: int, at_level: int) -> tuple[float, float]:
        state = self.state
        slack = float(state.capacity - level - state.rest[c])
        weight = 1.0 + state.weight[c]
        match self.section_rule:
            case 0:
                return float(at_level), slack
            case 1:
                return slack, float(at_level)
            case 2:
                return (slack + state.capacity / 64.0) * at_level / weight, 0.0
            case _:
                return slack * (at_level + 0.5) / weight, 0.0

    def _candidates(self, c: int, level: int) -> list[int]:
        state = self.state
        keys: dict[int, float] = {}
        twins: set[int] = set()
        for v in state.sections[c]:
            if not state.placed[v] and state.low[v] == level and self.twin[v] not in twins:
                twins.add(self.twin[v])
                keys[v] = self._order_key(v)
        return sorted(keys, key=lambda v: -keys[v])

    def _order_key(self, v: int) -> float:
        state = self.state
        sections, size = state.sections_of[v], float(state.size[v])
        wide = float(len(sections))
        match self.order_rule:
            case 0:
                key = wide * 4294967296.0 + size
            case 1:
                key = max(state.rest[c] for c in sections) * 4096.0 + wide
            case 2:
                key = wide * size
            case _:
                key = size * 4096.0 + wide
        return key * (1024.0 + self._next_random() % 307) if self.noise else key

    def _next_random(self) -> int:
        x = self._random
        x ^= x << 13 & _MASK
        x ^= x >> 7
        x ^= x << 17 & _MASK
        self._random = x
        return x % 1024

    def _nothing_below(self, u: int, top: int, without: tuple[int, ...] | set[int]) -> bool:
        """Whether no unplaced neighbour of u can begin below `top`."""
        placed, low = self.state.placed, self.state.low
        return all(placed[v] or low[v] >= top or v in without for v in self.state.near[u])

    def _try(self, node: _Node, u: int) -> Verdict | None:
        """Place u at the level, then enter what is left."""
        state = self.state
        node.mark = len(state.changes)
        node.stage = _Stage.CHILD
        if not state.place(u, node.level):
            state.undo(node.mark)
            node.stage = _Stage.TRY
        elif not self._stays_whole(u):
            self._enter_parts(node.items)
        elif node.left == 1:
            return Verdict.FITS
        else:
            code = node.code + state.code - node.start_code
            self._stack.append(_Node(node.items, node.left - 1, code, len(state.changes)))
        return None

    def _stays_whole(self, u: int) -> bool:
        """Whether the unplaced neighbours of u, just placed, still hang together without it."""
        if not self.split:
            return True
        state = self.state
        if state.group[u] >= 0:
            return False
        wanted = {v for v in state.near[u] if not state.placed[v]}
        if len(wanted) < 2:
            return True
        start = min(wanted)
        found, seen = [start], {start}
        wanted.discard(start)
        for x in found:
            for v in self._joined(x):
                if not state.placed[v] and v not in seen:
                    seen.add(v)
                    wanted.discard(v)
                    found.append(v)
            if not wanted:
                return True
        return False

    def _raise_section(self, node: _Node) -> bool:
        """Nobody in the section begins at the level: raise it. False when that cannot be."""
        state = self.state
        c, level = node.section, node.level
        own = set(state.sections[c])
        after = self._next_level(c, level, own)
        if after is None or after + state.rest[c] > state.capacity:
            return False
        if self.dominance:
            for u in node.choices:
                top = level + state.size[u]
                if state.group[u] < 0 and after >= top and self._nothing_below(u, top, own):
                    return False  # u could still drop to the level
        for u in state.sections[c]:
            if not state.placed[u] and not state.raise_to(u, after):
                return state.clear_queue()
        return state.propagate()

    def _next_level(self, c: int, level: int, own: set[int]) -> int | None:
        """Where the lowest buffer of section c begins at the earliest if it is not at the level."""
        state = self.state
        found: list[int] = []
        for u in state.sections[c]:
            if state.placed[u]:
                continue
            if state.low[u] > level:
                found.append(state.low[u])
            elif state.group[u] < 0:
                found += [
                    state.low[v] + state.size[v]
                    for v in state.near[u]
                    if not state.placed[v] and v not in own
                ]
            else:
                found += self._next_of_group(u, level, own)
        return min(found, default=None)

    def _next_of_group(self, u: int, level: int, own: set[int]) -> list[int]:
        """The same for a member of a group: any member may be the one that lies on something."""
        state = self.state
        group = state.group[u]
        return [
            max(level + 1, state.low[v] + state.size[v] + state.relative[u] - state.relative[k])
            for k in state.members[group]
            for v in state.near[k]
            if not state.placed[v] and not (k == u and v in own) and state.group[v] != group
        ]


def search(model: Model, capacity: int, limits: Limits) -> Outcome:
    """Whether there is a plan within `capacity` units; offsets in units if so."""
    return TreeSearch(model, capacity, limits).run()
