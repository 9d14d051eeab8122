"""TensorFlow's form: arms on streams of their own that switches start, and a merge behind them, with real numbers.

The arms' results are given one place by hand: memory planning keeps them apart.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from xdsl.parser import Parser

from ge_dialect.dialects.ge.access import graphs, node_name
from ge_dialect.pipeline import GePipeline
from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions, load
from ge_dialect.tools.ge_opt import GeOptMain

TEXT = """
ge.graph @main {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<4xf32>
  %one = ge.constant value dense<1> : tensor<1xi32> {ge.name = "one"} : tensor<1xi32>
  %q = ge.op "Minimum" (%p, %one) {ge.name = "q"} : tensor<1xi32>
  %e = ge.op "Exp" (%x) {ge.name = "e"} : tensor<4xf32>
  %is = ge.stream_switch (%q, %one) switch_condition 0 attrs {_active_label_list = ["then"]}
      {ge.name = "is"} : !ge.control
  %not = ge.stream_switch (%q, %one) switch_condition 1 attrs {_active_label_list = ["else"]}
      {ge.name = "is_not"} : !ge.control
  %a, %ac = ge.op "Sqrt" (%e, %is) attrs {_stream_label = "then"} {ge.name = "a"} : tensor<4xf32>, !ge.control
  %am = ge.stream_active (%ac) attrs {_stream_label = "then", _active_label_list = ["merge"],
      _switch_branch_node_label = "merge"} {ge.name = "then_end"} : !ge.control
  %b, %bc = ge.op "Neg" (%e, %not) attrs {_stream_label = "else"} {ge.name = "b"} : tensor<4xf32>, !ge.control
  %bm = ge.stream_active (%bc) attrs {_stream_label = "else", _active_label_list = ["merge"],
      _switch_branch_node_label = "merge"} {ge.name = "else_end"} : !ge.control
  %m = ge.op "StreamMerge" (%a, %b, %am, %bm) attrs {_stream_label = "merge"} {ge.name = "m"} : tensor<4xf32>
  ge.net_output (%m) attrs {_stream_label = "merge"} {ge.name = "out"}
}
"""


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("order", ["round_robin", "random"])
def test_one_arm_runs(stops: bool, order: Literal["round_robin", "random"]) -> None:
    """Both readings of a taken switch (E2) give the same numbers."""
    module = Parser(GeOptMain(args=[]).ctx, TEXT).parse_module()
    compile(module, pipeline=GePipeline(streams="multi").passes()[:-1])
    nodes = {node_name(op): op for op in graphs(module)[0].block.ops}
    nodes["b"].attributes["ge.offsets"] = nodes["a"].attributes["ge.offsets"]
    compile(module, pipeline="convert-ge-to-ge-task")
    for seed in range(4):
        options = DeviceOptions(order=order, seed=seed, switch_true_stops_current=stops)
        program = load(module, options)
        x = np.array([0, 1, 2, 3], np.float32)
        for p in (0, 1, 5):
            found = program.run({"p": np.array([p], np.int32), "x": x})
            wanted = np.sqrt(np.exp(x)) if p else -np.exp(x)
            np.testing.assert_allclose(found["output0"], wanted, rtol=1e-6)
            assert found.report.by_kind["stream_active"] == 1
            assert found.report.warnings == []
