"""Pass `ge-assign-engines`: which engine runs each node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import string
from ge_dialect.dialects.engine_table import ENGINES, GE_LOCAL
from ge_dialect.dialects.engine_types import HCCL_PREFIX, STACK_TYPES
from ge_dialect.dialects.ge.access import (
    ge_attr,
    ge_type,
    get_text,
    graphs,
    is_static,
    node_name,
    source_op,
)
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.engines.select import (
    ATTR_ENGINE,
    ATTR_LIB,
    SPECIFIED_ENGINE,
    SPECIFIED_LIB,
    Names,
    PlacementFailure,
    Policy,
    excluded_engines,
    select,
)


def placement_type(op: Operation) -> str:
    """The type that the engines' tables are asked for.

    An operator of ONNX's own domain is looked up by its name: where GE has a type of that name it means the same. One
    of another domain only shares the name by chance and is asked for with its domain, except collectives.
    """
    source = source_op(op)
    if source is None or source.domain == "ai.onnx" or source.op.startswith(HCCL_PREFIX):
        return ge_type(op)
    return f"{source.domain}::{source.op}"


def names_of(op: Operation) -> Names:
    """What the node says about its engine so far."""
    engine, lib = get_text(op, "ge.engine") or "", get_text(op, "ge.kernel_lib") or ""
    if "attrs" not in op.properties:
        return Names(engine, lib)
    pair = (
        str(ge_attr(op, name, ""))
        for name in (ATTR_ENGINE, ATTR_LIB, SPECIFIED_ENGINE, SPECIFIED_LIB)
    )
    return Names(engine, lib, *pair)


@dataclass(frozen=True)
class GeAssignEngines(ModulePass):
    """Give every node of every graph its engine and kernel lib.

    Expects nodes of any kind; nothing need be known about shapes. Guarantees afterwards: `ge.engine` and
    `ge.kernel_lib` on every `ge` node (spec/engines.md sections 1 to 6). A node that has an engine keeps it; the
    attribute pairs `_lxfusion_*` and `_specified_*` are obeyed; otherwise the cheapest engine that knows the type and
    is not excluded wins (no list names it: AIcoreEngine). The pair `_lxfusion_*` is not written back into the node's
    `attrs`: it would repeat `ge.engine` and `ge.kernel_lib`, and a dump spells these so.

    Options:
    * `engine-type`: `VectorCore` excludes AIcoreEngine, anything else VectorEngine (GE's `ge.engineType`);
    * `exclude`: short names of engines to leave out, separated by `|`, as in `exclude="AiCore|Dsa"`;
    * `host-exec`: place every computational node on the host CPU, an error for one that it does not know;
    * `runtime-v2`: false moves stack operators of unknown shape to GE local (`ENABLE_RUNTIME_V2=0`).

    Raises GeError, naming node and type, for a node that no engine takes.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2xf32>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine", ge.kernel_lib = "AIcoreEngine"}
            : tensor<2xf32>
    """

    name = "ge-assign-engines"

    engine_type: str = ""
    exclude: str = ""
    host_exec: bool = False
    runtime_v2: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        policy = Policy(excluded_engines(self.engine_type, self.exclude), self.host_exec)
        for graph in graphs(op):
            self._place(graph.block.ops, policy)

    def _place(self, ops: Iterable[Operation], policy: Policy) -> None:
        chosen: dict[str, Names] = {}
        for node in ops:
            if not isinstance(node, GeNode):
                continue
            asked, names = placement_type(node), names_of(node)
            if names != _NOTHING:
                found = self._select(node, asked, names, policy)
            elif asked in chosen:
                found = chosen[asked]
            else:
                found = chosen[asked] = self._select(node, asked, names, policy)
            node.attributes["ge.engine"] = string(found.engine)
            if found.kernel_lib:
                node.attributes["ge.kernel_lib"] = string(found.kernel_lib)
            if not self.runtime_v2 and asked in STACK_TYPES and not is_static(node):
                self._to_ge_local(node)

    def _select(self, node: Operation, asked: str, names: Names, policy: Policy) -> Names:
        try:
            placement = select(asked, names, policy)
        except PlacementFailure as failure:
            raise GeError(
                f'no engine for node "{node_name(node)}" of type {ge_type(node)}: {failure}',
                location_text(node),
            ) from None
        if placement.warning is not None:
            emit_remark(node, self.name, "analysis", placement.warning, condition="names-differ")
        found = placement.names
        if not found.kernel_lib and (row := ENGINES.get(found.engine)) is not None:
            return Names(found.engine, row.kernel_lib)
        return found

    def _to_ge_local(self, node: Operation) -> None:
        node.attributes["ge.engine"] = string(GE_LOCAL)
        node.attributes["ge.kernel_lib"] = string(ENGINES[GE_LOCAL].kernel_lib)
        emit_remark(
            node, self.name, "passed", "moved to GE local: unknown shape and runtime v2 is off"
        )


_NOTHING = Names()
