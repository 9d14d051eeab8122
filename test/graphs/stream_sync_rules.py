"""The dynamic allocation and the events of spec/streams.md sections 4, 6.1 to 6.4, 7.1, 7.2 and 10.2, rule by rule on the
data of `stream_rules`. Slow and simple; shares nothing with the passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stream_rules import ENGINES, NONE, RuleGraph, RuleNode, Sub, engine_subgraphs, transfer_labels

OWN_STREAM = ("AIcoreEngine", "VectorEngine", "DNN_HCCL", "DSAEngine")
AI_CPU = (
    "DNN_VM_AICPU",
    "DNN_VM_AICPU_FFTS_PLUS",
    "DNN_VM_AICPU_ASCEND",
    "DNN_VM_AICPU_ASCEND_FFTS_PLUS",
)
MAKERS = ("DropOutGenMask", "DropOutDoMaskV3", "GetNext", "DynamicGetNext", "DynamicGetNextV2")
FORCED_MAIN = frozenset(
    """Data RefData AippData AnnData NetOutput FileConstant Variable VariableV2 ConstPlaceHolder Const
    Constant""".split()
)


@dataclass
class Ids:
    """Events by node, in order."""

    send: dict[RuleNode, list[int]] = field(default_factory=dict[RuleNode, list[int]])
    recv: dict[RuleNode, list[int]] = field(default_factory=dict[RuleNode, list[int]])
    count: int = 0

    def add(self, sender: RuleNode, receiver: RuleNode) -> None:
        self.send.setdefault(sender, []).append(self.count)
        self.recv.setdefault(receiver, []).append(self.count)
        self.count += 1

    def drop(self, event: int) -> None:
        for table in (self.send, self.recv):
            for ids in table.values():
                if event in ids:
                    ids.remove(event)

    def optimise(self, nodes: Sequence[RuleNode]) -> None:
        """7.1, then 7.2; `nodes` in walk order."""
        for stream in sorted({node.stream for node in nodes}):
            seen: set[RuleNode] = set()
            for node in (each for each in nodes if each.stream == stream):
                for event in list(self.recv.get(node, ())):
                    sender = next(n for n, ids in self.send.items() if event in ids)
                    if sender in seen:
                        self.drop(event)
                    seen.add(sender)
        for stream in sorted({node.stream for node in nodes}):
            last: dict[RuleNode, int] = {}
            for node in (each for each in nodes if each.stream == stream):
                for event in list(self.send.get(node, ())):
                    receiver = next(n for n, ids in self.recv.items() if event in ids)
                    if receiver in last:
                        self.drop(last[receiver])
                    last[receiver] = event

    def renumber(self) -> None:
        new: dict[int, int] = {}
        for node in sorted(self.send, key=lambda each: each.name.encode()):
            for event in self.send[node]:
                new.setdefault(event, len(new))
        for table in (self.send, self.recv):
            for ids in table.values():
                ids[:] = [new[event] for event in ids]
        self.count = len(new)


def out_edges(graph: RuleGraph, index: int) -> list[int]:
    """Data edges by consumer, then control edges, a node an edge."""
    data = [at for at, node in enumerate(graph.nodes) for each in node.data if each == index]
    control = [at for at, node in enumerate(graph.nodes) for each in node.control if each == index]
    return data + control


def walk(graphs: Sequence[RuleGraph], graph: RuleGraph) -> list[RuleNode]:
    """all_nodes: each node, then what it owns."""
    found: list[RuleNode] = []
    for node in graph.nodes:
        found.append(node)
        for number in node.graphs:
            found += walk(graphs, graphs[number])
    return found


def _boundary(graphs: Sequence[RuleGraph], graph: RuleGraph) -> Iterator[tuple[RuleNode, RuleNode]]:
    """6.3 and 6.4 for one graph below another."""
    if graph.owner is None:
        return
    above = graphs[graph.owner[0]]
    owner = above.nodes[graph.owner[1]]
    for node in graph.nodes:
        if node.stream != NONE and not node.ins:
            yield from ((above.nodes[source], node) for source in owner.ins)
        if node.attrs.get("_subgraph_end_node") is True:
            yield from ((node, above.nodes[at]) for at in out_edges(above, graph.owner[1]))
            return


def static_events(graphs: Sequence[RuleGraph]) -> Ids:
    """6.1 to 6.4 for models without activation and without FFTS, then 7.1, 7.2 and 10.2. Raises LookupError where a node
    without stream follows one that has a stream."""
    place = {node: (graph, at) for graph in graphs for at, node in enumerate(graph.nodes)}
    nodes = walk(graphs, graphs[0])
    pairs: list[tuple[RuleNode, RuleNode]] = []
    for node in nodes:
        graph, at = place[node]
        pairs += ((node, graph.nodes[target]) for target in out_edges(graph, at))
    for graph in graphs[1:]:
        pairs += _boundary(graphs, graph)
    ids = Ids()
    for node, following in pairs:
        if node.stream in (NONE, following.stream):
            continue
        if following.stream == NONE:
            raise LookupError(following.name)
        ids.add(node, following)
    ids.optimise(nodes)
    ids.renumber()
    return ids


# --- 4 ------------------------------------------------------------------------------------------------------------------


class Dynamic:
    """One model of unknown shape."""

    def __init__(self, graphs: Sequence[RuleGraph], parallel: bool) -> None:
        self.all = graphs
        self.graphs = [graph for at, graph in enumerate(graphs) if at == 0 or graph.unknown]
        self.parallel = parallel
        self.engines: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.following = 0

    def run(self) -> tuple[int, Ids]:
        """Streams of the nodes, their number, and the events."""
        for graph in self.all:
            transfer_labels(graph)
        for graph in self.graphs:
            self._assign(graph, engine_subgraphs(graph, False))
        count = self._refresh()
        ids = Ids()
        for graph in self.graphs:
            for at, node in enumerate(graph.nodes):
                for target in out_edges(graph, at):
                    if graph.nodes[target].stream != node.stream:
                        ids.add(node, graph.nodes[target])
        ids.optimise([node for graph in self.graphs for node in graph.nodes])
        ids.renumber()
        return count, ids

    def _give(self, sub: Sub) -> None:
        if sub.engine not in self.engines:
            self.engines[sub.engine] = self.following
            self.following += 1
        sub.stream = self.engines[sub.engine]

    def _assign(self, graph: RuleGraph, subs: list[Sub]) -> None:
        for sub in subs:
            if sub.engine in OWN_STREAM:
                self._give(sub)
        for sub in subs:
            if sub.engine in AI_CPU and self._is_apart(graph, subs, sub):
                self._give(sub)
        for sub in subs:
            if sub.stream == NONE:
                self._reuse(sub)
        for sub in subs:
            if sub.stream == NONE and not ENGINES[sub.engine].skip:
                self._give(sub)
        self._write(graph, subs)

    def _is_apart(self, graph: RuleGraph, subs: list[Sub], sub: Sub) -> bool:
        if self.parallel:
            return self._beside(graph, subs, sub)
        return any(graph.nodes[n].type in MAKERS for n in sub.nodes)

    def _write(self, graph: RuleGraph, subs: list[Sub]) -> None:
        for node in graph.nodes:
            node.stream = NONE
        for sub in subs:
            for index in sub.nodes:
                graph.nodes[index].stream = sub.stream
        for node in graph.nodes:
            label = node.attrs.get("_stream_label", "")
            if label != "":
                if label not in self.labels:
                    self.labels[label] = self.following
                    self.following += 1
                node.stream = self.labels[label]

    @staticmethod
    def _beside(graph: RuleGraph, subs: list[Sub], sub: Sub) -> bool:
        inside = {index for each in subs for index in each.nodes}

        def linked(one: Sub) -> list[int]:
            ins = (s for n in one.nodes for s in graph.nodes[n].ins)
            return [source for source in ins if source not in one.nodes]

        if not linked(sub):
            return True
        if all(source in inside for source in linked(sub)) and all(
            before.engine == "DNN_VM_GE_LOCAL" and not linked(before) for before in sub.before
        ):
            return True
        for before in sub.before:
            heirs = [
                each for each in before.behind if each is not sub and each.engine == before.engine
            ]
            if before.engine in OWN_STREAM and not ENGINES[before.engine].independent and not heirs:
                return False
        return True

    @staticmethod
    def _reuse(sub: Sub) -> None:
        def could(other: Sub) -> bool:
            if sub.engine in AI_CPU and ENGINES[other.engine].independent:
                return False
            if sub.engine == other.engine or ENGINES[sub.engine].attach:
                return True
            return other.reused is not None and other.reused.engine == sub.engine

        for near in (sub.before, sub.behind):
            fitting = [each for each in near if could(each)]
            if not fitting:
                continue
            lowest = min(ENGINES[each.engine].cost for each in fitting)
            best = next(each for each in fitting if ENGINES[each.engine].cost == lowest)
            best = best.reused or best
            if best.stream != NONE:
                sub.stream, sub.reused = best.stream, best
            return

    def _refresh(self) -> int:
        nodes = [node for graph in self.graphs for node in graph.nodes]
        used = {node.stream for node in nodes}
        kept = [engine for engine, stream in self.engines.items() if stream in used]
        kept.sort(key=lambda engine: (ENGINES[engine].cost, engine.encode()))
        new = {self.engines[engine]: number for number, engine in enumerate(kept)}
        for label in sorted(self.labels, key=str.encode):
            new[self.labels[label]] = len(new)
        for node in nodes:
            main = node.stream == NONE or bool(node.graphs) or node.type in FORCED_MAIN
            node.stream = 0 if main else new[node.stream]
        return max(1, len(new))
