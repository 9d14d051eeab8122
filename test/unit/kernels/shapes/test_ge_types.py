"""GE's own operators: shapes, messages, facts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.kernels.shapes import (
    ShapeError,
    TensorInfo,
    find,
    infer,
    is_data_dependent,
    value_dependent_inputs,
)
from ge_dialect.kernels.spec import OpSpec


def t(*shape: int, dtype: str = "FLOAT") -> TensorInfo:
    return TensorInfo(dtype_by_name(dtype), shape)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


CONV = {"strides": [1, 1, 2, 2], "dilations": [1] * 4, "groups": 2, "data_format": "NCHW"}
I = "INT64"  # noqa: E741

RESULTS: list[tuple[str, dict[str, Any], list[TensorInfo | None], list[Any], list[TensorInfo]]] = [
    ("Pack", {"axis": 1, "N": 2}, [t(2, 3), t(2, -1)], [], [t(2, 2, 3)]),
    ("Unpack", {"axis": -1, "num": 2}, [t(3, 2)], [], [t(3), t(3)]),
    ("ConcatV2", {"N": 2}, [t(2, 3), t(4, 3), t(dtype=I)], [None, None, ints(0)], [t(6, 3)]),
    ("ConcatV2", {"N": 2}, [t(2, 3), t(4, 3), t(dtype=I)], [], [t(-1, -1)]),
    ("Concat", {"N": 2}, [t(dtype=I), t(2, 3), t(2, 1)], [ints(1)], [t(2, 4)]),
    (
        "ConcatD",
        {"concat_dim": 0},
        [t(2, -1), TensorInfo(dtype_by_name("FLOAT"), None)],
        [],
        [t(-1, -1)],
    ),
    ("SplitD", {"split_dim": 1, "num_split": 2}, [t(2, 6)], [], [t(2, 3)] * 2),
    (
        "SplitVD",
        {"split_dim": 0, "size_splits": [1, -1], "num_split": 2},
        [t(5, 2)],
        [],
        [t(1, 2), t(4, 2)],
    ),
    (
        "SplitV",
        {"num_split": 2},
        [t(5), t(2, dtype=I), t(dtype=I)],
        [None, ints(2, 3), ints(0)],
        [t(2), t(3)],
    ),
    (
        "SplitV",
        {"num_split": 2},
        [t(5), t(2, dtype=I), t(dtype=I)],
        [None, None, ints(0)],
        [t(-1), t(-1)],
    ),
    ("Split", {"num_split": 3}, [t(dtype=I), t(6)], [ints(0)], [t(2)] * 3),
    (
        "GatherV2",
        {},
        [t(2, 5, 3), t(4, 1, dtype=I), t(dtype=I)],
        [None, None, ints(1)],
        [t(2, 4, 1, 3)],
    ),
    ("GatherV2", {}, [t(2, 5, 3), t(4, dtype=I), t(dtype=I)], [], [t(-1, -1, -1)]),
    ("TransposeD", {"perm": [2, 0, 1]}, [t(2, 3, 4)], [], [t(4, 2, 3)]),
    ("Squeeze", {"axis": [0, -1]}, [t(1, 3, 1)], [], [t(3)]),
    ("Squeeze", {"axis": []}, [t(1, 3, 1)], [], [t(3)]),
    ("SqueezeV3", {}, [t(1, 3, 1), t(1, dtype=I)], [], [t(-1, -1)]),
    ("Unsqueeze", {"axes": [0, 2]}, [t(3)], [], [t(1, 3, 1)]),
    ("UnsqueezeV3", {}, [t(3), t(1, dtype=I)], [None, ints(-1)], [t(3, 1)]),
    ("Cast", {"dst_type": 1}, [t(2)], [], [t(2, dtype="FLOAT16")]),
    ("Shape", {"dtype": 9, "start": 1}, [t(2, 3, 4)], [], [t(2, dtype=I)]),
    ("Size", {"dtype": 9}, [t(2, 3, 4)], [], [t(dtype=I)]),
    ("Range", {}, [t(dtype=I)] * 3, [ints(1), ints(8), ints(3)], [t(3, dtype=I)]),
    ("SelectV2", {}, [t(3, 1, dtype="BOOL"), t(4), t(1)], [], [t(3, 4)]),
    ("ReduceSumD", {"axes": [], "keep_dims": True}, [t(2, 3)], [], [t(1, 1)]),
    ("ReduceMeanD", {"axes": [-1]}, [t(2, 3)], [], [t(2)]),
    ("ReduceSum", {"keep_dims": True}, [t(2, 1, 3), t(1, dtype=I)], [], [t(-1, 1, -1)]),
    ("ReduceSum", {"keep_dims": False}, [t(2, 3), t(1, dtype=I)], [None, ints(0)], [t(3)]),
    ("BatchMatMulV2", {"adj_x2": True}, [t(7, 2, 3), t(1, 4, 3)], [], [t(7, 2, 4)]),
    (
        "BatchMatMulV2",
        {},
        [t(2, 3, dtype="INT8"), t(3, 4, dtype="INT8")],
        [],
        [t(2, 4, dtype="INT32")],
    ),
    ("MatMulV2", {"transpose_x1": True}, [t(3, 2), t(3, 4)], [], [t(2, 4)]),
    (
        "Conv2D",
        {**CONV, "pads": [0, 1, 2, 3]},
        [t(1, 4, 8, 9), t(6, 2, 3, 3), t(6)],
        [],
        [t(1, 6, 4, 6)],
    ),
    ("Greater", {}, [t(2, 1), t(3)], [], [t(2, 3, dtype="BOOL")]),
    ("Pow", {}, [t(2), t(2, dtype="INT32")], [], [t(2)]),
    ("HcomAllReduce", {"reduction": "sum"}, [t(4, 2), t(3)], [], [t(4, 2), t(3)]),
    ("HcomBroadcast", {"root_rank": 0}, [t(4, 2)], [], [t(4, 2)]),
    ("HcomAllGather", {"rank_size": 4}, [t(4, 2)], [], [t(16, 2)]),
    ("HcomReduceScatter", {"rank_size": 4}, [t(4, 2)], [], [t(1, 2)]),
    ("HcomReceive", {"shape": [2, 3], "dtype": 1}, [], [], [t(2, 3, dtype="FLOAT16")]),
    ("Identity", {}, [t(4, 2)], [], [t(4, 2)]),
    ("MemcpyAsync", {}, [t(4, 2)], [], [t(4, 2)]),
    ("SoftmaxV2", {"axes": [-1]}, [t(4, 2)], [], [t(4, 2)]),
    (
        "StridedSliceV2",
        {},
        [t(5), t(1, dtype=I), t(1, dtype=I), None, None],
        [None, ints(1), ints(99)],
        [t(4)],
    ),
    ("StridedSliceV2", {}, [t(5, 6), *[t(1, dtype=I)] * 2], [], [t(-1, 6)]),
]


@pytest.mark.parametrize(("kind", "attrs", "inputs", "values", "outputs"), RESULTS)
def test_outputs(
    kind: str, attrs: dict[str, Any], inputs: Any, values: Any, outputs: list[TensorInfo]
) -> None:
    assert infer(OpSpec(kind, attrs, len(outputs)), inputs, values) == outputs


def onnx_spec(
    op: str, version: int, attrs: dict[str, Any] | None = None, outputs: int = 1
) -> OpSpec:
    return OpSpec(op, attrs or {}, outputs, SourceOp("ai.onnx", op, version))


ERRORS: list[tuple[OpSpec, list[TensorInfo | None], list[Any], str]] = [
    (
        OpSpec("ConcatD", {"concat_dim": 0}, 1),
        [t(4, 2), t(2, 3)],
        [],
        "ConcatD input 1 has shape [2, 3], expected [?, 2] outside axis 0 as input 0",
    ),
    (
        OpSpec("ConcatD", {"concat_dim": 0}, 1),
        [t(4, 2), t(2)],
        [],
        "ConcatD input 1 has shape [2], expected rank 2 as input 0",
    ),
    (
        OpSpec("BatchMatMulV2", {}, 1),
        [t(2, 4), t(5, 2)],
        [],
        "BatchMatMulV2 inner dimensions 4 and 5 differ",
    ),
    (
        OpSpec("BatchMatMulV2", {}, 1),
        [t(2, 1, 1), t(3, 1, 1)],
        [],
        "BatchMatMulV2 batch dimensions [2] and [3] do not broadcast",
    ),
    (
        OpSpec("Add", {}, 1),
        [t(2), t(2, dtype="FLOAT16")],
        [],
        "Add element types f32 and f16 differ",
    ),
    (
        OpSpec("Add", {}, 1),
        [t(2), t(3)],
        [],
        "Add input 1 has shape [3], which does not broadcast with [2]",
    ),
    (OpSpec("Add", {}, 1), [t(2)], [], "Add input 1 is missing"),
    (
        OpSpec("Reshape", {}, 1),
        [t(2, 3), t(2, dtype=I)],
        [None, ints(4, 2)],
        "Reshape cannot give a tensor of shape [2, 3] the shape [4, 2]: the numbers of elements differ",
    ),
    (
        OpSpec("Reshape", {}, 1),
        [t(2, 3), t(2, dtype=I)],
        [None, ints(-1, 4)],
        "Reshape cannot give a tensor of shape [2, 3] the shape [-1, 4]: the numbers of elements differ",
    ),
    (
        OpSpec("Reshape", {}, 1),
        [t(2, 3), t(2, dtype=I)],
        [None, ints(-1, -1)],
        "Reshape target [-1, -1] has more than one -1",
    ),
    (
        OpSpec("SplitD", {"split_dim": 0, "num_split": 2}, 2),
        [t(7)],
        [],
        "SplitD cannot cut 7 along axis 0 into 2 equal parts",
    ),
    (
        OpSpec("SplitD", {"split_dim": 0, "num_split": 0}, 2),
        [t(7)],
        [],
        "SplitD should cut into at least one part, not 0",
    ),
    (
        OpSpec("SplitVD", {"split_dim": 0, "num_split": 2, "size_splits": [1, 2]}, 2),
        [t(7)],
        [],
        "SplitVD sizes [1, 2] do not add up to 7, the size of axis 0",
    ),
    (
        OpSpec("Squeeze", {"axis": [1]}, 1),
        [t(1, 3)],
        [],
        "Squeeze dimension 1 of shape [1, 3] is not 1",
    ),
    (
        OpSpec("TransposeD", {"perm": [0, 0]}, 1),
        [t(1, 3)],
        [],
        "TransposeD perm [0, 0] is no permutation of 2 dimensions",
    ),
    (
        OpSpec("ReduceSumD", {"axes": [2]}, 1),
        [t(1, 3)],
        [],
        "ReduceSumD axis 2 is out of range for rank 2",
    ),
    (
        OpSpec("SelectV2", {}, 1),
        [t(2), t(2), t(2)],
        [],
        "SelectV2 input 0 has element type f32, expected i1",
    ),
    (
        OpSpec("Conv2D", {**CONV, "pads": [0] * 4}, 1),
        [t(1, 3, 8, 8), t(6, 2, 3, 3)],
        [],
        "Conv2D has 3 input channels, its filter [6, 2, 3, 3] with 2 groups expects 4",
    ),
    (
        OpSpec("Conv2D", {**CONV, "pads": [0] * 4, "groups": 1}, 1),
        [t(1, 2, 2, 8), t(6, 2, 3, 3)],
        [],
        "Conv2D window of 3 does not fit into 2 elements padded by 0 and 0",
    ),
    (
        OpSpec("HcomReduceScatter", {"rank_size": 3}, 1),
        [t(4)],
        [],
        "HcomReduceScatter cannot cut input 0 of shape [4] into 3 equal parts",
    ),
    (
        OpSpec("Cast", {"dst_type": 77}, 1),
        [t(4)],
        [],
        "Cast attribute dst_type = 77 is no element type of GE",
    ),
    (OpSpec("SplitD", {"num_split": 2}, 2), [t(4)], [], "SplitD attribute split_dim is missing"),
    (onnx_spec("Gemm", 13), [t(2, 3), t(4, 5)], [], "Gemm inner dimensions 3 and 4 differ"),
    (
        onnx_spec("Gemm", 13),
        [t(2, 3), t(3, 5), t(4)],
        [],
        "Gemm input 2 has shape [4], which does not broadcast to [2, 5]",
    ),
    (
        onnx_spec("TopK", 11, outputs=2),
        [t(2, 3), t(1, dtype=I)],
        [None, ints(4)],
        "TopK cannot take 4 of 3 elements along axis 1",
    ),
    (
        onnx_spec("MaxPool", 12, {"kernel_shape": [2, 2], "strides": [1]}),
        [t(1, 1, 4, 4)],
        [],
        "MaxPool attribute strides has 1 entries, expected 2",
    ),
    (
        onnx_spec("GridSample", 20),
        [t(1, 1, 4, 4), t(1, 4, 4, 3)],
        [],
        "last dimension",
    ),
]


@pytest.mark.parametrize(("spec", "inputs", "values", "message"), ERRORS)
def test_errors(spec: OpSpec, inputs: Any, values: Any, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        infer(spec, inputs, values)
    if spec.type == "GridSample":  # onnx's words
        assert caught.value.message.startswith("GridSample: ")
    else:
        assert caught.value.message == message


@pytest.mark.parametrize(
    "kind", ["NonZero", "Compress", "NonMaxSuppression", "Unique", "If", "Loop", "Scan"]
)
def test_data_dependent(kind: str) -> None:
    assert is_data_dependent(onnx_spec(kind, 11))


def test_not_data_dependent() -> None:
    assert not is_data_dependent(onnx_spec("Resize", 19))
    assert not is_data_dependent(onnx_spec("Where", 9))
    assert is_data_dependent(OpSpec("Where", {}, 1))
    assert not is_data_dependent(OpSpec("Reshape", {}, 1))


def test_value_dependent_inputs() -> None:
    assert value_dependent_inputs(OpSpec("Reshape", {}, 1), 2) == (1,)
    assert value_dependent_inputs(OpSpec("StridedSliceV2", {}, 1), 3) == (1, 2)
    assert value_dependent_inputs(OpSpec("ConcatV2", {}, 1), 4) == (3,)
    assert value_dependent_inputs(onnx_spec("Resize", 19), 4) == (1, 2, 3)
    assert value_dependent_inputs(OpSpec("Relu", {}, 1), 1) == ()


TWINS = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Sigmoid Sign Sin Sinh Sqrt Tan Tanh Relu"
    " Softplus Softsign Reciprocal Add Sub Mul Div Pow Equal Greater Less Identity Round LogicalNot LogicalAnd LogicalOr"
    " LogicalXor GreaterEqual LessEqual SelectV2 Maximum Minimum LeakyRelu Elu PRelu BatchMatMulV2 Conv2D SoftmaxV2"
    " LogSoftmaxV2 ConcatD SplitD SplitVD SplitV GatherV2 TransposeD Reshape Expand Tile Squeeze SqueezeV3 Unsqueeze"
    " UnsqueezeV3 Cast Shape Size Range StridedSliceV2 ReduceSumD ReduceMeanD ReduceMaxD ReduceMinD ReduceProdD ReduceSum"
    " ReduceMean ReduceMax ReduceMin ReduceProd"
).split()


@pytest.mark.parametrize("kind", TWINS)
def test_every_twin_of_an_onnx_operator_has_a_function(kind: str) -> None:
    assert find(OpSpec(kind, {}, 1)) is not None


def test_common_operators_do_not_import_onnx() -> None:
    script = (
        "import sys; from ge_dialect.kernels.shapes import *; from ge_dialect.kernels.spec import OpSpec;"
        "from ge_dialect.dialects.ge.source import SourceOp; from ge_dialect.formats.dtypes import dtype_by_name;"
        "x = TensorInfo(dtype_by_name('FLOAT'), (2, 3));"
        "assert infer(OpSpec('Clip', {}, 1, SourceOp('ai.onnx', 'Clip', 13)), [x]) == [x];"
        "assert 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
