"""The maps of all that is planned in a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.known_shape import unknown_reason
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.memory_map.model import MemoryMap
from ge_dialect.tools.memory_map.of_graph import is_planned, maps_of_graph
from ge_dialect.tools.memory_map.of_tasks import maps_of_tasks


def maps_of_module(module: ModuleOp) -> list[MemoryMap]:
    """The maps of the planned graphs and of the task lists of a module, in its order.

    Raises GeError when nothing is planned, saying why.
    """
    found: list[MemoryMap] = []
    unplanned = [graph for graph in graphs(module) if not is_planned(graph)]
    for op in module.walk():
        if isinstance(op, ModelOp):
            found += maps_of_tasks(op)
    for graph in graphs(module):
        if is_planned(graph):
            found += maps_of_graph(graph)
    if found:
        return found
    if unplanned:
        unknown = unknown_reason(module)
        if unknown is not None:
            raise GeError(
                f'graph "{unplanned[0].sym_name.data}" has no memory plan, as its memory is taken at run time: '
                f"{unknown[1]}; does the model need --dim?",
                location_text(unknown[0]),
            )
        return maps_of_graph(unplanned[0])  # raises
    host = next((op for op in module.walk() if isinstance(op, HostOp)), None)
    if host is None:
        raise GeError("the module has no memory plan: it has neither a graph nor a task list")
    raise GeError(
        f"@{host.sym_name.data} has no memory plan: its memory is taken at run time; does the model need --dim?",
        location_text(host),
    )
