"""Collectives with real numbers on several ranks, joined and cut without a task."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from xdsl.parser import Parser

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.program import compile, context
from ge_dialect.runtime import DeviceOptions, load
from ge_dialect.runtime.checker import check


def _graph(ranks: int) -> str:
    """Two gathers joined; what all ranks add up, scatter and broadcast joined; a cut of the gathers."""
    wide = f"tensor<{2 * ranks}x64xf32>"
    return f"""
    ge.graph @main {{
      %x = ge.data index 0 {{ge.name = "x"}} : tensor<2x64xf32>
      %y = ge.data index 1 {{ge.name = "y"}} : tensor<2x64xf32>
      %p = ge.op "Neg" (%x) {{ge.name = "p"}} : tensor<2x64xf32>
      %q = ge.op "Relu" (%y) {{ge.name = "q"}} : tensor<2x64xf32>
      %a = ge.op "HcomAllGather" (%p) attrs {{rank_size = {ranks}, group = "g"}} {{ge.name = "a"}} : {wide}
      %b = ge.op "HcomAllGather" (%q) attrs {{rank_size = {ranks}, group = "g"}} {{ge.name = "b"}} : {wide}
      %c = ge.concat (%a, %b) concat_dim 0 N 2 {{ge.name = "c"}} : tensor<{4 * ranks}x64xf32>
      %s = ge.op "HcomAllReduce" (%p) attrs {{reduction = "sum", group = "g"}} {{ge.name = "s"}} : tensor<2x64xf32>
      %r = ge.op "HcomReduceScatter" (%c) attrs {{reduction = "max", rank_size = {ranks}, group = "g"}}
          {{ge.name = "r"}} : tensor<4x64xf32>
      %k = ge.op "HcomBroadcast" (%q) attrs {{root_rank = 1, group = "g"}} {{ge.name = "k"}} : tensor<2x64xf32>
      %d = ge.concat (%s, %r, %k) concat_dim 0 N 3 {{ge.name = "d"}} : tensor<8x64xf32>
      %e = ge.op "Abs" (%d) {{ge.name = "e"}} : tensor<8x64xf32>
      %f, %g = ge.split (%e) split_dim 0 num_split 2 {{ge.name = "cut"}} : tensor<4x64xf32>, tensor<4x64xf32>
      %h = ge.op "Mul" (%f, %g) {{ge.name = "h"}} : tensor<4x64xf32>
      %i = ge.op "Exp" (%c) {{ge.name = "i"}} : tensor<{4 * ranks}x64xf32>
      ge.net_output (%h, %i) {{ge.name = "out", ge.output_names = ["h", "i"]}}
    }}"""


def _expected(inputs: list[list[np.ndarray]]) -> list[dict[str, np.ndarray]]:
    p = [-x for x, _ in inputs]
    q = [np.maximum(y, 0) for _, y in inputs]
    joined = np.concatenate([*p, *q])
    found: list[dict[str, np.ndarray]] = []
    total = p[0].copy()
    for part in p[1:]:
        total = total + part
    for rank in range(len(inputs)):
        scattered = joined[4 * rank : 4 * rank + 4]  # the same on all ranks, so the greatest is any
        e = np.abs(np.concatenate([total, scattered, q[1]]))
        found.append({"h": e[:4] * e[4:], "i": np.exp(joined)})
    return found


@pytest.mark.parametrize("mode", ["off", "faithful", "aggressive"])
@pytest.mark.parametrize("order", ["round_robin", "random"])
@pytest.mark.parametrize("ranks", [2, 8])
def test_collectives_joined_without_task(
    ranks: int, order: Literal["round_robin", "random"], mode: str
) -> None:
    module = Parser(context(), _graph(ranks)).parse_module()
    module = compile(module, pipeline=f"ge-pipeline{{no-task={mode}}}").module
    (model,) = (op for op in module.body.block.ops if isinstance(op, ModelOp))
    assert len(model.virtuals()) == (0 if mode == "off" else 3)
    assert not [x for x in check(model) if x.severity == "error"]
    rng = np.random.default_rng(ranks)
    inputs = [
        [rng.standard_normal((2, 64)).astype(np.float32) for _ in range(2)] for _ in range(ranks)
    ]
    options = DeviceOptions(ranks=ranks, order=order, seed=3, unknown_kernels="error")
    result = load(module, options).run_ranks(inputs)
    for rank, (found, expected) in enumerate(zip(result.ranks, _expected(inputs), strict=True)):
        for name, value in expected.items():
            np.testing.assert_allclose(
                found[name], value, rtol=2e-6, atol=1e-6, err_msg=f"rank {rank}: {name}"
            )
    assert result.report.avoided_launches == len(model.virtuals())
