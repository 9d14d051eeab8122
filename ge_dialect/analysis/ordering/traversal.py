"""Orders that look at edges only: breadth first, depth first, and depth first from the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ge_dialect.analysis.ordering.problem import OrderProblem

Lists = Sequence[Sequence[int]]


def breadth_first(before: Lists, after: Lists) -> list[int]:
    """Nodes in the order in which they got ready: first the sources as listed, then what each placed node sets free,
    in the order of `after`. Nodes of a cycle are left out."""
    waiting = [len(found) for found in before]
    order: list[int] = []
    ready = deque(node for node, count in enumerate(waiting) if not count)
    while ready:
        node = ready.popleft()
        order.append(node)
        ready.extend(_set_free(node, waiting, after))
    return order


def depth_first(before: Lists, after: Lists) -> list[int]:
    """The node that got ready last comes next; of those that got ready together, the first in `after`. Nodes of a cycle
    are left out."""
    waiting = [len(found) for found in before]
    order: list[int] = []
    ready = [node for node, count in enumerate(waiting) if not count][::-1]
    while ready:
        node = ready.pop()
        order.append(node)
        ready.extend(reversed(_set_free(node, waiting, after)))
    return order


def _set_free(node: int, waiting: list[int], after: Lists) -> list[int]:
    free: list[int] = []
    for reader in after[node]:
        waiting[reader] -= 1
        if not waiting[reader]:
            free.append(reader)
    return free


def reverse_depth_first(before: Lists, after: Lists) -> list[int]:
    """From each node that nothing follows, as listed: all that it needs, then itself, inputs in the order of `before`.
    So a node stands as late as the first that needs it allows. There should be no cycle."""
    order: list[int] = []
    seen = bytearray(len(before))
    for sink, readers in enumerate(after):
        if readers or seen[sink]:
            continue
        seen[sink] = 1
        path = [(sink, iter(before[sink]))]
        while path:
            node, inputs = path[-1]
            source = next((each for each in inputs if not seen[each]), None)
            if source is None:
                order.append(node)
                path.pop()
            else:
                seen[source] = 1
                path.append((source, iter(before[source])))
    return order


def heavy_first(problem: OrderProblem) -> list[list[int]]:
    """`before` of a problem with the inputs of each node sorted for `reverse_depth_first`: first the one whose making
    needs the most beyond what it leaves behind, as Sethi and Ullman number the registers of a tree. Where branches meet
    again their need is counted twice, so this is a guess in general and exact on trees."""
    need = [0] * problem.count
    left = [0] * problem.count
    seen = bytearray(len(problem.units))
    sorted_before: list[list[int]] = []
    for node in range(problem.count):
        inputs = sorted(problem.before[node], key=lambda each: (left[each] - need[each], each))
        sorted_before.append(inputs)
        held = most = 0
        for each in inputs:
            most = max(most, held + need[each])
            held += left[each]
        own = 0
        for index in problem.uses[node]:
            if not seen[index]:
                seen[index] = 1
                own += problem.units[index].size
        need[node] = max(most, held + own)
        left[node] = own
    return sorted_before
