"""Every row of the table of operators that may write over an input gives the bits that it gives elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels import OpSpec, bind, evaluate
from ge_dialect.kernels.in_place import GE_IN_PLACE, ONNX_IN_PLACE, in_place_inputs

Array = np.ndarray[Any, Any]
Fill = Callable[[np.random.Generator, tuple[int, ...]], Array]

SHAPE = (3, 5, 40, 33)
"""More elements than numpy's buffers hold, and rows of an odd length."""


def of(dtype: str, low: float, high: float) -> Fill:
    def fill(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        if dtype == "bool":
            return rng.random(shape) < 0.5
        return rng.uniform(low, high, shape).astype(dtype)

    return fill


REAL = [of("float32", -2, 2), of("float16", -2, 2), of("float64", -2, 2)]
WHOLE = [of("int32", -50, 50)]
POSITIVE = [of("float32", 1.1, 3), of("float16", 1.1, 3)]
UNIT = [of("float32", -0.9, 0.9), of("float16", -0.9, 0.9)]
TRUTH = [of("bool", 0, 1)]
BITS = [of("int32", 1, 20), of("uint8", 1, 20)]
SHIFT = [of("uint32", 1, 20), of("uint8", 1, 5)]
NARROW = [*TRUTH, of("uint8", 0, 3)]
ABOVE = [of("float32", 1.1, 3), of("int32", 1, 20)]

DOMAINS: dict[str, list[Fill]] = {
    **dict.fromkeys(("Acos", "Asin", "Atanh"), UNIT),
    **dict.fromkeys(("Acosh", "Log", "Reciprocal", "Rsqrt", "Sqrt"), POSITIVE),
    **dict.fromkeys("And Or Xor Not LogicalAnd LogicalOr LogicalXor LogicalNot".split(), TRUTH),
    **dict.fromkeys("BitwiseAnd BitwiseOr BitwiseXor BitwiseNot".split(), BITS),
    "BitShift": SHIFT,
    **dict.fromkeys("Div RealDiv FloorDiv FloorMod Mod Pow".split(), ABOVE),
    **dict.fromkeys("Add Sub Mul Max Min Sum Maximum Minimum Abs Neg Sign Relu".split(), REAL + WHOLE),
    **dict.fromkeys(
        "Equal Greater Less GreaterEqual LessEqual NotEqual GreaterOrEqual LessOrEqual".split(), NARROW
    ),
}  # fmt: skip
VARIADIC = {"AddN", "Max", "Min", "Sum", "Mean"}
BINARY = {
    name
    for table in (GE_IN_PLACE, ONNX_IN_PLACE)
    for name, slots in table.items()
    if len(slots) > 1 and name not in VARIADIC | {"SelectV2", "Select", "Where"}
}


def operands(name: str, fill: Fill, rng: np.random.Generator) -> list[Array]:
    x = fill(rng, SHAPE)
    if name in VARIADIC:
        return [x, fill(rng, SHAPE), fill(rng, SHAPE)]
    if name in BINARY:
        return [x, fill(rng, SHAPE)]
    if name in ("SelectV2", "Select", "Where"):
        return [rng.random(SHAPE) < 0.5, x, fill(rng, SHAPE)]
    if name in ("Clip", "ClipByValue"):
        return [x, np.array(-1, x.dtype), np.array(1, x.dtype)]
    if name == "PRelu":
        return [x, fill(rng, (5, 1, 1))]
    if name == "BiasAdd":
        return [x, fill(rng, (5,))]
    if name == "ScatterUpdate":
        return [x, np.array(1), fill(rng, SHAPE[1:])]
    if name == "BatchNormalization":
        return [x, *(np.abs(fill(rng, (5,))) + x.dtype.type(0.5) for _ in range(4))]
    return [x]


ATTRIBUTES: dict[str, dict[str, Any]] = {
    "BiasAdd": {"data_format": "NCHW"},
    "Adds": {"value": 0.5},
    "Muls": {"value": 0.5},
    "BitShift": {"direction": "LEFT"},
    "Mod": {"fmod": 1},
    "LeakyRelu": {"alpha": -0.5, "negative_slope": -0.5},
}
CASTS: list[tuple[str, str, int, int]] = [
    ("float32", "int32", 3, 6),
    ("int32", "float32", 0, 1),
    ("float16", "int16", 6, 5),
]
"""Element types of equal width, and the second in GE's numbers and in ONNX's."""


def check(spec: OpSpec, inputs: list[Array], slot: int) -> None:
    with np.errstate(all="ignore"):
        expected = evaluate(spec, inputs)[0]
        apart = [np.empty_like(expected)]
        bind(spec, inputs, apart)()
        memory = [x.copy() for x in inputs]
        out = memory[slot].view(expected.dtype)
        run = bind(spec, memory, [out])
        run()
    assert out.tobytes() == apart[0].tobytes(), (spec.type, slot, inputs[0].dtype)


def specs(name: str, *, onnx: bool, attrs: dict[str, Any]) -> Iterator[OpSpec]:
    if not onnx:
        yield OpSpec(name, attrs, 1)
        return
    for version in (1, 6, 7, 9, 13) if name in ("Softmax", "Clip", "BatchNormalization") else (13,):
        yield OpSpec(name, attrs, 1, SourceOp("ai.onnx", name, version))


ROWS = [
    *(pytest.param(name, False, id=f"GE {name}") for name in GE_IN_PLACE),
    *(pytest.param(name, True, id=f"ONNX {name}") for name in ONNX_IN_PLACE),
]


@pytest.mark.parametrize(("name", "onnx"), ROWS)
def test_the_same_bits_in_place(name: str, onnx: bool) -> None:
    rng = np.random.default_rng(7)
    allowed = (ONNX_IN_PLACE if onnx else GE_IN_PLACE)[name]
    tried = 0
    if name == "Cast":
        for source, _, ge_number, onnx_number in CASTS:
            for spec in specs(name, onnx=onnx, attrs={"dst_type": ge_number, "to": onnx_number}):
                check(spec, [of(source, -99, 99)(rng, SHAPE)], 0)
        return
    for fill in DOMAINS.get(name, REAL):
        for spec in specs(name, onnx=onnx, attrs=ATTRIBUTES.get(name, {})):
            inputs = operands(name, fill, rng)
            for slot in allowed:
                if slot < len(inputs) and inputs[slot].nbytes == evaluate(spec, inputs)[0].nbytes:
                    check(spec, inputs, slot)
                    tried += 1
    assert tried


@pytest.mark.parametrize("name", ["AddV2", "SelectV2", "PRelu"])
def test_an_operand_that_is_read_twice(name: str) -> None:
    rng = np.random.default_rng(8)
    x = of("float32", -2, 2)(rng, SHAPE)
    given = {"AddV2": [x, x], "SelectV2": [rng.random(SHAPE) < 0.5, x, x], "PRelu": [x, x]}[name]
    memory = x.copy()
    shared = [memory if item is x else item for item in given]
    expected = evaluate(OpSpec(name, {}, 1), given)[0]
    bind(OpSpec(name, {}, 1), shared, [memory])()
    assert memory.tobytes() == expected.tobytes()


def test_other_operators_and_domains_allow_nothing() -> None:
    assert in_place_inputs("Relu") == (0,)
    assert in_place_inputs("Relu", "ai.onnx") == (0,)
    assert in_place_inputs("Relu", "com.example") == ()
    assert in_place_inputs("MatMulV2") == in_place_inputs("Transpose", "ai.onnx") == ()
