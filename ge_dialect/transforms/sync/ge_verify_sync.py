"""Pass `ge-verify-sync`: proof that streams and events order every dependency."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.sync_check import unordered_pairs
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.sync.model import SyncError


@dataclass(frozen=True)
class GeVerifySync(ModulePass):
    """Prove that every data and control dependency is ordered by queues, Send and Recv nodes alone.

    Expects `ge-insert-sync-nodes` and runs before `ge-default-streams`. Guarantees: it changes nothing. The proof
    (`analysis.sync_check`) knows nothing of the passes that made the events. Reuse of memory is proven on the task
    list.

    Raises SyncError for the first pair of nodes that is not ordered.

    Before and after: the graph stays as it is.
    """

    name = "ge-verify-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = unordered_pairs(op)
        if found:
            others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise SyncError(f"{found[0]}{others}", location_text(found[0].second))
        for root in graphs(op)[:1]:
            emit_remark(root, self.name, "analysis", "every dependency is ordered")
