"""Windows, resizing, padding, slices, recurrence, reductions and old versions against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels import OpSpec, bind, evaluate

ort = pytest.importorskip("onnxruntime")

Array = np.ndarray[Any, Any]
Case = tuple[str, list[Any], int, int, dict[str, Any]]
"""Operator, inputs (None: absent), opset, number of outputs, attributes."""


def _expected(case: Case) -> list[Array]:
    op, inputs, opset, count, attrs = case
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(count)], **attrs)
    formals = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in zip(names, inputs, strict=True)
        if name
    ]
    results = [onnx.ValueInfoProto(name=f"y{i}") for i in range(count)]
    model = helper.make_model(
        helper.make_graph([node], "one", formals, results),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8,
    )
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {n: v for n, v in zip(names, inputs, strict=True) if n})


def _compare(got: Array, want: Array, case: Case) -> None:
    assert got.dtype == want.dtype, case
    assert got.shape == want.shape, case
    if want.dtype.kind == "f" and want.size:
        scale = float(np.abs(want[np.isfinite(want)]).max(initial=1e-3))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * scale, err_msg=str(case))
    else:
        np.testing.assert_array_equal(got, want, err_msg=str(case))


def _check(case: Case) -> None:
    op, inputs, opset, count, attrs = case
    version = defs.get_schema(op, opset).since_version
    spec = OpSpec(op, attrs, count, SourceOp("ai.onnx", op, version))
    want = _expected(case)
    for mine, other in zip(evaluate(spec, inputs), want, strict=True):
        _compare(mine, other, case)
    outputs: list[Array | None] = [np.full(item.shape, 7).astype(item.dtype) for item in want]
    run = bind(spec, inputs, outputs)
    with np.errstate(all="ignore"):
        run()
        run()
    for mine, other in zip(outputs, want, strict=True):
        assert mine is not None
        _compare(mine, other, case)


class Random:
    """Small random choices, always the same."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def f32(self, *shape: int) -> Array:
        return self.rng.standard_normal(shape).astype(np.float32)

    def size(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def sizes(self, count: int, low: int, high: int) -> list[int]:
        return [self.size(low, high) for _ in range(count)]

    def one(self, *choices: Any) -> Any:
        return choices[self.size(0, len(choices))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _softmax(_r: Random) -> Iterator[Case]:
    r = Random(1)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for opset in (7, 9, 11, 13):
            for shape in ((3, 4), (2, 3, 4), (2, 3, 4, 5)):
                yield op, [r.f32(*shape) * 5], opset, 1, {}
                for axis in range(-len(shape) if opset >= 11 else 0, len(shape)):
                    yield op, [r.f32(*shape) * 5], opset, 1, {"axis": axis}


def _pools(r: Random) -> Iterator[Case]:
    for _ in range(120):
        rank = r.size(1, 4)
        x = r.f32(r.size(1, 3), r.size(1, 4), *r.sizes(rank, 4, 9))
        op = r.one("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool")
        kernel = r.sizes(rank, 2, 4)
        attrs: dict[str, Any] = {"kernel_shape": kernel, "strides": r.sizes(rank, 1, 3)}
        opset = 19
        if r.chance(0.3):
            attrs["auto_pad"] = r.one("SAME_UPPER", "SAME_LOWER", "VALID")
        else:
            attrs["pads"] = [r.size(0, k) for k in kernel * 2]
            if op != "LpPool" and r.chance(0.3):
                attrs["dilations"] = r.sizes(rank, 1, 3)
        if op == "LpPool":
            opset, attrs["p"] = 18, r.size(1, 4)
        elif r.chance(0.5):
            attrs["ceil_mode"] = 1
        if op == "AveragePool":
            attrs["count_include_pad"] = r.size(0, 2)
        count = 2 if op == "MaxPool" and r.chance(0.4) else 1
        if count == 2:
            attrs["storage_order"] = r.size(0, 2)
        yield op, [x], opset, count, attrs


def _convolutions(r: Random) -> Iterator[Case]:
    for _ in range(120):
        rank, groups = r.size(1, 4), r.one(1, 1, 2, 3)
        c, m = groups * r.size(1, 6), groups * r.size(1, 4)
        kernel, strides, dilations = r.sizes(rank, 1, 4), r.sizes(rank, 1, 3), r.sizes(rank, 1, 3)
        x = r.f32(r.size(1, 3), c, *r.sizes(rank, 5, 9))
        bias = [r.f32(m)] if r.chance(0.5) else []
        attrs: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": groups}
        attrs["pads"] = r.sizes(2 * rank, 0, 3)
        yield "Conv", [x, r.f32(m, c // groups, *kernel), *bias], 11, 1, attrs
        turned = dict(attrs)
        turned["output_padding"] = [
            r.size(0, max(s, d)) for s, d in zip(strides, dilations, strict=True)
        ]
        turned["strides"] = [
            max(s, p + 1) for s, p in zip(strides, turned["output_padding"], strict=True)
        ]
        yield "ConvTranspose", [x, r.f32(c, m // groups, *kernel), *bias], 11, 1, turned
    for auto in ("SAME_UPPER", "VALID"):
        yield (
            "Conv",
            [r.f32(1, 2, 7, 6), r.f32(3, 2, 3, 2)],
            11,
            1,
            {"auto_pad": auto, "strides": [2, 2]},
        )
        yield (
            "ConvTranspose",
            [r.f32(1, 2, 7, 6), r.f32(2, 3, 3, 2)],
            11,
            1,
            {"auto_pad": auto, "strides": [2, 2]},
        )


def _pads(r: Random) -> Iterator[Case]:
    for opset in (2, 11, 13, 18, 19):
        for mode in ("constant", "reflect", "edge", "wrap")[: 4 if opset >= 19 else 3]:
            for low in (0, -1):
                # Removed elements and repeated ones stay fewer than there are.
                pads = r.sizes(6, low, 2)
                x = r.f32(4, 6, 5)
                if opset == 2:
                    yield "Pad", [x], opset, 1, {"mode": mode, "pads": pads, "value": 1.5}
                    continue
                value = np.array(2.5, np.float32) if mode == "constant" else None
                yield (
                    "Pad",
                    [x, _ints(*pads), value][: 3 if value is not None else 2],
                    opset,
                    1,
                    {"mode": mode},
                )
                if opset >= 18:
                    yield "Pad", [x, _ints(*pads[:4]), None, _ints(-1, 0)], opset, 1, {"mode": mode}


def _resizes(r: Random) -> Iterator[Case]:
    modes = (
        "half_pixel",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "half_pixel_symmetric",
    )
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in modes:
            for scale in (0.5, 0.6, 0.75, 1.5, 2.0, 3.0, 2.3):
                attrs: dict[str, Any] = {
                    "mode": mode,
                    "coordinate_transformation_mode": coordinates,
                }
                if mode == "nearest":
                    attrs["nearest_mode"] = r.one(
                        "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"
                    )
                elif r.chance(0.3):
                    attrs["antialias"] = 1
                elif mode == "cubic":
                    attrs["exclude_outside"] = r.size(0, 2)
                x = r.f32(1, 2, r.size(3, 8), r.size(3, 8))
                scales = np.array([1, 1, scale, r.one(0.5, 1.0, 2.0, 2.7)], np.float32)
                yield "Resize", [x, None, scales], 19, 1, attrs
                yield (
                    "Resize",
                    [x, None, None, _ints(1, 2, r.size(2, 15), r.size(2, 15))],
                    19,
                    1,
                    attrs,
                )
    for roi in ((0.2, 0.1, 0.8, 1.1), (0.0, 0.0, 1.2, 1.0)):
        region = np.array([0, 0, *roi[:2], 1, 1, *roi[2:]], np.float32)
        attrs = {
            "mode": "linear",
            "coordinate_transformation_mode": "tf_crop_and_resize",
            "extrapolation_value": 3.0,
        }
        yield "Resize", [r.f32(1, 2, 6, 5), region, None, _ints(1, 2, 9, 7)], 13, 1, attrs
    for opset, op in ((10, "Resize"), (9, "Upsample")):
        for mode in ("nearest", "linear"):
            yield (
                op,
                [r.f32(1, 2, 5, 6), np.array([1, 1, 1.5, 2.5], np.float32)],
                opset,
                1,
                {"mode": mode},
            )
    yield "Upsample", [r.f32(1, 2, 5, 6)], 7, 1, {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 3.0]}


def _slices(r: Random) -> Iterator[Case]:
    x = r.f32(4, 5, 6)
    for _ in range(80):
        count = r.size(1, 4)
        axes = r.rng.permutation(3)[:count] - r.one(0, 3)
        starts, ends = r.rng.integers(-8, 9, count), r.rng.integers(-8, 9, count)
        steps = r.rng.choice([-3, -2, -1, 1, 2, 3], count)
        if r.chance(0.3):
            ends = np.where(steps > 0, 2**63 - 1, -(2**63))
        yield (
            "Slice",
            [x, *(_ints(*item.tolist()) for item in (starts, ends, axes, steps))],
            13,
            1,
            {},
        )
    yield "Slice", [x], 9, 1, {"starts": [1, -3], "ends": [3, 100], "axes": [0, 2]}


def _recurrent(r: Random) -> Iterator[Case]:
    times, batch, features, size = 5, 3, 4, 6
    functions = (["Relu"], ["HardSigmoid", "Softsign"], ["Sigmoid", "ScaledTanh", "Elu"])
    for number, (op, gates) in enumerate((("RNN", 1), ("GRU", 3), ("LSTM", 4))):
        for direction in ("forward", "reverse", "bidirectional"):
            d = 2 if direction == "bidirectional" else 1
            for variant in range(5):
                attrs: dict[str, Any] = {"direction": direction, "hidden_size": size}
                if op == "GRU":
                    attrs["linear_before_reset"] = variant % 2
                if variant == 3:
                    attrs["clip"] = 0.3
                if variant == 4:
                    attrs["activations"] = functions[number] * d
                    if op == "LSTM":
                        attrs |= {"activation_alpha": [0.5, 0.7] * d, "activation_beta": [0.9] * d}
                inputs: list[Any] = [
                    r.f32(times, batch, features),
                    r.f32(d, gates * size, features),
                    r.f32(d, gates * size, size),
                    r.f32(d, 2 * gates * size) if variant != 1 else None,
                    np.array([5, 2, 3], np.int32) if variant in (2, 4) else None,
                    r.f32(d, batch, size),
                ]
                if op == "LSTM":
                    inputs += [
                        r.f32(d, batch, size),
                        r.f32(d, 3 * size) if variant in (2, 3) else None,
                    ]
                    attrs["input_forget"] = int(variant == 3)
                while inputs[-1] is None:
                    inputs.pop()
                yield op, inputs, 14, 3 if op == "LSTM" else 2, attrs


def _reductions(r: Random) -> Iterator[Case]:
    for name in (
        "Sum",
        "Mean",
        "Max",
        "Min",
        "Prod",
        "L1",
        "L2",
        "SumSquare",
        "LogSumExp",
        "LogSum",
    ):
        # onnxruntime also takes the exponentials of integers as integers.
        for dtype in (np.float32, np.int32)[: 1 if name == "LogSumExp" else 2]:
            # Products of integers must not overflow: what happens then is nowhere laid down.
            x = (np.abs(r.f32(3, 4, 5)) * (0.6 if name == "Prod" else 3) + 1).astype(dtype)
            x = np.minimum(x, 2).astype(dtype) if name == "Prod" else x
            for axes in ([0], [-1], [0, 2], [0, 1, 2][: 2 if name == "Prod" else 3]):
                for keep in (0, 1):
                    yield f"Reduce{name}", [x, _ints(*axes)], 18, 1, {"keepdims": keep}
                    if name != "Sum":
                        yield f"Reduce{name}", [x], 13, 1, {"axes": axes, "keepdims": keep}
            yield f"Reduce{name}", [x], 13, 1, {}


def _quantized(r: Random) -> Iterator[Case]:
    for dtype in (np.uint8, np.int8):
        levels = r.rng.integers(0, 99, (2, 3, 4)).astype(dtype)
        one = [np.array(0.1, np.float32), np.array(3, dtype)]
        each = [np.array([0.1, 0.2, 0.05], np.float32), np.array([3, 0, 5], dtype)]
        for opset in (10, 13, 19):
            yield "QuantizeLinear", [r.f32(2, 3, 4) * 9, *one], opset, 1, {}
            yield "DequantizeLinear", [levels, *one], opset, 1, {}
            yield "DequantizeLinear", [levels, one[0]], opset, 1, {}
        yield "QuantizeLinear", [r.f32(2, 3, 4) * 9, *each], 13, 1, {"axis": 1}
        yield "DequantizeLinear", [levels, *each], 13, 1, {"axis": -2}
    yield "DynamicQuantizeLinear", [r.f32(3, 4)], 11, 3, {}


def _old_versions(r: Random) -> Iterator[Case]:
    for mode in ("bilinear", "nearest"):
        yield "GridSample", [r.f32(1, 2, 4, 5), r.f32(1, 3, 3, 2)], 16, 1, {"mode": mode}
    regions = np.array([[0, 0, 5, 4], [1, 2, 7, 6]], np.float32)
    for opset in (10, 16):
        attrs = {"output_height": 3, "output_width": 2, "sampling_ratio": 2}
        yield "RoiAlign", [r.f32(1, 2, 8, 8), regions, _ints(0, 0)], opset, 1, attrs
    pools = np.array([[0, 1, 1, 5, 6], [0, 0, 2, 7, 7]], np.float32)
    yield "MaxRoiPool", [r.f32(1, 2, 8, 8), pools], 1, 1, {"pooled_shape": [2, 3]}
    yield "Dropout", [r.f32(3, 4)], 7, 1, {}
    yield "LpNormalization", [r.f32(3, 4)], 1, 1, {"p": 1, "axis": 0}
    yield "TopK", [np.array([[1, 3, 3, 2, 3]], np.float32)], 1, 2, {"k": 3}
    yield "BatchNormalization", [r.f32(2, 3, 4), *(np.abs(r.f32(3)) for _ in range(4))], 9, 1, {}


_FAMILIES: tuple[Callable[[Random], Iterator[Case]], ...] = (
    _softmax,
    _pools,
    _convolutions,
    _pads,
    _resizes,
    _slices,
    _recurrent,
    _reductions,
    _quantized,
    _old_versions,
)


@pytest.mark.parametrize("family", _FAMILIES, ids=lambda item: item.__name__.strip("_"))
def test_family(family: Callable[[Random], Iterator[Case]]) -> None:
    for case in family(Random(3)):
        _check(case)
