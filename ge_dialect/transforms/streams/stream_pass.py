"""What the steps of stream assignment have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.host_streams import has_host_streams
from ge_dialect.analysis.streams.nodes import StreamModel


@dataclass(frozen=True)
class StreamPass(ModulePass):
    """One step of the chain that puts nodes on streams.

    The graph's structure is not touched: order, edges and ids stay (spec/streams.md section 16). The chain checks it:
    `ge-cluster-engines` notes the structure as `ge.structure`, the last step for main streams compares.

    Between the steps a graph counts its own streams: `ge.next_stream` is the next free number. Below another graph the
    number 0 stands for the stream of the owning node. `ge-stream-number` makes them numbers of the model.

    Models whose streams `ge-assign-host-streams` has settled are left alone.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = StreamModel(op)
        if model.root is not None and has_host_streams(model.root.graph):
            return
        changed = self.assign(model)
        if model.root is not None:
            emit_remark(
                model.root.graph,
                self.name,
                "passed" if changed else "missed",
                "streams changed" if changed else "not changed",
                changed=changed,
            )

    @abstractmethod
    def assign(self, model: StreamModel) -> bool:
        """Do the step; whether it applied to anything. Raises StreamError."""
