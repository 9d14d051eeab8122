"""The least peak there is, by trying every set of nodes that can have run: what other orders are measured with."""

from __future__ import annotations

from ge_dialect.analysis.ordering.problem import OrderProblem


def exact_peak(problem: OrderProblem) -> int:
    """The least peak of all orders. As many steps as there are sets closed under predecessors, times nodes: for some
    twenty nodes."""
    needs = [sum(1 << each for each in found) for found in problem.before]
    masks = [
        (unit.size, sum(1 << user for user in unit.users), unit.early, unit.late)
        for unit in problem.units
    ]

    def step(done: int, node: int) -> tuple[int, int]:
        """Bytes more while a node runs behind the set `done`, and once it has run."""
        now = done | 1 << node
        used = [masks[index] for index in problem.uses[node]]
        taken = sum(size for size, users, early, _ in used if not early and not done & users)
        given = sum(size for size, users, _, late in used if not late and now & users == users)
        written = problem.overwrites.get(node)
        saved = 0
        if written is not None:
            over = [masks[index] for index in written.over]
            dies = any(not late and now & users == users for _, users, _, late in over)
            saved = written.size if dies else 0
        return taken - saved, taken - given

    start = sum(size for size, _, early, _ in masks if early)
    states = {0: (start, start)}  # nodes that have run: least peak, bytes in use
    for _ in range(problem.count):
        following: dict[int, tuple[int, int]] = {}
        for done, (peak, live) in states.items():
            for node, need in enumerate(needs):
                if done >> node & 1 or need & ~done:
                    continue
                during, behind = step(done, node)
                now, most = done | 1 << node, max(peak, live + during)
                if now not in following or most < following[now][0]:
                    following[now] = most, live + behind
        states = following
    return min(peak for peak, _ in states.values())
