"""From events that are noted on nodes to Send and Recv nodes: spec/streams.md section 11."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64, string_attr
from ge_dialect.dialects.ge.access import ensure_control_result
from ge_dialect.dialects.ge.graph import GateOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import NODE_OF_TYPE
from ge_dialect.dialects.ge.types import ControlType
from ge_dialect.transforms.sync.events import Events, SyncKind
from ge_dialect.transforms.sync.model import STREAM, SyncError, SyncModel, stream_of

_CONTROL = ControlType()
_SEND = {
    "event": ("Send", "event_id", "Send"),
    "notify": ("SendNotify", "notify_id", "Send_Notify"),
}
_RECV = {
    "event": ("Recv", "event_id", "Recv"),
    "notify": ("RecvNotify", "notify_id", "Recv_Notify"),
}


class _Maker:
    """Makes the nodes of one model; a name that is taken gets `_Reuse_<n>` behind it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._used: dict[str, int] = {}
        self.sends = self.recvs = 0

    def send(self, kind: SyncKind, event: int, stream: int, control: Sequence[SSAValue]) -> GeNode:
        """A node that records the event when `control` is reached."""
        self.sends += 1
        return self._make(_SEND[kind], event, stream, control, ())

    def recv(self, kind: SyncKind, event: int, stream: int) -> GeNode:
        """A node that waits for the event; its result is reached then."""
        self.recvs += 1
        return self._make(_RECV[kind], event, stream, (), (_CONTROL,))

    def _make(
        self,
        row: tuple[str, str, str],
        number: int,
        stream: int,
        operands: Sequence[SSAValue],
        results: Sequence[Attribute],
    ) -> GeNode:
        kind, attribute, word = row
        name = f"{self._root}_{word}_{number}"
        uses = self._used.get(name, 0)
        self._used[name] = uses + 1
        return NODE_OF_TYPE[kind].make(
            operands,
            results,
            {attribute: i64(number)},
            {"ge.name": string_attr(f"{name}_Reuse_{uses}" if uses else name), STREAM: i64(stream)},
        )


def generate_sync_nodes(model: SyncModel, events: Events, notifies: Events) -> int:
    """Put the Recv nodes of a node right before it and its Send nodes right behind it, joined to it by control edges.

    Order: sends of the main stream, sends of attached streams, receives of the main stream, receives of attached ones,
    notifies. The number of nodes made. Raises SyncError when an event has not as many senders as receivers.
    """
    maker = _Maker(model.root.sym_name.data)
    for op in model.nodes:
        sends, recvs = _sends_of(op, events, notifies), _recvs_of(op, events, notifies)
        if recvs:
            _place_before(op, [maker.recv(kind, number, at) for kind, number, at in recvs])
        if sends:
            control, place = _control_behind(op)
            _place_behind(
                place, [maker.send(kind, number, at, control) for kind, number, at in sends]
            )
    if maker.sends != maker.recvs:
        raise SyncError(f"{maker.sends} events are sent, but {maker.recvs} received")
    return maker.sends + maker.recvs


_Flags = list[tuple[SyncKind, int, int]]
"""Kind, id and stream of what a node sends or receives, in order."""


def _sends_of(op: Operation, events: Events, notifies: Events) -> _Flags:
    stream = stream_of(op)
    found: _Flags = []
    _add(found, "event", stream, events.send.get(op, ()))
    for side, ids in sorted(events.side_send.get(op, {}).items()):
        _add(found, "event", side, ids)
    _add(found, "notify", stream, notifies.send.get(op, ()))
    return found


def _recvs_of(op: Operation, events: Events, notifies: Events) -> _Flags:
    stream = stream_of(op)
    found: _Flags = []
    _add(found, "event", stream, events.recv.get(op, ()))
    for side, ids in sorted(events.side_recv.get(op, {}).items()):
        _add(found, "event", side, ids)
    _add(found, "notify", stream, notifies.recv.get(op, ()))
    return found


def _add(found: _Flags, kind: SyncKind, stream: int, numbers: Iterable[int]) -> None:
    found.extend((kind, number, stream) for number in numbers)


def _place_before(op: Operation, recvs: list[GeNode]) -> None:
    block = op.parent
    assert block is not None
    block.insert_ops_before(recvs, op)
    controls = [recv.results[0] for recv in recvs]
    if isinstance(op, GeNode):
        op.operands = [*op.operands, *controls]
    elif op.operands:  # an op of another dialect takes no control operands
        gate = GateOp(op.operands[0], list(controls))
        block.insert_op_before(gate, op)
        op.operands[0] = gate.output


def _control_behind(op: Operation) -> tuple[Sequence[SSAValue], Operation]:
    """What a node behind `op` waits for, and where it stands. An op of another dialect without results leaves it to
    the place in the queue."""
    if not isinstance(op, GeNode) and not op.results:
        return (), op
    control = ensure_control_result(op)
    return (control,), control.owner if isinstance(control.owner, TokenOp) else op


def _place_behind(place: Operation, sends: list[GeNode]) -> None:
    block = place.parent
    assert block is not None
    block.insert_ops_after(sends, place)
