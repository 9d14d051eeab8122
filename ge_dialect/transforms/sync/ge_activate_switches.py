"""Pass `ge-activate-switches`: a switch starts one stream, so something starts the others."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.activation import (
    Labels,
    active_streams,
    set_specific_streams,
    specific_streams,
)
from ge_dialect.transforms.sync.model import STREAM_NUM, SyncModel, stream_of
from ge_dialect.transforms.sync.switches import activate_switches


@dataclass(frozen=True)
class GeActivateSwitches(ModulePass):
    """Put a StreamActive between a switch and each of its labels that has several streams.

    Expects `ge-activate-streams`. The node is called `<switch>_StreamActive_<i>`, has a stream of its own that the
    switch starts, and starts the streams of label i; what the label's nodes waited for at the switch they wait for at
    the node (spec/streams.md section 9.3). Guarantees afterwards: every switch with one label starts one stream, which
    is what a STREAM_SWITCH task can do; `ge.stream_num` counts the new streams.

    Raises SyncError, naming the switch, for one without labels and for a label that no node has.

    Before and after (nodes with label "then" are on streams 1 and 2, there are 3 streams):

        ge.stream_switch (%p, %t) active_stream_list [1, 2] attrs {_active_label_list = ["then"]} {ge.name = "s", ...}

        %s = ge.stream_switch (%p, %t) active_stream_list [3] attrs {_active_label_list = ["s_StreamActive_0"]} ...
        ge.stream_active (%s) active_stream_list [1, 2] attrs {...} {ge.name = "s_StreamActive_0", ge.stream = 3 : i64}
    """

    name = "ge-activate-switches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        streams = model.streams
        made = activate_switches(model, Labels.of(model), streams)
        if not made:
            return
        set_specific_streams(model, specific_streams(model) | {stream_of(node) for node in made})
        model.set_count(STREAM_NUM, streams + len(made))
        for node in made:
            listed = active_streams(node)
            emit_remark(node, self.name, "passed", f"starts streams {listed}", streams=len(listed))
