"""Whether a model becomes one task list."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, NoneType

from ge_dialect.analysis.task_count import type_bytes
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.dialects.ge.types import ControlType


def is_known(module: ModuleOp) -> bool:
    """Whether all data of all graphs are tensors of known size and no node owns a sub-graph."""
    for graph in graphs(module):
        for op in graph.block.ops:
            if "subgraphs" in op.properties:
                return False
            for value in op.results:
                kind = value.type
                if not isinstance(kind, ControlType | NoneType) and type_bytes(kind) is None:
                    return False
    return True
