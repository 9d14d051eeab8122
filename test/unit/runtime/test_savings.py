"""What a run report says of nodes without task, and that the device passes them over."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.program import Program, compile, context

GRAPH = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x8xf32>
  %s, %t = ge.split (%x) split_dim 0 num_split 2 {ge.name = "s"} : tensor<2x8xf32>, tensor<2x8xf32>
  %a = ge.op "Relu" (%s) {ge.name = "a"} : tensor<2x8xf32>
  %b = ge.op "Neg" (%t) {ge.name = "b"} : tensor<2x8xf32>
  %c = ge.concat (%b, %a) concat_dim 0 {ge.name = "c"} : tensor<4x8xf32>
  %p = ge.concat "PhonyConcat" (%c, %b2) concat_dim 0 {ge.name = "p"} : tensor<6x8xf32>
  ge.net_output (%p) {ge.name = "out"}
}""".replace(
    '  %p = ge.concat "Phony',
    '  %b2 = ge.op "Abs" (%t) {ge.name = "b2"} : tensor<2x8xf32>\n  %p = ge.concat "Phony',
)


def _program(mode: str) -> Program:
    module = Parser(context(), GRAPH).parse_module()
    return compile(module, pipeline=f"ge-pipeline{{no-task={mode}}}")


def test_counters() -> None:
    x = np.arange(-16, 16, dtype=np.float32).reshape(4, 8)
    wanted = np.concatenate([-x[2:], np.maximum(x[:2], 0), np.abs(x[2:])])
    tasks: dict[str, int] = {}
    for mode, saved in (("off", 0), ("aggressive", 2)):
        result = _program(mode).run([x])
        (found,) = result.outputs.values()
        np.testing.assert_array_equal(found, wanted)
        report = result.report
        # A PhonyConcat would never make a task, so nothing is saved by it.
        assert report.virtual_nodes == saved + 1
        assert report.skipped_inits == report.avoided_launches == saved
        assert report.unmoved_bytes == saved * x.nbytes
        tasks[mode] = report.tasks
    assert tasks["off"] - tasks["aggressive"] == 2


def test_a_debugger_sees_the_node_and_its_addresses() -> None:
    (model,) = (x for x in _program("aggressive").module.body.block.ops if isinstance(x, ModelOp))
    split, concat, phony = model.virtuals()
    assert str(split).startswith('ge_task.virtual "SplitD"(%x) -> (%s, %t)')
    at = [x.owner.offset.value.data for x in (*concat.ins, *concat.outs, *phony.ins)]  # pyright: ignore
    assert [x - at[0] for x in at] == [0, 64, 0, 0, 128]
    assert split not in model.tasks()


def test_counts_are_not_negative() -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %a = ge_task.buffer hbm at 0 size 32 : tensor<8xf32>
      ge_task.virtual "ConcatD"(%a) -> (%a) tasks -1
    }"""
    with pytest.raises(VerifyException, match="saved_tasks must be >= 0, got -1"):
        Parser(context(), text).parse_module().verify()


@pytest.mark.parametrize(("mode", "saved"), [("off", 0), ("faithful", 1), ("aggressive", 1)])
def test_known_parts_of_a_dynamic_model(mode: str, saved: int) -> None:
    """A host program issues no task for a concat in a part that is sunk."""
    text = """
    ge.graph @m {
      %x = ge.data index 0 {ge.name = "x"} : tensor<?x8xf32>
      %y = ge.data index 1 {ge.name = "y"} : tensor<2x8xf32>
      %a = ge.op "Relu" (%y) {ge.name = "a"} : tensor<2x8xf32>
      %b = ge.op "Neg" (%y) {ge.name = "b"} : tensor<2x8xf32>
      %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x8xf32>
      %e = ge.op "Exp" (%c) {ge.name = "e"} : tensor<4x8xf32>
      %f = ge.op "Abs" (%x) {ge.name = "f"} : tensor<?x8xf32>
      ge.net_output (%e, %f) {ge.name = "out"}
    }"""
    module = Parser(context(), text).parse_module()
    program = compile(module, pipeline=f"ge-pipeline{{no-task={mode}}}")
    y = np.arange(-8, 8, dtype=np.float32).reshape(2, 8)
    for rows in (1, 3):
        result = program.run([np.ones((rows, 8), np.float32), y])
        joined = next(iter(result.outputs.values()))
        np.testing.assert_array_equal(joined, np.exp(np.concatenate([np.maximum(y, 0), -y])))
        report = result.report
        assert report.virtual_nodes == report.avoided_launches == saved
        assert report.unmoved_bytes == saved * 2 * y.nbytes
