"""Random ONNX models of known shape: convolutions, products, joins, cuts, reductions and views over one pool of values."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
OPSET = 17
UNARY = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Identity", "Softplus")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")
SHAPES = ((2, 8), (1, 4, 6, 6), (3, 16), (4, 3, 8))

Shape = tuple[int, ...]


@dataclass
class RandomGraph:
    """A graph that grows: every step reads values of the pool and adds its result to it."""

    rng: random.Random
    nodes: list[object] = field(default_factory=list[object])
    constants: list[TensorProto] = field(default_factory=list[TensorProto])
    pool: list[tuple[str, Shape]] = field(default_factory=list[tuple[str, Shape]])
    read: set[str] = field(default_factory=set[str])

    def pick(
        self, wanted: Callable[[Shape], bool] = lambda shape: True
    ) -> tuple[str, Shape] | None:
        """A value whose shape is wanted, more often a young one; None when there is none."""
        found = [entry for entry in self.pool if wanted(entry[1])]
        return self.rng.choice(found[-8:] if self.rng.random() < 0.7 else found) if found else None

    def constant(self, value: np.ndarray) -> str:
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def weights(self, *shape: int) -> str:
        numbers = [self.rng.uniform(-0.5, 0.5) for _ in range(int(np.prod(shape)))]
        return self.constant(np.array(numbers, np.float32).reshape(shape))

    def add(self, op: str, inputs: list[str], shapes: list[Shape], **attributes: object) -> None:
        base = f"v{len(self.nodes)}"
        outputs = [f"{base}_{k}" for k in range(len(shapes))]
        self.nodes.append(
            helper.make_node(op, inputs, outputs, f"n{len(self.nodes)}", **attributes)
        )
        self.read.update(inputs)
        self.pool.extend(zip(outputs, shapes, strict=True))

    def grow(self) -> None:
        """One more node, of a kind that the pool allows."""
        self.rng.choice(STEPS)(self)

    def model(self, inputs: list[tuple[str, Shape]]) -> ModelProto:
        """The model: its outputs are the values nobody reads and one that somebody does."""
        made = self.pool[len(inputs) :]
        names = [entry for entry in made if entry[0] not in self.read]
        names += [entry for entry in made if entry[0] in self.read][:1]
        infos = [
            [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in entries]
            for entries in (inputs, names)
        ]
        graph = helper.make_graph(self.nodes, "random", infos[0], infos[1], self.constants)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9
        )


def random_model(seed: int, size: int = 30) -> ModelProto:
    """The model of `seed`: four inputs, about `size` nodes, finite numbers for inputs of a few units."""
    graph = RandomGraph(random.Random(seed))
    inputs = [(f"x{k}", shape) for k, shape in enumerate(SHAPES)]
    graph.pool.extend(inputs)
    while len(graph.nodes) < size:
        graph.grow()
    return graph.model(inputs)


def _unary(graph: RandomGraph) -> None:
    if source := graph.pick():
        graph.add(graph.rng.choice(UNARY), [source[0]], [source[1]])


def _binary(graph: RandomGraph) -> None:
    if left := graph.pick():
        right = graph.pick(lambda shape: shape == left[1]) or left
        bounded = left[0], right[0]
        op = graph.rng.choice(BINARY)
        graph.add(op, list(bounded), [left[1]])
        if op == "Mul":  # keeps products of products finite
            graph.add("Tanh", [graph.pool[-1][0]], [left[1]])


def _bias(graph: RandomGraph) -> None:
    if source := graph.pick():
        graph.add("Add", [source[0], graph.weights(source[1][-1])], [source[1]])


def _concat(graph: RandomGraph) -> None:
    if first := graph.pick():
        axis = graph.rng.randrange(len(first[1]))
        rest = [
            entry
            for entry in (
                graph.pick(lambda shape: _joins(shape, first[1], axis))
                for _ in range(graph.rng.randint(1, 3))
            )
            if entry
        ]
        parts = [first, *rest]
        total = sum(shape[axis] for _, shape in parts)
        if total <= 24:
            shape = (*first[1][:axis], total, *first[1][axis + 1 :])
            graph.add("Concat", [name for name, _ in parts], [shape], axis=axis)


def _joins(shape: Shape, other: Shape, axis: int) -> bool:
    return len(shape) == len(other) and all(
        a == b for k, (a, b) in enumerate(zip(shape, other, strict=True)) if k != axis
    )


def _split(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: any(x >= 2 for x in shape)):
        name, shape = source
        axis = graph.rng.choice([k for k, x in enumerate(shape) if x >= 2])
        cut = graph.rng.randint(1, shape[axis] - 1)
        sizes = [cut, shape[axis] - cut]
        shapes = [(*shape[:axis], x, *shape[axis + 1 :]) for x in sizes]
        graph.add("Split", [name, graph.constant(np.array(sizes))], shapes, axis=axis)


def _slice(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: shape[-1] >= 2):
        name, shape = source
        step = graph.rng.choice((1, 1, 2, -1))
        bounds = (-1, -(shape[-1] + 1)) if step < 0 else (1, shape[-1])
        length = len(range(shape[-1])[slice(*(bounds if step > 0 else (None, None)), step)])
        parts = [graph.constant(np.array([x])) for x in (*bounds, len(shape) - 1, step)]
        graph.add("Slice", [name, *parts], [(*shape[:-1], length)])


def _transpose(graph: RandomGraph) -> None:
    if source := graph.pick():
        order = list(range(len(source[1])))
        graph.rng.shuffle(order)
        graph.add("Transpose", [source[0]], [tuple(source[1][k] for k in order)], perm=order)


def _reshape(graph: RandomGraph) -> None:
    if source := graph.pick():
        flat = (source[1][0], int(np.prod(source[1][1:])))
        graph.add("Reshape", [source[0], graph.constant(np.array(flat))], [flat])


def _reduce(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: len(shape) > 1):
        op = graph.rng.choice(("ReduceMean", "ReduceMax"))
        graph.add(op, [source[0]], [(*source[1][:-1], 1)], axes=[-1], keepdims=1)


def _softmax(graph: RandomGraph) -> None:
    if source := graph.pick():
        graph.add("Softmax", [source[0]], [source[1]], axis=-1)


def _product(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: len(shape) == 2 and shape[1] <= 64):
        width = graph.rng.choice((8, 16))
        graph.add(
            "MatMul", [source[0], graph.weights(source[1][1], width)], [(source[1][0], width)]
        )


def _convolution(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: len(shape) == 4 and min(shape[2:]) >= 3):
        name, (batch, channels, height, width) = source
        pad = graph.rng.choice((0, 1))
        shape = (batch, 4, height - 2 + 2 * pad, width - 2 + 2 * pad)
        graph.add("Conv", [name, graph.weights(4, channels, 3, 3)], [shape], pads=[pad] * 4)


def _pool(graph: RandomGraph) -> None:
    if source := graph.pick(lambda shape: len(shape) == 4 and min(shape[2:]) >= 2):
        batch, channels, height, width = source[1]
        shape = (batch, channels, height // 2, width // 2)
        op = graph.rng.choice(("MaxPool", "AveragePool"))
        graph.add(op, [source[0]], [shape], kernel_shape=[2, 2], strides=[2, 2])


STEPS = (
    _unary,
    _binary,
    _bias,
    _concat,
    _concat,
    _split,
    _slice,
    _transpose,
    _reshape,
    _reduce,
    _softmax,
    _product,
    _convolution,
    _pool,
)
