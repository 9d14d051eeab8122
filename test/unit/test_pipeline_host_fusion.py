"""`ge-pipeline{host-fusion=true}`: moved nodes are joined behind the second host-exec, before parts are sunk."""

from __future__ import annotations

import numpy as np
import onnx.parser

from ge_dialect.program import compile, make_passes

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[N, 2] x) => (float[N, 2] y) {
  s = Shape(x)
  two = Constant<value = int64[2] {2, 1}>()
  a = Mul(s, two)
  b = Div(a, two)
  y = Reshape(x, b)
}
"""


def test_place_in_the_pipeline() -> None:
    names = [each.name for each in make_passes("ge-pipeline{host-fusion=true}")]
    place = names.index("ge-host-fusion")
    assert names[place - 1 : place + 2] == ["ge-host-exec", "ge-host-fusion", "ge-sink-clusters"]
    assert "ge-host-fusion" not in [each.name for each in make_passes("ge-pipeline")]


def test_fused_nodes_run() -> None:
    model = onnx.parser.parse_model(MODEL)
    fused = compile(model, pipeline="ge-pipeline{host-fusion=true}")
    apart = compile(model)
    for rows in (3, 1, 0):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        one, two = fused.run({"x": x}), apart.run({"x": x})
        np.testing.assert_array_equal(one.outputs["y"], x)
        np.testing.assert_array_equal(two.outputs["y"], x)
        assert one.report.host_calls == two.report.host_calls - 1
