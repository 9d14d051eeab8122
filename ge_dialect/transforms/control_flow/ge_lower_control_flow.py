"""Pass `ge-lower-control-flow`: branches and loops of known shape become labels and jumps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.engine_types import CALL_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_type,
    get_flag,
    graph_table,
    graphs,
    node_name,
    subgraph_names,
)
from ge_dialect.transforms.control_flow.branches import lower_case, lower_if
from ge_dialect.transforms.control_flow.conditions import WHILE_TYPES, first_failure
from ge_dialect.transforms.control_flow.expander import Expander, Lower
from ge_dialect.transforms.control_flow.onnx_loop import lower_loop
from ge_dialect.transforms.control_flow.onnx_scan import lower_scan
from ge_dialect.transforms.control_flow.routes import replace_result
from ge_dialect.transforms.control_flow.while_loop import lower_while

PASS_NAME = "ge-lower-control-flow"


@dataclass(frozen=True)
class GeLowerControlFlow(ModulePass):
    """Put labels and jumps in the place of nodes that own graphs, so that one graph is left (docs/control_flow.md).

    Expects a model all of whose shapes are known (ge-canonicalize finds out what follows), but for what control flow
    itself brings in; engines may be given. All or nothing: a model with one node that only the host can run stays as it
    is. What can be lowered: If, Case and While of GE (and their stateless forms), calls, and of ONNX Loop, whose scan
    outputs need a constant trip count and a condition that is always true, and Scan.

    Guarantees afterwards: no node owns a graph, the root is the only graph. Bodies stand in its block in the order of
    walking, each behind a LabelSet. All that a construct reads from outside goes in through its first node (the
    LabelSwitchByIndex of a branch, the LabelSet at the head of a loop), all that is read of it comes out of its last,
    a LabelSet; constants aside. Such a node's results are its operands under a new name, in the same memory
    (`reuse_input`). Results of branches are copied into one memory, states of loops live in memory of their own, into
    which copies at the end of a turn put the next values. What a loop reads is an operand of its jump back, so that
    memory is in use as long. From here on block order means something: nothing may be moved into, out of or inside what
    lies between the first and the last mention of a label.

    Remarks: how many constructs became how many labels, or the first node that keeps the model on the host with the
    condition: `unknown` (a shape, element type or operator), `operator` (a type without labels), `form` (numbers of
    inputs, outputs, graphs), `condition` (not one number), `types` (what meets in one place differs), `scan-length`
    (how much a loop collects is not known), `missing-graph`.

    Before and after:

        %r = ge.op "If" (%c, %x) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xf32>

        %i = ge.op "Cast" (%c) attrs {dst_type = 3} : tensor<i32>
        %x1 = ge.label_switch (%i, %x) label_list [1, 0] {ge.res_attrs = [{reuse_input = 1}]} : tensor<2xf32>
        ge.label_set label_index 0
        ... the nodes of @then, which give %a ...
        %r0 = ge.op "Identity" (%a) : tensor<2xf32>
        ge.label_goto label_index 2
        ge.label_set label_index 1
        ... the nodes of @else, which give %b ...
        %r1 = ge.op "Identity" (%b, %r0) {ge.res_attrs = [{reuse_input = 1}]} : tensor<2xf32>
        %r = ge.label_set (%r1) label_index 2 {ge.res_attrs = [{reuse_input = 0}]} : tensor<2xf32>
    """

    name = PASS_NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found or not any(subgraph_names(node) for node in found[0].block.ops):
            return
        root = found[0]
        table = graph_table(op)
        if get_flag(root, "ge.unknown_shape"):
            said = "left to the host: the graph is marked ge.unknown_shape"
            emit_remark(root, self.name, "missed", said, condition="unknown")
            return
        if (failure := first_failure(root, table)) is not None:
            node, (condition, reason) = failure
            said = f'left to the host: {ge_type(node)} "{node_name(node)}": {reason}'
            emit_remark(node, self.name, "missed", said, condition=condition, type=ge_type(node))
            return
        expander = Expander(root, table, LOWERINGS)
        expander.run()
        for graph in found[1:]:
            op.body.block.erase_op(graph)
        said = f"{expander.constructs} constructs became {expander.flat.labels} labels"
        emit_remark(
            root,
            self.name,
            "passed",
            said,
            constructs=expander.constructs,
            labels=expander.flat.labels,
        )


def _lower_call(expander: Expander, op: Operation) -> None:
    """The nodes of the graph that is called stand in the place of the call."""
    (graph,) = expander.owned(op)
    operands = data_operands(op)
    values = {formal: operands[graph.index_of(formal) or 0] for formal in graph.formals}
    outputs = expander.splice(op, graph, values)
    for result in data_results(op):
        replace_result(result, outputs[result.index])


LOWERINGS: Mapping[str, Lower] = MappingProxyType(
    {
        **dict.fromkeys(("If", "_If", "StatelessIf"), lower_if),
        **dict.fromkeys(("Case", "StatelessCase"), lower_case),
        **dict.fromkeys(WHILE_TYPES, lower_while),
        **dict.fromkeys(CALL_TYPES, _lower_call),
        "onnx.Loop": lower_loop,
        "onnx.Scan": lower_scan,
    }
)
