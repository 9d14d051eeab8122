"""What a host program refuses although the graph verifies, or before anything verified it."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from ge_dialect.analysis.task_count import TaskGenerationError
from ge_dialect.lowering.tasks.host import lower_host_program
from ge_dialect.program import context

UNFIT_BRANCHES = """
ge.graph @main {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %r = ge.op "If" (%c, %x) subgraphs [@then, @else] {ge.name = "choose"} : tensor<*xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "then_out"}
}
ge.graph @else {
  %w = ge.constant value dense<1> : tensor<3xi32> {ge.name = "w"} : tensor<3xi32>
  ge.net_output (%w) {ge.name = "else_out"}
}
"""

SCAN = """
ge.graph @main {{
  %s0 = ge.data index 0 {{ge.name = "s0"}} : tensor<*xf32>
  %xs = ge.data index 1 {{ge.name = "xs"}} : tensor<*xf32>
  %s, %ys = ge.op "Scan" (%s0, %xs) source "ai.onnx::Scan@16" attrs {{num_scan_inputs = {count}, {attrs}}} subgraphs [@body] {{ge.name = "scan"}} : tensor<*xf32>, tensor<*xf32>
  ge.net_output (%s, %ys) {{ge.name = "out"}}
}}
ge.graph @body {{
  %s = ge.data index 0 {{ge.name = "s", ge.parent_node_index = 0}} : tensor<*xf32>
  %x = ge.data index 1 {{ge.name = "x", ge.parent_node_index = 1}} : tensor<*xf32>
  ge.net_output (%s, %x) {{ge.name = "body_out"}}
}}
"""

LATE = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  %y = ge.op "Call" (%x) subgraphs [@other] {ge.name = "y"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "out"}
}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (UNFIT_BRANCHES, 'node "choose" of type If has no common type for output 0'),
        (
            SCAN.format(count=3, attrs="x = 0"),
            'node "scan" of type Scan has 2 inputs, num_scan_inputs says 3',
        ),
        (
            SCAN.format(count=1, attrs="scan_output_axes = array<i64: -1>"),
            "scan_output_axes -1 for an output of unknown rank",
        ),
        (
            SCAN.format(count=1, attrs="scan_input_axes = array<i64: 0, 1>"),
            "needs 1 entries in scan_input_axes, got 2",
        ),
        (LATE, 'node "y" of type Call owns graphs'),
    ],
    ids=["branches", "scan inputs", "scan axis", "scan list", "unknown owner"],
)
def test_refused(text: str, message: str) -> None:
    module = Parser(context(), text).parse_module()
    with pytest.raises(TaskGenerationError, match=message):
        lower_host_program(module)
