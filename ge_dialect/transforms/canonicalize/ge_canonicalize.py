"""Pass `ge-canonicalize`: everything that is known becomes explicit, everything superfluous goes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.transforms.canonicalize.sweep import PASS_NAME, Sweep

DEFAULT_FOLD_LIMIT = 16 << 20


@dataclass(frozen=True)
class GeCanonicalize(ModulePass):
    """Fold constants, materialise shapes, forward and merge nodes, remove dead ones.

    Expects graphs in topological order. One sweep over each graph in block order, graphs that a node owns right at
    that node, and one sweep back for dead nodes: linear in nodes and edges, so nothing is done twice. In the order in
    which a node meets them:

    1. A constant equal to an earlier one of its graph is merged into it.
    2. A branch (If, Case) on a constant condition: the graph that is taken moves to its place.
    3. Axes and strides that a StridedSliceV2 goes without become constants, as in GE's own import of ONNX models:
       later passes of GE take an empty input slot for a reason to leave the node alone.
    4. A node whose inputs are all constants is computed by its kernel and becomes a constant of its name.
    5. Shape and Size of a tensor of static shape become constants.
    6. Result types that are not static are narrowed by the operator's shape function, with the values of constant
       inputs. Graphs of branches and calls take over the types of what is passed to them, and small constants.
       The body of an ONNX Loop or Scan gets the types of the first values that go round, if it keeps them; the results
       get what follows, a constant trip count included.
    7. A node that only passes on its input is left out: Identity, Dropout at inference, Reshape, Expand, Cast, Tile,
       Squeeze, Unsqueeze and slices of equal static types, the identity transpose, joins of one, splits into one.
    8. A node that computes what an earlier one does (type, attributes, inputs, result types and marks; names do not
       count) is merged into it.

    Guarantees afterwards: the graph computes the same outputs; a model all of whose shapes follow from static inputs
    and constants is static throughout; no node that only computes is without reader; every graph but the root has an
    owner. Kept in any case: graph inputs, NetOutput, variables, collectives, sends and receives, nodes on control
    edges, random operators that are read, and operators that nobody described. Constants whose bytes were left out of
    the text, and nodes that need them, stay as they are (remark `weights-elided`).

    Options:
    * `fold-limit`: bytes by which folding one node may make the model larger (default 16 MiB).

    Before and after:

        %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<2xi64>
        %y = ge.op "Reshape" (%x, %s) {ge.name = "y"} : tensor<*xf32>
        ge.net_output (%y)

        ge.net_output (%x)
    """

    name = PASS_NAME

    fold_limit: int = DEFAULT_FOLD_LIMIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sweep = Sweep(op, self.fold_limit)
        sweep.run()
        if found := graphs(op):
            counts = {key: sweep.counts[key] for key in sorted(sweep.counts) if sweep.counts[key]}
            text = ", ".join(f"{count} {what}" for what, count in counts.items())
            emit_remark(found[0], self.name, "analysis", text or "nothing to do", **counts)
