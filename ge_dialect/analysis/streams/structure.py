"""What must not change while streams are assigned: which nodes there are, in which order, with which edges."""

from __future__ import annotations

from operator import is_

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge.access import graphs, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError


class Structure:
    """The structure of a module at one moment (spec/streams.md section 16: no graph change in the logical phase).

    Ids are places in the blocks, so equal order means equal ids. Taking it and comparing cost one sweep each.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._graphs = graphs(module)
        self._nodes = [_nodes(graph) for graph in self._graphs]

    def check(self, module: ModuleOp, pass_name: str) -> None:
        """Raises GeError, naming the first place, when the module's structure is another one now."""
        now = graphs(module)
        if now != self._graphs:
            raise GeError(f"{pass_name} changed the list of graphs while assigning streams")
        for graph, before in zip(now, self._nodes, strict=True):
            after = _nodes(graph)
            if len(after) < len(before):
                raise _changed(pass_name, "number", graph, before[len(after)][0])
            for number, (op, operands) in enumerate(after):
                if number >= len(before) or before[number][0] is not op:
                    raise _changed(pass_name, "order", graph, op)
                if not _same(operands, before[number][1]):
                    raise _changed(pass_name, "inputs", graph, op)


def _nodes(graph: GraphOp) -> list[tuple[Operation, tuple[SSAValue, ...]]]:
    return [(op, tuple(op.operands)) for op in graph.block.ops]


def _same(now: tuple[SSAValue, ...], before: tuple[SSAValue, ...]) -> bool:
    return len(now) == len(before) and all(map(is_, now, before))


def _changed(pass_name: str, what: str, graph: GraphOp, op: Operation) -> GeError:
    return GeError(
        f"{pass_name} changed the {what} of nodes in @{graph.sym_name.data} while assigning streams, "
        f'first seen at "{node_name(op) or op.name}"',
        location_text(op),
    )
