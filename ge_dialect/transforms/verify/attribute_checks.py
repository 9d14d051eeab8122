"""Discardable `ge.*` attributes against the attribute table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import integers, text_of
from ge_dialect.dialects.ge.access import data_operands, data_results, ge_type
from ge_dialect.dialects.ge.attribute_table import ATTRIBUTE_BY_NAME, Kind
from ge_dialect.transforms.verify.finding import Finding, Findings


def attribute_findings(op: Operation, place: str) -> Findings:
    """Every `ge.*` attribute of `op` that the table does not have, or has with another type or on another kind of op.

    `place` is what `op` is, in the table's words: "node", "graph" or "module".
    """
    for name, value in op.attributes.items():
        if not name.startswith("ge."):
            continue
        row = ATTRIBUTE_BY_NAME.get(name)
        if row is None:
            yield Finding(op, f"unknown attribute {name}{_hint(name)}")
        elif row.on != place:
            yield Finding(op, f"attribute {name} belongs on a {row.on}, not on a {place}")
        elif not row.kind.accepts(value) or not _elements_fit(row.kind, value):
            yield Finding(op, f"attribute {name} is {value}, expected {row.kind.value}")
        elif (rule := _VALUES.get(name)) is not None and not rule[1](value):
            yield Finding(op, f"attribute {name} is {value}, expected {rule[0]}")
        elif (wanted := _LENGTHS.get(name)) is not None:
            what, count = wanted
            found, expected = _length(value), count(op)
            if found != expected:
                yield Finding(
                    op, f"{ge_type(op)} has {expected} {what}, but {found} entries in {name}"
                )
            elif name == "ge.res_attrs":
                yield from _reuse_findings(op, value)
        elif name == "ge.workspace_bytes" and isinstance(value, DenseArrayBase):
            if (least := min(integers(cast("DenseArrayBase", value)), default=0)) < 0:
                yield Finding(op, f"attribute {name} has a workspace of {least} bytes")


def _reuse_findings(op: Operation, slots: Attribute) -> Findings:
    """Outputs that are the memory of an input which the node does not have."""
    for index, slot in enumerate(cast("ArrayAttr[DictionaryAttr]", slots).data):
        found = slot.data.get("reuse_input")
        if found is None:
            continue
        if not isinstance(found, IntegerAttr):
            yield Finding(op, f"reuse_input of output {index} is {found}, expected an integer")
        elif not 0 <= found.value.data < _inputs(op):
            yield Finding(
                op,
                f"reuse_input of output {index} is {found.value.data}, "
                f"but {ge_type(op)} has {_inputs(op)} data operands",
            )


MAX_STREAM = (1 << 31) - 1
"""The highest number of a stream."""


def _is_stream(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and -1 <= value.value.data <= MAX_STREAM


def _is_by_stream(value: Attribute) -> bool:
    return isinstance(value, DictionaryAttr) and all(
        key.isascii() and key.isdecimal() and isinstance(item, DenseArrayBase)
        for key, item in value.data.items()
    )


_VALUES: Mapping[str, tuple[str, Callable[[Attribute], bool]]] = MappingProxyType(
    {
        "ge.stream": (f"-1 (none) to {MAX_STREAM}", _is_stream),
        "ge.attached_send_events": ("numbers by stream", _is_by_stream),
        "ge.attached_recv_events": ("numbers by stream", _is_by_stream),
    }
)
"""What else must hold of the value of an attribute, in words and as a check."""


def _hint(name: str) -> str:
    close = get_close_matches(name, ATTRIBUTE_BY_NAME, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _elements_fit(kind: Kind, value: Attribute) -> bool:
    if isinstance(value, ArrayAttr):
        items = cast("ArrayAttr[Attribute]", value).data
        if kind is Kind.TEXTS:
            return all(text_of(item) is not None for item in items)
        return all(isinstance(item, DictionaryAttr) for item in items)
    return True


def _length(value: Attribute) -> int:
    if isinstance(value, ArrayAttr):
        return len(cast("ArrayAttr[Attribute]", value).data)
    return len(integers(cast("DenseArrayBase", value))) if isinstance(value, DenseArrayBase) else 0


def _inputs(op: Operation) -> int:
    return len(data_operands(op))


def _outputs(op: Operation) -> int:
    return len(data_results(op))


_LENGTHS: Mapping[str, tuple[str, Callable[[Operation], int]]] = MappingProxyType(
    {
        "ge.arg_attrs": ("data operands", _inputs),
        "ge.res_attrs": ("data results", _outputs),
        "ge.offsets": ("data results", _outputs),
        "ge.spaces": ("data results", _outputs),
        "ge.output_names": ("data operands", _inputs),
    }
)
"""Lists with one entry a slot."""


def checked(op: Operation, verify: Callable[[Operation], None]) -> Findings:
    """The complaint of a verifier as a finding."""
    try:
        verify(op)
    except VerifyException as error:
        yield Finding(op, str(error))
