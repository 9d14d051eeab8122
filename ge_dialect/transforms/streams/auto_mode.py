"""The automatic multi-stream modes and where they are said: spec/streams.md section 14.2."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ge_dialect.dialects.ge.access import get_text
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError

OPTION = "ge.autoMultistreamParallelMode"
GRAPH_ATTR = "ge.auto_multistream_mode"
DAG_STRATEGIES = ("LoadBalance", "MainStream", "WeightedLoadBalance")
MAX_AUTO_STREAMS = 64
_NUMBER = re.compile(r"0*[0-9]{1,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AutoMode:
    """An automatic mode: `kind` is `unset`, `default`, `cv` or one of `DAG_STRATEGIES`, which have a number of streams.

    `from_graph`: the root graph says it, not the option.
    """

    kind: str
    streams: int = 0
    from_graph: bool = False

    @property
    def is_dag(self) -> bool:
        """Whether streams are made from the graph of dependencies."""
        return self.kind in DAG_STRATEGIES


def parse_auto_mode(text: str, from_graph: bool = False) -> AutoMode:
    """The mode that a text means. Raises StreamError (E10001) for anything else."""
    if text == "":
        return AutoMode("unset", from_graph=from_graph)
    if text == "cv" or (text == "default" and from_graph):
        return AutoMode(text, from_graph=from_graph)
    strategy, colon, number = text.partition(":")
    if text == "default":
        raise _bad(text, "only the graph's attribute may be 'default'")
    if strategy not in DAG_STRATEGIES:
        raise _bad(text, f"expected cv or one of {', '.join(DAG_STRATEGIES)} with a number")
    if not colon:
        raise _bad(text, f"expected {strategy}:N with N from 1 to {MAX_AUTO_STREAMS}")
    if not _NUMBER.fullmatch(number) or not 1 <= int(number) <= MAX_AUTO_STREAMS:
        raise _bad(text, f"the number of streams is from 1 to {MAX_AUTO_STREAMS}")
    return AutoMode(strategy, int(number), from_graph)


def _bad(text: str, reason: str) -> StreamError:
    return StreamError(f"{OPTION} cannot be '{text}': {reason}", code="E10001")


def auto_mode_text(root: GraphOp | None, option: str) -> tuple[str, bool]:
    """The text in force and whether it is the root graph's, which wins over the option."""
    own = None if root is None else get_text(root, GRAPH_ATTR)
    return (option, False) if own is None else (own, True)


def effective_auto_mode(root: GraphOp | None, option: str) -> AutoMode:
    """The mode in force. Raises StreamError (E10001) for a text that means none."""
    text, from_graph = auto_mode_text(root, option)
    try:
        return parse_auto_mode(text, from_graph)
    except StreamError as error:
        if root is not None and from_graph:
            error.location = location_text(root)
        raise
