"""Which nodes of graphs with unknown shapes always run on the main stream: spec/streams.md section 4.3."""

from __future__ import annotations

from xdsl.ir import Operation

from ge_dialect.analysis.streams.nodes import has_ge_attr
from ge_dialect.dialects.ge.access import ge_attr, ge_type

MAIN_STREAM = 0
POTENTIAL_CONST = "_is_potential_const"
_MAIN_TYPES = frozenset(
    """Data RefData AippData AnnData NetOutput FileConstant Variable VariableV2 ConstPlaceHolder Const
    Constant""".split()
)


def is_forced_main(op: Operation) -> bool:
    """Whether the node is an input, output, variable or constant, all of which stay on the main stream."""
    if ge_type(op) in _MAIN_TYPES:
        return True
    return has_ge_attr(op, POTENTIAL_CONST) and ge_attr(op, POTENTIAL_CONST) is True


def owns_graphs(op: Operation) -> bool:
    """Whether the node runs other graphs."""
    return "subgraphs" in op.properties
