"""Which joined nodes would depend on themselves.

A node that reads one member of a region and feeds another, without being a member, makes a cycle out of the region
and itself. So can two regions that feed each other through different members.
"""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.transforms.host.regions import Component, Edge


def on_cycles(
    count: int, edges: Sequence[Edge], components: Sequence[Component]
) -> list[Component]:
    """The components that are to stay apart so that no cycle arises: those on one, or between two.

    `count` nodes and `edges` are the graph, without cycles, before joining. Linear in nodes, edges and regions' nodes.
    """
    regions = [(part, region) for part in components for region in part.regions]
    if not regions:
        return []
    vertex = list(range(count))
    copies: dict[int, list[int]] = {}
    maker: dict[tuple[int, int], int] = {}
    for index, (part, region) in enumerate(regions):
        for node in part.nodes:
            vertex[node] = -1
        for node in region.nodes:
            copies.setdefault(node, []).append(count + index)
        maker.update((output, count + index) for output in region.outputs)
    total = count + len(regions)
    after: list[list[int]] = [[] for _ in range(total)]
    before: list[list[int]] = [[] for _ in range(total)]
    own = {node: part.nodes[0] for part in components if part.regions for node in part.nodes}
    for source, output, target in edges:
        if source in own and own[source] == own.get(target):
            continue
        start = maker[source, output] if source in own else vertex[source]
        for end in copies.get(target, [vertex[target]]):
            after[start].append(end)
            before[end].append(start)
    left = _peeled(before, after, set(range(total)))
    left = _peeled(after, before, left)
    bad = {id(part) for index, (part, _) in enumerate(regions) if count + index in left}
    return [part for part in components if id(part) in bad]


def _peeled(ins: list[list[int]], outs: list[list[int]], left: set[int]) -> set[int]:
    """What remains of the vertices `left` after all that nothing remaining leads to have been taken away."""
    waiting = {v: sum(u in left for u in ins[v]) for v in left}
    ready = [v for v, number in waiting.items() if number == 0]
    gone: set[int] = set()
    while ready:
        v = ready.pop()
        gone.add(v)
        for w in outs[v]:
            if w in waiting:
                waiting[w] -= 1
                if waiting[w] == 0:
                    ready.append(w)
    return left - gone
