"""The problem of ordering: nodes, what must stand before what, and memory in use from its first to its last user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unit:
    """`size` bytes that are in use from the first of the nodes `users` to the last of them in the order, both included.

    `users` are ascending and each once. `early`: in use from the beginning on. `late`: in use to the end.
    """

    size: int
    users: Sequence[int]
    early: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True)
class Overwrite:
    """When one of the units `over` ends with the node, the node writes over it and needs `size` bytes less."""

    size: int
    over: Sequence[int]


@dataclass
class OrderProblem:
    """Nodes 0 .. count - 1, numbered in an order that keeps all edges; `after[i]` are those that must follow i, each
    once; `uses[i]` the units that node i touches; `overwrites`: of the nodes that can write in place."""

    count: int
    after: list[list[int]]
    units: list[Unit]
    overwrites: Mapping[int, Overwrite] = field(default_factory=dict[int, Overwrite])
    before: list[list[int]] = field(init=False)
    uses: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.before = [[] for _ in range(self.count)]
        for node, readers in enumerate(self.after):
            for reader in readers:
                self.before[reader].append(node)
        self.uses = [[] for _ in range(self.count)]
        for index, unit in enumerate(self.units):
            for user in unit.users:
                self.uses[user].append(index)

    def profile(self, order: Sequence[int]) -> Ints:
        """Bytes in use at each place of an order. Linear."""
        change = np.zeros(self.count + 1, dtype=np.int64)
        first, last = self._lives(order)
        np.add.at(change, first, self._sizes)
        np.subtract.at(change, last + 1, self._sizes)
        found = np.cumsum(change)[: self.count]
        if self.overwrites:
            nodes, sizes, units = self._pairs
            at = self._places(order)[nodes]
            hit = (last[units] == at) & ~self._late[units]
            saved = np.zeros(self.count, dtype=np.int64)
            saved[at[hit]] = sizes[hit]
            found -= saved
        return found

    def peak(self, order: Sequence[int]) -> int:
        """The most bytes in use at one place of an order."""
        return int(self.profile(order).max(initial=0))

    def live_before(self, order: Sequence[int], at: int) -> int:
        """Bytes in use between the places `at` - 1 and `at` of an order."""
        first, last = self._lives(order)
        held = (self._early | (first < at)) & (self._late | (last >= at))
        return int(self._sizes[held].sum())

    @cached_property
    def granule(self) -> int:
        """What all sizes are multiples of, and so all peaks."""
        return gcd(*(unit.size for unit in self.units)) or 1

    @cached_property
    def _sizes(self) -> Ints:
        return np.array([unit.size for unit in self.units], dtype=np.int64)

    @cached_property
    def _users(self) -> tuple[Ints, Ints]:
        """The users of all units in a row, and where each unit's begin."""
        lengths = np.array([len(unit.users) for unit in self.units], dtype=np.int64)
        users = np.array([user for unit in self.units for user in unit.users], dtype=np.int64)
        return users, np.cumsum(lengths) - lengths

    def _lives(self, order: Sequence[int]) -> tuple[Ints, Ints]:
        """First and last place of each unit."""
        if not self.units:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        users, starts = self._users
        at = self._places(order)[users]
        first = np.where(self._early, 0, np.minimum.reduceat(at, starts))
        return first, np.where(self._late, self.count - 1, np.maximum.reduceat(at, starts))

    def _places(self, order: Sequence[int]) -> Ints:
        place = np.empty(self.count, dtype=np.int64)
        place[np.asarray(order, dtype=np.int64)] = np.arange(self.count)
        return place

    @cached_property
    def _early(self) -> NDArray[np.bool_]:
        return np.array([unit.early for unit in self.units], dtype=np.bool_)

    @cached_property
    def _late(self) -> NDArray[np.bool_]:
        return np.array([unit.late for unit in self.units], dtype=np.bool_)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints, Ints]:
        """Node, bytes and unit of all overwrites, a row a unit."""
        rows = [
            (node, each.size, unit) for node, each in self.overwrites.items() for unit in each.over
        ]
        nodes, sizes, units = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return nodes, sizes, units

    def node_bound(self) -> int:
        """What some node touches by itself, the most of all nodes: no order needs less."""
        always = {index for index, unit in enumerate(self.units) if unit.early and unit.late}
        most = 0
        for node, found in enumerate(self.uses):
            own = sum(self.units[index].size for index in found if index not in always)
            if node in self.overwrites:
                own -= self.overwrites[node].size
            most = max(most, own)
        return sum(self.units[index].size for index in always) + most

    def reversed(self) -> OrderProblem:
        """The same problem read from the end, without writing in place: node i is count - 1 - i."""
        last = self.count - 1
        after = [[last - node for node in reversed(found)] for found in reversed(self.before)]
        units = [
            Unit(unit.size, [last - user for user in reversed(unit.users)], unit.late, unit.early)
            for unit in self.units
        ]
        return OrderProblem(self.count, after, units)

    def keeps(self, order: Sequence[int]) -> bool:
        """Whether an order holds every node once, behind all that must stand before it."""
        place = {node: at for at, node in enumerate(order)}
        return len(order) == self.count == len(place) and all(
            place[node] < place[reader]
            for node, readers in enumerate(self.after)
            for reader in readers
        )
