"""An order with a low peak: several orders, the best of them, then search where it is highest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ge_dialect.analysis.ordering.list_schedule import list_schedule
from ge_dialect.analysis.ordering.problem import Ints, OrderProblem
from ge_dialect.analysis.ordering.segments import segments
from ge_dialect.analysis.ordering.traversal import (
    breadth_first,
    depth_first,
    heavy_first,
    reverse_depth_first,
)
from ge_dialect.analysis.ordering.window import Window

LONGEST_WINDOW = 160
"""Nodes of a stretch that is searched at once."""

WIDTHS = (8, 64, 512)
"""Sets that the search keeps of each size, one try after the other."""


@dataclass(frozen=True, slots=True)
class Found:
    """An order, the bytes that it has in use at most, what found it, and a number of bytes that no order goes below."""

    order: list[int]
    peak: int
    method: str
    bound: int


@dataclass(slots=True)
class _Best:
    problem: OrderProblem
    order: list[int]
    peak: int
    method: str
    bound: int

    def offer(self, order: list[int], method: str) -> bool:
        peak = self.problem.peak(order)
        if peak >= self.peak:
            return False
        self.order, self.peak, self.method = order, peak, method
        return True

    @property
    def done(self) -> bool:
        return self.peak <= self.bound


def min_peak(problem: OrderProblem, *, steps: int = 500_000) -> Found:
    """An order whose peak is at most that of the order of the numbers, and as low as was found.

    `steps` limits the search behind the constructive orders (nodes that it tries, and a tenth of the nodes for each
    stretch), whose time is O((nodes + edges + uses) log nodes).
    Deterministic.
    """
    start = list(range(problem.count))
    best = _Best(problem, start, problem.peak(start), "stable", problem.node_bound())
    for order, method in _constructed(problem):
        if best.done:
            break
        best.offer(order, method)
    if not best.done:
        _search(best, steps)
    return Found(best.order, best.peak, best.method, best.bound)


def _constructed(problem: OrderProblem) -> Iterator[tuple[list[int], str]]:
    """Orders in turn, each as it is made; then what the list scheduler makes of them, from the front and the back."""
    before, after = problem.before, problem.after
    last = problem.count - 1
    backwards = problem.reversed()
    bases: list[tuple[list[int], str]] = [(list(range(problem.count)), "stable")]
    for order, method in (
        (reverse_depth_first(heavy_first(problem), after), "heavy first"),
        (reverse_depth_first(before, after), "rdfs"),
        (depth_first(before, after), "dfs"),
        (breadth_first(before, after), "bfs"),
    ):
        bases.append((order, method))
        yield order, method
    rank = _ranks(bases[0][0])
    yield list_schedule(problem, rank, by_size=True), "greedy"
    turned = list_schedule(backwards, rank, by_size=True)
    yield [last - node for node in reversed(turned)], "greedy from the end"
    for order, method in bases:
        forward = list_schedule(problem, _ranks(order))
        yield forward, f"{method}, frees early"
        turned = list_schedule(backwards, _ranks([last - node for node in reversed(forward)]))
        backward = [last - node for node in reversed(turned)]
        yield backward, f"{method}, frees early and takes late"
        yield list_schedule(problem, _ranks(backward)), f"{method}, three sweeps"


def _ranks(order: Sequence[int]) -> list[int]:
    ranks = [0] * len(order)
    for place, node in enumerate(order):
        ranks[node] = place
    return ranks


def _search(best: _Best, steps: int) -> None:
    """Reorder the stretch around the peak until the peak does not get lower.

    Parts that hold the same nodes in every order are taken whole when they are short enough; then a failure of a
    search that left nothing out is a proof.
    """
    problem, order = best.problem, best.order
    parts = segments(problem, order)
    owner = [0] * problem.count
    for index, (low, high) in enumerate(parts):
        owner[low:high] = [index] * (high - low)
    while not best.done and steps > 0:
        profile = problem.profile(order)
        at = int(profile.argmax())
        low, high = parts[owner[at]]
        for part in _windows(low, high, at):
            better, used, proven = _lower(problem, order, profile, part, best.bound, steps)
            steps -= used + problem.count // 10
            if proven and part == (low, high):
                best.bound = max(best.bound, proven)
            if better is not None:
                break
        else:
            return
        order = better
        best.offer(order, _searched(best.method))


def _windows(low: int, high: int, at: int) -> list[tuple[int, int]]:
    """Stretches of a part to search for the peak at `at`: the part, or some of it around, behind and before it."""
    if high - low <= LONGEST_WINDOW:
        return [(low, high)]
    found: dict[tuple[int, int], None] = {}
    for share in (2, 8, 1):
        start = max(low, min(at - LONGEST_WINDOW + LONGEST_WINDOW // share, high - LONGEST_WINDOW))
        found[start, start + LONGEST_WINDOW] = None
    return list(found)


def _lower(
    problem: OrderProblem,
    order: list[int],
    profile: Ints,
    part: tuple[int, int],
    bound: int,
    steps: int,
) -> tuple[list[int] | None, int, int]:
    """An order whose peak within `part` is lower, None without one; steps taken; bytes below which the part was proven
    not to go (0: nothing proven). It need not go below `bound`."""
    low, high = part
    window = Window(problem, order, _ranks(order), low, high)
    live = problem.live_before(order, low)
    top = int(profile[low:high].max())
    elsewhere = max(int(profile[:low].max(initial=0)), int(profile[high:].max(initial=0)))
    # As high a peak elsewhere will be next; what is lower there need not be passed.
    floor = bound if elsewhere == top else max(bound, elsewhere)
    unit = problem.granule
    best: list[int] | None = None
    used = proven = 0
    for width in WIDTHS:
        failed, target = floor - unit, floor
        while failed < target < top and used < steps:
            outcome = window.search(live, target, width, steps - used)
            used += outcome.steps
            if outcome.order is not None:
                best = [*order[:low], *outcome.order, *order[high:]]
                top = int(problem.profile(best)[low:high].max())
            else:
                failed = target
                if outcome.complete:
                    proven = floor = target + unit
            target = failed + max((top - failed) // (2 * unit), 1) * unit
        if best is not None or floor >= top:
            break
    return best, used, proven


def _searched(method: str) -> str:
    return method if method.endswith("searched") else f"{method}, searched"
