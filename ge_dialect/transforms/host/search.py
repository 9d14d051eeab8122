"""The search for nodes that can run on the host (spec/host_execution.md section 6).

Nothing is changed here. From the anchors of each graph the search goes forward along data edges: a node joins when all
its tensors are small, all its inputs are made on the host and the host can compute it. The set that a graph gets is
the least one that these rules close, so the order in which the queue is worked off does not show.

Each node is looked at once for each input that becomes a host value, and each look goes on where the last one
stopped: the work is linear in nodes and edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.engine_types import SOURCE_CONTROL_FLOW
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_type,
    graphs,
    node_name,
    nodes,
    source_op,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GateOp, GraphOp, TokenOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.host.borders import CALL, Borders, formal, wired
from ge_dialect.transforms.host.conditions import Refusal, Rules, Trial
from ge_dialect.transforms.host.gates import is_dynamic, skip_reason
from ge_dialect.transforms.host.roles import (
    CONST_LIKE,
    DATA_LIKE,
    LOCAL_LIB,
    is_anchor,
    kernel_lib,
    producer,
    readers,
)

_GRAPHS_OF = MappingProxyType(
    {"If": 2, "StatelessIf": 2, "While": 2, "StatelessWhile": 2, "Case": 0, "StatelessCase": 0}
)
"""The control operators with the number of graphs that they must own (Case: any)."""

_MADE_BY_THE_LOOP = frozenset({"iteration", "condition"})
"""`ge.formal` of the inputs of a loop's body that the host itself counts and tests."""


class Role(Enum):
    """How a node came to be a host node."""

    ANCHOR = "anchor"
    MOVED = "moved"
    LOCAL = "local"
    ENTERED = "entered"
    """Input of an owned graph that a host node feeds."""


@dataclass
class HostNodes:
    """What a search found. `refused` holds the nodes that it reached and left where they are."""

    members: dict[Operation, Role] = field(default_factory=dict[Operation, Role])
    refused: dict[Operation, Refusal] = field(default_factory=dict[Operation, Refusal])
    model_inputs: list[Operation] = field(default_factory=list[Operation])
    skipped: list[tuple[GraphOp, str]] = field(default_factory=list[tuple[GraphOp, str]])


Queue: TypeAlias = deque[tuple[Operation, int]]
"""Nodes to look at, each with the input slot that has become a host value (-1: the node itself has)."""


@dataclass(slots=True)
class _Frame:
    """A graph whose nodes are being scanned for anchors."""

    graph: GraphOp
    ops: Iterator[Operation]
    queue: Queue = field(default_factory=Queue)


def search(module: ModuleOp, rules: Rules) -> HostNodes:
    """Search the root graph and the graphs that it calls and branches to.

    Raises GeError for an If or While that the search reaches and that lacks one of its graphs.
    """
    return _Search(module, rules).run()


class _Search:
    def __init__(self, module: ModuleOp, rules: Rules) -> None:
        self.root = next(iter(graphs(module)), None)
        self.rules = rules
        self.borders = Borders(module)
        self.found = HostNodes()
        self.trials: dict[Operation, Trial] = {}
        self.expanded: set[Operation] = set()
        self.opened: set[GraphOp] = set()
        self.branches: dict[Operation, list[GraphOp]] = {}

    def run(self) -> HostNodes:
        """Graph by graph: one that is called is done where the scan of its caller meets the call, before the caller's
        own search."""
        frames: list[_Frame] = []
        if self.root is not None:
            self._open(self.root, None, frames)
        while frames:
            frame = frames[-1]
            for op in frame.ops:
                if is_anchor(op):
                    self._add(op, Role.ANCHOR, frame.queue)
                if ge_type(op) == CALL:
                    called = next(iter(self.borders.owned(op)), None)
                    if called is not None and self._open(called, op, frames):
                        break
            else:
                self._drain(frame.queue)
                self._mark_inputs(frame.graph)
                frames.pop()
        self.found.refused = {
            op: trial.refusal for op, trial in self.trials.items() if trial.refusal is not None
        }
        return self.found

    def _open(self, graph: GraphOp, caller: Operation | None, frames: list[_Frame]) -> bool:
        """Begin with a graph unless a gate is shut or it has been searched (section 2.2)."""
        if graph in self.opened:
            return False
        self.opened.add(graph)
        if (reason := skip_reason(graph)) is not None:
            self.found.skipped.append((graph, reason))
            return False
        frame = _Frame(graph, _searched(graph))
        if caller is not None:
            self._enter_call(caller, graph, frame.queue)
        frames.append(frame)
        return True

    def _drain(self, queue: Queue) -> None:
        while queue:
            op, slot = queue.popleft()
            if is_control(op):
                self._enter_branches(op, slot, queue)
            elif op not in self.expanded and self._joins(op, queue):
                self.expanded.add(op)
                for result in data_results(op):
                    for reader, at in readers(result):
                        if reader not in self.found.members:
                            queue.append((reader, at))

    def _joins(self, op: Operation, queue: Queue) -> bool:
        if self.on_host(op):
            return True
        trial = self.trials.get(op)
        if trial is None:
            trial = self.trials[op] = Trial(op)
        if not trial.passes(self.rules, self.on_host):
            return False
        self.found.members[op] = Role.LOCAL if kernel_lib(op) == LOCAL_LIB else Role.MOVED
        return True

    def on_host(self, op: Operation) -> bool:
        """Whether the node's results are on the host as far as is known by now (section 5)."""
        return op in self.found.members or ge_type(op) in CONST_LIKE or is_anchor(op)

    def _add(self, op: Operation, role: Role, queue: Queue) -> None:
        if op not in self.found.members:
            self.found.members[op] = role
            queue.append((op, -1))

    # --- graphs that nodes own -----------------------------------------------------------------------------------

    def _enter_call(self, caller: Operation, graph: GraphOp, queue: Queue) -> None:
        """Seed a called graph with its inputs that the host makes (section 6.4)."""
        for slot, inputs in self.borders.inputs(graph).items():
            value = wired(caller, slot)
            if value is None:
                continue
            maker = self.borders.maker_across_calls(value) or producer(value)
            if self.on_host(maker):
                for data in inputs:
                    self._add(data, Role.ENTERED, queue)

    def _enter_branches(self, op: Operation, slot: int, queue: Queue) -> None:
        """Seed the dynamic graphs of a control node with its inputs that the host makes (section 6.5).

        The first visit looks at all inputs, a later one only at `slot`, which has become a host value since.
        """
        first = op not in self.branches
        if first:
            self.branches[op] = self._dynamic_branches(op)
        for graph in self.branches[op]:
            inputs = self.borders.inputs(graph)
            for at in inputs if first else (slot,):
                value = wired(op, at)
                if value is not None and self.on_host(producer(value)):
                    self._seed(inputs.get(at, ()), op, queue)
            if first and is_source_loop(op):
                counted = (x for x in nodes(graph) if formal(x) in _MADE_BY_THE_LOOP)
                for data in counted:
                    self._add(data, Role.ENTERED, queue)

    def _seed(self, inputs: Iterable[Operation], op: Operation, queue: Queue) -> None:
        """Of a loop of another framework only values that are the same in each round enter: GE's own rule for While,
        which judges by the initial value alone, is about While."""
        for data in inputs:
            if not is_source_loop(op) or formal(data) == "captured":
                self._add(data, Role.ENTERED, queue)

    def _dynamic_branches(self, op: Operation) -> list[GraphOp]:
        owned = self.borders.owned(op)
        needed = _GRAPHS_OF.get(ge_type(op), 0)
        if len(owned) < needed or None in owned[:needed]:
            missing = [x for x in subgraph_names(op) if x not in self.borders.table]
            what = (
                f"lacks graph @{missing[0]}" if missing else f"owns {len(owned)} of {needed} graphs"
            )
            raise GeError(f'node "{node_name(op)}" of type {ge_type(op)} {what}', location_text(op))
        found: list[GraphOp] = []
        for graph in owned:
            if graph is None:
                continue
            if is_dynamic(graph):
                found.append(graph)
            else:
                self.found.skipped.append((graph, "static-graph"))
        return found

    # --- model inputs --------------------------------------------------------------------------------------------

    def _mark_inputs(self, graph: GraphOp) -> None:
        """Find the inputs that nothing on the device reads (section 8)."""
        members = self.found.members
        for op in nodes(graph):
            if op not in members or ge_type(op) not in DATA_LIKE:
                continue
            read_by = [reader for result in data_results(op) for reader, _ in readers(result)]
            if read_by and all(reader in members for reader in read_by):
                self.found.model_inputs.append(op)


def is_source_loop(op: Operation) -> bool:
    """Whether the node is a loop of ONNX, which has no GE type."""
    source = source_op(op)
    return source is not None and source.domain == "ai.onnx" and source.op in SOURCE_CONTROL_FLOW


def is_control(op: Operation) -> bool:
    """Whether the search enters the node's graphs instead of judging the node."""
    return is_source_loop(op) or ge_type(op) in _GRAPHS_OF


def _searched(graph: GraphOp) -> Iterator[Operation]:
    """The nodes of a graph in block order."""
    return (op for op in nodes(graph) if not isinstance(op, TokenOp | GateOp))
