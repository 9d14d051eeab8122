"""ge-canonicalize keeps results: random graphs and real models, before and after, by the kernels."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import ConcatOp, ConstantOp, DataOp, GraphOp, NetOutputOp, OpOp
from ge_dialect.dialects.ge.access import ge_type, graphs, node_name, static_shape
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.weights import elements_attr, tensor_type
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.lowering.onnx import import_onnx
from ge_dialect.transforms.canonicalize.ge_canonicalize import GeCanonicalize

Interpreter = Callable[[ModuleOp, Mapping[str, np.ndarray]], list[Any]]
INT64 = dtype_by_name("INT64")


class Builder:
    """Random graphs on int64 tensors: every value is exact, so results must be equal to the bit.

    Types are forgotten at random (`tensor<*xi64>`, unknown dimensions), so that they have to be found again.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ops: list[Operation] = []
        self.values: list[tuple[SSAValue, tuple[int, ...]]] = []

    def kind(self, shape: tuple[int, ...]) -> Attribute:
        chance = self.rng.random()
        if chance < 0.2:
            return UnrankedTensorType(tensor_type(INT64, ()).element_type)
        if chance < 0.4:
            return tensor_type(INT64, tuple(-1 for _ in shape))
        return tensor_type(INT64, shape)

    def add(self, op: Operation, *shapes: tuple[int, ...]) -> SSAValue:
        op.attributes["ge.name"] = string(f"n{len(self.ops)}")
        self.ops.append(op)
        self.values += zip(op.results, shapes, strict=True)
        return op.results[0]

    def node(
        self, kind: str, inputs: list[SSAValue], shape: tuple[int, ...], **attrs: Any
    ) -> SSAValue:
        properties: dict[str, Attribute] = {"type": string(kind)}
        if attrs:
            properties["attrs"] = from_python(attrs)
        return self.add(OpOp.make(inputs, [self.kind(shape)], properties), shape)

    def constant(self, values: Any) -> SSAValue:
        value = elements_attr(np.array(values, np.int64))
        return self.add(
            ConstantOp.make((), (value.type,), {"value": value}), tuple(np.shape(values))
        )

    def step(self) -> None:
        rng = self.rng
        value, shape = rng.choice(self.values[-12:])
        choice = rng.randrange(10)
        if choice == 0:
            self.constant(rng.choice([1, [1, 2], [[1, 2], [3, 4]]]))
        elif choice == 1:
            self.node("Neg", [value], shape)
        elif choice in (2, 3):
            same = [v for v, s in self.values if s == shape]
            self.node(rng.choice(["Add", "Mul", "Sub"]), [value, rng.choice(same)], shape)
        elif choice == 4:
            self.node("Identity", [value], shape)
        elif choice == 5:
            self.node("Shape", [value], (len(shape),), dtype=9)
        elif choice == 6:
            new = (shape[0], -1) if shape and 0 not in shape else (-1,)
            flat = int(np.prod(shape))
            full = (shape[0], flat // shape[0]) if len(new) == 2 else (flat,)
            self.node("Reshape", [value, self.constant(list(new))], full)
        elif choice == 7:
            perm = rng.sample(range(len(shape)), len(shape))
            self.node("TransposeD", [value], tuple(shape[i] for i in perm), perm=perm)
        elif choice == 8 and shape:
            twice = (2 * shape[0], *shape[1:])
            count = rng.choice([1, 2])
            op = ConcatOp.make(
                [value] * count,
                [self.kind(twice if count == 2 else shape)],
                {"concat_dim": i64(0), "N": i64(count)},
            )
            self.add(op, twice if count == 2 else shape)
        else:
            self.node("Cast", [value], shape, dst_type=9)

    def module(self, count: int) -> tuple[ModuleOp, dict[str, np.ndarray]]:
        rng = self.rng
        inputs: dict[str, np.ndarray] = {}
        for index, shape in enumerate([(2,), (2, 2), ()]):
            self.add(DataOp.make((), (tensor_type(INT64, shape),), {"index": i64(index)}), shape)
            values = np.arange(index, index + np.prod(shape), dtype=np.int64)
            inputs[node_name(self.ops[-1])] = values.reshape(shape)
        self.constant([3, 4])
        for _ in range(count):
            self.step()
        outputs = [rng.choice(self.values)[0] for _ in range(3)]
        self.ops.append(NetOutputOp.make(outputs, (), {}, {"ge.name": string("out")}))
        graph = GraphOp("main")
        graph.block.add_ops(self.ops)
        return ModuleOp([graph]), inputs


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_random_graphs_keep_their_results(interpret: Interpreter, seed: int, count: int) -> None:
    module, inputs = Builder(seed).module(count)
    before = interpret(module, inputs)
    GeCanonicalize().apply(Context(), module)
    module.verify()
    after = interpret(module, inputs)
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)
    assert is_known(module)
    once = str(module)
    GeCanonicalize().apply(Context(), module)
    assert str(module) == once, "a second run finds something to do"


@given(st.integers(0, 10**6))
def test_the_outcome_does_not_depend_on_the_run(seed: int) -> None:
    texts: list[str] = []
    for _ in range(2):
        module, _ = Builder(seed).module(25)
        GeCanonicalize().apply(Context(), module)
        texts.append(str(module))
    assert texts[0] == texts[1]


MODELS: dict[str, dict[str, int]] = {
    "resnet50_slim": {},
    "shufflenet_v2_slim": {},
    "gpt2_slim_dyn": {"batch": 2, "seq": 8},
    "llama2_shape": {"batch": 2, "seq": 8, "total_seq": 8},
}


def model_inputs(module: ModuleOp) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    inputs: dict[str, np.ndarray] = {}
    for op in graphs(module)[0].block.ops:
        if isinstance(op, DataOp):
            kind: Any = op.results[0].type
            shape, dtype = static_shape(kind) or (), dtype_of(kind.element_type).numpy
            assert dtype is not None
            random_ints = (
                rng.integers(0, 2, shape) if "mask" not in node_name(op) else np.ones(shape)
            )
            values = rng.standard_normal(shape) if dtype.kind == "f" else random_ints
            inputs[node_name(op)] = values.astype(dtype)
    return inputs


@pytest.mark.parametrize("name", MODELS)
def test_models_become_static_and_keep_their_results(
    interpret: Interpreter, shared_models: Path, name: str
) -> None:
    module = import_onnx(shared_models / f"{name}.onnx", dims=MODELS[name])
    inputs = model_inputs(module)
    before = interpret(module, inputs)
    GeCanonicalize().apply(Context(), module)
    assert is_known(module)
    assert not {ge_type(op) for op in module.walk()} & {"Shape", "Size", "Identity"}
    for old, new in zip(before, interpret(module, inputs), strict=True):
        np.testing.assert_array_equal(old, new)


def folding_module() -> ModuleOp:
    big = elements_attr(np.arange(4, dtype=np.int64))
    constant = ConstantOp.make((), (big.type,), {"value": big}, {"ge.name": string("k")})
    tiled = OpOp.make(
        [constant.results[0]],
        [tensor_type(INT64, (4,))],
        {"type": string("Neg")},
        {"ge.name": string("n")},
    )
    graph = GraphOp("main")
    graph.block.add_ops(
        [constant, tiled, NetOutputOp.make([tiled.results[0]], (), {}, {"ge.name": string("o")})]
    )
    return ModuleOp([graph])


def test_remarks_count_what_was_done() -> None:
    with collect_remarks() as heard:
        GeCanonicalize().apply(Context(), folding_module())
    assert heard.remarks[-1].args == {"folded": 1, "removed": 1}
    assert heard.remarks[0].message == '"n" of type Neg folded'
