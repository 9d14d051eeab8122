"""Switches that start more than one stream: spec/streams.md section 9.3."""

from __future__ import annotations

from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64_array
from ge_dialect.dialects.ge.access import (
    add_control_edge,
    control_result,
    ge_type,
    node_name,
    set_ge_attr,
)
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.sync.activation import Labels, set_active_streams
from ge_dialect.transforms.sync.model import (
    ACTIVE_LABELS,
    ACTIVE_STREAMS,
    INTERNAL,
    LABEL,
    SWITCH_BRANCH,
    SyncModel,
    label_of,
    make_node,
    sync_error,
    texts,
)


def activate_switches(model: SyncModel, labels: Labels, streams: int) -> list[Operation]:
    """Put a StreamActive between each switch and a label of several streams; the nodes made, in order.

    `streams` is the number of streams so far; the k-th node made is on stream `streams + k`, which only its switch
    starts. Raises SyncError for a switch without labels or with an unknown one.
    """
    made: list[Operation] = []
    for op in model.nodes:
        if ge_type(op) == "StreamSwitch":
            made += activate_switch(op, texts(op, ACTIVE_LABELS), labels, streams + len(made))
    return made


def activate_switch(
    switch: Operation, wanted: list[str], labels: Labels, streams: int
) -> list[Operation]:
    """The same for one switch, whose labels are `wanted`."""
    if not wanted:
        raise sync_error(
            switch, f"is a StreamSwitch without {ACTIVE_LABELS}", "INTERNAL_ERROR", code=INTERNAL
        )
    assert isinstance(switch, GeNode)
    prefix = f"{node_name(switch)}_StreamActive_"
    kept = list(wanted)
    made: dict[str, Operation] = {}
    for number, label in enumerate(wanted):
        if label not in labels.streams and label.startswith(prefix):
            continue
        targets = labels.streams_of(label, switch)
        if len(targets) <= 1 or label in made:
            continue
        name = f"{prefix}{number}"
        kept[number] = name
        node = _make_active(name, label, targets, streams + len(made))
        _insert(switch, node, list(made.values()))
        _rehang(switch, node, label)
        made[label] = node
    set_ge_attr(switch, ACTIVE_LABELS, kept)
    if made:
        set_active_streams(switch, range(streams, streams + len(made)))
    return list(made.values())


def _make_active(name: str, label: str, targets: list[int], stream: int) -> GeNode:
    node = make_node("StreamActive", name, stream)
    set_ge_attr(node, SWITCH_BRANCH, name)
    set_ge_attr(node, LABEL, name)
    set_ge_attr(node, ACTIVE_LABELS, [label])
    set_ge_attr(node, ACTIVE_STREAMS, i64_array(targets))
    return node


def _insert(switch: Operation, node: Operation, before: list[Operation]) -> None:
    block = switch.parent
    assert block is not None
    block.insert_op_after(node, before[-1] if before else switch)


def _rehang(switch: GeNode, node: GeNode, label: str) -> None:
    """Let the switch's control successors of this label wait for `node`, and that for the switch."""
    control = control_result(switch)
    users = [] if control is None else [use.operation for use in control.uses]
    for user in dict.fromkeys(users):
        if label_of(user) == label:
            user.operands = [operand for operand in user.operands if operand is not control]
            add_control_edge(node, user)
    add_control_edge(switch, node)
