"""TransData, and operators on tensors in storage formats."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser

from ge_dialect.formats.transform import transform
from ge_dialect.kernels import KernelInputError, OpSpec, bind, evaluate
from ge_dialect.kernels.spec import spec_of
from ge_dialect.program import compile, context

RNG = np.random.default_rng(7)


def _trans(source: str, target: str) -> OpSpec:
    return OpSpec("TransData", {"src_format": source, "dst_format": target}, 1)


def _specs(text: str) -> list[OpSpec]:
    module = Parser(context(), text).parse_module()
    return [spec_of(op) for op in module.walk() if op.name.startswith("ge.") and op.results]


def test_by_attributes() -> None:
    array = RNG.random((1, 20, 2, 3)).astype(np.float16)
    (stored,) = evaluate(_trans("NCHW", "NC1HWC0"), [array])
    assert np.array_equal(stored, transform(array, "NCHW", "NC1HWC0"))
    out = np.zeros_like(array)
    bind(_trans("NC1HWC0", "NCHW"), [stored], [out])()
    assert np.array_equal(out, array)


def test_by_types() -> None:
    text = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x20x2x3xf16, #ge.desc<NCHW>>
  %a = ge.op "TransData" (%x) {ge.name = "a"} : tensor<1x2x2x3x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 20, 2, 3]>>
  %b = ge.op "TransData" (%a) {ge.name = "b"} : tensor<12x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = NCHW [1, 20, 2, 3]>>
  %c = ge.op "TransData" (%b) attrs {dst_format = "NHWC"} {ge.name = "c"} : tensor<1x2x3x20xf16, #ge.desc<NHWC>>
}"""
    _, first, second, third = _specs(text)
    array = RNG.random((1, 20, 2, 3)).astype(np.float16)
    (a,) = evaluate(first, [array])
    (b,) = evaluate(second, [a])
    (c,) = evaluate(third, [b])
    assert (a.shape, b.shape) == ((1, 2, 2, 3, 16), (12, 1, 16, 16))
    assert np.array_equal(b, transform(array, "NCHW", "FRACTAL_Z"))
    assert np.array_equal(c, array.transpose(0, 2, 3, 1))


def test_origins_that_have_nothing_in_common() -> None:
    text = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x2x2x3x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 20, 2, 3]>>
  %a = ge.op "TransData" (%x) attrs {dst_format = "NDHWC"} {ge.name = "a"} : tensor<1x1x2x3x20xf16, #ge.desc<NDHWC>>
}"""
    with pytest.raises(KernelInputError, match="no way from origin NCHW to origin NDHWC"):
        evaluate(_specs(text)[1], [np.zeros((1, 2, 2, 3, 16), np.float16)])


def test_axes_are_those_of_the_origin() -> None:
    # Channels are the last origin axis and the second storage axis; 20 channels are no whole blocks.
    text = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x2x2x3x16xf16, #ge.desc<NC1HWC0, origin = NHWC [1, 2, 3, 20]>>
  %c = ge.concat (%x, %x) concat_dim -1 {ge.name = "c"} : tensor<1x3x2x3x16xf16, #ge.desc<NC1HWC0, origin = NHWC [1, 2, 3, 40]>>
}"""
    array = RNG.random((1, 2, 3, 20)).astype(np.float16)
    stored = transform(array, "NHWC", "NC1HWC0")
    (joined,) = evaluate(_specs(text)[1], [stored, stored])
    expected = transform(np.concatenate([array, array], axis=-1), "NHWC", "NC1HWC0")
    assert np.array_equal(joined, expected)


def test_a_program_in_blocked_format() -> None:
    blocked = "tensor<1x2x4x4x16xf32, #ge.desc<NC1HWC0, origin = NCHW [1, 20, 4, 4]>>"
    text = f"""
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<1x20x4x4xf32, #ge.desc<NCHW>>
  %w = ge.data index 1 {{ge.name = "w"}} : tensor<20x20x1x1xf32, #ge.desc<NCHW>>
  %a = ge.op "TransData" (%x) {{ge.name = "a"}} : {blocked}
  %k = ge.op "TransData" (%w) {{ge.name = "k"}} : tensor<2x2x16x16xf32, #ge.desc<FRACTAL_Z, origin = NCHW [20, 20, 1, 1]>>
  %y = ge.op "Conv2D" (%a, %k) attrs {{strides = array<i64: 1, 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1, 1, 1>, groups = 1 : i64, data_format = "NCHW"}} {{ge.name = "y"}} : {blocked}
  %r = ge.op "Relu" (%y) {{ge.name = "r"}} : {blocked}
  %z = ge.op "TransData" (%r) {{ge.name = "z"}} : tensor<1x20x4x4xf32, #ge.desc<NCHW>>
  ge.net_output (%z) {{ge.name = "out"}}
}}"""
    program = compile(Parser(context(), text).parse_module())
    x = RNG.standard_normal((1, 20, 4, 4)).astype(np.float32)
    w = RNG.standard_normal((20, 20, 1, 1)).astype(np.float32)
    outputs = program.run({"x": x, "w": w}).outputs
    expected = np.maximum(np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0]), 0)
    np.testing.assert_allclose(next(iter(outputs.values())), expected, rtol=1e-4, atol=1e-5)
