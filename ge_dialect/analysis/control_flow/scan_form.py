"""What a Scan node says, read from its attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.ir import Operation

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph, own_inputs
from ge_dialect.dialects.ge.access import data_operands, data_results, dims_of, ge_attr


@dataclass(frozen=True, slots=True)
class ScanSlot:
    """An input that is cut, or an output that is joined, along `axis`, from the back if `backward`."""

    slot: int
    axis: int
    backward: bool


@dataclass(frozen=True, slots=True)
class ScanForm:
    """`states` carried inputs, as many outputs; `length` turns."""

    states: int
    read: tuple[ScanSlot, ...]
    written: tuple[ScanSlot, ...]
    length: int


def scan_form(op: Operation, body: OwnedGraph) -> ScanForm:
    """The parts of a Scan (opset 9 and up) whose inputs have known ranks; `length` is -1 where it is not known.

    Raises ValueError for numbers that do not fit, and for an axis counted from the end of an output of unknown rank.
    """
    scans = ge_attr(op, "num_scan_inputs", 0)
    if type(scans) is not int:
        raise ValueError(f"num_scan_inputs is {scans!r}, no integer")
    own = own_inputs(op, body)
    states = own - scans
    outputs = len(data_results(op))
    if scans < 1 or states < 0 or outputs < states or len(body.outputs) != outputs:
        raise ValueError(
            f"it has {own} inputs, {scans} of them scanned, and {outputs} outputs; its body gives {len(body.outputs)}"
        )
    shapes = [dims_of(x.type) for x in data_operands(op)[states:own]]
    pieces = [dims_of(x.type) for x in body.outputs[states:]]
    read = _slots(op, "input", states, [None if x is None else len(x) for x in shapes])
    written = _slots(op, "output", states, [None if x is None else 1 + len(x) for x in pieces])
    lengths = {
        shape[part.axis] for shape, part in zip(shapes, read, strict=True) if shape is not None
    }
    lengths.discard(-1)
    if len(lengths) > 1:
        raise ValueError(f"its scanned inputs have lengths {sorted(lengths)}")
    return ScanForm(states, read, written, next(iter(lengths), -1))


def _slots(op: Operation, side: str, first: int, ranks: list[int | None]) -> tuple[ScanSlot, ...]:
    axes = _numbers(op, f"scan_{side}_axes") or [0] * len(ranks)
    directions = _numbers(op, f"scan_{side}_directions") or [0] * len(ranks)
    if not len(axes) == len(directions) == len(ranks):
        raise ValueError(
            f"{len(axes)} axes and {len(directions)} directions are given for {len(ranks)} scanned {side}s"
        )
    found: list[ScanSlot] = []
    for k, rank in enumerate(ranks):
        axis = axes[k]
        if rank is None and axis < 0:
            raise ValueError(f"scan_{side}_axes has {axis} for a tensor of unknown rank")
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"scan_{side}_axes has {axis} for a tensor of rank {rank}")
        found.append(ScanSlot(first + k, axis % rank if rank else axis, bool(directions[k])))
    return tuple(found)


def _numbers(op: Operation, name: str) -> list[int]:
    """A list attribute, empty when the node does not have it."""
    found = ge_attr(op, name)
    if found is None:
        return []
    numbers = cast("list[object]", found) if isinstance(found, list) else [found]
    if not isinstance(found, list) or any(type(x) is not int for x in numbers):
        raise ValueError(f"{name} is {found!r}, no list of integers")
    return cast("list[int]", numbers)
