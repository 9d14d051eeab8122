"""Minimum path cover of a graph without cycles, by maximum matching (Hopcroft and Karp)."""

from __future__ import annotations

from collections.abc import Sequence

FREE = -1


def path_cover(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Fewest chains, each along edges, so that every node is on exactly one; in order of their first nodes.

    Sources are tried in ascending order, successors in the order given (spec/streams.md section 14.3, step 3). Only
    edges that are given count: for chains that may jump, pass the transitive closure. O(E sqrt V).
    """
    following = maximum_matching(successors)
    is_followed = [False] * len(successors)
    for target in following:
        if target != FREE:
            is_followed[target] = True
    chains: list[list[int]] = []
    for start in range(len(successors)):
        if is_followed[start]:
            continue
        chain = [start]
        while (start := following[start]) != FREE:
            chain.append(start)
        chains.append(chain)
    return chains


def maximum_matching(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each node the successor that it is matched with, or FREE; as many as possible, each successor once."""
    count = len(successors)
    following, leading = [FREE] * count, [FREE] * count
    while True:
        levels = _levels(successors, following, leading)
        if levels is None:
            return following
        at = [0] * count
        for source in range(count):
            if following[source] == FREE:
                _augment(source, successors, levels, at, following, leading)


def _levels(
    successors: Sequence[Sequence[int]], following: list[int], leading: list[int]
) -> list[int] | None:
    """How many sources an alternating path from a free source passes before each; None when none can be improved."""
    levels = [FREE] * len(successors)
    frontier = [source for source, target in enumerate(following) if target == FREE]
    for source in frontier:
        levels[source] = 0
    found = False
    while frontier and not found:
        following_level: list[int] = []
        for source in frontier:
            for target in successors[source]:
                other = leading[target]
                if other == FREE:
                    found = True
                elif levels[other] == FREE:
                    levels[other] = levels[source] + 1
                    following_level.append(other)
        frontier = following_level
    return levels if found else None


def _augment(
    source: int,
    successors: Sequence[Sequence[int]],
    levels: list[int],
    at: list[int],
    following: list[int],
    leading: list[int],
) -> None:
    """Search deep for a path to a free target, along levels, and turn it over; `at`: how far each source has looked."""
    stack = [source]
    while stack:
        here = stack[-1]
        if at[here] >= len(successors[here]):
            stack.pop()
            continue
        target = successors[here][at[here]]
        at[here] += 1
        other = leading[target]
        if other == FREE:
            # Every source on the stack takes the target that it looked at last.
            for each in stack:
                taken = successors[each][at[each] - 1]
                following[each] = taken
                leading[taken] = each
            return
        if levels[other] == levels[here] + 1:
            stack.append(other)
