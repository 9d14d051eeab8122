"""A better order for a stretch of an order: search over the sets of nodes that can have run, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.analysis.ordering.problem import OrderProblem


@dataclass(frozen=True, slots=True)
class Outcome:
    """`order` of the stretch that stays within the target, None without one; `complete`: everything was tried, so
    that None is a proof; `steps`: nodes that were tried."""

    order: list[int] | None
    complete: bool
    steps: int


class Window:
    """The nodes at the places [low, high) of an order, as bits; what lies before and behind stays."""

    def __init__(
        self, problem: OrderProblem, order: Sequence[int], place: Sequence[int], low: int, high: int
    ) -> None:
        self.nodes = list(order[low:high])
        self.needs = [
            sum(1 << (place[each] - low) for each in problem.before[node] if place[each] >= low)
            for node in self.nodes
        ]
        self.frees: list[list[int]] = [
            [place[each] - low for each in problem.after[node] if place[each] < high]
            for node in self.nodes
        ]
        masks: dict[int, tuple[int, int, bool, bool]] = {}
        for node in self.nodes:
            for index in problem.uses[node]:
                if index not in masks:
                    masks[index] = self._mask(problem, index, place, low, high)
        self.over = [
            (found.size, [masks[index][1] for index in found.over if not masks[index][3]])
            if (found := problem.overwrites.get(node)) is not None
            else (0, list[int]())
            for node in self.nodes
        ]
        self.units: list[list[tuple[int, int, bool, bool]]] = [
            [
                masks[index]
                for index in problem.uses[node]
                if not (masks[index][2] and masks[index][3])
            ]
            for node in self.nodes
        ]

    @staticmethod
    def _mask(
        problem: OrderProblem, index: int, place: Sequence[int], low: int, high: int
    ) -> tuple[int, int, bool, bool]:
        unit = problem.units[index]
        mask, early, late = 0, unit.early, unit.late
        for user in unit.users:
            at = place[user]
            if at < low:
                early = True
            elif at >= high:
                late = True
            else:
                mask |= 1 << (at - low)
        return unit.size, mask, early, late

    def search(self, live: int, target: int, width: int, most_steps: int) -> Outcome:
        """An order of the stretch with at most `target` bytes in use at each place, `live` being in use before it.

        Keeps the `width` sets with the fewest bytes in use of each number of nodes. A node that does not raise the
        bytes in use comes at once, which never hurts.
        """
        ready = sum(1 << bit for bit, needs in enumerate(self.needs) if not needs)
        levels: list[list[tuple[int, int]]] = []  # (level above, node) of each state kept
        states = [(live, 0, ready)]
        complete, steps = True, 0
        for _ in self.nodes:
            found: dict[int, tuple[int, int, int, int]] = {}
            for parent, state in enumerate(states):
                for bit, after in self._moves(*state, target):
                    mask = state[1] | 1 << bit
                    if mask not in found:
                        found[mask] = (after, parent, bit, state[2])
                steps += state[2].bit_count()
            if not found or steps > most_steps:
                return Outcome(None, complete and not found, steps)
            kept = sorted(found.items(), key=lambda item: item[1][0])
            if len(kept) > width:
                complete = False
                kept = kept[:width]
            levels.append([(parent, bit) for _, (_, parent, bit, _) in kept])
            states = [
                (after, mask, self._ready(mask, before, bit))
                for mask, (after, _, bit, before) in kept
            ]
        return Outcome(self._path(levels), True, steps)

    def _ready(self, mask: int, before: int, bit: int) -> int:
        ready = before & ~(1 << bit)
        for other in self.frees[bit]:
            if not self.needs[other] & ~mask:
                ready |= 1 << other
        return ready

    def _moves(self, live: int, mask: int, ready: int, target: int) -> list[tuple[int, int]]:
        """(node, bytes in use behind it) of the nodes that can come next; only one when it cannot hurt."""
        moves: list[tuple[int, int]] = []
        while ready:
            low = ready & -ready
            ready ^= low
            bit = low.bit_length() - 1
            taken = given = 0
            now = mask | low
            for size, users, early, late in self.units[bit]:
                if not early and not mask & users:
                    taken += size
                if not late and now & users == users:
                    given += size
            saved, over = self.over[bit]
            if not any(now & users == users for users in over):
                saved = 0
            if live + taken - saved <= target:
                if taken <= given:
                    return [(bit, live + taken - given)]
                moves.append((bit, live + taken - given))
        return moves

    def _path(self, levels: list[list[tuple[int, int]]]) -> list[int]:
        at = 0
        path: list[int] = []
        for level in reversed(levels):
            at, bit = level[at]
            path.append(self.nodes[bit])
        return path[::-1]
