"""The static allocation of spec/streams.md sections 1.4 to 3 and 10.1, rule by rule on plain data.

Slow and simple, graph after graph with one counter for all of them, as the rules are written; it shares nothing with
the passes, so that both can be compared on random graphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NONE = -1
INPUTS = "ENGINE_DEFAULT_DATA"
DATA = frozenset(
    {"Const", "Constant", "Data", "RefData", "AippData", "AnnData", "Variable", "VariableV2"}
)
ALL_REDUCE = frozenset({"HcomAllReduce", "HorovodAllreduce"})


@dataclass(frozen=True)
class Flags:
    """One engine."""

    cost: int
    independent: bool = False
    skip: bool = False
    attach: bool = False


ENGINES: Mapping[str, Flags] = {
    "AIcoreEngine": Flags(1),
    "VectorEngine": Flags(2),
    "DSAEngine": Flags(2),
    "ffts_plus": Flags(1, skip=True, attach=True),
    "DNN_HCCL": Flags(2, independent=True),
    "DNN_VM_RTS": Flags(2, attach=True),
    "DNN_VM_AICPU": Flags(4, attach=True),
    "DNN_VM_GE_LOCAL": Flags(9, skip=True, attach=True),
    "DNN_VM_HOST_CPU": Flags(10, skip=True, attach=True),
}


@dataclass(eq=False)
class RuleNode:
    """A node: `data` and `control` are what it waits for, numbers in its graph; `graphs` what it owns."""

    name: str
    type: str
    engine: str
    data: list[int] = field(default_factory=list[int])
    control: list[int] = field(default_factory=list[int])
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    graphs: list[int] = field(default_factory=list[int])
    stream: int = 0

    @property
    def ins(self) -> list[int]:
        return [*self.data, *self.control]


@dataclass(eq=False)
class RuleGraph:
    """A graph, and who owns it: (graph, node)."""

    nodes: list[RuleNode]
    unknown: bool = False
    owner: tuple[int, int] | None = None

    def outs(self, index: int) -> list[int]:
        return [at for at, node in enumerate(self.nodes) if index in node.ins]


@dataclass
class Options:
    """What the allocation is told."""

    single: bool = False
    memory_priority: bool = False
    hcom_parallel: bool = False
    stable_rdfs: bool = False
    max_parallel: dict[str, int] = field(default_factory=dict[str, int])


# --- 1.5 and 1.4 --------------------------------------------------------------------------------------------------------


def transfer_labels(graph: RuleGraph) -> None:
    for node in graph.nodes:
        if "_user_stream_label" in node.attrs:
            user = node.attrs["_user_stream_label"]
            if "_stream_label" in node.attrs and node.attrs.get("_enable_inner_parallel") is True:
                user = user + "_" + node.attrs["_stream_label"]
                node.attrs["_user_stream_label"] = user
            node.attrs["_stream_label"] = user


@dataclass(eq=False)
class Cluster:
    """A group of nodes under construction."""

    nodes: list[int]
    engine: str
    label: str
    user: str


def _cluster_of(index: int, node: RuleNode) -> Cluster:
    engine = "AIcoreEngine" if node.engine == "DNN_VM_CUSTOM" else node.engine
    if not node.ins and node.type in DATA:
        engine = INPUTS
        if node.attrs.get("_user_stream_label"):
            node.attrs["_user_stream_label"] = ""
    labels = [node.attrs.get(name, "") for name in ("_stream_label", "_user_stream_label")]
    return Cluster([index], engine, *labels)


class Clustering:
    """The groups of one graph; a group is known by its smallest number."""

    def __init__(self, graph: RuleGraph) -> None:
        self.graph = graph
        self.clusters = {index: _cluster_of(index, node) for index, node in enumerate(graph.nodes)}
        self.of = list(range(len(graph.nodes)))

    def edges(self) -> set[tuple[int, int]]:
        of = self.of
        return {
            (of[source], of[index])
            for index, node in enumerate(self.graph.nodes)
            for source in node.ins
            if source < index and of[source] != of[index]
        }

    def second_path(self, parent: int, child: int, bound: int) -> bool:
        left = self.edges() - {(parent, child)}
        stack, seen = [parent], {parent}
        while stack:
            at = stack.pop()
            for target in {target for source, target in left if source == at}:
                if target == child:
                    return True
                if target not in seen and target < bound:
                    seen.add(target)
                    stack.append(target)
        return False

    def mergeable(self, parent: int, child: int, bound: int) -> bool:
        one, other = self.clusters[parent], self.clusters[child]
        if one.user != "" and one.user == other.user:
            return True
        return (
            one.engine == other.engine
            and one.label == other.label
            and not self.second_path(parent, child, bound)
        )

    def merge(self, one: int, other: int) -> int:
        small, big = min(one, other), max(one, other)
        for node in self.clusters[big].nodes:
            self.of[node] = small
        self.clusters[small].nodes += self.clusters.pop(big).nodes
        return small

    def by_edges(self) -> None:
        for child in range(len(self.graph.nodes)):
            known = self.edges()
            parents = sorted({source for source, target in known if target == child})
            parents.sort(key=lambda p: len({target for source, target in known if source == p}))
            current = child
            for parent in parents:
                if self.mergeable(parent, current, child):
                    current = self.merge(parent, current)

    def by_list(self) -> None:
        listed = [i for i, each in self.clusters.items() if each.engine != INPUTS]
        for before, at in reversed(list(itertools.pairwise(listed))):
            if self.mergeable(before, at, at):
                self.merge(before, at)


def cluster(graph: RuleGraph, stable_rdfs: bool) -> list[Cluster]:
    made = Clustering(graph)
    if stable_rdfs:
        made.by_list()
    else:
        made.by_edges()
    found = [each for each in made.clusters.values() if each.engine != INPUTS]
    return sorted(found, key=lambda each: min(each.nodes))


# --- 2 and 3 ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Sub:
    """An engine sub-graph."""

    nodes: list[int]
    engine: str
    label: str
    user: str
    stream: int = NONE
    reused: Sub | None = None
    before: list[Sub] = field(default_factory=list["Sub"])
    behind: list[Sub] = field(default_factory=list["Sub"])


class LabelRefusedError(Exception):
    """A label in single-stream mode."""


class Dealer:
    """Rule 2.4 for one graph."""

    def __init__(self, graph: RuleGraph, options: Options) -> None:
        self.graph = graph
        self.options = options
        self.upcoming: dict[str, int] = {}
        self.number: dict[str, int] = {}
        self.assigned: list[Sub] = []
        self.reusing: list[tuple[Sub, Sub]] = []

    def assign_new(self, sub: Sub) -> None:
        k = self.upcoming.get(sub.engine, 0)
        if k >= self.options.max_parallel.get(sub.engine, 1):
            k = 0
        sub.stream = k
        self.upcoming[sub.engine] = k + 1
        self.number[sub.engine] = max(self.number.get(sub.engine, 0), k + 1)
        self.assigned.append(sub)

    def could_reuse(self, sub: Sub, other: Sub) -> bool:
        if ENGINES[other.engine].independent or other.label != "":
            return False
        if any("_force_attach_stream" in self.graph.nodes[n].attrs for n in sub.nodes):
            return True
        heirs = [each for each in other.behind if each is not sub and each.engine == other.engine]
        if not self.options.memory_priority and heirs:
            return False
        if sub.engine == other.engine or ENGINES[sub.engine].attach:
            return True
        return other.reused is not None and other.reused.engine == sub.engine

    def deal(self, sub: Sub) -> None:
        best: Sub | None = None
        cost = 10
        for other in sub.before:
            own = ENGINES[other.engine].cost
            if self.could_reuse(sub, other) and (best is None or own < cost):
                best, cost = other, min(cost, own)
        if best is None:
            self.assign_new(sub)
            return
        if best.stream == NONE:
            self.assign_new(best)
        sub.stream = best.stream
        if best.reused is not None:
            best = best.reused
        sub.reused = best
        self.reusing.append((sub, best))


class Allocation:
    """One build."""

    def __init__(self, graphs: Sequence[RuleGraph], options: Options) -> None:
        self.graphs = graphs
        self.options = options
        self.next_stream = 0

    def run(self) -> int:
        """Assign; the number of main streams."""
        for graph in self.graphs:
            transfer_labels(graph)
        for graph in self.graphs:
            self._do_assign(graph)
        return self._refresh()

    def _do_assign(self, graph: RuleGraph) -> None:
        default = NONE
        if graph.owner is not None and not self.graphs[graph.owner[0]].unknown:
            default = self.graphs[graph.owner[0]].nodes[graph.owner[1]].stream
        subs = engine_subgraphs(graph, self.options.stable_rdfs)
        if self.options.single:
            self._single(subs, default)
            self._node_update(graph, subs, default)
            _skipped(graph, subs)
            return
        self._mde(graph)
        self._by_label(subs)
        self._independent(subs)
        self._by_dependency(graph, subs, default)
        self._node_update(graph, subs, default)
        self._parallel_group(graph, subs)
        self._all_reduce(graph)
        _skipped(graph, subs)
        _ineffective(graph)

    def _take(self) -> int:
        self.next_stream += 1
        return self.next_stream - 1

    def _mde(self, graph: RuleGraph) -> None:
        groups: dict[int, list[RuleNode]] = {}
        for node in graph.nodes:
            if "NewStreamId" in node.attrs and "_parallel_group" not in node.attrs:
                groups.setdefault(node.stream, []).append(node)
        for stream in sorted(groups):
            if stream == NONE:
                continue
            new: dict[int, int] = {}
            for node in groups[stream]:
                wanted = node.attrs["NewStreamId"]
                if wanted not in new:
                    new[wanted] = self._take()
                node.stream = new[wanted]

    def _by_label(self, subs: list[Sub]) -> None:
        streams: dict[str, int] = {}
        for sub in subs:
            if sub.label != "":
                if sub.label not in streams:
                    streams[sub.label] = self._take()
                sub.stream = streams[sub.label]

    def _independent(self, subs: list[Sub]) -> None:
        streams: dict[tuple[str, str], int] = {}
        for sub in subs:
            if not ENGINES[sub.engine].independent or (sub.stream != NONE and sub.user != ""):
                continue
            key = (sub.engine, sub.label)
            if key not in streams:
                streams[key] = self._take()
            sub.stream = streams[key]

    def _by_dependency(self, graph: RuleGraph, subs: list[Sub], default: int) -> None:
        dealer = Dealer(graph, self.options)
        for sub in subs:
            if sub.stream == NONE:
                dealer.deal(sub)
        first = NONE - 1
        if default != NONE and dealer.assigned:
            self.next_stream -= 1
            first = self.next_stream
        start: dict[str, int] = {}
        for engine in sorted(dealer.number, key=str.encode):
            start[engine] = self.next_stream
            self.next_stream += dealer.number[engine]
        for sub in dealer.assigned:
            sub.stream += start[sub.engine]
            if sub.stream == first:
                sub.stream = default
        for sub, other in dealer.reusing:
            sub.stream = other.stream

    def _single(self, subs: list[Sub], default: int) -> None:
        stream = self._take() if default == NONE else default
        for sub in subs:
            if sub.label != "":
                raise LabelRefusedError
            sub.stream = stream

    def _node_update(self, graph: RuleGraph, subs: list[Sub], default: int) -> None:
        for node in graph.nodes:
            node.stream = NONE
        for sub in subs:
            assert sub.stream != NONE
            for index in sub.nodes:
                node = graph.nodes[index]
                if "_rts_label_node" in node.attrs:
                    node.stream = default
                    continue
                node.stream = sub.stream
                if node.type == "NetOutput" and graph.owner is not None:
                    above = self.graphs[graph.owner[0]]
                    owner = above.nodes[graph.owner[1]]
                    if owner.type == "While" and above.unknown:
                        place = owner.graphs.index(list(self.graphs).index(graph))
                        if place == 1:
                            node.stream = 0

    def _parallel_group(self, graph: RuleGraph, subs: list[Sub]) -> None:
        groups: dict[int, list[int]] = {}
        for sub in subs:
            for index in sub.nodes:
                attrs = graph.nodes[index].attrs
                if "_parallel_group" in attrs and "_user_stream_label" not in attrs:
                    groups.setdefault(graph.nodes[index].stream, []).append(index)
        for stream in sorted(groups):
            if stream == NONE:
                continue
            new: dict[str, int] = {}
            for index in groups[stream]:
                node = graph.nodes[index]
                name = node.attrs["_parallel_group"]
                if name == "-1" and len(node.data) == 1:
                    source = graph.nodes[node.data[0]].stream
                    if source != NONE:
                        node.stream = source
                        continue
                if name not in new:
                    new[name] = self._take()
                node.stream = new[name]

    def _all_reduce(self, graph: RuleGraph) -> None:
        if not self.options.hcom_parallel:
            return
        taken: set[int] = set()
        for index, node in enumerate(graph.nodes):
            if (
                node.type not in ALL_REDUCE
                or node.attrs.get("fusion", -1) <= 0
                or "_user_stream_label" in node.attrs
            ):
                continue
            label = node.attrs.get("_stream_label", "")
            stack, seen = [index], set[int]()
            while stack:
                at = stack.pop()
                for target, other in enumerate(graph.nodes):
                    own = other.attrs.get("_stream_label", "")
                    fits = own == label or (label != "" and own == "")
                    if at in other.data and target not in seen and fits:
                        seen.add(target)
                        stack.append(target)
            taken |= seen
        new: dict[int, int] = {}
        for index in sorted(taken):
            node = graph.nodes[index]
            if node.stream == NONE:
                continue
            if node.stream not in new:
                new[node.stream] = self._take()
            if node.type not in ALL_REDUCE:
                node.stream = new[node.stream]

    def _refresh(self) -> int:
        graphs = [self.graphs[0]] if self.graphs[0].unknown else self.graphs
        nodes = [node for graph in graphs for node in graph.nodes]
        used = sorted({n.stream for n in nodes if 0 <= n.stream < self.next_stream})
        new = {stream: number for number, stream in enumerate(used)}
        for node in nodes:
            node.stream = new.get(node.stream, node.stream)
        return len(used)


def engine_subgraphs(graph: RuleGraph, stable_rdfs: bool) -> list[Sub]:
    subs = [Sub(c.nodes, c.engine, c.label, c.user) for c in cluster(graph, stable_rdfs)]
    of = {index: sub for sub in subs for index in sub.nodes}
    for sub in subs:
        for other in subs:
            if other is not sub and any(
                of.get(source) is other for index in sub.nodes for source in graph.nodes[index].ins
            ):
                sub.before.append(other)
                other.behind.append(sub)
    return subs


def _skipped(graph: RuleGraph, subs: list[Sub]) -> None:
    candidates = sorted(
        index
        for sub in subs
        if ENGINES[sub.engine].skip and sub.label == ""
        for index in sub.nodes
        if graph.nodes[index].stream != NONE
    )
    for index in candidates:
        node = graph.nodes[index]
        before = [graph.nodes[source].stream for source in node.ins]
        if not node.graphs and all(stream == NONE for stream in before):
            node.stream = NONE
            continue
        outs = graph.outs(index)
        if outs:
            around = {*before, *(graph.nodes[target].stream for target in outs)} - {NONE}
            if len(around) == 1:
                node.stream = around.pop()


def _ineffective(graph: RuleGraph) -> None:
    ids: dict[int, list[int]] = {}
    labelled: set[int] = set()
    for index, node in enumerate(graph.nodes):
        ids.setdefault(node.stream, []).append(index)
        if "_stream_label" in node.attrs or "_user_stream_label" in node.attrs:
            labelled.add(node.stream)
    kept = {"_stream_label", "_user_stream_label", "NewStreamId", "_parallel_group"}
    for index, node in enumerate(graph.nodes):
        own = node.stream
        if kept & node.attrs.keys() or own == NONE:
            continue
        last_in: dict[int, int] = {}
        first_out: dict[int, int] = {}
        for source in node.ins:
            stream = graph.nodes[source].stream
            last_in[stream] = max(last_in.get(stream, source), source)
        for target in graph.outs(index):
            stream = graph.nodes[target].stream
            first_out[stream] = min(first_out.get(stream, target), target)
        if own in last_in or own in first_out:
            continue
        for stream in sorted({*last_in, *first_out} - {NONE}):
            if stream in labelled or stream not in last_in or stream not in first_out:
                continue
            queue = sorted(ids[stream])
            place = queue.index(last_in[stream])
            if queue[place + 1 : place + 2] == [first_out[stream]]:
                ids[node.stream].remove(index)
                ids[stream].append(index)
                ids[stream].sort()
                node.stream = stream
