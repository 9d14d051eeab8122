"""Kernels whose result is some of the input's elements in another order: they differ in a view only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels.errors import KernelShapeError
from ge_dialect.kernels.kernel import Bind, Kernel, Thunk, check_output, single_output
from ge_dialect.kernels.spec import Array, OpSpec, Value

MakeView: TypeAlias = Callable[[OpSpec, Sequence[Value]], Array]
Build: TypeAlias = Callable[[OpSpec, Sequence[Array | None], Sequence[Array | None]], Thunk | None]


def nothing() -> None:
    """A step that is already done."""


def sequence(steps: Sequence[Thunk]) -> Thunk:
    """All steps in order."""
    if not steps:
        return nothing
    if len(steps) == 1:
        return steps[0]
    fixed = tuple(steps)

    def run() -> None:
        for step in fixed:
            step()

    return run


def copy_step(out: Array, view: Array) -> Thunk:
    """Copy, unless both are the same memory in the same order."""
    same = (
        out.ctypes.data == view.ctypes.data
        and out.strides == view.strides
        and out.shape == view.shape
    )
    return nothing if same else partial(np.copyto, out, view)


def on_values(watched: Sequence[int], build: Build) -> Bind:
    """A bound form that depends on the *values* of small inputs (shapes, axes, starts).

    They are read in the call, and what `build` made of them is kept while they stay as they are. `build` must give a
    thunk; None is for cases that shapes alone rule out.
    """

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        arrays = [inputs[index] for index in watched if index < len(inputs)]
        present = tuple(item for item in arrays if item is not None)
        if not present:
            return build(spec, inputs, outputs)
        first = present[0] if len(present) == 1 else None
        known: object = None
        thunk: Thunk = nothing

        def run() -> None:
            nonlocal known, thunk
            key = (
                first.tobytes() if first is not None else tuple(item.tobytes() for item in present)
            )
            if key != known:
                built = build(spec, inputs, outputs)
                if built is None:
                    raise KernelShapeError(f"{spec.type}: no bound form for these values")
                known, thunk = key, built
            thunk()

        return run

    return bind


def view_kernel(make: MakeView, watched: Sequence[int] = ()) -> Kernel:
    """A kernel by the view it copies; `watched` are inputs whose values the view depends on."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        return [make(spec, inputs).copy()]

    def build(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        view, out = make(spec, inputs), single_output(spec, outputs)
        check_output(spec, 0, view.dtype, view.shape, out)
        return copy_step(out, view)

    return Kernel(evaluate, on_values(watched, build))
