"""What marks come to: the stages behind the no-task passes, run on a copy of the model."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.memory_check import arenas_of
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge.access import ge_type, graphs, nodes
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.order.ge_topo_sort import GeTopoSort


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes of device memory without weights, and Identity nodes."""

    bytes: int
    copies: int


def trial(module: ModuleOp, *, check: bool = True) -> Cost | None:
    """The cost of a model of known shape as it is marked now; None when there is no memory plan, or (with
    `check`) one that does not hold.

    Streams come later: where none are given, the plan is that for a single one. It writes nothing in place, which a
    joined tensor allows less often. Nothing is changed and nothing is told.
    Takes the time of the stages themselves.
    """
    copy = module.clone()
    with collect_remarks():
        try:
            for each in (
                GeInsertIdentity(),
                GeTopoSort(),
                GePlanMemory(check=check, in_place=False),
            ):
                each.apply(Context(), copy)
        except GeError:
            return None
    root = graphs(copy)[0]
    bytes_ = sum(size for space, size in arenas_of(root).items() if space != "weight")
    copies = sum(ge_type(op) == "Identity" for graph in graphs(copy) for op in nodes(graph))
    return Cost(bytes_, copies)
