"""Which host nodes become one (spec/host_execution.md section 9), on plain numbers.

Nodes are numbered in a topological order, edges say which output of which node another one reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_GROWTH = 16
"""A component whose regions, with their clones, have more than so many times its nodes is left alone. (The sources set
no limit; the number of clones can grow with the square of the nodes.)"""


class Edge(NamedTuple):
    """Node `target` reads output `output` of node `source`."""

    source: int
    output: int
    target: int


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes that become one, in order, and the (node, output) pairs that the new node gives to others."""

    nodes: tuple[int, ...]
    outputs: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Component:
    """Candidates that hang together, in order, and what is made of them; `refusal` says why nothing is."""

    nodes: list[int] = field(default_factory=list[int])
    regions: list[Region] = field(default_factory=list[Region])
    refusal: str | None = None


def fused_regions(
    inside: Sequence[bool], edges: Sequence[Edge], max_growth: int = MAX_GROWTH
) -> list[Component]:
    """The components of two or more candidates, in the order of their first nodes.

    `inside[n]`: node n is a candidate.
    """
    children: dict[int, list[int]] = {}
    parents: dict[int, list[int]] = {}
    exposed: dict[int, set[int]] = {}
    for source, output, target in edges:
        if not inside[source]:
            continue
        if inside[target]:
            children.setdefault(source, []).append(target)
            parents.setdefault(target, []).append(source)
        else:
            exposed.setdefault(source, set()).add(output)
    found = [part for part in _components(inside, children) if len(part.nodes) > 1]
    for part in found:
        _divide(part, children, parents, exposed, max_growth)
    return found


def _components(inside: Sequence[bool], children: dict[int, list[int]]) -> Iterator[Component]:
    """The weakly connected sets of candidates."""
    leader = list(range(len(inside)))

    def root(node: int) -> int:
        while leader[node] != node:
            leader[node] = node = leader[leader[node]]
        return node

    for source, targets in children.items():
        for target in targets:
            one, other = root(source), root(target)
            leader[max(one, other)] = min(one, other)
    parts: dict[int, Component] = {}
    for node, candidate in enumerate(inside):
        if candidate:
            parts.setdefault(root(node), Component()).nodes.append(node)
    yield from parts.values()


def _divide(
    part: Component,
    children: dict[int, list[int]],
    parents: dict[int, list[int]],
    exposed: dict[int, set[int]],
    max_growth: int,
) -> None:
    """Find the regions of a component, or why it has none."""
    sinks = [node for node in part.nodes if node not in children]
    members: list[tuple[int, ...]] = []
    if not _can_split(part.nodes, sinks, children):
        if len(sinks) != 1:
            part.refusal = "several-sinks"
            return
        members.append(tuple(part.nodes))
    else:
        room = max_growth * len(part.nodes)
        for sink in sinks:
            members.append(_ancestors(sink, parents))
            room -= len(members[-1])
            if room < 0:
                part.refusal = "growth"
                return
        members = [nodes for nodes in members if len(nodes) > 1]
        if len(members) >= len(part.nodes):
            part.refusal = "as-many-regions-as-nodes"
            return
    claimed: set[int] = set()
    regions: list[Region] = []
    for nodes in members:
        outputs = [
            (node, output)
            for node in nodes
            if node in exposed and node not in claimed
            for output in sorted(exposed[node])
        ]
        claimed.update(nodes)
        if not outputs:
            part.refusal = "no-outputs"
            return
        regions.append(Region(nodes, tuple(outputs)))
    part.regions = regions


def _can_split(nodes: Sequence[int], sinks: Sequence[int], children: dict[int, list[int]]) -> bool:
    """Whether some node has two children whose descendants, themselves included, have nothing in common.

    What two nodes have in common, they have down to a sink: it is enough to compare the sinks that they reach.
    """
    if len(sinks) < 2:
        return False
    reached: dict[int, int] = {sink: 1 << index for index, sink in enumerate(sinks)}
    unread = {node: 0 for node in nodes}
    for targets in children.values():
        for target in targets:
            if target in unread:
                unread[target] += 1
    for node in reversed(nodes):
        if node not in children:
            continue
        targets = children[node]
        if _have_disjoint({reached[target] for target in targets}):
            return True
        together = 0
        for target in targets:
            together |= reached[target]
            unread[target] -= 1
            if unread[target] == 0:
                del reached[target]  # sets of sinks are large: keep those that are still read
        reached[node] = together
    return False


def _have_disjoint(sets: set[int]) -> bool:
    """Whether two of the sets, given as bits, have no member in common."""
    if len(sets) < 2:
        return False
    common = -1
    for each in sets:
        common &= each
    if common:
        return False
    ordered = sorted(sets)
    return any(not one & other for index, one in enumerate(ordered) for other in ordered[:index])


def _ancestors(sink: int, parents: dict[int, list[int]]) -> tuple[int, ...]:
    """A node and all nodes that it depends on, in order."""
    seen = {sink}
    pending = [sink]
    while pending:
        for parent in parents.get(pending.pop(), ()):
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)
    return tuple(sorted(seen))
