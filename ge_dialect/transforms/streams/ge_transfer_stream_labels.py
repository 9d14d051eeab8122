"""Pass `ge-transfer-stream-labels`: the user's stream labels win over those that the compiler set."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import (
    LABEL,
    USER_LABEL,
    StreamModel,
    has_ge_attr,
    text_attr,
)
from ge_dialect.dialects.ge.access import ge_attr, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.stream_pass import StreamPass

INNER_PARALLEL = "_enable_inner_parallel"


@dataclass(frozen=True)
class GeTransferStreamLabels(StreamPass):
    """Make the label of a user the stream label of the node (spec/streams.md section 1.5).

    Expects the labels that the source gave; the first step of every chain. A node of any graph that has
    `_user_stream_label` gets it as `_stream_label`. With `_enable_inner_parallel` and a `_stream_label` of its own the
    user's label first becomes `<user's>_<own>`, so that the parts stay apart. Guarantees afterwards: `_stream_label`
    alone says which nodes belong together.

    Before and after:

        %y = ge.op "Relu" (%x) attrs {_user_stream_label = "u", _stream_label = "i"} {ge.name = "y"} : tensor<2xf32>
        %y = ge.op "Relu" (%x) attrs {_user_stream_label = "u", _stream_label = "u"} {ge.name = "y"} : tensor<2xf32>
    """

    name = "ge-transfer-stream-labels"

    def assign(self, model: StreamModel) -> bool:
        changed = False
        for view in model.graphs:
            for op in view.nodes:
                if not has_ge_attr(op, USER_LABEL) or not isinstance(op, GeNode):
                    continue
                label = text_attr(op, USER_LABEL)
                if has_ge_attr(op, LABEL) and ge_attr(op, INNER_PARALLEL) is True:
                    label = f"{label}_{text_attr(op, LABEL)}"
                    set_ge_attr(op, USER_LABEL, label)
                set_ge_attr(op, LABEL, label)
                changed = True
        return changed
