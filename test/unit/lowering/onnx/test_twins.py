"""Every row of the operator table: the GE node that an ONNX node becomes, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ArrayAttr

from ge_dialect.dialects.ge.access import ge_attrs, ge_type, graphs, is_absent, nodes, source_op
from ge_dialect.lowering.onnx import export_onnx, import_onnx
from ge_dialect.lowering.onnx.op_table import TWIN_OF_GE, TWINS
from ge_dialect.lowering.onnx.twins import plain

FLOAT, INT = np.float32, np.int64
RNG = np.random.default_rng(0)


def _f(*shape: int) -> np.ndarray:
    return RNG.uniform(0.1, 0.9, shape).astype(FLOAT)


def _i(*values: int) -> np.ndarray:
    return np.array(values, dtype=INT)


@dataclass(frozen=True)
class Case:
    """One node: fed inputs, constant inputs (by slot), ONNX attributes, and what it must become."""

    op: str
    ge: str
    inputs: dict[str, np.ndarray]
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    slots: list[str] | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    ge_attrs: dict[str, Any] = field(default_factory=dict)
    opset: int = 17
    outputs: int = 1
    shapes: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.op}-{self.opset}-{self.ge}-{'-'.join(f'{k}={v}' for k, v in self.attrs.items())}"


X = {"x": _f(2, 3, 4)}
XI = {"x": RNG.integers(1, 9, (2, 3)).astype(INT)}
PAIR = {"a": _f(2, 3), "b": _f(3)}
BOOLS = {"a": np.array([True, False, True]), "b": np.array([True, True, False])}
IMAGE = {"x": _f(1, 4, 7, 9)}
FILTER = {"w": _f(6, 2, 3, 2)}

BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "PRelu")  # fmt: skip
SPECIAL = {
    "Range": {"a": np.array(1, INT), "b": np.array(9, INT), "c": np.array(2, INT)},
    "Expand": {"x": _f(3, 1), "s": _i(2, 3, 4)},
    "Tile": {"x": _f(2, 3), "s": _i(2, 2)},
    "Acosh": {"x": _f(2, 3) + FLOAT(1)},
}
RENAMED = dict(plain.RENAMED)

CASES = [
    *(
        Case(name, name, SPECIAL.get(name, PAIR if name in BINARY else X))
        for name in plain.SAME_NAME
    ),
    *(Case(name, RENAMED[name], PAIR) for name in ("GreaterOrEqual", "LessOrEqual")),
    *(Case(name, RENAMED[name], BOOLS) for name in ("And", "Or", "Xor")),
    Case("Not", "LogicalNot", {"a": BOOLS["a"]}),
    Case("Where", "SelectV2", {"c": BOOLS["a"], "a": _f(2, 3), "b": _f(3)}),
    Case("Max", "Maximum", PAIR),
    Case("Min", "Minimum", PAIR),
    Case("LeakyRelu", "LeakyRelu", X, attrs={"alpha": 0.25}, ge_attrs={"negative_slope": 0.25}),
    Case("LeakyRelu", "LeakyRelu", X, ge_attrs={"negative_slope": pytest.approx(0.01)}),
    Case("Elu", "Elu", X, attrs={"alpha": 0.5}, ge_attrs={"alpha": 0.5}),
    Case("Elu", "Elu", X, ge_attrs={"alpha": 1.0}),
    Case("MatMul", "BatchMatMulV2", {"a": _f(2, 3), "b": _f(3)}, ge_attrs={"adj_x1": False, "adj_x2": False}),
    Case(
        "Conv", "Conv2D", IMAGE, FILTER,
        attrs={"strides": [2, 1], "pads": [1, 2, 3, 4], "dilations": [1, 2], "group": 2},
        ge_attrs={"strides": [1, 1, 2, 1], "pads": [1, 3, 2, 4], "dilations": [1, 1, 1, 2], "groups": 2, "data_format": "NCHW"},
    ),
    *(
        Case(
            "Conv", "Conv2D", IMAGE, FILTER, attrs={"auto_pad": mode, "strides": [2, 2], "group": 2},
            ge_attrs={"strides": [1, 1, 2, 2], "pads": pads, "dilations": [1, 1, 1, 1], "groups": 2, "data_format": "NCHW"},
        )
        for mode, pads in (("SAME_UPPER", [1, 1, 0, 1]), ("SAME_LOWER", [1, 1, 1, 0]), ("VALID", [0, 0, 0, 0]))
    ),
    Case("Softmax", "SoftmaxV2", X, attrs={"axis": 1}, ge_attrs={"axes": [1]}),
    Case("Softmax", "SoftmaxV2", X, ge_attrs={"axes": [-1]}),
    Case("LogSoftmax", "LogSoftmaxV2", X, attrs={"axis": 1}, ge_attrs={"axes": [1]}),
    Case("Concat", "ConcatD", {"a": _f(2, 3), "b": _f(4, 3)}, attrs={"axis": 0}, ge_attrs={"concat_dim": 0, "N": 2}),
    Case("Split", "SplitD", {"x": _f(2, 6)}, attrs={"axis": 1}, ge_attrs={"split_dim": 1, "num_split": 2}, outputs=2),
    Case("Split", "SplitD", {"x": _f(2, 6)}, {"s": _i(3, 3)}, attrs={"axis": 1}, ge_attrs={"split_dim": 1, "num_split": 2}, outputs=2),
    Case("Split", "SplitVD", {"x": _f(2, 6)}, {"s": _i(2, 4)}, attrs={"axis": 1},
         ge_attrs={"split_dim": 1, "num_split": 2, "size_splits": [2, 4]}, outputs=2),
    Case("Split", "SplitVD", {"x": _f(6)}, attrs={"split": [1, 5]}, opset=11,
         ge_attrs={"split_dim": 0, "num_split": 2, "size_splits": [1, 5]}, outputs=2),
    Case("Split", "SplitD", {"x": _f(6)}, attrs={"num_outputs": 3}, opset=18, ge_attrs={"split_dim": 0, "num_split": 3}, outputs=3),
    Case("Split", "SplitVD", {"x": _f(7)}, attrs={"num_outputs": 3}, opset=18,
         ge_attrs={"split_dim": 0, "num_split": 3, "size_splits": [3, 3, 1]}, outputs=3),
    Case("Split", "SplitV", {"x": _f(6), "s": _i(2, 4)}, ge_attrs={"num_split": 2}, outputs=2),
    Case("Gather", "GatherV2", {"x": _f(2, 5), "i": _i(0, 4)}, attrs={"axis": 1}),
    Case("Transpose", "TransposeD", X, attrs={"perm": [1, 0, 2]}, ge_attrs={"perm": [1, 0, 2]}),
    Case("Transpose", "TransposeD", X, ge_attrs={"perm": [2, 1, 0]}),
    Case("Reshape", "Reshape", X, {"s": _i(6, -1)}),
    Case("Reshape", "Reshape", {"x": _f(0, 3), "s": _i(3, 0)}, attrs={"allowzero": 1}, ge_attrs={"allowzero": 1}),
    Case("Squeeze", "Squeeze", {"x": _f(1, 2, 1)}, {"a": _i(0)}, ge_attrs={"axis": [0]}),
    Case("Squeeze", "Squeeze", {"x": _f(1, 2, 1)}, ge_attrs={"axis": []}),
    Case("Squeeze", "Squeeze", {"x": _f(1, 2, 1)}, attrs={"axes": [2]}, ge_attrs={"axis": [2]}, opset=11),
    Case("Squeeze", "SqueezeV3", {"x": _f(1, 2, 1), "a": _i(0)}),
    Case("Unsqueeze", "Unsqueeze", {"x": _f(2)}, {"a": _i(0, 2)}, ge_attrs={"axes": [0, 2]}),
    Case("Unsqueeze", "Unsqueeze", {"x": _f(2)}, attrs={"axes": [0]}, ge_attrs={"axes": [0]}, opset=11),
    Case("Unsqueeze", "UnsqueezeV3", {"x": _f(2), "a": _i(0)}),
    Case("Cast", "Cast", X, attrs={"to": TensorProto.INT64}, ge_attrs={"dst_type": 9}),
    Case("Cast", "Cast", X, attrs={"to": TensorProto.FLOAT8E4M3FN, "saturate": 0}, ge_attrs={"dst_type": 36, "saturate": 0}, opset=19),
    Case("Shape", "Shape", X, ge_attrs={"dtype": 9}),
    Case("Shape", "Shape", X, attrs={"start": 1, "end": -1}, ge_attrs={"dtype": 9, "start": 1, "end": -1}),
    Case("Size", "Size", X, ge_attrs={"dtype": 9}),
    Case("Slice", "StridedSliceV2", X, {"b": _i(0, 1), "e": _i(2, 4), "a": _i(1, 2), "s": _i(1, 2)}),
    Case("Slice", "StridedSliceV2", {"x": _f(4, 4), "b": _i(1), "e": _i(3), "s": _i(1)}, slots=["x", "b", "e", "", "s"]),
    Case("Slice", "StridedSliceV2", X, attrs={"starts": [0, 1], "ends": [2, 4], "axes": [1, 2]}, opset=9),
    *(
        Case(f"Reduce{kind}", f"Reduce{kind}D", X, attrs={"axes": [0, 2]}, ge_attrs={"axes": [0, 2], "keep_dims": True}, opset=11)
        for kind in ("Sum", "Mean", "Max", "Min", "Prod")
    ),
    *(
        Case(f"Reduce{kind}", f"Reduce{kind}D", X, {"a": _i(1)}, attrs={"keepdims": 0},
             ge_attrs={"axes": [1], "keep_dims": False}, opset=18)
        for kind in ("Sum", "Mean", "Max", "Min", "Prod")
    ),
    *(
        Case(f"Reduce{kind}", f"Reduce{kind}", {**X, "a": _i(1)}, ge_attrs={"keep_dims": True}, opset=18)
        for kind in ("Sum", "Mean", "Max", "Min", "Prod")
    ),
    Case("ReduceSum", "ReduceSumD", X, ge_attrs={"axes": [], "keep_dims": True}),
]  # fmt: skip


def _model(build: Any, case: Case) -> onnx.ModelProto:
    slots = case.slots or [*case.inputs, *case.constants]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, slots, outputs, name="node", **case.attrs)
    inputs = {
        name: (helper.np_dtype_to_tensor_dtype(array.dtype), case.shapes.get(name, array.shape))
        for name, array in case.inputs.items()
    }
    model = build([node], inputs, {}, case.constants, opset=case.opset, ir_version=9)
    typed = onnx.shape_inference.infer_shapes(_with_outputs(model, outputs), data_prop=True)
    return typed


def _with_outputs(model: onnx.ModelProto, outputs: list[str]) -> onnx.ModelProto:
    for name in outputs:
        model.graph.output.add(name=name)
    return model


def _is_checked(model: onnx.ModelProto) -> bool:
    """onnx's checker wants a rank of every input and output, which not every one of these models knows."""
    types = [item.type.tensor_type for item in (*model.graph.input, *model.graph.output)]
    return all(kind.HasField("shape") for kind in types)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_twin_has_ge_type_and_attributes_and_goes_back(case: Case, build: Any, run: Any) -> None:
    model = _model(build, case)
    module = import_onnx(model)
    module.verify()
    (op,) = [op for op in nodes(graphs(module)[0]) if op.attributes["ge.name"].data == "node"]
    assert ge_type(op) == case.ge
    assert source_op(op) is None
    assert ge_attrs(op) == case.ge_attrs

    exported = export_onnx(module)
    if _is_checked(model):
        onnx.checker.check_model(exported)
    (node,) = [node for node in exported.graph.node if node.name == "node"]
    assert (node.op_type, node.domain) == (case.op, "")
    expected, got = run(model, case.inputs), run(exported, case.inputs)
    for x, y in zip(expected, got, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    again = import_onnx(exported)
    assert str(graphs(again)[0]) == str(graphs(module)[0])


def test_every_row_is_tested() -> None:
    tested = {(case.op, case.ge) for case in CASES}
    assert tested == {(row.onnx, ge) for row in TWINS for ge in row.ge}


def test_no_type_stands_in_two_rows() -> None:
    assert len(TWIN_OF_GE) == sum(len(row.ge) for row in TWINS)


@pytest.mark.parametrize(
    "case",
    [
        Case("Softmax", "", X, attrs={"axis": 1}, opset=11),
        Case("Max", "", {"a": _f(2), "b": _f(2), "c": _f(2)}),
        Case("Max", "", {"a": _f(2)}),
        Case("Conv", "", {"x": _f(1, 2, 7)}, {"w": _f(2, 2, 3)}),
        Case("Conv", "", IMAGE, FILTER, attrs={"auto_pad": "SAME_UPPER", "group": 2}, shapes={"x": [1, 4, "h", 9]}),
        Case("ReduceSum", "", X, attrs={"noop_with_empty_axes": 1}),
        Case("ReduceSum", "", {**X, "a": _i(1)}, attrs={"noop_with_empty_axes": 1}),
        Case("Cast", "", X, attrs={"to": TensorProto.UINT4}, opset=21),
        Case("Split", "", {"x": _f(7)}, attrs={"num_outputs": 3}, opset=18, outputs=3, shapes={"x": ["n"]}),
        Case("Transpose", "", X, shapes={"x": None}),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_where_the_condition_fails_the_node_stays_onnx(case: Case, build: Any, run: Any) -> None:
    model = _model(build, case)
    module = import_onnx(model)
    module.verify()
    (op,) = [op for op in nodes(graphs(module)[0]) if op.attributes["ge.name"].data == "node"]
    source = source_op(op)
    assert source is not None
    assert (source.domain, source.op) == ("ai.onnx", case.op)
    assert source.version == onnx.defs.get_schema(case.op, case.opset).since_version
    assert set(ge_attrs(op)) == set(case.attrs)
    exported = export_onnx(module)
    if _is_checked(model):
        onnx.checker.check_model(exported)
    if case.op == "Cast":
        return  # numpy has no four-bit type to compare in
    for x, y in zip(run(model, case.inputs), run(exported, case.inputs), strict=True):
        np.testing.assert_array_equal(x, y)


def test_gather_axes_are_shared_constants_of_the_graph(build: Any, ops_of: Any) -> None:
    gathers = [
        helper.make_node("Gather", ["x", "i"], [f"y{k}"], name=f"g{k}", axis=axis)
        for k, axis in enumerate((0, 1, 0))
    ]
    model = build(
        gathers,
        {"x": [4, 4], "i": (TensorProto.INT64, [2])},
        {f"y{k}": None for k in range(3)},
    )
    module = import_onnx(model)
    first, second, third = ops_of(module, "GatherV2")
    assert first.operands[2] is third.operands[2]
    assert first.operands[2] is not second.operands[2]
    assert len(ops_of(module, "Const")) == 2


def test_slice_keeps_unwired_slots(build: Any, ops_of: Any) -> None:
    node = helper.make_node("Slice", ["x", "b", "e", "", "s"], ["y"])
    constants = {"b": _i(1), "e": _i(3), "s": _i(1)}
    module = import_onnx(build([node], {"x": [4, 4]}, {"y": None}, constants))
    (op,) = ops_of(module, "StridedSliceV2")
    assert [is_absent(x) for x in op.operands] == [False, False, False, True, False]


def test_constants_that_became_attributes_are_gone(build: Any, ops_of: Any) -> None:
    node = helper.make_node("Unsqueeze", ["x", "axes"], ["y"])
    module = import_onnx(build([node], {"x": [4]}, {"y": None}, {"axes": _i(0)}))
    assert ops_of(module, "Const") == []
    assert isinstance(ops_of(module, "NetOutput")[0].attributes["ge.output_names"], ArrayAttr)
