"""Marks of the no-task features, wherever a node carries them and however they are spelled.

Passes of this project note marks as discardable attributes (`ge.no_task`), sources bring them among the GE attributes
(`attrs = {_no_task = true}`). Everybody asks here, by GE's spelling (spec/no_task.md section 1).
"""

from __future__ import annotations

from types import MappingProxyType

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.attrs import UNIT, i64
from ge_dialect.dialects.ge.attribute_table import ATTRIBUTES, Kind

NO_TASK = "_no_task"
NO_PADDING_INPUT = "_no_padding_continuous_input"
NO_PADDING_OUTPUT = "_no_padding_continuous_output"
OUTPUT_REUSES_INPUT = "_output_reuse_input"
REUSE_DIM = "_reuse_input_on_dim_index"
CONTINUOUS_INPUT = "continuous_input"
CONTINUOUS_OUTPUT = "continuous_output"
REFERENCE = "reference"
ATOMIC_OUTPUTS = "atomic_output_index"

SEED_SPELLINGS = MappingProxyType(
    {
        "_nopadding_continuous_input": NO_PADDING_INPUT,
        "_nopadding_continuous_output": NO_PADDING_OUTPUT,
    }
)
"""Spellings that documents use and GE does not; understood, never written."""

_OURS = MappingProxyType(
    {
        row.ge_spelling: row.name
        for row in ATTRIBUTES
        if row.ge_spelling is not None and row.kind in (Kind.FLAG, Kind.INT)
    }
)


def mark(op: Operation, spelling: str) -> Attribute | None:
    """The mark `spelling` of an op (a node or a graph): our attribute for it, else the source's, else None."""
    name = _OURS.get(spelling)
    if name is not None and (value := op.attributes.get(name)) is not None:
        return value
    attrs = op.properties.get("attrs")
    return attrs.data.get(spelling) if isinstance(attrs, DictionaryAttr) else None


def flag(op: Operation, spelling: str) -> bool:
    """Whether the mark is there and true."""
    value = mark(op, spelling)
    return isinstance(value, UnitAttr) or (isinstance(value, IntegerAttr) and value.value.data != 0)


def number(op: Operation, spelling: str) -> int | None:
    """The integer mark, None when it is not there."""
    value = mark(op, spelling)
    return value.value.data if isinstance(value, IntegerAttr) else None


def first_flag(op: Operation, spellings: tuple[str, ...]) -> str | None:
    """The first of the marks that is there and true."""
    if not op.attributes and "attrs" not in op.properties:
        return None
    return next((spelling for spelling in spellings if flag(op, spelling)), None)


def set_flag(op: Operation, spelling: str) -> None:
    """Note a mark that is true, under our attribute for it. Raises KeyError for one that we have none for."""
    op.attributes[_OURS[spelling]] = UNIT


def set_number(op: Operation, spelling: str, value: int) -> None:
    """Note an integer mark. Raises KeyError for one that we have no attribute for."""
    op.attributes[_OURS[spelling]] = i64(value)


def correct_spellings(op: Operation) -> None:
    """Give the source's marks GE's spelling where they have that of `SEED_SPELLINGS`."""
    attrs = op.properties.get("attrs")
    if not isinstance(attrs, DictionaryAttr) or attrs.data.keys().isdisjoint(SEED_SPELLINGS):
        return
    renamed = {key: value for key, value in attrs.data.items() if key not in SEED_SPELLINGS}
    for key, spelling in SEED_SPELLINGS.items():
        if key in attrs.data:
            renamed.setdefault(spelling, attrs.data[key])
    op.properties["attrs"] = DictionaryAttr(renamed)
