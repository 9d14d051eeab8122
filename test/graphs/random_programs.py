"""Random ONNX models with nested branches and loops of known shape."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper

SHAPE = (2, 3)
_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def _info(name: str, shape: tuple[int, ...] = SHAPE, kind: int = _FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


@dataclass
class _Scope:
    """Nodes of one graph and the [2, 3] values that they may read, those around the graph included."""

    values: list[str]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


class RandomProgram:
    """`model` for a seed. Inputs x, y: float [2, 3]; n: int64 trip count, c: bool. Magnitudes stay small."""

    def __init__(self, seed: int, size: int = 8, depth: int = 3) -> None:
        self._random = random.Random(seed)
        self._count = 0
        self._constants: dict[str, onnx.TensorProto] = {}
        scope = _Scope(["x", "y"])
        self._statements(scope, size, depth)
        chosen = self._random.sample(scope.values, k=min(3, len(scope.values)))
        outputs: list[onnx.ValueInfoProto] = []
        for name in chosen:
            if self._random.random() < 0.5 and name in scope.own:
                outputs.append(_info(name))
            else:
                outputs.append(_info(self._node(scope, "Neg", [name])))
        graph = helper.make_graph(
            scope.nodes,
            f"random_{seed}",
            [_info("x"), _info("y"), _info("n", (), _INT64), _info("c", (), _BOOL)],
            outputs,
            list(self._constants.values()),
        )
        opset = [helper.make_opsetid("", 17)]
        self.model = helper.make_model(graph, opset_imports=opset, ir_version=8)

    def feeds(self, seed: int) -> dict[str, np.ndarray]:
        """Inputs of the model."""
        rng = np.random.default_rng(seed)
        return {
            "x": rng.standard_normal(SHAPE).astype(np.float32),
            "y": rng.standard_normal(SHAPE).astype(np.float32),
            "n": np.array(rng.integers(0, 4), np.int64),
            "c": np.array(rng.integers(0, 2), np.bool_),
        }

    # --- parts ------------------------------------------------------------------------------------------------

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _constant(self, array: np.ndarray) -> str:
        key = f"k_{array.dtype}_{'_'.join(str(x) for x in array.reshape(-1).tolist())}_{array.ndim}"
        name = key.replace("-", "m").replace(".", "p")
        if name not in self._constants:
            self._constants[name] = onnx.numpy_helper.from_array(array, name)
        return name

    def _node(self, scope: _Scope, op: str, inputs: list[str], **attributes: object) -> str:
        name = self._name("v")
        scope.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        scope.own.append(name)
        return name

    def _pick(self, scope: _Scope) -> str:
        recent = scope.values[-4:]
        return self._random.choice(recent if self._random.random() < 0.6 else scope.values)

    def _statements(self, scope: _Scope, size: int, depth: int) -> None:
        for _ in range(size):
            draw = self._random.random()
            if depth and draw < 0.18:
                self._if(scope, depth)
            elif depth and draw < 0.36:
                self._loop(scope, depth)
            elif depth and draw < 0.44:
                self._scan(scope, depth)
            elif draw < 0.52:
                self._joined(scope)
            else:
                self._plain(scope)

    def _plain(self, scope: _Scope) -> None:
        op = self._random.choice(["Add", "Sub", "Mul", "Tanh", "Neg", "Sigmoid", "Max"])
        count = 1 if op in ("Tanh", "Neg", "Sigmoid") else 2
        value = self._node(scope, op, [self._pick(scope) for _ in range(count)])
        if op in ("Add", "Sub", "Mul"):
            value = self._node(scope, "Tanh", [value])
        scope.values.append(value)

    def _joined(self, scope: _Scope) -> None:
        """A concat and a split, or reshapes: views of memory and candidates for nodes without task."""
        if self._random.random() < 0.5:
            both = self._node(
                scope,
                "Concat",
                [self._pick(scope), self._pick(scope)],
                axis=self._random.choice([0, 1]),
            )
            axis = 0 if scope.nodes[-1].attribute[0].i == 0 else 1
            parts = [self._name("s"), self._name("s")]
            scope.nodes.append(helper.make_node("Split", [both], parts, axis=axis))
            scope.own += parts
            scope.values += parts
        else:
            flat = self._node(scope, "Reshape", [self._pick(scope), self._constant(np.array([6]))])
            back = self._node(scope, "Reshape", [flat, self._constant(np.array(SHAPE))])
            scope.values.append(back)

    def _condition(self, scope: _Scope) -> str:
        if self._random.random() < 0.3:
            return "c"
        total = self._node(scope, "ReduceSum", [self._pick(scope)], keepdims=0)
        return self._node(scope, "Less", [total, self._constant(np.float32(0.25).reshape(()))])

    def _graph(self, scope: _Scope, wanted: int, captured_too: bool) -> list[str]:
        """Names of `wanted` results of a body; with `captured_too` outer values among them, as they are."""
        found: list[str] = []
        for _ in range(wanted):
            draw = self._random.random()
            if scope.own and draw < 0.6:
                own = [x for x in scope.values if x in scope.own]
                if own:
                    name = self._random.choice(own)
                    if name not in found:
                        found.append(name)
                        continue
            if captured_too or draw < 0.8:
                found.append(self._node(scope, "Identity", [self._pick(scope)]))
            else:
                found.append(self._node(scope, "Neg", [self._pick(scope)]))
        return found

    def _if(self, scope: _Scope, depth: int) -> None:
        condition = self._condition(scope)
        wanted = self._random.randint(1, 3)
        graphs: list[onnx.GraphProto] = []
        for kind in ("then", "else"):
            inner = _Scope(list(scope.values))
            self._statements(inner, self._random.randint(0, 4), depth - 1)
            outputs = self._graph(inner, wanted, True)
            graphs.append(
                helper.make_graph(inner.nodes, self._name(kind), [], [_info(x) for x in outputs])
            )
        results = [self._name("r") for _ in range(wanted)]
        scope.nodes.append(
            helper.make_node(
                "If", [condition], results, then_branch=graphs[0], else_branch=graphs[1]
            )
        )
        scope.own += results
        scope.values += results

    def _loop(self, scope: _Scope, depth: int) -> None:
        carried = self._random.randint(1, 3)
        trips = self._random.choice([0, 1, 2, 3])
        known = self._random.random() < 0.6
        limit = self._constant(np.array(trips)) if known else self._random.choice(["n", "n", ""])
        early = not limit or self._random.random() < 0.4
        collects = known and not early
        formals = [self._name("f") for _ in range(carried)]
        number, going = self._name("i"), self._name("g")
        inner = _Scope([*scope.values, *formals])
        self._statements(inner, self._random.randint(0, 4), depth - 1)
        # Rings and shifts: next values that are other states as they are.
        nexts = self._graph(inner, carried, True)
        if carried > 1 and self._random.random() < 0.6:
            turned = self._random.sample(formals, k=carried)
            for k, source in enumerate(turned):
                if self._random.random() < 0.7:
                    nexts[k] = self._node(inner, "Identity", [source])
        if early:
            end = self._constant(np.array(self._random.randint(1, 3)))
            less = self._node(inner, "Less", [number, end])
            out_going = less
            if self._random.random() < 0.4:
                out_going = self._node(inner, "And", [less, self._condition(inner)])
        else:
            out_going = self._node(inner, "Identity", [going])
        slices: list[str] = []
        if collects and self._random.random() < 0.7:
            slices = self._graph(inner, self._random.randint(1, 2), True)
            if self._random.random() < 0.3:
                slices.append(self._node(inner, "Identity", [self._random.choice(formals)]))
        body = helper.make_graph(
            inner.nodes,
            self._name("body"),
            [_info(number, (), _INT64), _info(going, (), _BOOL), *[_info(x) for x in formals]],
            [_info(out_going, (), _BOOL), *[_info(x) for x in [*nexts, *slices]]],
        )
        results = [self._name("r") for _ in nexts]
        collected = [self._name("t") for _ in slices]
        start = "" if self._random.random() < 0.4 else self._constant(np.array(True))
        if early and self._random.random() < 0.3:
            start = "c"
        initial = [self._pick(scope) for _ in nexts]
        scope.nodes.append(
            helper.make_node("Loop", [limit, start, *initial], [*results, *collected], body=body)
        )
        scope.own += [*results, *collected]
        scope.values += results
        for name in collected:
            if trips:
                scope.values.append(self._node(scope, "ReduceMean", [name], axes=[0], keepdims=0))

    def _scan(self, scope: _Scope, depth: int) -> None:
        """Scans a [2, 3] value along one axis; states are [2, 3], slices are brought to that shape and back."""
        axis = self._random.choice([0, 1, -1])
        width = SHAPE[1 - axis % 2]
        formals = [self._name("f") for _ in range(self._random.randint(0, 2))]
        cut = self._name("z")
        inner = _Scope([*scope.values, *formals])
        wide = self._node(
            inner,
            "Reshape",
            [cut, self._constant(np.array([width, 1][:: 1 - 2 * (axis % 2 == 0)]))],
        )
        spread = self._node(inner, "Add", [wide, self._pick(inner)])
        inner.values.append(self._node(inner, "Tanh", [spread]))
        self._statements(inner, self._random.randint(0, 3), depth - 1)
        nexts = self._graph(inner, len(formals), True)
        kept = [1] if axis % 2 == 0 else [0]
        reduced = [1 - kept[0]]
        piece = self._node(inner, "ReduceMean", [self._pick(inner)], axes=reduced, keepdims=0)
        body = helper.make_graph(
            inner.nodes,
            self._name("body"),
            [*[_info(x) for x in formals], _info(cut, (width,))],
            [*[_info(x) for x in nexts], _info(piece, (width,))],
        )
        results = [self._name("r") for _ in nexts]
        joined = self._name("t")
        turned = [self._random.randint(0, 1) for _ in range(2)]
        scope.nodes.append(
            helper.make_node(
                "Scan",
                [*[self._pick(scope) for _ in nexts], self._pick(scope)],
                [*results, joined],
                body=body,
                num_scan_inputs=1,
                scan_input_axes=[axis],
                scan_input_directions=[turned[0]],
                scan_output_axes=[axis],
                scan_output_directions=[turned[1]],
            )
        )
        scope.own += [*results, joined]
        scope.values += [*results, joined]
