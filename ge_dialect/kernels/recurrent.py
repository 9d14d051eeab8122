"""Recurrent layers: RNN, GRU and LSTM, forward, backward and both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel
from ge_dialect.kernels.precision import widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor

Activation: TypeAlias = Callable[[Array], Array]


_PARAMETERS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "affine": (1.0, 0.0),
        "elu": (1.0,),
        "hardsigmoid": (0.2, 0.5),
        "leakyrelu": (0.01,),
        "scaledtanh": (1.0, 1.0),
        "thresholdedrelu": (1.0,),
    }
)
"""Defaults of alpha and beta of the functions that take them."""


def _sigmoid(x: Array) -> Array:
    return np.reciprocal(1 + np.exp(-x))


def _activation(
    name: str, alpha: float | None, beta: float | None, dtype: np.dtype[Any]
) -> Activation:
    """One of ONNX's activation functions with its parameters (or their defaults)."""
    kind = dtype.type
    defaults = (*_PARAMETERS.get(name.lower(), ()), 0.0, 0.0)
    a = kind(defaults[0] if alpha is None else alpha)
    b = kind(defaults[1] if beta is None else beta)
    zero, one = kind(0), kind(1)
    functions: dict[str, Activation] = {
        "relu": lambda x: np.maximum(x, zero),
        "tanh": lambda x: np.tanh(x),
        "sigmoid": _sigmoid,
        "affine": lambda x: a * x + b,
        "leakyrelu": lambda x: np.where(x < 0, a * x, x),
        "thresholdedrelu": lambda x: np.where(x > a, x, zero),
        "scaledtanh": lambda x: a * np.tanh(b * x),
        "hardsigmoid": lambda x: np.clip(a * x + b, zero, one),
        "elu": lambda x: np.where(x < 0, a * np.expm1(x), x),
        "softsign": lambda x: x / (1 + np.abs(x)),
        "softplus": lambda x: np.logaddexp(x, zero),
    }
    if name.lower() not in functions:
        raise KernelInputError(f"unknown activation {name}")
    return functions[name.lower()]


@dataclass(frozen=True, slots=True)
class Layer:
    """What one direction computes with; B batch, H hidden size, G gates.

    `steps` [T, B, G*H] are inputs times weights plus input bias; `weight` [G*H, H]; `bias` [G*H] of the recurrence.
    """

    steps: Array
    weight: Array
    bias: Array
    hidden: Array
    cell: Array
    peepholes: Array
    activations: Sequence[Activation]
    clip: float | None
    lengths: Array | None

    def clipped(self, x: Array) -> Array:
        """x within the clip limits, if there are any."""
        return x if self.clip is None else np.clip(x, -self.clip, self.clip)


Step: TypeAlias = Callable[[OpSpec, Layer, Array, Array, Array], tuple[Array, Array]]
"""(spec, layer, gates [B, G*H], hidden, cell) -> new hidden, new cell."""


def _rnn_step(
    _spec: OpSpec, layer: Layer, gates: Array, hidden: Array, cell: Array
) -> tuple[Array, Array]:
    total = gates + hidden @ layer.weight.T + layer.bias
    return layer.activations[0](layer.clipped(total)), cell


def _gru_step(
    spec: OpSpec, layer: Layer, gates: Array, hidden: Array, cell: Array
) -> tuple[Array, Array]:
    """Gates in the order update, reset, hidden."""
    size = hidden.shape[1]
    split = 2 * size
    both = gates[:, :split] + hidden @ layer.weight[:split].T + layer.bias[:split]
    update, reset = np.split(layer.activations[0](layer.clipped(both)), 2, axis=1)
    if spec.flag("linear_before_reset"):
        linear = hidden @ layer.weight[split:].T + layer.bias[split:]
        total = gates[:, split:] + reset * linear
    else:
        total = gates[:, split:] + (reset * hidden) @ layer.weight[split:].T + layer.bias[split:]
    candidate = layer.activations[1](layer.clipped(total))
    return (1 - update) * candidate + update * hidden, cell


def _lstm_step(
    spec: OpSpec, layer: Layer, gates: Array, hidden: Array, cell: Array
) -> tuple[Array, Array]:
    """Gates in the order input, output, forget, cell; peepholes in the order input, output, forget."""
    gate, cell_gate, out = layer.activations
    total = gates + hidden @ layer.weight.T + layer.bias
    i, o, f, c = np.split(total, 4, axis=1)
    peep_i, peep_o, peep_f = np.split(layer.peepholes, 3)
    i = gate(layer.clipped(i + peep_i * cell))
    f = 1 - i if spec.flag("input_forget") else gate(layer.clipped(f + peep_f * cell))
    c = f * cell + i * cell_gate(layer.clipped(c))
    o = gate(layer.clipped(o + peep_o * c))
    return o * out(c), c


def _run(spec: OpSpec, layer: Layer, step: Step, backward: bool) -> tuple[Array, Array, Array]:
    """All hidden states [T, B, H], the last hidden state and the last cell state.

    A batch entry that is shorter stops early: its later outputs are 0 and its last state is that of its end.
    """
    times, batch = layer.steps.shape[:2]
    hidden, cell = layer.hidden, layer.cell
    outputs = np.zeros((times, batch, hidden.shape[1]), layer.steps.dtype)
    for number in range(times):
        if layer.lengths is None:
            time = times - 1 - number if backward else number
            hidden, cell = step(spec, layer, layer.steps[time], hidden, cell)
            outputs[time] = hidden
            continue
        active = number < layer.lengths
        # Backward, each entry starts at its own end.
        time_of = np.where(backward, layer.lengths - 1 - number, number)
        rows = np.flatnonzero(active)
        gates = layer.steps[np.where(active, time_of, 0), np.arange(batch)]
        new_hidden, new_cell = step(spec, layer, gates, hidden, cell)
        hidden = np.where(active[:, None], new_hidden, hidden)
        cell = np.where(active[:, None], new_cell, cell)
        outputs[time_of[rows], rows] = hidden[rows]
    return outputs, hidden, cell


def _input_first(spec: OpSpec, x: Array) -> Array:
    """[T, B, I], whatever the layout."""
    return np.swapaxes(x, 0, 1) if spec.flag("layout") else x


def _activations(
    spec: OpSpec, defaults: Sequence[str], directions: int, dtype: np.dtype[Any]
) -> list[list[Activation]]:
    names = spec.strings("activations", list(defaults) * directions)
    alphas, betas = spec.floats("activation_alpha") or [], spec.floats("activation_beta") or []
    if len(names) != len(defaults) * directions:
        raise KernelInputError(f"{spec.type}: {len(names)} activations for {directions} directions")
    # Parameters are consumed in the order of the functions by those that take any.
    every: list[Activation] = []
    for name in names:
        parameters = _PARAMETERS.get(name.lower(), ())
        alpha = alphas.pop(0) if parameters and alphas else None
        beta = betas.pop(0) if len(parameters) > 1 and betas else None
        every.append(_activation(name, alpha, beta, dtype))
    return [every[d * len(defaults) : (d + 1) * len(defaults)] for d in range(directions)]


def _state(
    inputs: Sequence[Value], index: int, shape: tuple[int, ...], dtype: np.dtype[Any], turned: bool
) -> Array:
    """An initial state [directions, B, H], 0 if not given."""
    given = maybe_tensor(inputs, index)
    if given is None:
        return np.zeros(shape, dtype)
    return np.swapaxes(given, 0, 1) if turned else given


def recurrent_kernel(step: Step, gates: int, defaults: Sequence[str]) -> Kernel:
    """Inputs X, W, R, B, sequence_lens, initial_h, initial_c, P; outputs Y, Y_h, Y_c (as many as there are)."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = _input_first(spec, tensor(spec, inputs, 0))
        weights, recurrence = tensor(spec, inputs, 1), tensor(spec, inputs, 2)
        directions, size = recurrence.shape[0], recurrence.shape[2]
        direction = spec.string("direction", "forward")
        if directions != (2 if direction == "bidirectional" else 1):
            raise KernelInputError(f"{spec.type}: weights for {directions} directions, {direction}")
        batch, turned = x.shape[1], spec.flag("layout")
        shape = (directions, batch, size)
        bias = maybe_tensor(inputs, 3)
        bias = np.zeros((directions, 2 * gates * size), x.dtype) if bias is None else bias
        hidden = _state(inputs, 5, shape, x.dtype, turned)
        cell = _state(inputs, 6, shape, x.dtype, turned)
        peepholes = maybe_tensor(inputs, 7)
        peepholes = np.zeros((directions, 3 * size), x.dtype) if peepholes is None else peepholes
        lengths = maybe_tensor(inputs, 4)
        if lengths is not None and np.all(lengths == x.shape[0]):
            lengths = None
        functions = _activations(spec, defaults, directions, x.dtype)
        results = [
            _run(
                spec,
                Layer(
                    steps=x @ weights[d].T + bias[d, : gates * size],
                    weight=recurrence[d],
                    bias=bias[d, gates * size :],
                    hidden=hidden[d],
                    cell=cell[d],
                    peepholes=peepholes[d],
                    activations=functions[d],
                    clip=spec.float("clip", 0.0) if spec.has("clip") else None,
                    lengths=lengths,
                ),
                step,
                direction == "reverse" or d == 1,
            )
            for d in range(directions)
        ]
        outputs = np.stack([item[0] for item in results], axis=1)
        last_hidden = np.stack([item[1] for item in results])
        last_cell = np.stack([item[2] for item in results])
        if turned:
            outputs = np.transpose(outputs, (2, 0, 1, 3))
            last_hidden, last_cell = np.swapaxes(last_hidden, 0, 1), np.swapaxes(last_cell, 0, 1)
        found = [outputs, last_hidden, last_cell]
        return [np.ascontiguousarray(item).astype(x.dtype, copy=False) for item in found]

    return Kernel(widened(evaluate))


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("RNN", recurrent_kernel(_rnn_step, 1, ("Tanh",))),
    OnnxKernel("GRU", recurrent_kernel(_gru_step, 3, ("Sigmoid", "Tanh"))),
    OnnxKernel("LSTM", recurrent_kernel(_lstm_step, 4, ("Sigmoid", "Tanh", "Tanh"))),
)
