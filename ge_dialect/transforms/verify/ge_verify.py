"""ge-verify: rules across operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.verify.module_checks import structure_findings
from ge_dialect.transforms.verify.semantics import semantic_findings

Level: TypeAlias = Literal["structure", "semantics"]
Severity: TypeAlias = Literal["error", "remark"]


def verify_module(
    module: ModuleOp, level: Level = "semantics", severity: Severity = "error"
) -> None:
    """Check the rules of structure and, at level `semantics`, that element types and shapes are those of the operators.

    Raises VerifyError with the place of the first rule that is broken. With `severity` "remark" broken rules of the
    second level are remarks instead: a dump may hold what no operator allows (design.md section 4).
    """
    for finding in structure_findings(module):
        raise finding.error()
    if level == "structure":
        return
    for finding in semantic_findings(module):
        if severity == "error":
            raise finding.error()
        emit_remark(finding.op, GeVerify.name, "analysis", finding.text(), check="semantics")


@dataclass(frozen=True)
class GeVerify(ModulePass):
    """Check what the verifiers of single operations cannot: order, names, edges, sub-graphs, marks, types and shapes.

    Expects any module. Guarantees afterwards: the module is as it was, and each statement below holds. ge-opt makes the
    same checks before the first pass and behind the last, with `--verify-each` behind each.

    Level `structure` (linear in operations and edges):
    * every operand is defined further up in the same graph;
    * control values are last among operands and results;
    * node names are unique in a graph, graph names in the module;
    * a graph has at most one NetOutput; the indices of its inputs differ; `ge.parent_node_index` is an input of the
      owning node;
    * a sub-graph has one owner, is not the root, does not own itself, and is at most 100 levels below the root; a
      missing one is legal;
    * every `ge.*` attribute is in the attribute table and has its type and place; slot lists have one entry a slot;
    * GE's attributes about streams, labels and events have the type that the passes read; `ge.stream` is -1 or more;
    * `ge.consumers` lists edges of the graph, none twice.

    Level `semantics` adds: inputs and attributes of each node go together, and its result types follow from them; each
    label is set once in the model, each jump leads to one, and tables are indexed by one integer.

    Options:
    * `level`: "structure" or "semantics" (the default);
    * `semantics`: "error" (the default), or "remark" for dumps.

    Raises VerifyError.

    Before and after: the same text, or an error at the node:

        %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<3xf32>

        "y": output 0 has type tensor<3xf32>, but Relu gives tensor<2xf32>
    """

    name = "ge-verify"

    level: Level = "semantics"
    semantics: Severity = "error"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_module(op, self.level, self.semantics)
