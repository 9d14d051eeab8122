"""Checks that joining along a dimension is the same as laying the inputs end to end (spec/no_task.md 5 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ge_dialect.analysis.explain import Step
from ge_dialect.dialects.ge.access import TensorDesc, ge_attr, slot_attrs
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.formats.axis_maps import AxisMap, aligned_shape, transfer_dims
from ge_dialect.formats.format_table import INTERNAL, primary
from ge_dialect.transforms.no_task.candidate import Candidate, origin_of, shape_of, text

DimCheck: TypeAlias = Callable[[Candidate], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class RealDim:
    """What decides whether slices along origin axis `dim` are contiguous in storage: the unit of each origin axis, the
    origin and the storage shape, and the maps between their axes."""

    aligned: Sequence[int]
    origin: Sequence[int]
    storage: Sequence[int]
    to_storage: Sequence[Sequence[int]]
    to_origin: Sequence[Sequence[int]]
    dim: int


def real_dim(view: RealDim) -> tuple[str | None, str]:
    """Section 5.2: the reason key of what is wrong (None: nothing), and one line about it."""
    entries = view.to_storage[view.dim] if 0 <= view.dim < len(view.to_storage) else ()
    real = entries[0] if entries else -1
    if not 0 <= real < min(len(view.storage), len(view.to_origin)):
        return "real_dim_out_of_range", f"storage axis {real} of {len(view.storage)}"
    front = tuple(view.storage[:real])
    if any(size != 1 for size in front):
        return (
            "front_dims_not_one",
            f"joins storage axis {real}, in front of it is {text(front)}",
        )
    merged = view.to_origin[real]
    if len(merged) > 1 and (wrong := _merged_front(view, real, merged)) is not None:
        return (
            "front_dims_not_one",
            f"storage axis {real} merges origin axes {list(merged)}: {wrong}",
        )
    return None, f"joins storage axis {real}, all in front of it is 1"


def _merged_front(view: RealDim, real: int, merged: Sequence[int]) -> str | None:
    """What is wrong with the origin axes that storage axis `real` merges in front of the joined one."""
    if view.dim not in merged:
        return f"axis {view.dim} is not among them"
    for axis in merged[: merged.index(view.dim)]:
        if axis < 0:
            return "one was inserted"
        if axis >= min(len(view.origin), len(view.aligned), len(view.to_storage)):
            return f"there is no axis {axis}"
        size = view.origin[axis]
        if len(view.to_storage[axis]) <= 1:
            if size != 1:
                return f"axis {axis} has length {size}"
        elif view.to_storage[axis][0] == real:
            if size > view.aligned[axis]:
                return (
                    f"axis {axis} of length {size} has more than one block of {view.aligned[axis]}"
                )
        elif view.aligned[axis] != 1:
            return f"axis {axis} is cut into blocks of {view.aligned[axis]}"
    return None


def dim_alignment(aligned: Sequence[int], origin: Sequence[int], dim: int) -> tuple[bool, str]:
    """Section 5.3: whether the joined axis is whole blocks, and one line about it."""
    if not 0 <= dim < min(len(origin), len(aligned)):
        return False, f"axis {dim} of {len(origin)}"
    size, unit = origin[dim], aligned[dim]
    if unit <= 0:
        return False, f"blocks of {unit}"
    return size % unit == 0, f"axis {dim} has length {size}, blocks of {unit}"


def join_steps(candidate: Candidate, index: int, dim: int) -> Iterator[Step]:
    """Section 5.1 for one input; ends with the first failure, as each step needs the one before."""
    desc = candidate.input(index)
    assert desc is not None, "an input without descriptor has no dimension to join along"
    source, storage = origin_of(desc), shape_of(desc)
    mask = _reshape_mask(candidate, index)
    formats = f"{desc.origin_format} {text(source)} stored as {desc.format} {text(storage)}"
    cube = candidate.table.of(desc.dtype)
    aligned = aligned_shape(desc.origin_format, desc.format, source, cube, mask)
    yield _supported("align_shape_unsupported", index, desc, aligned, len(source), formats)
    if aligned is None or len(aligned) != len(source):
        return
    maps = transfer_dims(desc.origin_format, desc.format, source, mask)
    fits = maps is not None and len(maps[1]) == len(storage)
    yield _supported(
        "transfer_dims_unsupported",
        index,
        desc,
        maps[0] if maps and fits else None,
        len(source),
        formats,
    )
    if maps is None or not fits or len(maps[0]) != len(source):
        return
    yield from _real_dim_steps(index, RealDim(aligned, source, storage, *maps, dim))


def _supported(
    reason: str,
    index: int,
    desc: TensorDesc,
    answer: Sequence[int] | AxisMap | None,
    rank: int,
    formats: str,
) -> Step:
    holds = answer is not None and len(answer) == rank
    values = {"input": index, "format": desc.format, "origin_format": desc.origin_format}
    return Step(reason, holds, formats, values, index)


def _real_dim_steps(index: int, view: RealDim) -> Iterator[Step]:
    reason, found = real_dim(view)
    values = {"input": index, "dim": view.dim, "storage": text(tuple(view.storage))}
    for key in ("real_dim_out_of_range", "front_dims_not_one"):
        yield Step(key, reason != key, found, values, index)
        if reason == key:
            return
    holds, found = dim_alignment(view.aligned, view.origin, view.dim)
    values = {
        "input": index,
        "dim": view.dim,
        "length": view.origin[view.dim],
        "unit": view.aligned[view.dim],
    }
    yield Step("concat_dim_not_aligned", holds, found, values, index)


def _reshape_mask(candidate: Candidate, index: int) -> int:
    value = slot_attrs(candidate.op, "arg", index).data.get("reshape_type_mask")
    mask = None if value is None else to_python(value)
    return mask if isinstance(mask, int) else 0


def _axis(candidate: Candidate, attribute: str) -> int:
    value = ge_attr(candidate.op, attribute, 0)
    return value if isinstance(value, int) else 0


def _in_range(index: int, dim: int, limit: int, rank: int) -> Step:
    return Step(
        "dim_out_of_range",
        0 <= dim < limit,
        f"axis {dim} of origin rank {rank}",
        {"input": index, "dim": dim, "rank": rank},
        index,
    )


def concat_dim_checks(candidate: Candidate) -> Iterator[Step]:
    """Section 5: every declared input, wired or not. A negative axis is resolved with the first input's rank."""
    dim = _axis(candidate, "concat_dim")
    for index in range(candidate.inputs):
        rank = len(origin_of(candidate.input(index)))
        if dim < 0:
            dim += rank
        step = _in_range(index, dim, rank, rank)
        yield step
        if step.holds:
            yield from join_steps(candidate, index, dim)


def pack_dim_checks(candidate: Candidate) -> Iterator[Step]:
    """Section 9: the new axis in front is free, behind everything it interleaves, between it is like a concat."""
    dim = _axis(candidate, "axis")
    for index in range(candidate.inputs):
        source = origin_of(candidate.input(index))
        rank = len(source)
        if dim < 0:
            dim += rank + 1
        step = _in_range(index, dim, rank + 1, rank)
        yield step
        if not step.holds or dim == 0:
            continue
        if dim == rank:
            yield Step(
                "pack_tail_axis_interleaves",
                all(size == 1 for size in source),
                f"the new axis is behind {text(source)}",
                {"input": index, "shape": text(source)},
                index,
            )
        else:
            yield from join_steps(candidate, index, dim)


def no_format_checks(candidate: Candidate) -> Iterator[Step]:
    """A concat may be of any format."""
    yield from ()


def pack_format_checks(candidate: Candidate) -> Iterator[Step]:
    """Section 9: inputs are in a public format or in FRACTAL_NZ."""
    for index in range(candidate.inputs):
        desc = candidate.input(index)
        if desc is None:
            continue
        storage = primary(desc.format)
        yield Step(
            "pack_internal_format",
            storage not in INTERNAL or storage == "FRACTAL_NZ",
            f"stored as {storage}",
            {"input": index, "format": storage},
            index,
        )
