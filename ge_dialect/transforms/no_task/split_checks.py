"""Checks of the two rules by which a split needs no task (spec/no_task.md section 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

from xdsl.ir import Operation, OpResult

from ge_dialect.analysis.explain import Step
from ge_dialect.analysis.marks import CONTINUOUS_INPUT, NO_TASK, flag, number
from ge_dialect.analysis.memory.marks import MEMORY_TYPES, marks_of
from ge_dialect.analysis.references import producer
from ge_dialect.dialects.engine_table import AI_CORE
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_text,
    node_name,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.formats.format_table import primary
from ge_dialect.transforms.no_task.candidate import Candidate, origin_of, text
from ge_dialect.transforms.no_task.shape_checks import unknown_owner_graph, unknown_shape_op

SPLIT_TYPES = frozenset({"SplitD", "SplitVD"})
CONSTANT_KINDS = frozenset({"Const", "Constant", "FileConstant"})
REFUSED_CONSUMERS = frozenset(
    """NetOutput HcomBroadcast HcomAllGather HcomAllReduce HcomReduceScatter HcomReduce SplitD SplitVD""".split()
)
CHANNEL_BLOCKS = MappingProxyType({"FLOAT16": 16, "INT8": 32, "INT4": 64})
"""What the C-to-N rule wants the channels of an output in NC1HWC0 to be a multiple of, by element type."""

FUSED = ("_fusion_virtual_op", "fusion_virtual_op")
"""The attribute of a reader that a fusion took in its two known spellings; the spec has the second."""

_AI_CORE_KIND = 1
_ON_CORE = {MEMORY_TYPES[name]: name for name in ("L1", "L2")}


def split_type(candidate: Candidate) -> Step:
    """The node is a split whose axis is an attribute."""
    kind = ge_type(candidate.op)
    return Step("split_type", kind in SPLIT_TYPES, f"type {kind}", {"type": kind})


def _split_dim(candidate: Candidate) -> tuple[int, int]:
    """The split axis of the origin shape (as far as a negative one can be resolved), and the origin rank."""
    rank = len(origin_of(candidate.input(0))) if candidate.inputs else 0
    value = ge_attr(candidate.op, "split_dim", -1)
    dim = value if isinstance(value, int) else -1
    return (dim + rank if dim < 0 else dim), rank


def split_dim_not_zero(candidate: Candidate) -> Step:
    """The split axis is the outermost one of the storage."""
    dim, rank = _split_dim(candidate)
    desc = candidate.input(0) if candidate.inputs else None
    origin = "ND" if desc is None else primary(desc.origin_format)
    storage = "ND" if desc is None else primary(desc.format)
    real = dim
    if origin == "ND" and storage == "FRACTAL_NZ" and rank == 2 and dim in (0, 1):
        real = 1 - dim
    elif origin == "NCHW" and storage == "HWCN":
        real = 3
    return Step(
        "split_dim_not_zero",
        real == 0,
        f"origin axis {dim} of rank {rank}, {origin} stored as {storage}: axis {real}",
        {"dim": dim, "real_dim": real, "rank": rank},
    )


def split_dim_not_one(candidate: Candidate) -> Step:
    """The split axis is axis 1 of the origin shape."""
    dim, rank = _split_dim(candidate)
    values = {"dim": dim, "rank": rank}
    return Step("split_dim_not_one", dim == 1, f"origin axis {dim} of rank {rank}", values)


def split_n_not_one(candidate: Candidate) -> Iterator[Step]:
    """Every output has length 1 in front of the split axis."""
    for index in range(len(data_results(candidate.op))):
        desc = candidate.output(index)
        if desc is None:
            continue
        shape = origin_of(desc)
        yield Step(
            "split_n_not_one",
            len(shape) >= 2 and shape[0] == 1,
            f"output {index} has origin shape {text(shape)}",
            {"output": index, "shape": text(shape)},
        )


def split_formats(candidate: Candidate) -> Iterator[Step]:
    """Axis 1 stays outermost in the storage format."""
    desc = candidate.input(0) if candidate.inputs else None
    if desc is None:
        yield Step("split_format_pair", False, "input 0 has no descriptor")
        return
    origin, storage = primary(desc.origin_format), primary(desc.format)
    pair = f"{origin} stored as {storage}"
    values: dict[str, Any] = {"origin_format": origin, "format": storage}
    if origin == "ND" and storage == "FRACTAL_NZ":
        rank = len(origin_of(desc))
        yield Step(
            "split_nd_nz_rank_below_4",
            rank >= 4,
            f"{pair}, origin rank {rank}",
            {**values, "rank": rank},
        )
    elif origin == "NCHW" and storage == "NC1HWC0":
        for index in range(len(data_results(candidate.op))):
            yield _channels(candidate, index)
    else:
        yield Step("split_format_pair", origin == storage, pair, values)


def _channels(candidate: Candidate, index: int) -> Step:
    desc = candidate.output(index)
    shape = origin_of(desc)
    channels = shape[1] if len(shape) > 1 else 0
    kind = "UNDEFINED" if desc is None else desc.dtype.name
    block = CHANNEL_BLOCKS.get(kind)
    needs = "has no block size" if block is None else f"needs a multiple of {block}"
    return Step(
        "split_c_not_aligned",
        block is not None and channels % block == 0,
        f"output {index} has {channels} channels, {kind} {needs}",
        {"output": index, "channels": channels, "block": block},
    )


# --- who makes the input -------------------------------------------------------------------------------------------


def _is_constant(result: OpResult, candidate: Candidate) -> bool:
    """Whether a value is a constant, also as a sub-graph's input that its owner feeds with one."""
    seen: set[GraphOp] = set()
    while True:
        op = result.op
        if ge_type(op) in CONSTANT_KINDS:
            return True
        graph, index = op.parent_op(), number(op, "_parent_node_index")
        if ge_type(op) != "Data" or index is None or not isinstance(graph, GraphOp):
            return False
        if graph in seen:
            return False
        seen.add(graph)
        owner = candidate.model.owners.get(graph)
        if owner is None or not 0 <= index < len(data_operands(owner)):
            return False
        above = producer(data_operands(owner)[index])
        if above is None:
            return False
        result = above


def _changes_graph_input(op: Operation) -> bool:
    """Whether a node is a TransData or Reshape right behind a graph input (or behind nothing)."""
    inputs = data_operands(op)
    if ge_type(op) not in ("TransData", "Reshape") or not inputs:
        return False
    source = producer(inputs[0])
    return source is None or ge_type(source.op) in ("Data", "RefData")


def split_inputs(candidate: Candidate) -> Iterator[Step]:
    """The input's maker lets its output be cut where it lies."""
    for index, value in candidate.wired():
        direct = producer(value)
        assert direct is not None, "only wired inputs are looked at"
        op = direct.op
        told = f'made by "{node_name(op)}" of type {ge_type(op)}'
        values = {"input": index, "producer": node_name(op), "type": ge_type(op)}
        for reason, holds in (
            ("split_input_constant", not _is_constant(direct, candidate)),
            ("split_input_transdata_reshape_of_data", not _changes_graph_input(op)),
            ("split_input_no_task", not flag(op, NO_TASK)),
            ("split_input_atomic", not marks_of(op).atomic_outputs),
        ):
            yield Step(reason, holds, told, values, index)


# --- who reads the outputs -----------------------------------------------------------------------------------------


def is_ai_core(op: Operation) -> bool:
    """Whether the AI Core engine runs a node: by what its source says (`imply_type`), else by its engine."""
    kind = ge_attr(op, "imply_type")
    if kind is not None:
        return kind == _AI_CORE_KIND
    return get_text(op, "ge.engine") == AI_CORE


def split_consumers(candidate: Candidate) -> Iterator[Step]:
    """Every reader takes a tensor that lies inside another."""
    for output, result in enumerate(data_results(candidate.op)):
        for op, _ in candidate.readers.of(result):
            yield from _one_consumer(output, op)


def _one_consumer(output: int, op: Operation) -> Iterator[Step]:
    kind = ge_type(op)
    fused = next((x for name in FUSED if (x := ge_attr(op, name))), None)
    told = f'output {output} is read by "{node_name(op)}" of type {kind}'
    values = {"output": output, "consumer": node_name(op), "type": kind}
    checks: Sequence[tuple[str, bool]] = (
        ("split_consumer_type", kind not in REFUSED_CONSUMERS),
        ("split_consumer_no_task", not flag(op, NO_TASK)),
        ("split_consumer_not_aicore", is_ai_core(op)),
        ("split_consumer_fusion_virtual_op", not (isinstance(fused, str) and fused)),
        ("split_consumer_continuous_input", not flag(op, CONTINUOUS_INPUT)),
        ("split_consumer_atomic", not marks_of(op).atomic_outputs),
    )
    for reason, holds in checks:
        yield Step(reason, holds, told, values)


def split_memory_type(candidate: Candidate) -> Step:
    """The split itself asks for no memory of the core."""
    marks = marks_of(candidate.op)
    asked = (*marks.input_types, *marks.output_types)
    found = next((_ON_CORE[memory] for memory in asked if memory in _ON_CORE), None)
    told = "no L1 or L2 asked for" if found is None else f"asks for {found}"
    return Step("split_memory_type", found is None, told, {"memory": found})


# --- the two rules -------------------------------------------------------------------------------------------------


def n_axis_checks(candidate: Candidate) -> Iterator[Step]:
    """Split along the outermost axis (section 10.2)."""
    yield split_type(candidate)
    yield split_dim_not_zero(candidate)
    yield from _common_checks(candidate)


def c_to_n_checks(candidate: Candidate) -> Iterator[Step]:
    """Split along axis 1 behind an axis of length 1 (section 10.3)."""
    yield split_dim_not_one(candidate)
    yield from split_n_not_one(candidate)
    yield from split_formats(candidate)
    yield split_type(candidate)
    yield from _common_checks(candidate)


def _common_checks(candidate: Candidate) -> Iterator[Step]:
    yield unknown_shape_op(candidate, "split_unknown_shape")
    yield from split_inputs(candidate)
    yield from split_consumers(candidate)
    yield split_memory_type(candidate)
    yield unknown_owner_graph(candidate, "split_dynamic_graph")
