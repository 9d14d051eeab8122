"""Checks behind a concat or pack, and on the node itself (spec/no_task.md 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ge_dialect.analysis.explain import Step
from ge_dialect.analysis.marks import NO_PADDING_INPUT, NO_TASK, OUTPUT_REUSES_INPUT, first_flag
from ge_dialect.analysis.memory.marks import MEMORY_TYPES, marks_of
from ge_dialect.dialects.ge.access import data_results, ge_type, node_name
from ge_dialect.transforms.no_task.candidate import Candidate

_VIRTUAL = (NO_TASK, OUTPUT_REUSES_INPUT, NO_PADDING_INPUT)
_ON_CHIP = {MEMORY_TYPES[name]: name for name in ("L1", "L2", "UB")}
FUSED_SLICE = "lxslice"
"""What GE's fusion writes into the names of the nodes it cuts."""


def consumer_is_virtual(candidate: Candidate) -> Iterator[Step]:
    """No reader lays out memory itself. A Reshape stands for its first reader (one level only)."""
    for output, result in enumerate(data_results(candidate.op)):
        for reader, _ in candidate.readers.of(result):
            behind = _behind_reshape(candidate, reader)
            found = first_flag(behind, _VIRTUAL)
            yield Step(
                "consumer_is_virtual",
                found is None,
                f'output {output} is read by "{node_name(behind)}" with '
                f"{'none of ' + ', '.join(_VIRTUAL) if found is None else found}",
                {"output": output, "consumer": node_name(behind), "attribute": found},
            )


def _behind_reshape(candidate: Candidate, reader: Operation) -> Operation:
    if ge_type(reader) != "Reshape":
        return reader
    for result in data_results(reader):
        readers = candidate.readers.of(result)
        if readers:
            return readers[0][0]
    return reader


def lxfusion_memory(candidate: Candidate) -> Step:
    """The node itself asks for no on-chip memory."""
    marks = marks_of(candidate.op)
    asked = [*marks.input_types, *marks.output_types]
    found = next((_ON_CHIP[memory] for memory in asked if memory in _ON_CHIP), None)
    told = "no on-chip memory asked for" if found is None else f"asks for {found}"
    return Step("lxfusion_memory", found is None, told, {"memory": found})


def lxfusion_op(candidate: Candidate) -> Step:
    """The node is no slice of a fusion; only its name tells."""
    name = node_name(candidate.op)
    sliced = FUSED_SLICE in name
    told = f'the name {"contains" if sliced else "does not contain"} "{FUSED_SLICE}"'
    return Step("lxfusion_op", not sliced, told, {"name": name})


def output_checks(candidate: Candidate) -> Iterator[Step]:
    """Readers, then the node's own memory types and name."""
    yield from consumer_is_virtual(candidate)
    yield lxfusion_memory(candidate)
    yield lxfusion_op(candidate)
