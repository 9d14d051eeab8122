"""A list scheduler that gives memory back as soon as it can and otherwise follows an order that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from ge_dialect.analysis.ordering.problem import OrderProblem

Key = tuple[int, int, int]


class _Bytes:
    """What each node would take and give back if it came next."""

    def __init__(self, problem: OrderProblem) -> None:
        self.sizes = [unit.size for unit in problem.units]
        self.users = [unit.users for unit in problem.units]
        self.late = [unit.late for unit in problem.units]
        self.left = [len(unit.users) for unit in problem.units]
        self.rest = [0] * len(
            problem.units
        )  # exclusive or of the users that are left: with one left, that one
        self.started = [unit.early for unit in problem.units]
        self.change = [0] * problem.count
        for index, unit in enumerate(problem.units):
            for user in unit.users:
                self.rest[index] ^= user
                if not unit.early:
                    self.change[user] += unit.size
            if len(unit.users) == 1 and not unit.late:
                self.change[unit.users[0]] -= unit.size

    def run(self, node: int, uses: Sequence[int]) -> list[int]:
        """Take note that `node` came; the nodes for which that changes something."""
        touched: list[int] = []
        for index in uses:
            size = self.sizes[index]
            if not self.started[index]:
                self.started[index] = True
                for user in self.users[index]:
                    self.change[user] -= size
                    touched.append(user)
            self.left[index] -= 1
            self.rest[index] ^= node
            if self.left[index] == 1 and not self.late[index]:
                user = self.rest[index]
                self.change[user] -= size
                touched.append(user)
        return touched


def list_schedule(
    problem: OrderProblem, rank: Sequence[int], *, by_size: bool = False
) -> list[int]:
    """Of the nodes that are ready, one that does not raise the bytes in use comes next, the most helpful first; if all
    raise them, the one of least `rank`, or with `by_size` the one that raises them least.

    Such a node is never better placed later: until then every other node would see at least as many bytes in use.
    Deterministic, O((nodes + edges + uses) log nodes).
    """
    waiting = [len(found) for found in problem.before]
    found = _Bytes(problem)
    change = found.change
    state = bytearray(problem.count)  # 1: ready, 2: placed
    ready: list[tuple[Key, int]] = []
    order: list[int] = []

    def key(node: int) -> Key:
        raised = change[node]
        if raised <= 0:
            return 0, raised, rank[node]
        return 1, raised if by_size else 0, rank[node]

    def offer(node: int) -> None:
        heappush(ready, (key(node), node))

    for node, count in enumerate(waiting):
        if not count:
            state[node] = 1
            offer(node)
    while ready:
        given, node = heappop(ready)
        if state[node] == 2 or given != key(node):
            continue  # another entry of the node is up to date
        state[node] = 2
        order.append(node)
        for other in found.run(node, problem.uses[node]):
            if state[other] == 1:
                offer(other)
        for reader in problem.after[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                state[reader] = 1
                offer(reader)
    return order
