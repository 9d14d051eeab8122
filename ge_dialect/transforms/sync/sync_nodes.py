"""From events that are noted on nodes to Send and Recv nodes: spec/streams.md section 11."""

from __future__ import annotations

from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ensure_control_result
from ge_dialect.dialects.ge.graph import GateOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.sync.events import Events, SyncKind
from ge_dialect.transforms.sync.model import SyncError, SyncModel, make_node, stream_of

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

    def send(self, kind: SyncKind, event: int, stream: int) -> GeNode:
        self.sends += 1
        return self._make(*_SEND[kind], event, stream)

    def recv(self, kind: SyncKind, event: int, stream: int) -> GeNode:
        self.recvs += 1
        return self._make(*_RECV[kind], event, stream)

    def _make(self, node_type: str, prop: str, word: str, number: int, stream: int) -> GeNode:
        name = f"{self._root}_{word}_{number}"
        uses = self._used.get(name, 0)
        self._used[name] = uses + 1
        node = make_node(node_type, f"{name}_Reuse_{uses}" if uses else name, stream)
        node.properties[prop] = i64(number)
        return node


def generate_sync_nodes(model: SyncModel, events: Events, notifies: Events) -> int:
    """Put the Recv nodes of a node right before it and its Send nodes right behind it, joined to it by control edges.

    Order: sends of the main stream, sends of attached streams, receives of the main stream, receives of attached ones,
    notifies. The number of nodes made. Raises SyncError when an event has not as many senders as receivers.
    """
    maker = _Maker(model.root.sym_name.data)
    for op in model.nodes:
        stream = stream_of(op)
        sends = [maker.send("event", event, stream) for event in events.send.get(op, ())]
        for side, ids in sorted(events.side_send.get(op, {}).items()):
            sends += [maker.send("event", event, side) for event in ids]
        recvs = [maker.recv("event", event, stream) for event in events.recv.get(op, ())]
        for side, ids in sorted(events.side_recv.get(op, {}).items()):
            recvs += [maker.recv("event", event, side) for event in ids]
        recvs += [maker.recv("notify", event, stream) for event in notifies.recv.get(op, ())]
        sends += [maker.send("notify", event, stream) for event in notifies.send.get(op, ())]
        if recvs:
            _place_before(op, recvs)
        if sends:
            _place_behind(op, sends)
    if maker.sends != maker.recvs:
        raise SyncError(f"{maker.sends} events are sent, but {maker.recvs} received")
    return maker.sends + maker.recvs


def _place_before(op: Operation, recvs: list[GeNode]) -> None:
    block = op.parent
    assert block is not None
    block.insert_ops_before(recvs, op)
    controls = [ensure_control_result(recv) for recv in recvs]
    if isinstance(op, GeNode):
        op.operands = [*op.operands, *controls]
    elif op.operands:  # an op of another dialect takes no control operands
        gate = GateOp(op.operands[0], controls)
        block.insert_op_before(gate, op)
        op.operands[0] = gate.output


def _place_behind(op: Operation, sends: list[GeNode]) -> None:
    block = op.parent
    assert block is not None
    place = op
    if isinstance(op, GeNode) or op.results:
        control = ensure_control_result(op)
        if isinstance(control.owner, TokenOp):
            place = control.owner
        for send in sends:
            send.operands = [control]
    block.insert_ops_after(sends, place)
