"""Whether a model's streams are those of a program that the host drives."""

from __future__ import annotations

from ge_dialect.dialects.ge.access import get_flag
from ge_dialect.dialects.ge.graph import GraphOp

HOST_STREAMS = "ge.host_streams"


def has_host_streams(root: GraphOp) -> bool:
    """Whether `ge-assign-host-streams` has settled the streams of the model: passes for task lists leave it alone."""
    return get_flag(root, HOST_STREAMS)
