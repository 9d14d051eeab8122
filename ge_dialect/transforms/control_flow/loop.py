"""What every loop becomes: states in memory of their own, a head, a way out, and copies at the end of each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.aliases import aliased_operand
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.moves import in_parallel
from ge_dialect.transforms.control_flow.routes import Routes

Update = Callable[[SSAValue], SSAValue]
"""Writes over a state in place: from the value before to the value behind."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the body says: the next value of each state, None for one that changes in place.

    `during` change their states before the others get their next values, `after` behind that, both by number.
    """

    nexts: list[SSAValue | None]
    during: dict[int, Update] = field(default_factory=dict[int, Update])
    after: dict[int, Update] = field(default_factory=dict[int, Update])


def build_loop(
    expander: Expander,
    op: Operation,
    initial: Sequence[SSAValue],
    routes: Routes,
    condition: Callable[[Sequence[SSAValue], Sequence[SSAValue]], SSAValue],
    body: Callable[[Sequence[SSAValue], Sequence[SSAValue]], Turn],
) -> list[SSAValue]:
    """Put a loop in the place of `op`; the states behind it.

    `initial` are the states before the first turn, made for the loop: they are written over. `condition` puts the nodes
    that say whether there is another turn, and gives that as int32, 0 or 1; `body` puts those of a turn. Both get the
    states and the routed values.

            head:  label_set
                   condition
                   label_switch [leave, body]
            body:  label_set
                   ... states := next states
                   label_goto head
            leave: label_set
    """
    flat = expander.flat
    head, inside, leave = (flat.new_label() for _ in range(3))
    count = len(initial)
    handed = flat.label_set(op, head, [*initial, *routes.values])
    first = flat.last
    states, outer = handed[:count], handed[count:]
    flat.label_switch(op, condition(states, outer), [leave, inside])
    flat.label_set(op, inside)
    turn = body(states, outer)
    ends = _next_states(expander, op, initial, states, turn)
    flat.label_goto(op, head, [*ends, *outer])
    results = flat.label_set(op, leave, ends)
    expander.order_edges(op, first, flat.last)
    return results


def _next_states(
    expander: Expander,
    op: Operation,
    initial: Sequence[SSAValue],
    states: Sequence[SSAValue],
    turn: Turn,
) -> list[SSAValue]:
    flat = expander.flat
    ends = list(states)
    for k, update in turn.during.items():
        ends[k] = update(ends[k])
    place = {memory_of(value): k for k, value in enumerate(initial)}
    moved = [k for k, value in enumerate(turn.nexts) if value is not None]
    number = {k: at for at, k in enumerate(moved)}
    values = [value for value in turn.nexts if value is not None]
    sources = [
        None if (k := place.get(memory_of(value))) is None else number.get(k) for value in values
    ]

    def move(at: int, value: SSAValue) -> None:
        ends[moved[at]] = flat.copy(op, value, ends[moved[at]])

    in_parallel(sources, values, move, lambda value: flat.copy(op, value))
    for k, update in turn.after.items():
        ends[k] = update(ends[k])
    return ends


def memory_of(value: SSAValue) -> SSAValue:
    """The value that owns the memory of `value`."""
    while isinstance(value, OpResult) and (source := aliased_operand(value)) is not None:
        value = source
    return value
