"""The fewest event ids: an id may be used again when its last use is certainly over.

Event e is over when its wait is through. Event f may take over its id when both the record of f and the *arrival* of
f's stream at its wait come after that: a stream that waits early for the second use would snatch the first record.
"Over before it begins" is a partial order, so the fewest ids are the fewest chains that cover it: events minus a
maximum matching of "f takes over e's id" (Dilworth, Fulkerson).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ge_dialect.transforms.sync.clocks import passed
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.minimization import senders_in_graph
from ge_dialect.transforms.sync.model import LOOP_ACTIVE, SyncModel, is_set

EXACT_LIMIT = 4096
"""Events up to which the fewest ids are found; above, ids are given first come, first served."""


@dataclass(frozen=True, slots=True)
class Coloring:
    """`chains` are lists of events that share an id, each in the order of use. `exact`: no fewer are possible."""

    chains: list[list[int]]
    exact: bool


def color_events(model: SyncModel, events: Events, limit: int = EXACT_LIMIT) -> Coloring | None:
    """Ids for the events between nodes of the root graph; None when there is an iteration loop, in which an event
    may be recorded again before the end of the step."""
    if any(is_set(op, LOOP_ACTIVE) for op in model.nodes):
        return None
    senders, receivers = events.senders(), events.receivers()
    root = model.root
    uses = {event: 0 for ids in events.send.values() for event in ids}
    for ids in events.send.values():
        for event in ids:
            uses[event] += 1
    ends: list[tuple[int, Operation, Operation]] = []
    for event, sender in senders.items():
        receiver = receivers.get(event)
        if receiver is None or uses[event] > 1:
            continue
        in_root = model.graph_of[sender] is root and model.graph_of[receiver] is root
        if in_root and model.place[sender] < model.place[receiver]:
            ends.append((event, sender, receiver))
    ends.sort(key=lambda end: (model.place[end[1]], model.place[end[2]]))
    clocks = passed(model.direct_nodes(root), senders_in_graph(model, [events]))
    # Event e is over when its receiver is done. That must be known where f is recorded and where f is waited for.
    rows = np.array([clocks.row[receiver] for _, _, receiver in ends], np.int64)
    places = np.array([clocks.position[receiver] for _, _, receiver in ends], np.int64)
    known = [
        np.minimum(clocks.done(sender), clocks.reached(receiver)) for _, sender, receiver in ends
    ]
    follows = _first_come(rows, places, known)
    exact = len(ends) <= limit
    if exact:
        over = np.zeros((len(ends), len(ends)), np.bool_)
        for later, clock in enumerate(known):
            over[:, later] = clock[rows] >= places
        _augment(over, follows)
    return Coloring([[ends[i][0] for i in chain] for chain in _chains(follows)], exact)


def _first_come(
    rows: NDArray[np.int64], places: NDArray[np.int64], known: list[NDArray[np.int64]]
) -> list[int]:
    """For each event the one that takes over its id (-1: none): the first that can, in order of the senders."""
    follows = [-1] * len(known)
    open_rows = np.zeros(len(known), np.int64)
    open_places = np.zeros(len(known), np.int64)
    last: list[int] = []
    for event, clock in enumerate(known):
        count = len(last)
        free = np.flatnonzero(clock[open_rows[:count]] >= open_places[:count])
        if len(free):
            # The id whose last wait is the latest on its stream is of least use to others.
            chosen = int(free[np.argmax(open_places[free])])
            follows[last[chosen]] = event
            last[chosen] = event
        else:
            chosen = count
            last.append(event)
        open_rows[chosen], open_places[chosen] = rows[event], places[event]
    return follows


def _augment(over: NDArray[np.bool_], follows: list[int]) -> None:
    """Make the matching `follows` a maximum one: alternating paths from events that nothing follows, breadth first."""
    count = len(follows)
    before = [-1] * count
    for event, following in enumerate(follows):
        if following >= 0:
            before[following] = event
    unseen = np.ones(count, np.bool_)
    for start in range(count):
        if follows[start] >= 0:
            continue
        # Nothing that an unsuccessful search has seen can be on a later path: it stays seen.
        found = _search(start, over, unseen, follows, before)
        if found:
            unseen[:] = True


def _search(
    start: int,
    over: NDArray[np.bool_],
    unseen: NDArray[np.bool_],
    follows: list[int],
    before: list[int],
) -> bool:
    reached_from: dict[int, int] = {}
    queue = [start]
    for event in queue:
        for following in np.flatnonzero(over[event] & unseen).tolist():
            unseen[following] = False
            reached_from[following] = event
            if before[following] < 0:
                _flip(following, reached_from, follows, before)
                return True
            queue.append(before[following])
    return False


def _flip(
    following: int, reached_from: dict[int, int], follows: list[int], before: list[int]
) -> None:
    while following >= 0:
        event = reached_from[following]
        next_free = follows[event]
        follows[event], before[following] = following, event
        following = next_free


def _chains(follows: list[int]) -> list[list[int]]:
    followers = set(follows)
    chains: list[list[int]] = []
    for start in range(len(follows)):
        if start in followers:
            continue
        chain = [start]
        while follows[chain[-1]] >= 0:
            chain.append(follows[chain[-1]])
        chains.append(chain)
    return chains
