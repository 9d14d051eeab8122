"""What the automatic modes decide on: nodes with times, edges, and the chains that they are cut into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ge_dialect.analysis.streams.path_cover import path_cover

UNKNOWN_TIME = -1.0
NEGLIGIBLE_TIME = 1e-6


@dataclass(frozen=True, slots=True)
class DagNode:
    """A node: `serial` is the label that keeps it on a stream of its own ("" for none), `time` in microseconds
    (-1: unknown), `cores` how many cube and vector cores it takes."""

    serial: str = ""
    time: float = UNKNOWN_TIME
    cores: int = 1

    @property
    def known_time(self) -> float:
        """The time, 0 when it is not known."""
        return max(self.time, 0.0)


@dataclass(frozen=True, slots=True)
class Dag:
    """Nodes in topological order and, of each, the nodes that wait for it, each once."""

    nodes: Sequence[DagNode]
    successors: Sequence[Sequence[int]]


@dataclass(eq=False, slots=True)
class Unit:
    """A chain of nodes that goes on one stream, with what the strategies compare (numbers of nodes are the Dag's).

    `loads` and `times` are nodes and microseconds a level; `cross_edges` counts edges to other units.
    """

    number: int
    nodes: list[int]
    first_level: int
    loads: dict[int, int] = field(default_factory=dict[int, int])
    times: dict[int, float] = field(default_factory=dict[int, float])
    time: float = 0.0
    core_time: float = 0.0
    peak_cores: int = 0
    cross_edges: int = 0

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def peak(self) -> int:
        """The most nodes on one level."""
        return max(self.loads.values())


@dataclass(slots=True)
class Residual:
    """The part of a Dag that streams are made for: nodes that are not serial and take time.

    `nodes` are the Dag's numbers; `successors` and `levels` count in places of `nodes`. An edge stands for every way
    through nodes that are left out.
    """

    nodes: list[int]
    successors: list[list[int]]
    levels: list[int]

    @classmethod
    def of(cls, dag: Dag) -> Residual:
        """Leave out serial nodes and those that take no time, and bridge over them."""
        kept = [
            index
            for index, node in enumerate(dag.nodes)
            if not node.serial and abs(node.time) > NEGLIGIBLE_TIME
        ]
        place = {index: number for number, index in enumerate(kept)}
        reached: dict[int, list[int]] = {}
        successors: list[list[int]] = [[] for _ in kept]
        for index in reversed(range(len(dag.nodes))):
            found: dict[int, None] = {}
            for target in dag.successors[index]:
                if target in place:
                    found[place[target]] = None
                else:
                    found.update(dict.fromkeys(reached[target]))
            if index in place:
                successors[place[index]] = list(found)
            else:
                reached[index] = list(found)
        return cls(kept, successors, _levels(successors))

    def units(self, dag: Dag) -> list[Unit]:
        """The chains of a minimum path cover."""
        units: list[Unit] = []
        unit_of = [0] * len(self.nodes)
        for number, chain in enumerate(path_cover(self.successors)):
            unit = Unit(
                number, [self.nodes[place] for place in chain], min(self.levels[p] for p in chain)
            )
            cores: dict[int, int] = {}
            for place in chain:
                unit_of[place] = number
                node, level = dag.nodes[self.nodes[place]], self.levels[place]
                unit.loads[level] = unit.loads.get(level, 0) + 1
                unit.times[level] = unit.times.get(level, 0.0) + node.known_time
                unit.time += node.known_time
                unit.core_time += node.known_time * node.cores
                cores[level] = cores.get(level, 0) + node.cores
            unit.peak_cores = max(cores.values())
            units.append(unit)
        for place, targets in enumerate(self.successors):
            for target in targets:
                if unit_of[place] != unit_of[target]:
                    units[unit_of[place]].cross_edges += 1
                    units[unit_of[target]].cross_edges += 1
        return units


def _levels(successors: list[list[int]]) -> list[int]:
    """The longest distance of each node from a node that waits for nobody."""
    levels = [0] * len(successors)
    for place, targets in enumerate(successors):
        for target in targets:
            levels[target] = max(levels[target], levels[place] + 1)
    return levels
