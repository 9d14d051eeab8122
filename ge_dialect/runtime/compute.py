"""From a task that computes to a function without parameters that does it on the device's memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels import Array, OpSpec, UnsupportedOpError, bind
from ge_dialect.kernels.in_place import in_place_inputs
from ge_dialect.kernels.spec import is_array
from ge_dialect.runtime.memory import Extent, bytes_of
from ge_dialect.runtime.options import DeviceOptions

Thunk: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Operand:
    """One wired slot of a task: the typed view and where its bytes lie."""

    view: Array
    extent: Extent


def bind_task(
    spec: OpSpec,
    ins: Sequence[Operand | None],
    outs: Sequence[Operand | None],
    options: DeviceOptions,
) -> tuple[Thunk, bool]:
    """The function that computes `spec`, and whether it is opaque (choice E20).

    An input that shares bytes with an output is copied aside first, as kernels may write their outputs in any order,
    unless it is exactly the memory of output 0 and the operator may write over it (`kernels.in_place`).
    Raises UnsupportedOpError for a type without a kernel unless opaque ones will do, and what `kernels.bind` raises.
    """
    inputs = [None if x is None else x.view for x in ins]
    outputs = [None if x is None else x.view for x in outs]
    copies: list[tuple[Array, Array]] = []
    source = spec.source
    allowed = (
        in_place_inputs(spec.type) if source is None else in_place_inputs(source.op, source.domain)
    )
    for index, operand in enumerate(ins):
        if operand is not None and any(
            x is not None
            and x.extent.overlaps(operand.extent)
            and not (number == 0 and index in allowed and x.extent == operand.extent)
            for number, x in enumerate(outs)
        ):
            aside = np.empty_like(operand.view)
            copies.append((aside, operand.view))
            inputs[index] = aside
    opaque = False
    try:
        thunk: Thunk = bind(spec, inputs, outputs, wide_sums=options.accumulate == "float64")
    except UnsupportedOpError:
        if options.unknown_kernels != "opaque":
            raise
        opaque = True
        thunk = opaque_thunk(spec, inputs, outputs)
    return (_behind_copies(copies, thunk) if copies else thunk), opaque


def _behind_copies(copies: Sequence[tuple[Array, Array]], thunk: Thunk) -> Thunk:
    def run() -> None:
        for aside, view in copies:
            np.copyto(aside, view)
        thunk()

    return run


def opaque_thunk(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk:
    """Outputs that are a function of type, attributes and input bytes and of nothing else (choice E20).

    So equal graphs give equal results, and a wrong input shows, without anybody knowing what the operator computes.
    """
    head = repr((spec.type, sorted((name, _plain(x)) for name, x in spec.attrs.items()))).encode()

    def run() -> None:
        digest = hashlib.sha256(head)
        for view in inputs:
            digest.update(b"-" if view is None else bytes_of(view).tobytes())
        for index, view in enumerate(outputs):
            if view is not None:
                _expand(digest.digest() + index.to_bytes(4, "little"), view)

    return run


def _plain(value: object) -> object:
    return (str(value.dtype), value.shape, value.tobytes()) if is_array(value) else value


def _expand(seed: bytes, view: Array) -> None:
    """Fill `view` with the SHA-256 hashes of seed and counter; booleans get the lowest bit of each byte."""
    blocks = (view.nbytes + 31) // 32
    stream = b"".join(
        hashlib.sha256(seed + block.to_bytes(8, "little")).digest() for block in range(blocks)
    )
    data = np.frombuffer(stream[: view.nbytes], np.uint8)
    if view.dtype == np.bool_:
        data = data & 1
    view[...] = data.view(view.dtype).reshape(view.shape)


def copy_bytes(source: np.ndarray, target: np.ndarray, count: int) -> Thunk:
    """A copy of `count` bytes that behaves like memmove where the two overlap (choice E17)."""
    from_, to = source[:count], target[:count]

    def run() -> None:
        np.copyto(to, from_)

    return run
