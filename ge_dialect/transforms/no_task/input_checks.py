"""Checks on the inputs of a concat or pack and on who makes them (spec/no_task.md section 4).

"Direct" is the output wired to the input, "traced" the one behind all references. `input_checks` has the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import IntegerAttr, NoneType
from xdsl.ir import OpResult, SSAValue

from ge_dialect.analysis.explain import Step
from ge_dialect.analysis.marks import (
    ATOMIC_OUTPUTS,
    CONTINUOUS_INPUT,
    CONTINUOUS_OUTPUT,
    NO_PADDING_INPUT,
    NO_TASK,
    OUTPUT_REUSES_INPUT,
    REFERENCE,
    first_flag,
)
from ge_dialect.analysis.memory.marks import MEMORY_TYPES, is_special, marks_of
from ge_dialect.analysis.references import producer, trace
from ge_dialect.dialects.ge.access import (
    TensorDesc,
    ge_type,
    node_name,
    slot_attrs,
    subgraph_names,
)
from ge_dialect.formats.dtypes import DType
from ge_dialect.transforms.no_task.candidate import Candidate, origin_of, shape_of

ALIGNMENT = 32
"""Bytes that every joined tensor must be a multiple of."""

FIXED_PLACES = frozenset({"Data", "RefData", "Variable", "Constant", "Const"})
"""Types whose outputs have a place of their own that nobody may choose."""

_HBM = 0x2
_TYPE_NAMES = {value: name for name, value in MEMORY_TYPES.items()}


def tensor_bytes(shape: tuple[int, ...], dtype: DType) -> int:
    """Bytes of the elements of a storage shape; a shape without dimensions counts as none (section 4.1), one with an
    unknown dimension as -1."""
    if any(dim < 0 for dim in shape):
        return -1
    return dtype.bytes_of(prod(shape)) if shape else 0


def is_aligned(anchors: int, shape: tuple[int, ...], dtype: DType) -> bool:
    """Whether a tensor can stand between others without padding; a single input always can (section 4.1)."""
    if anchors <= 1:
        return True
    size = tensor_bytes(shape, dtype)
    return dtype.bits > 0 and size > 0 and size % ALIGNMENT == 0


def scalar_input(index: int, desc: TensorDesc | None) -> Step:
    """The input has at least one origin dimension."""
    rank = len(origin_of(desc))
    return Step(
        "scalar_input", rank > 0, f"origin rank {rank}", {"input": index, "rank": rank}, index
    )


def tensor_not_32b_aligned(anchors: int, index: int, desc: TensorDesc | None) -> Step:
    """The bytes of the storage shape are a multiple of 32 and not none."""
    if anchors <= 1 or desc is None:
        return Step(
            "tensor_not_32b_aligned",
            anchors <= 1,
            "the only input" if anchors <= 1 else "no descriptor",
            {"input": index},
            index,
        )
    shape = shape_of(desc)
    holds = is_aligned(anchors, shape, desc.dtype)
    size = tensor_bytes(shape, desc.dtype)
    if desc.dtype.bits == 0:
        found = f"elements of type {desc.dtype.name} have no size"
    else:
        found = f"{size} bytes, {size // ALIGNMENT} x {ALIGNMENT} + {size % ALIGNMENT}"
    values = {"input": index, "bytes": size, "alignment": ALIGNMENT}
    return Step("tensor_not_32b_aligned", holds, found, values, index)


def _told(result: OpResult | None) -> str:
    return "nothing" if result is None else f'"{node_name(result.op)}":{result.index}'


def same_source_anchor(
    index: int, source: OpResult | None, seen: dict[OpResult | None, int]
) -> Step:
    """No earlier input comes from the same output; `seen` gets this one."""
    earlier = seen.get(source)
    if earlier is None:
        seen[source] = index
        return Step("same_source_anchor", True, f"comes from {_told(source)}", input=index)
    return Step(
        "same_source_anchor",
        False,
        f"comes from {_told(source)}, as does input {earlier}",
        {"input": index, "earlier_input": earlier, "source": _told(source)},
        index,
    )


def invalid_producer_type(index: int, source: OpResult | None) -> Step:
    """Who makes the input may be told where to put it."""
    if source is None:
        return Step(
            "invalid_producer_type", False, "the way back ends at nobody", {"input": index}, index
        )
    kind = ge_type(source.op)
    return Step(
        "invalid_producer_type",
        kind not in FIXED_PLACES,
        f'made by "{node_name(source.op)}" of type {kind}',
        {"input": index, "producer": node_name(source.op), "type": kind},
        index,
    )


def producer_has_subgraph(index: int, source: OpResult | None) -> Step:
    """Who makes the input does it itself and not in a graph of its own."""
    names = [] if source is None else subgraph_names(source.op)
    count = len(names)
    return Step(
        "producer_has_subgraph",
        count == 0,
        f"made by {_told(source)}, which owns {count} sub-graphs",
        {"input": index, "producer": _told(source), "subgraphs": count},
        index,
    )


def producer_output_locked(index: int, direct: OpResult, lock: str) -> Step:
    """No other concat (pack) has decided where the direct producer's output lies."""
    value = slot_attrs(direct.op, "res", direct.index).data.get(lock)
    locked = isinstance(value, IntegerAttr) and value.value.data == 0
    absent = isinstance(direct.type, NoneType)
    return Step(
        "producer_output_locked",
        not (locked or absent),
        f"{_told(direct)} {'has no descriptor' if absent else 'is locked' if locked else 'is not locked'}",
        {"input": index, "producer": _told(direct)},
        index,
    )


def producer_feeds_netoutput(index: int, direct: OpResult, candidate: Candidate) -> Step:
    """The direct producer's output, where it has several readers, is no output of the graph."""
    readers = candidate.readers.of(direct)
    feeds = len(readers) != 1 and candidate.readers.has_net_output(direct)
    return Step(
        "producer_feeds_netoutput",
        not feeds,
        f"{_told(direct)} has {len(readers)} readers{', one a NetOutput' if feeds else ''}",
        {"input": index, "producer": _told(direct), "readers": len(readers)},
        index,
    )


_ATTR_GROUPS = (
    (
        "producer_attr:continuous_or_reference",
        (CONTINUOUS_INPUT, CONTINUOUS_OUTPUT, REFERENCE),
    ),
    ("producer_attr:virtual", (NO_TASK, OUTPUT_REUSES_INPUT, NO_PADDING_INPUT)),
)


def producer_attr(index: int, direct: OpResult) -> Iterator[Step]:
    """The direct producer does not lay out memory itself (section 4.2): one step for each kind of attribute."""
    for reason, spellings in _ATTR_GROUPS:
        found = first_flag(direct.op, spellings)
        told = "none of " + ", ".join(spellings) if found is None else found
        yield Step(
            reason,
            found is None,
            f'"{node_name(direct.op)}" has {told}',
            {"input": index, "producer": node_name(direct.op), "attribute": found},
            index,
        )
    atomic = list(marks_of(direct.op).atomic_outputs)
    yield Step(
        "producer_attr:atomic_output",
        not atomic,
        f'"{node_name(direct.op)}" has {ATOMIC_OUTPUTS} {atomic}',
        {"input": index, "producer": node_name(direct.op), "attribute": ATOMIC_OUTPUTS},
        index,
    )


def memory_type(direct: OpResult) -> int:
    """Memory type of an output: HBM unless its node asks for a special one (section 4.3)."""
    types = marks_of(direct.op).output_types
    if direct.index < len(types) and is_special(types[direct.index]):
        return types[direct.index]
    return _HBM


def type_name(memory: int) -> str:
    """Name of a memory type."""
    return _TYPE_NAMES.get(memory, hex(memory))


def input_memory_type_mismatch(index: int, memory: int, first: int) -> Step:
    """All inputs are in the same kind of memory."""
    return Step(
        "input_memory_type_mismatch",
        memory == first,
        f"in {type_name(memory)}, the first in {type_name(first)}",
        {"input": index, "memory": type_name(memory), "first": type_name(first)},
        index,
    )


@dataclass
class _Seen:
    """What earlier inputs had."""

    sources: dict[OpResult | None, int] = field(default_factory=dict["OpResult | None", int])
    memory: int | None = None


def input_checks(candidate: Candidate, lock: str) -> Iterator[Step]:
    """All checks of all wired inputs, in the reference's order; `lock` is the slot key of the lock."""
    seen = _Seen()
    for index, value in candidate.wired():
        yield from _one_input(candidate, lock, index, value, seen)


def _one_input(
    candidate: Candidate, lock: str, index: int, value: SSAValue, seen: _Seen
) -> Iterator[Step]:
    desc = candidate.input(index)
    yield scalar_input(index, desc)
    yield tensor_not_32b_aligned(candidate.inputs, index, desc)
    source = trace(value, candidate.model)
    yield same_source_anchor(index, source, seen.sources)
    yield invalid_producer_type(index, source)
    yield producer_has_subgraph(index, source)
    direct = producer(value)
    assert direct is not None, "only wired inputs are looked at"
    yield producer_output_locked(index, direct, lock)
    yield producer_feeds_netoutput(index, direct, candidate)
    yield from producer_attr(index, direct)
    memory = memory_type(direct)
    if seen.memory is None:
        seen.memory = memory
    yield input_memory_type_mismatch(index, memory, seen.memory)
