"""Pass `ge-default-streams`: the last word on streams before tasks are made."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import get_int
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.transforms.split.limits import StreamLimitError
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


def check_notifies(count: int, most: int = MAX_NOTIFIES) -> None:
    """Raises StreamLimitError for more notifies than a model may have."""
    if count > most:
        raise StreamLimitError(f"the model needs {count} notifies, there are {most}")


@dataclass(frozen=True)
class GeDefaultStreams(ModulePass):
    """Put every node without stream on stream 0.

    Expects all passes that look at streams before it: a node without stream orders nothing, one on stream 0 does
    (spec/streams.md section 8.7). Guarantees afterwards: every node has a stream and there is at least one stream.

    Options:
    * `device`: a device profile (docs/device_profiles.md) that says how many notifies there are, if it says that.

    Raises StreamLimitError for more than 1024 notifies, or than the device has.

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
        check_notifies(
            get_int(model.root, NOTIFY_NUM, 0) or 0, MAX_NOTIFIES if most is None else most
        )
