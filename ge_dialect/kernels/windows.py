"""Geometry that convolutions and pools share: kernel, strides, dilations, padding and output extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.spec import Array, OpSpec


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over spatial dimensions, one entry a dimension.

    `extent` are sizes of the input; `begin`/`end` its padding; `out` the number of windows.
    """

    extent: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def span(self) -> tuple[int, ...]:
        """Input elements from the first to the last that a window touches."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    @property
    def needed(self) -> tuple[int, ...]:
        """Padded extents that hold all windows (what no window touches is left out)."""
        return tuple(
            (o - 1) * s + k for o, s, k in zip(self.out, self.strides, self.span, strict=True)
        )

    @property
    def padded(self) -> bool:
        """Does any window touch padding?"""
        return any(self.begin) or any(n > e for n, e in zip(self.needed, self.extent, strict=True))

    @property
    def pointwise(self) -> bool:
        """Is each window exactly one input element, and all of them in order?"""
        return not self.padded and self.out == self.extent and all(k == 1 for k in self.kernel)


def _per_dimension(spec: OpSpec, name: str, rank: int, default: int) -> tuple[int, ...]:
    values = spec.ints(name)
    if values is None or (not values and rank):
        return (default,) * rank
    if len(values) != rank:
        raise KernelInputError(
            f"{spec.type}: {name} has {len(values)} entries for {rank} dimensions"
        )
    return tuple(values)


def same_padding(total: int, auto: str) -> tuple[int, int]:
    """Padding before and after: the odd element goes to the end for SAME_UPPER."""
    small = total // 2
    return (small, total - small) if auto == "SAME_UPPER" else (total - small, small)


def onnx_windows(
    spec: OpSpec, extent: Sequence[int], kernel: Sequence[int], *, ceil: bool = False
) -> Windows:
    """Windows by ONNX's attributes strides, dilations, pads and auto_pad.

    With `ceil`, extents are rounded up, but no window starts in the padding after the input.
    """
    rank = len(extent)
    strides = _per_dimension(spec, "strides", rank, 1)
    dilations = _per_dimension(spec, "dilations", rank, 1)
    auto = spec.string("auto_pad", "NOTSET")
    begin, end, out = list[int](), list[int](), list[int]()
    pads = spec.ints("pads") or [0] * (2 * rank)
    if len(pads) != 2 * rank:
        raise KernelInputError(f"{spec.type}: pads has {len(pads)} entries for {rank} dimensions")
    for axis, (size, k, s, d) in enumerate(zip(extent, kernel, strides, dilations, strict=True)):
        span = (k - 1) * d + 1
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            count = -(-size // s)
            before, after = same_padding(max((count - 1) * s + span - size, 0), auto)
        else:
            before, after = (0, 0) if auto == "VALID" else (pads[axis], pads[axis + rank])
            room = size + before + after - span
            count = (-(-room // s) if ceil else room // s) + 1
            if ceil and (count - 1) * s >= size + before:
                count -= 1
        begin.append(before)
        end.append(after)
        out.append(max(count, 0))
    return Windows(
        tuple(extent), tuple(kernel), strides, dilations, tuple(begin), tuple(end), tuple(out)
    )


def interior(windows: Windows, padded: Array, x: Array) -> tuple[Array, Array]:
    """Views (of padded memory, of x) that name the same elements: copying fills the padded memory."""
    lead = (slice(None),) * (x.ndim - len(windows.extent))
    target, source = list[slice](), list[slice]()
    for before, size, room in zip(windows.begin, windows.extent, windows.needed, strict=True):
        first = max(-before, 0)
        last = min(size, room - before)
        source.append(slice(first, max(last, first)))
        target.append(slice(before + first, before + max(last, first)))
    return padded[(*lead, *target)], x[(*lead, *source)]


def padded_like(windows: Windows, x: Array, value: object) -> Array:
    """Memory for x with its padding, filled with `value`."""
    lead = x.shape[: x.ndim - len(windows.extent)]
    return np.full((*lead, *windows.needed), value, x.dtype)


def window_view(windows: Windows, padded: Array) -> Array:
    """Read-only view [lead..., kernel..., out...] of padded memory."""
    rank = len(windows.kernel)
    lead = padded.ndim - rank
    steps = padded.strides[lead:]
    return as_strided(
        padded,
        (*padded.shape[:lead], *windows.kernel, *windows.out),
        (
            *padded.strides[:lead],
            *(step * d for step, d in zip(steps, windows.dilations, strict=True)),
            *(step * s for step, s in zip(steps, windows.strides, strict=True)),
        ),
        writeable=False,
    )
