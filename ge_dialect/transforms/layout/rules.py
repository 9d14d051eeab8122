"""Which two wishes of one memory conflict, and where a copy resolves it: the table of spec/memory.md 10.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ge_dialect.analysis.memory.model import Node, Output
from ge_dialect.analysis.memory.refresh import JUMP_TYPES
from ge_dialect.dialects.engine_types import VARIABLE_TYPES
from ge_dialect.dialects.ge.access import get_flag
from ge_dialect.transforms.layout.anchors import Anchor, Kind, root


@dataclass(frozen=True, slots=True)
class Before:
    """A copy in front of input `slot` of `node`."""

    node: Node
    slot: int


@dataclass(frozen=True, slots=True)
class After:
    """A copy behind `output`, for all its readers."""

    output: Output


Point = Before | After


@dataclass(frozen=True, slots=True)
class Scene:
    """What the rules depend on beside the graph (sections 10.3 and 10.4).

    `refreshable`: addresses of the feature map may change between steps; `movable`: physical memory may;
    `splits_inputs`: a model input may be cut by a split without task.
    """

    refreshable: bool = False
    movable: bool = False
    splits_inputs: bool = True


Rule = Callable[[Anchor, Anchor, Scene], Sequence[Point]]


# --- what rules ask --------------------------------------------------------------------------------------------------


def _sources(node: Node) -> list[Output]:
    return [x for x in node.inputs if x is not None]


def _is_proven(node: Node) -> bool:
    """Whether a plan has shown that the node's run needs no copies."""
    return get_flag(node.op, "ge.proven_run")


def _same_origin(node: Node) -> bool:
    """Whether all inputs of the node trace to one output."""
    return len({root(x) for x in _sources(node)}) == 1


def _is_part(short: Sequence[Output], long: Sequence[Output]) -> bool:
    """Whether the one list is a contiguous part of the other (or equal to it)."""
    width = len(short)
    return any(
        all(a is b for a, b in zip(short, long[at : at + width], strict=True))
        for at in range(len(long) - width + 1)
    )


def _nested(first: Sequence[Output], second: Sequence[Output]) -> bool:
    short, long = sorted((first, second), key=len)
    return _is_part(short, long)


def _overlap_at_an_end(first: Sequence[Output], second: Sequence[Output]) -> bool:
    """Whether the one list ends as the other begins, in the same order."""
    for a, b in ((first, second), (second, first)):
        for width in range(1, min(len(a), len(b)) + 1):
            if all(x is y for x, y in zip(a[-width:], b[:width], strict=True)):
                return True
    return False


def _references(anchor: Anchor) -> bool:
    """Whether the node of an input slot has an output that is that input's memory."""
    source = anchor.node.inputs[anchor.slot]
    return any(x.source is not None and x.source is source for x in anchor.node.outputs)


def _at(anchor: Anchor) -> Point:
    return Before(anchor.node, anchor.slot) if anchor.output is None else After(anchor.output)


def _input_of(first: Anchor, second: Anchor) -> list[Point]:
    """In front of the input slot of the pair; of two, the one with the lower id unless its node refers to it."""
    if first.is_input and second.is_input:
        low, high = sorted((first, second), key=lambda x: (x.node.id, x.slot))
        chosen = high if _references(low) else low
    else:
        chosen = first if first.is_input else second
    return [_at(chosen)]


def _fed_by_assign(node: Node, origin: Output) -> Point | None:
    """The input of `node` that an Assign on the memory of `origin` feeds."""
    for slot, source in enumerate(node.inputs):
        if source is not None and source.node.type == "Assign" and root(source) is root(origin):
            return Before(node, slot)
    return None


def _behind_user(user: Anchor, other: Anchor) -> list[Point]:
    """Behind the model input, or before what an Assign on its memory feeds."""
    assert user.output is not None
    return [_fed_by_assign(other.node, user.output) or After(user.output)]


def _with(kind: Kind, first: Anchor, second: Anchor) -> tuple[Anchor, Anchor]:
    """The pair with the anchor of `kind` first."""
    return (first, second) if kind in first.kinds else (second, first)


# --- the rules -----------------------------------------------------------------------------------------------------


def _always_at_input(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    return _input_of(first, second)


def _user_in_continuous(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    return _behind_user(*_with(Kind.USER_IN, first, second))


def _user_in_no_padding_in(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    user, other = _with(Kind.USER_IN, first, second)
    if _is_proven(other.node) or _same_origin(other.node):
        return []
    return _behind_user(user, other)


def _user_in_no_padding_out(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    return [] if scene.splits_inputs else _behind_user(*_with(Kind.USER_IN, first, second))


def _user_out_inputs(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    user, other = _with(Kind.USER_OUT, first, second)
    source = user.node.inputs[user.slot]
    if _is_proven(other.node) or (source is not None and source.node is other.node):
        return []
    return [_at(user)]


def _immutable_no_padding_in(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    _, other = _with(Kind.IMMUTABLE, first, second)
    return [] if _same_origin(other.node) else [_at(other)]


def _immutable_outputs(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    fixed, other = _with(Kind.IMMUTABLE, first, second)
    assert fixed.output is not None
    found = _fed_by_assign(other.node, fixed.output)
    if found is not None:
        return [found]
    assert other.output is not None
    for slot, source in enumerate(other.node.inputs):
        if source is not None and source is other.output.source:
            return [Before(other.node, slot)]
    return []


def _no_padding_inputs(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    a, b = _sources(first.node), _sources(second.node)
    if not set(a) & set(b) or _nested(a, b):
        return []
    if _is_proven(first.node) and _is_proven(second.node):
        return []
    shared = first.value()
    assert shared is not None
    points: list[Point] = []
    for output in _symbol_outputs(root(shared)):
        seen = 0
        for consumer, slot in output.consumers:
            seen += consumer.is_no_padding_input
            if seen > 1:
                points.append(Before(consumer, slot))
    return points


def _symbol_outputs(owner: Output) -> list[Output]:
    """All outputs on the memory of `owner`."""
    found, stack = [owner], [owner]
    while stack:
        at = stack.pop()
        for node in dict.fromkeys(consumer for consumer, _ in at.consumers):
            inner = [x for x in node.outputs if x.source is at]
            found += inner
            stack += inner
    return found


def _no_padding_in_and_out(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    concat, split = _with(Kind.NOPAD_IN, first, second)
    source = split.node.inputs[0] if split.node.inputs else None
    if source is not None and source.node is concat.node:
        return []
    return [_at(concat)]


def _continuous_outputs(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    for a, b in ((first, second), (second, first)):
        for source in _sources(b.node):
            if source.node is a.node and a.output is not None and root(source) is root(a.output):
                return [After(source)]
    return []


def _continuous_inputs(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    points: list[Point] = []
    shared = first.value()
    assert shared is not None
    for output in _symbol_outputs(root(shared)):
        seen = 0
        for consumer, slot in output.consumers:
            seen += consumer.is_padded_input or consumer.is_no_padding_input
            if seen > 1:
                points.append(Before(consumer, slot))
    for a, b in ((first, second), (second, first)):
        for slot, source in enumerate(b.node.inputs):
            if source is not None and source.node is a.node:
                points.append(Before(b.node, slot))
    return points


def _continuous_in_and_out(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    reader, writer = _with(Kind.CONT_IN, first, second)
    inputs = [root(x) for x in _sources(reader.node)]
    outputs = [root(x) for x in writer.node.outputs]
    if _nested(inputs, outputs) or _overlap_at_an_end(inputs, outputs):
        return []
    return [_at(first)]


def _continuous_special(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    special_kinds = {Kind.RTS_IN, Kind.RTS_OUT}
    special, run = (first, second) if special_kinds & set(first.kinds) else (second, first)
    if special_kinds & set(run.kinds):
        return []
    if run.is_input and _references(run):
        return [_at(special)]
    return [_at(run)]


def _special(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    if first.memory_type() == second.memory_type():
        return []
    if first.is_input and second.is_input:
        return _input_of(first, second)
    outputs = [x for x in (first, second) if not x.is_input]
    return [_at(min(outputs, key=lambda x: x.node.id))]


def _must_stay(anchor: Anchor, scene: Scene) -> bool:
    return scene.refreshable or (scene.movable and anchor.node.type in JUMP_TYPES)


def _fixed_kind(anchor: Anchor) -> bool:
    return Kind.UNREFRESH_IN in anchor.kinds or Kind.UNREFRESH_OUT in anchor.kinds


def _unrefreshable(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    fixed = first if _fixed_kind(first) else second
    return [_at(fixed)] if _must_stay(fixed, scene) else []


def _user_unrefreshable(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    fixed, user = (first, second) if _fixed_kind(first) else (second, first)
    if user.output is not None:
        found = _fed_by_assign(fixed.node, user.output)
        if found is not None:
            return [found]
    return [_at(fixed if _must_stay(fixed, scene) else user)]


def _immutable_special_out(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    special, other = _with(Kind.RTS_OUT, first, second)
    assert other.output is not None
    return [_fed_by_assign(special.node, other.output) or After(other.output)]


def _user_out_immutable(first: Anchor, second: Anchor, scene: Scene) -> Sequence[Point]:
    user, fixed = _with(Kind.USER_OUT, first, second)
    return [] if fixed.node.type in VARIABLE_TYPES else [_at(user)]


def _table() -> dict[frozenset[Kind], Rule]:
    k = Kind
    rows: list[tuple[Rule, Kind, tuple[Kind, ...]]] = [
        (_always_at_input, k.USER_IN, (k.UNREFRESH_IN, k.RTS_IN)),
        (_always_at_input, k.USER_OUT, (k.RTS_IN, k.RTS_OUT, k.CONT_OUT, k.NOPAD_OUT)),
        (_always_at_input, k.IMMUTABLE, (k.RTS_IN, k.CONT_IN)),
        (_always_at_input, k.CONT_IN, (k.NOPAD_OUT,)),
        (_always_at_input, k.CONT_OUT, (k.NOPAD_IN,)),
        (_user_in_continuous, k.USER_IN, (k.CONT_IN, k.CONT_OUT)),
        (_user_in_no_padding_in, k.USER_IN, (k.NOPAD_IN,)),
        (_user_in_no_padding_out, k.USER_IN, (k.NOPAD_OUT,)),
        (_user_out_inputs, k.USER_OUT, (k.CONT_IN, k.NOPAD_IN)),
        (_immutable_no_padding_in, k.IMMUTABLE, (k.NOPAD_IN,)),
        (_immutable_outputs, k.IMMUTABLE, (k.CONT_OUT, k.NOPAD_OUT)),
        (_no_padding_inputs, k.NOPAD_IN, (k.NOPAD_IN,)),
        (_no_padding_in_and_out, k.NOPAD_IN, (k.NOPAD_OUT,)),
        (_continuous_outputs, k.NOPAD_OUT, (k.NOPAD_OUT, k.CONT_OUT)),
        (_continuous_outputs, k.CONT_OUT, (k.CONT_OUT,)),
        (_continuous_inputs, k.CONT_IN, (k.CONT_IN, k.NOPAD_IN)),
        (_continuous_in_and_out, k.CONT_IN, (k.CONT_OUT,)),
        (_special, k.RTS_IN, (k.RTS_IN, k.RTS_OUT)),
        (_special, k.RTS_OUT, (k.RTS_OUT,)),
        (_user_unrefreshable, k.USER_IN, (k.UNREFRESH_OUT,)),
        (_user_unrefreshable, k.USER_OUT, (k.UNREFRESH_IN, k.UNREFRESH_OUT)),
        (_immutable_special_out, k.RTS_OUT, (k.IMMUTABLE, k.USER_IN)),
        (_user_out_immutable, k.USER_OUT, (k.IMMUTABLE,)),
    ]
    runs = (k.CONT_IN, k.CONT_OUT, k.NOPAD_IN, k.NOPAD_OUT)
    rows += [(_continuous_special, special, runs) for special in (k.RTS_IN, k.RTS_OUT)]
    fixed = (k.UNREFRESH_IN, k.UNREFRESH_OUT)
    for kind in fixed:
        rows.append((_unrefreshable, kind, (*runs, k.RTS_IN, k.RTS_OUT, k.IMMUTABLE, *fixed)))
    return {frozenset({one, other}): rule for rule, one, others in rows for other in others}


RULES: Mapping[frozenset[Kind], Rule] = MappingProxyType(_table())
"""The rule of a pair of wishes; a pair without one never conflicts."""


def conflict(first: Anchor, second: Anchor, scene: Scene) -> tuple[Sequence[Point], str]:
    """Where copies go because of a pair of slots of one memory, and why; nothing when they get along.

    Of several wishes of the two the first that conflict count.
    """
    for one in first.kinds:
        for other in second.kinds:
            rule = RULES.get(frozenset({one, other}))
            if rule is None:
                continue
            points = rule(first, second, scene)
            if points:
                return points, f"{first} wants {one.value}, {second} {other.value}"
    return (), ""


def alone(anchor: Anchor, scene: Scene) -> Sequence[Point]:
    """Where a copy goes because of one slot whose address stays, beside slots that want nothing."""
    return [_at(anchor)] if _fixed_kind(anchor) and _must_stay(anchor, scene) else []
