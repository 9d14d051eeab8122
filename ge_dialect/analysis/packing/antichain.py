"""The heaviest antichain of a partial order: the most bytes that some legal interleaving holds at one time.

By the weighted form of Dilworth's theorem it weighs as much as the least number of chains that pass through every
element as often as it weighs, and that is the total weight less a maximum flow from elements to later elements: each
unit of flow lets one chain go on. The flow is found with a set of bits a row, so n elements take n^2 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Antichain:
    """Elements of which none is before another, ascending, and what they weigh together."""

    members: tuple[int, ...]
    weight: int


class _Flow:
    """`supply[u]` units leave u for elements after it, `demand[v]` units reach v from elements before it."""

    def __init__(self, after: Sequence[int], weight: Sequence[int]) -> None:
        self.after = after
        self.supply = list(weight)
        self.demand = list(weight)
        self.into: list[dict[int, int]] = [{} for _ in weight]
        self.open = (1 << len(weight)) - 1  # receivers from which the sink may still be reached
        self.wanting = sum(1 << v for v, units in enumerate(weight) if units)
        self.dead_senders: set[int] = set()

    def _send(self, u: int, v: int, units: int) -> None:
        self.into[v][u] = self.into[v].get(u, 0) + units

    def greedy(self) -> None:
        """Fill every element from those before it as far as that goes without rerouting."""
        for u, after in enumerate(self.after):
            while self.supply[u] and (possible := after & self.wanting):
                v = (possible & -possible).bit_length() - 1
                units = min(self.supply[u], self.demand[v])
                self._send(u, v, units)
                self._meet(u, v, units)

    def _meet(self, u: int, v: int, units: int) -> None:
        self.supply[u] -= units
        self.demand[v] -= units
        if not self.demand[v]:
            self.wanting ^= 1 << v

    def augment(self, source: int) -> bool:
        """Send more out of `source` along a shortest path; False when nothing more can leave it.

        What a search without success has seen can never lead to the sink: it is taken out for good.
        """
        came: dict[int, int] = {}  # receiver -> sender
        back: dict[int, int] = {source: -1}  # sender -> receiver it is reached from
        queue = [source]
        unseen = self.open
        for u in queue:
            fresh = self.after[u] & unseen
            if goal := fresh & self.wanting:
                v = (goal & -goal).bit_length() - 1
                came[v] = u
                self._reroute(source, v, came, back)
                return True
            unseen &= ~fresh
            while fresh:
                low = fresh & -fresh
                v = low.bit_length() - 1
                fresh ^= low
                came[v] = u
                for sender in self.into[v]:
                    if sender not in back:
                        back[sender] = v
                        queue.append(sender)
        self.open = unseen
        self.dead_senders.update(queue)
        return False

    def _reroute(self, source: int, goal: int, came: dict[int, int], back: dict[int, int]) -> None:
        path: list[tuple[int, int]] = []  # sender, receiver
        v = goal
        while True:
            u = came[v]
            path.append((u, v))
            if u == source:
                break
            v = back[u]
        units = min(self.supply[source], self.demand[goal])
        for u, _ in path[:-1]:
            units = min(units, self.into[back[u]][u])
        for u, v in path:
            self._send(u, v, units)
            if u != source:
                flow = self.into[back[u]]
                flow[u] -= units
                if not flow[u]:
                    del flow[u]
        self._meet(source, goal, units)


def heaviest_antichain(after: Sequence[int], weight: Sequence[int]) -> Antichain:
    """`after[u]`: the set of bits of the elements that come after u; it must be transitive.

    Exact. Time is about n^2 bit operations a search, memory n^2 bits.
    """
    flow = _Flow(after, weight)
    flow.greedy()
    for source in range(len(weight)):
        while flow.supply[source] and source not in flow.dead_senders:
            if not flow.augment(source):
                break
    members = tuple(
        v for v in range(len(weight)) if weight[v] and v in flow.dead_senders and flow.open >> v & 1
    )
    return Antichain(members, sum(weight[v] for v in members))
