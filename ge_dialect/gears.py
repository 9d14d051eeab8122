"""Gears: one static program for each of a few shapes, instead of one program that the host schedules.

GE calls them dynamic batch sizes, picture sizes or dimensions. Each gear is compiled on its own, with everything that
static shapes allow, and a step runs the gear whose shapes the inputs have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ge_dialect.formats.errors import GeError

if TYPE_CHECKING:
    from ge_dialect.runtime import DeviceOptions, Executable, RunResult, TensorSlot
    from ge_dialect.runtime.feeds import Feeds

Gear = Mapping[str, int]
"""Values of symbolic dimensions."""


def parse_gears(text: str) -> list[dict[str, int]]:
    """`batch=1,2,4` is three gears of one dimension, `batch=1,seq=8;batch=2,seq=16` two gears of two.

    Raises GeError for other text and for a gear, or a dimension of one, that is given twice.
    """
    gears: list[dict[str, int]] = []
    parts = [part.strip() for part in text.split(";")]
    for part in parts:
        if part.count("=") == 1 and len(parts) == 1:
            name, _, values = part.partition("=")
            gears += [{name.strip(): _number(text, x)} for x in values.split(",")]
            continue
        gear: dict[str, int] = {}
        for setting in part.split(","):
            name, _, value = setting.partition("=")
            if name.strip() in gear:
                raise _malformed(text)
            gear[name.strip()] = _number(text, value)
        gears.append(gear)
    if any("" in gear for gear in gears) or any(gear in gears[:k] for k, gear in enumerate(gears)):
        raise _malformed(text)
    if any(gear.keys() != gears[0].keys() for gear in gears):
        raise GeError(f"the gears of '{text}' do not all set the same dimensions")
    return gears


def _number(text: str, value: str) -> int:
    digits = value.strip()
    if not (digits.isascii() and digits.isdecimal()):
        raise _malformed(text)
    if len(digits) > 19 or int(digits) >= 1 << 63:
        raise GeError(f"a dimension of a gear cannot be {digits}")
    return int(digits)


def _malformed(text: str) -> GeError:
    return GeError(
        f"gears are different NAME=N,N,... or NAME=N,NAME=N;NAME=N,NAME=N;..., got '{text}'"
    )


def sizes_among(gears: Sequence[Gear], dims: Mapping[str, int]) -> dict[str, int]:
    """What `dims` says of the dimensions in which the gears differ; all that its gear says when only one gear fits.

    Dimensions that no gear sets are left out. Raises GeError when no gear has the given values.
    """
    wanted = {name: value for name, value in dims.items() if name in gears[0]}
    fitting = [x for x in gears if all(x[name] == value for name, value in wanted.items())]
    if not fitting:
        known = ", ".join(map(gear_text, gears))
        raise GeError(f"no gear has {gear_text(wanted)}; there are {known}")
    told = fitting[0] if len(fitting) == 1 else wanted
    return {name: n for name, n in told.items() if any(gear[name] != n for gear in gears)}


class GearedExecutable:
    """Programs for several shapes, of which each step runs the one that fits its inputs; see `runtime.Executable`."""

    def __init__(self, gears: Sequence[Gear], executables: Sequence[Executable]) -> None:
        """Raises GeError when two gears take inputs of the same shapes, as nothing could tell them apart."""
        self.gears = list(gears)
        self.executables = list(executables)
        self.options: DeviceOptions = executables[0].options
        self.outputs: list[TensorSlot] = executables[0].outputs
        self.inputs: list[TensorSlot] = [
            _common(slots)
            for slots in zip(*(x.inputs for x in executables), strict=True)  # one input, all gears
        ]
        shapes = [tuple(slot.shape for slot in x.inputs) for x in executables]
        for k, shape in enumerate(shapes):
            if shape in shapes[:k]:
                one, other = self.gears[shapes.index(shape)], self.gears[k]
                raise GeError(f"gears {gear_text(one)} and {gear_text(other)} take equal inputs")

    def choose(self, feeds: Feeds) -> int:
        """The number of the gear whose input shapes are those of `feeds`. Raises FeedError when there is none."""
        from ge_dialect.runtime import FeedError
        from ge_dialect.runtime.feeds import order_feeds, shape_text

        values = order_feeds(self.inputs, feeds)
        shapes = [None if x is None else np.shape(x) for x in values]
        for number, executable in enumerate(self.executables):
            if all(
                shape is None or slot.shape is None or slot.shape == shape
                for slot, shape in zip(executable.inputs, shapes, strict=True)
            ):
                return number
        told = ", ".join(
            f"'{slot.name}' {shape_text(shape)}"
            for slot, shape in zip(self.inputs, shapes, strict=True)
            if shape is not None
        )
        known = ", ".join(map(gear_text, self.gears))
        raise FeedError(f"no gear takes the inputs {told}; there are {known}")

    def run(self, feeds: Feeds) -> RunResult:
        """One step of the gear that fits. Raises FeedError when none does, and what its `run` raises."""
        return self.executables[self.choose(feeds)].run(feeds)

    def run_ranks(self, feeds: Sequence[Feeds]) -> RunResult:
        """One step with inputs of its own for each rank, all of one gear. Raises what `run` raises."""
        return self.executables[self.choose(feeds[0])].run_ranks(feeds)

    def opaque_types(self) -> list[str]:
        """The operator types that some gear computes as opaque bytes (choice E20), in alphabetical order."""
        return sorted({kind for x in self.executables for kind in x.opaque_types()})


def gear_text(gear: Gear) -> str:
    """`batch=2,seq=16`."""
    return ",".join(f"{name}={value}" for name, value in gear.items())


def _common(slots: Sequence[TensorSlot]) -> TensorSlot:
    """An input of all gears: dimensions in which they differ are open."""
    first = slots[0]
    shape = first.shape
    for slot in slots[1:]:
        if shape is None or slot.shape is None or len(shape) != len(slot.shape):
            shape = None
        else:
            shape = tuple(a if a == b else -1 for a, b in zip(shape, slot.shape, strict=True))
    return replace(first, shape=shape)
