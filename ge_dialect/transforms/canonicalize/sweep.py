"""The sweep over one graph after another that `ge-canonicalize` is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph, owned_graph
from ge_dialect.analysis.remarks import emit_remark, remarks_wanted
from ge_dialect.dialects.attrs import string_attr
from ge_dialect.dialects.engine_types import BRANCH_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    graph_table,
    graphs,
    node_name,
    source_op,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp, NetOutputOp
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels import Array, evaluate
from ge_dialect.kernels.spec import spec_of
from ge_dialect.transforms.canonicalize.constants import ConstantTable
from ge_dialect.transforms.canonicalize.effects import (
    is_removable,
    is_repeatable,
    takes_part_in_control,
)
from ge_dialect.transforms.canonicalize.folding import NotFolded, fold, has_constant_inputs
from ge_dialect.transforms.canonicalize.forwarding import forwarded
from ge_dialect.transforms.canonicalize.inlining import NameSet, inline_branch
from ge_dialect.transforms.canonicalize.loops import (
    assume,
    assumed_types,
    body_of,
    copied,
    keeps_types,
    loop_kind,
    loop_results,
)
from ge_dialect.transforms.canonicalize.merging import MergeTable
from ge_dialect.transforms.canonicalize.owners import (
    PASSED_AS_THEY_ARE,
    narrow_inputs,
    output_infos,
)
from ge_dialect.transforms.canonicalize.refine import apply_infos, needs_refining, refine_results
from ge_dialect.transforms.canonicalize.slices import meant_by_absence

PASS_NAME = "ge-canonicalize"
_NO_SWEEP = (DataOp, NetOutputOp)
_SHAPE_TYPES = frozenset({"Shape", "Size"})


class Sweep:
    """One run over a module; `counts` says what it did."""

    def __init__(self, module: ModuleOp, fold_limit: int) -> None:
        self.module = module
        self.fold_limit = fold_limit
        self.table = graph_table(module)
        self.counts: Counter[str] = Counter()
        self._callers = Counter(
            name
            for graph in self.table.values()
            for op in graph.block.ops
            for name in subgraph_names(op)
        )
        self._open: set[GraphOp] = set()

    def run(self) -> None:
        """Sweep the root graph, and from there every graph that is owned; then drop what nobody reads or owns."""
        found = graphs(self.module)
        if not found:
            return
        self.graph(found[0])
        self._remove_unowned_graphs(graphs(self.module))

    def graph(self, graph: GraphOp) -> None:
        """Sweep one graph, then remove its dead nodes in one sweep back."""
        if graph in self._open:
            return
        self._open.add(graph)
        _GraphSweep(self, graph).run()
        self._remove_dead_nodes(graph)

    def only_caller(self, name: str) -> bool:
        """Whether no other node owns the graph `name`."""
        return self._callers[name] == 1

    def try_loop(self, op: Operation, body: OwnedGraph, types: dict[int, Attribute]) -> bool:
        """Sweep a copy of a loop's body under assumptions about its inputs; it stays if the body keeps them."""
        if (module := copied(body.graph, self.table)) is None:
            return False
        trial = Sweep(module, self.fold_limit)
        made = graphs(module)[0]
        assume(made, types)
        trial.run()
        if not keeps_types(op, owned_graph(made)):
            return False
        self.counts.update(trial.counts)
        place = self.module.body.block
        for graph in graphs(module):
            name = graph.sym_name.data
            module.body.block.detach_op(graph)
            place.insert_op_before(graph, self.table[name])
            place.erase_op(self.table[name])
            self.table[name] = graph
            self._open.add(graph)
        return True

    def _remove_dead_nodes(self, graph: GraphOp) -> None:
        block = graph.block
        op = block.last_op
        while op is not None:
            before = op.prev_op
            if all(result.first_use is None for result in op.results) and is_removable(
                op, self.table
            ):
                block.erase_op(op)
                self.counts["removed"] += 1
            op = before

    def _remove_unowned_graphs(self, found: Sequence[GraphOp]) -> None:
        reached: set[GraphOp] = {found[0]}
        todo = [found[0]]
        while todo:
            for op in todo.pop().block.ops:
                for name in subgraph_names(op):
                    inner = self.table.get(name)
                    if inner is not None and inner not in reached:
                        reached.add(inner)
                        todo.append(inner)
        for graph in found:
            if graph not in reached:
                self.module.body.block.erase_op(graph)
                self.counts["graphs removed"] += 1


class _GraphSweep:
    """The forward sweep over one graph: every node is met once, with all that it reads in final form."""

    def __init__(self, owner: Sweep, graph: GraphOp) -> None:
        self.sweep = owner
        self.block = graph.block
        self.graph = graph
        self.counts = owner.counts
        self.constants = ConstantTable()
        self.merges = MergeTable()
        self._names: NameSet | None = None

    @property
    def names(self) -> NameSet:
        """The names of the graph's nodes, gathered when first asked for."""
        if self._names is None:
            self._names = NameSet(self.graph)
        return self._names

    def run(self) -> None:
        op = self.block.first_op
        while op is not None:
            op = self._visit(op)

    def _visit(self, op: Operation) -> Operation | None:
        """Treat one op and answer the next."""
        following = op.next_op
        if isinstance(op, ConstantOp):
            self._constant(op)
        elif isinstance(op, GeNode) and not isinstance(op, _NO_SWEEP):
            if "subgraphs" in op.properties:
                return self._owner(op)
            self._node(op)
        return following

    # --- constants -----------------------------------------------------------------------------------------------

    def _constant(self, op: ConstantOp) -> None:
        if len(op.results) != 1:
            return
        same = self.constants.equal_to(op.value, op.results[0].type)
        if same is None or takes_part_in_control(op):
            self.constants.add(op)
            return
        op.results[0].replace_all_uses_with(same.results[0])
        self.block.erase_op(op)
        self.counts["merged"] += 1

    def _new_constant(self, array: Array, name: str, before: Operation) -> SSAValue:
        """The value of a constant with these elements: an existing one, or a new one in front of `before`."""
        value = elements_attr(array)
        kind: Attribute = value.type
        same = self.constants.equal_to(value, kind)
        if same is not None:
            return same.results[0]
        op = ConstantOp.make((), (kind,), {"value": value}, {"ge.name": string_attr(name)})
        op.location = before.location
        self.block.insert_op_before(op, before)
        self.constants.add(op)
        return op.results[0]

    # --- nodes ---------------------------------------------------------------------------------------------------

    def _node(self, op: GeNode) -> None:
        kind = ge_type(op)
        for slot, array in meant_by_absence(op, kind):
            name = self.names.free(f"{node_name(op)}/input_{slot}")
            op.operands[slot] = self._new_constant(array, name, op)
            self.counts["completed"] += 1
        repeatable = is_repeatable(op)
        ordered = takes_part_in_control(op)
        if repeatable and not ordered:
            if has_constant_inputs(op, self.constants) and self._fold(op):
                return
            if kind in _SHAPE_TYPES and self._fold_shape(op):
                return
        if needs_refining(op):
            self._refine(op)
        if ordered:
            return
        if (value := forwarded(op, kind, self.constants)) is not None:
            op.results[0].replace_all_uses_with(value)
            self.block.erase_op(op)
            self.counts["forwarded"] += 1
        elif repeatable and (same := self.merges.equal_to(op)) is not None:
            for result, other in zip(op.results, same.results, strict=True):
                result.replace_all_uses_with(other)
            self.block.erase_op(op)
            self.counts["merged"] += 1

    def _fold(self, op: GeNode) -> bool:
        if all(result.first_use is None for result in op.results):
            return False  # dead: removed later
        try:
            outputs = fold(op, self.constants, self.sweep.fold_limit)
        except NotFolded as reason:
            emit_remark(
                op, PASS_NAME, "missed", f"not folded: {reason}", condition=reason.condition
            )
            return False
        self._replace(op, outputs)
        self.counts["folded"] += 1
        return True

    def _fold_shape(self, op: GeNode) -> bool:
        """Shape and Size need no more than a static type. Of ONNX's operators only those with a GE type come here."""
        inputs = data_operands(op)
        if (
            source_op(op) is not None
            or not inputs
            or (shape := static_shape(inputs[0].type)) is None
        ):
            return False
        if ge_attr(op, "dtype", 9) not in (3, 9):
            return False
        stand_in = np.broadcast_to(np.zeros((), np.uint8), shape)  # takes no memory
        outputs = evaluate(spec_of(op), [stand_in])
        self._replace(op, outputs)
        self.counts["folded"] += 1
        return True

    def _replace(self, op: GeNode, outputs: Sequence[Array]) -> None:
        """Put constants in the place of a node; they take over its name."""
        name = node_name(op)
        results = data_results(op)
        several = sum(result.first_use is not None for result in results) > 1
        if remarks_wanted():
            emit_remark(op, PASS_NAME, "passed", f'"{name}" of type {ge_type(op)} folded')
        for index, (result, array) in enumerate(zip(results, outputs, strict=True)):
            if result.first_use is None:
                continue
            own = self.names.free(f"{name}_{index}") if several else name
            result.replace_all_uses_with(self._new_constant(array, own, op))
        self.block.erase_op(op)

    def _refine(self, op: GeNode) -> None:
        try:
            changed = refine_results(op)
        except (GeError, ValueError) as error:
            emit_remark(op, PASS_NAME, "missed", f"shape not refined: {error}", condition="shape")
            return
        self.counts["refined"] += changed

    # --- nodes that own graphs -----------------------------------------------------------------------------------

    def _owner(self, op: GeNode) -> Operation | None:
        """Inline, or carry types in, sweep the graphs, carry types out; the next op to visit."""
        kind = ge_type(op)
        previous, following = op.prev_op, op.next_op
        inputs = data_operands(op)
        if kind in BRANCH_TYPES and inputs and not takes_part_in_control(op):
            condition = self.constants.array(inputs[0])
            if condition is not None and inline_branch(
                op, kind, condition, self.sweep.table, self.names
            ):
                self.counts["inlined"] += 1
                return self.block.first_op if previous is None else previous.next_op
        carried = kind in PASSED_AS_THEY_ARE and source_op(op) is None
        names = subgraph_names(op)
        for name in names:
            graph = self.sweep.table.get(name)
            if graph is None:
                continue
            if self.sweep.only_caller(name):
                self._narrow(op, graph)
                if loop_kind(op) is not None:
                    self._narrow_loop(op)
            self.sweep.graph(self.sweep.table[name])
        if loop_kind(op) is not None:
            self._loop_results(op)
        if carried:
            try:
                self.counts["refined"] += apply_infos(op, output_infos(names, self.sweep.table))
            except ValueError as error:
                emit_remark(
                    op, PASS_NAME, "missed", f"shape not refined: {error}", condition="shape"
                )
        return following

    def _narrow_loop(self, op: GeNode) -> None:
        if (body := body_of(op, self.sweep.table)) is None:
            return
        try:
            types = assumed_types(op, body)
        except ValueError as error:
            emit_remark(op, PASS_NAME, "missed", f"shape not refined: {error}", condition="shape")
            return
        if types is not None and not self.sweep.try_loop(op, body, types):
            said = "shapes of the loop not refined: its body does not keep them"
            emit_remark(op, PASS_NAME, "missed", said, condition="shape")

    def _loop_results(self, op: GeNode) -> None:
        if (body := body_of(op, self.sweep.table)) is None:
            return
        try:
            self.counts["refined"] += apply_infos(op, loop_results(op, body))
        except ValueError as error:
            emit_remark(op, PASS_NAME, "missed", f"shape not refined: {error}", condition="shape")

    def _narrow(self, op: GeNode, graph: GraphOp) -> None:
        try:
            self.counts["refined"] += narrow_inputs(op, graph, self.constants)
        except ValueError as error:
            emit_remark(op, PASS_NAME, "missed", f"shape not refined: {error}", condition="shape")
