"""Pass `ge-default-streams`: the last word on streams before tasks are made."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int, get_ints, node_name
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.location import location_text
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.transforms.split.limits import StreamLimitError
from ge_dialect.transforms.streams.attached_resources import SYNC_LIST
from ge_dialect.transforms.streams.ge_attached_sync import V2_KINDS, V2_TYPE
from ge_dialect.transforms.sync.model import (
    NO_STREAM,
    NOTIFY_NUM,
    STREAM,
    STREAM_NUM,
    SyncModel,
    stream_of,
)

MAX_NOTIFIES = 1024
"""Notifies that a model may have."""


def check_notifies(model: SyncModel, most: int = MAX_NOTIFIES) -> None:
    """Raises StreamLimitError for more notifies than a model may have, at the first node for which none is left."""
    count = get_int(model.root, NOTIFY_NUM, 0) or 0
    if count <= most:
        return
    over = next((op for op in model.nodes if _last_notify(op) >= most), None)
    asks = "" if over is None else f': none is left for node "{node_name(over)}"'
    raise StreamLimitError(
        f"the model needs {count} notifies, there are {most}{asks}",
        location_text(model.root if over is None else over),
    )


def _last_notify(op: Operation) -> int:
    """The greatest notify that a node records, waits for or has attached; -1 without any."""
    found = [
        -1,
        *(get_ints(op, "ge.send_notifies") or ()),
        *(get_ints(op, "ge.recv_notifies") or ()),
    ]
    if "attrs" in op.properties:
        own = ge_attr(op, "notify_id", ())
        found += [own] if isinstance(own, int) else own
        found += (
            element.get("_attached_resource_id", -1)
            for element in ge_attr(op, SYNC_LIST, ())
            if V2_KINDS.get(element.get(V2_TYPE)) == "notify"
        )
    elif isinstance(number := op.properties.get("notify_id"), IntegerAttr):
        found.append(number.value.data)
    return max(found)


@dataclass(frozen=True)
class GeDefaultStreams(ModulePass):
    """Put every node without stream on stream 0.

    Expects all passes that look at streams before it: a node without stream orders nothing, one on stream 0 does
    (spec/streams.md section 8.7). Guarantees afterwards: every node has a stream and there is at least one stream.

    Options:
    * `device`: a device profile (docs/device_profiles.md) that says how many notifies there are, if it says that.

    Raises StreamLimitError for more than 1024 notifies, or than the device has, naming the node.

    Before and after:

        %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
        %x = ge.data index 0 {ge.name = "x", ge.stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-default-streams"

    device: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        streams = model.streams
        for node in model.nodes:
            if isinstance(node, GeNode) and stream_of(node) == NO_STREAM:
                node.attributes[STREAM] = i64(0)
        model.set_count(STREAM_NUM, max(streams, 1))
        most = load_profile(self.device).limits.notifies if self.device else None
        check_notifies(model, MAX_NOTIFIES if most is None else most)
