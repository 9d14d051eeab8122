"""The engine table as stream assignment sees it: the built-in one, overlaid by the module's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.engine_table import CUSTOM, ENGINES, SCHEDULE_UNIT
from ge_dialect.dialects.ge.access import ge_type, get_text, node_name
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError

ENGINE_TABLE = "ge.engine_table"
WEAKEST_COST = 10


@dataclass(frozen=True, slots=True)
class StreamEngine:
    """One engine (spec/streams.md section 1.2).

    `independent`: its own stream, shared with no other engine; `attach`: may ride on the stream of any eligible
    predecessor; `skip_assign_stream`: makes no device task; `cost`: lower is stronger; `scheduler_id`: engines share
    streams only inside a schedule unit.
    """

    name: str
    scheduler_id: str = SCHEDULE_UNIT[0]
    cost: int = WEAKEST_COST
    independent: bool = False
    attach: bool = False
    skip_assign_stream: bool = False


@cache
def _built_in() -> MappingProxyType[str, StreamEngine]:
    return MappingProxyType(
        {
            row.name: StreamEngine(
                row.name,
                cost=row.cost,
                independent=row.independent,
                attach=row.attach,
                skip_assign_stream=row.skip_assign_stream,
            )
            for row in ENGINES.values()
        }
    )


class EngineTable:
    """The engines of one module, by name."""

    def __init__(self, module: ModuleOp) -> None:
        self._rows = dict(_built_in())
        own = module.attributes.get(ENGINE_TABLE)
        if isinstance(own, DictionaryAttr):
            for name, row in own.data.items():
                self._rows[name] = _row(name, row)

    def get(self, name: str) -> StreamEngine | None:
        """The engine of that name."""
        return self._rows.get(name)

    def of_node(self, op: Operation) -> StreamEngine:
        """The engine of a node. Raises GeError for a node without engine and for an engine that nobody configured."""
        name = get_text(op, "ge.engine")
        row = self._rows.get(name or "")
        if row is None:
            problem = f"unknown engine '{name}'" if name else "no engine: run ge-assign-engines"
            raise GeError(
                f'node "{node_name(op)}" of type {ge_type(op)} has {problem}', location_text(op)
            )
        return row


def _row(name: str, row: Attribute) -> StreamEngine:
    if not isinstance(row, DictionaryAttr):
        raise GeError(f"{ENGINE_TABLE}: the entry of engine '{name}' is no dictionary")
    scheduler, cost = row.data.get("scheduler_id"), row.data.get("cost")
    return StreamEngine(
        name,
        scheduler.data if isinstance(scheduler, StringAttr) else SCHEDULE_UNIT[0],
        cost.value.data if isinstance(cost, IntegerAttr) else WEAKEST_COST,
        independent=_flag(row, "independent"),
        attach=_flag(row, "attach"),
        skip_assign_stream=_flag(row, "skip_assign_stream"),
    )


def _flag(row: DictionaryAttr, name: str) -> bool:
    value = row.data.get(name)
    return isinstance(value, UnitAttr) or (isinstance(value, IntegerAttr) and value.value.data != 0)


def clustered_name(name: str) -> str:
    """The engine name under which nodes are grouped: custom operators run on AI Core."""
    return "AIcoreEngine" if name == CUSTOM else name
