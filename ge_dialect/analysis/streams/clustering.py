"""Grouping the nodes of one graph into engine sub-graphs: spec/streams.md section 1.4, on plain numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is known of n nodes, in topological order.

    `sources[i]` are the nodes that node i waits for (smaller numbers count only); nodes with equal `keys` (engine and
    label) may share a group, and so do those with equal `user_labels` that are not empty; `left_out[i]`: the node is
    no member of any group.
    """

    sources: Sequence[Sequence[int]]
    keys: Sequence[Hashable]
    user_labels: Sequence[str]
    left_out: Sequence[bool]


def group_by_edges(what: Grouping) -> list[list[int]]:
    """Merge along edges: each node, in order, into the groups that it reads from.

    Two groups are merged when their keys agree and the edge is the only way from one to the other (else the merged
    group would wait for itself), or without these questions when they have the same user label. Returns the groups in
    order of their first nodes. Within one, the members of the group that began earlier come first.

    Near linear: a look for a second way visits only groups on the levels in between, from both ends.
    """
    merger = _Merger(what)
    for node in range(len(what.keys)):
        merger.add(node)
    return merger.groups()


def group_neighbours(what: Grouping) -> list[list[int]]:
    """Merge along the list: each group with the one in front of it, from the last (topological sorting mode 3).

    Only groups that begin in front of the later one count as a way between the two, and there are none; so keys and
    user labels decide alone.
    """
    members = [node for node in range(len(what.keys)) if not what.left_out[node]]
    groups: list[list[int]] = []
    for node in members:
        if groups and _go_together(what, groups[-1][-1], node):
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _go_together(what: Grouping, first: int, second: int) -> bool:
    label = what.user_labels[first]
    same_label = label != "" and label == what.user_labels[second]
    return same_label or what.keys[first] == what.keys[second]


@dataclass(slots=True)
class _Merger:
    """Groups under construction. A group is known by the number of one of its nodes, which may change as it grows;
    `first` is its smallest number. `level` grows along every edge between groups, as long as there is no cycle."""

    what: Grouping
    ins: list[set[int]] = field(default_factory=list[set[int]])
    outs: list[set[int]] = field(default_factory=list[set[int]])
    level: list[int] = field(default_factory=list[int])
    root: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    last: list[int] = field(default_factory=list[int])
    following: list[int] = field(default_factory=list[int])
    acyclic: bool = True
    labelled: bool = False

    def __post_init__(self) -> None:
        count, left_out = len(self.what.keys), self.what.left_out
        self.labelled = any(self.what.user_labels)
        self.ins = [set() for _ in range(count)]
        self.outs = [set() for _ in range(count)]
        for node, sources in enumerate(self.what.sources):
            for source in sources:
                # What is in no group reads nothing, so no way between groups leads through it.
                if source < node and not left_out[source]:
                    self.ins[node].add(source)
                    self.outs[source].add(node)
        self.level = [0] * count
        self.root = list(range(count))
        self.first = list(range(count))
        self.last = list(range(count))
        self.following = [-1] * count

    def add(self, node: int) -> None:
        """Merge a node that has just been reached into the groups that it reads from, as far as possible."""
        parents = self.ins[node]
        if not parents:
            return
        self.level[node] = 1 + max(self.level[parent] for parent in parents)
        # Where user labels join engines, what the node is compared by may change with every group that it joins.
        wanted = [each for each in parents if self.labelled or self._may_merge(each, node)]
        if len(wanted) > 1:
            wanted.sort(key=lambda parent: (len(self.outs[parent]), self.first[parent]))
        group = node
        for parent in wanted:
            if not self._may_merge(parent, group):
                continue
            second_way = self._second_way(parent, group, node)
            if second_way and not self._same_user_label(parent, group):
                continue
            if second_way:
                self.acyclic = False
            group = self._merge(parent, group, node)

    def _same_user_label(self, one: int, other: int) -> bool:
        labels, first = self.what.user_labels, self.first
        label = labels[first[one]]
        return label != "" and label == labels[first[other]]

    def _may_merge(self, one: int, other: int) -> bool:
        keys, first = self.what.keys, self.first
        return self._same_user_label(one, other) or keys[first[one]] == keys[first[other]]

    def _second_way(self, parent: int, group: int, now: int) -> bool:
        """Whether another way than the edge leads from `parent` to `group`; nodes behind `now` are not reached yet.

        Looked for from both ends, each step at the end that has cost less so far: where edges reach far, few nodes are
        both near behind the parent and near before the group.
        """
        level, ins, outs = self.level, self.ins, self.outs
        direct = outs[parent]
        if len(ins[group]) == 1:
            return False
        floor, ceiling = (level[parent], level[group]) if self.acyclic else (-1, 2 * len(level))
        first = [each for each in ins[group] if each != parent and level[each] > floor]
        first.sort(key=level.__getitem__, reverse=True)
        # In turn what is nearest to the parent and what is nearest to the group: a way that exists is found without
        # going through all others, whether it ends in a long row or branches off just before the group.
        back = deque(first)
        deep = True
        leads_to, behind = set(first), {parent}
        ahead = [parent]
        cost_back = cost_ahead = 0
        while back and ahead:
            if cost_ahead + len(outs[ahead[-1]]) < cost_back:
                at = ahead.pop()
                cost_ahead += len(outs[at])
                for each in outs[at]:
                    if each > now or each == group or level[each] >= ceiling or each in behind:
                        continue
                    if each in leads_to:
                        return True
                    behind.add(each)
                    ahead.append(each)
                continue
            at = back.pop() if deep else back.popleft()
            deep = not deep
            cost_back += 1 + len(ins[at])
            if at in behind or (at in direct and at != group):
                return True
            if at == group:
                continue
            new = [each for each in ins[at] if each not in leads_to and level[each] > floor]
            if len(new) > 1:
                new.sort(key=level.__getitem__, reverse=True)
            leads_to.update(new)
            back += new
        return False

    def _merge(self, parent: int, group: int, now: int) -> int:
        """Make one group of two; its number. Nodes behind `now` have not been reached yet."""
        level = max(self.level[parent], self._level_without(parent, group))
        raised = level > self.level[parent]
        ins, outs = self.ins, self.outs
        small, big = parent, group
        if len(ins[parent]) + len(outs[parent]) > len(ins[group]) + len(outs[group]):
            small, big = group, parent
        for each in outs[small]:
            ins[each].discard(small)
            if each != big:
                ins[each].add(big)
                outs[big].add(each)
        for each in ins[small]:
            outs[each].discard(small)
            if each != big:
                outs[each].add(big)
                ins[big].add(each)
        ins[big].discard(small)
        outs[big].discard(small)
        ins[small] = outs[small] = set()
        self._join_members(small, big)
        self.root[small] = big
        self.level[big] = level
        if raised and self.acyclic:
            self._raise_behind(big, now)
        return big

    def _level_without(self, parent: int, group: int) -> int:
        """A level above all that `group` reads from, `parent` apart."""
        others = self.ins[group]
        if len(others) > _FEW:
            return self.level[group]
        return max((1 + self.level[each] for each in others if each != parent), default=0)

    def _raise_behind(self, group: int, now: int) -> None:
        """Restore the order of levels behind a group that was raised."""
        level, outs = self.level, self.outs
        stack = [group]
        while stack:
            at = stack.pop()
            for each in outs[at]:
                if each <= now and level[each] <= level[at]:
                    level[each] = level[at] + 1
                    stack.append(each)

    def _join_members(self, small: int, big: int) -> None:
        """Chain the members, the group with the smaller first node in front."""
        first, last = self.first, self.last
        front, back = (small, big) if first[small] < first[big] else (big, small)
        self.following[last[front]] = first[back]
        first[big], last[big] = first[front], last[back]

    def groups(self) -> list[list[int]]:
        """The members of each group."""
        left_out = self.what.left_out
        found = {
            self.first[node]: node
            for node in range(len(self.root))
            if self.root[node] == node and not left_out[node]
        }
        result: list[list[int]] = []
        for first in sorted(found):
            members: list[int] = []
            at = first
            while at != -1:
                members.append(at)
                at = self.following[at]
            result.append(members)
        return result


_FEW = 16
"""Up to how many neighbours an exact answer is worth it."""
