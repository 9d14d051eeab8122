"""GE's memory attributes of a node, whether a pass of this project marked it (`ge.*`) or its source did (`attrs`).

Sources: spec/memory.md 1.4 and 1.5, spec/no_task.md 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge.attribute_table import ATTRIBUTES
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError

HBM = "hbm"

MEMORY_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "DEFAULT": 0x0,
        "HBM": 0x2,
        "DDR": 0x4,
        "P2P_DDR": 0x11,
        "TS": 0x40,
        "HOST": 0x81,
        "HOST_SVM": 0x90,
        "UB": 1 << 15,
        "L1": 1 << 16,
        "L2": 1 << 17,
    }
)
"""GE's memory types by name (section 1.4)."""

SPACES: Mapping[int, str] = MappingProxyType({0x11: "p2p_ddr", 0x81: "host", 0x90: "host_svm"})
"""Memory types that have a pool of their own; every other lies in `hbm`."""

_ORDINARY = frozenset({0x0, 0x2, 0x4})
OUTSIDE: Mapping[int, str] = MappingProxyType({1 << 15: "ub", 1 << 16: "l1"})
"""Memory types without a pool: what lies there keeps the offset that it came with."""


def is_special(memory_type: int) -> bool:
    """Whether a memory type is anything but DEFAULT, HBM and DDR."""
    return memory_type not in _ORDINARY


def is_outside(memory_type: int) -> bool:
    """Whether memory of this type (L1, UB) never comes from a pool."""
    return memory_type in OUTSIDE


@dataclass(frozen=True, slots=True)
class Marks:
    """What the attributes of one node say about its memory.

    The continuous flags are the bare attributes; how many slots there are counts too (`continuity`). Lists are None
    when the attribute is not there.
    """

    no_task: bool = False
    continuous_input: bool = False
    continuous_output: bool = False
    no_padding_input: bool = False
    no_padding_output: bool = False
    output_reuse_input: bool = False
    dim_index: int | None = None
    reference: bool = False
    fusion_strides: tuple[int, ...] | None = None
    output_list: tuple[int, ...] | None = None
    input_list: tuple[int, ...] | None = None
    input_types: tuple[int, ...] = ()
    output_types: tuple[int, ...] = ()
    atomic_outputs: tuple[int, ...] = ()
    atomic_inputs: tuple[int, ...] | None = None
    is_atomic: bool = False
    zeroes_itself: bool = False
    no_reuse: bool = False
    workspace_reuse: tuple[int, ...] | None = None
    batch: str = ""
    in_buffer_pool: bool = False


NO_MARKS = Marks()

_FLAG_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "_no_task": "no_task",
        "continuous_input": "continuous_input",
        "continuous_output": "continuous_output",
        "_no_padding_continuous_input": "no_padding_input",
        "_nopadding_continuous_input": "no_padding_input",
        "_no_padding_continuous_output": "no_padding_output",
        "_nopadding_continuous_output": "no_padding_output",
        "_output_reuse_input": "output_reuse_input",
        "reference": "reference",
        "is_atomic_node": "is_atomic",
        "need_gentask_atomic": "zeroes_itself",
        "no_reuse_mem_flag": "no_reuse",
    }
)
_LIST_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "_output_offset_for_buffer_fusion": "fusion_strides",
        "_output_offset_list_for_continuous": "output_list",
        "_input_offset_list_for_continuous": "input_list",
        "_input_memory_type": "input_types",
        "_output_memory_type": "output_types",
        "atomic_output_index": "atomic_outputs",
        "atomic_input_index": "atomic_inputs",
        "workspace_reuse_flag": "workspace_reuse",
    }
)
_POOL = ("_buffer_pool_id", "_buffer_pool_size")
_GE_NAMES = frozenset(
    {*_FLAG_FIELDS, *_LIST_FIELDS, *_POOL, "_reuse_input_on_dim_index", "_batch_label"}
)
_SPELLING_OF: Mapping[str, str] = MappingProxyType(
    {row.name: row.ge_spelling for row in ATTRIBUTES if row.ge_spelling in _GE_NAMES}
)


def _integers(op: Operation, key: str, value: Attribute) -> tuple[int, ...]:
    listed = to_python(value)
    if not isinstance(listed, list):
        return ()
    items = cast("list[Any]", listed)
    return tuple(_memory_type(op, key, x) if isinstance(x, str) else int(x) for x in items)


def _memory_type(op: Operation, key: str, name: str) -> int:
    try:
        return MEMORY_TYPES[name]
    except KeyError:
        known = ", ".join(MEMORY_TYPES)
        raise GeError(
            f'node "{node_name(op)}": {key} has "{name}", which is no memory type ({known})',
            location_text(op),
        ) from None


def _truth(value: Attribute) -> bool:
    return bool(value.value.data) if isinstance(value, IntegerAttr) else isinstance(value, UnitAttr)


def _found(op: Operation) -> dict[str, Attribute]:
    """The memory attributes of the node under GE's spelling; a mark of a pass wins over the source's."""
    values: dict[str, Attribute] = {}
    attrs = op.properties.get("attrs")
    if isinstance(attrs, DictionaryAttr) and not _GE_NAMES.isdisjoint(attrs.data):
        values.update((key, x) for key, x in attrs.data.items() if key in _GE_NAMES)
    if not _SPELLING_OF.keys().isdisjoint(op.attributes):
        for key, x in op.attributes.items():
            if (spelling := _SPELLING_OF.get(key)) is not None:
                values[spelling] = x
    return values


def marks_of(op: Operation) -> Marks:
    """What the node's attributes say about its memory; `NO_MARKS` itself for a node without any.

    Raises GeError for a memory type by a name that is none.
    """
    values = _found(op)
    if not values:
        return NO_MARKS
    fields: dict[str, Any] = {}
    for key, value in values.items():
        if (name := _FLAG_FIELDS.get(key)) is not None:
            fields[name] = fields.get(name, False) or _truth(value)
        elif (name := _LIST_FIELDS.get(key)) is not None:
            fields[name] = _integers(op, key, value)
        elif key == "_reuse_input_on_dim_index" and isinstance(value, IntegerAttr):
            fields["dim_index"] = value.value.data
        elif key == "_batch_label":
            fields["batch"] = str(to_python(value))
    fields["in_buffer_pool"] = all(key in values for key in _POOL)
    return Marks(**fields)


def highest_type(types: Iterable[int]) -> int:
    """The memory type of what has all of these: the numerically largest, at least HBM (section 1.4)."""
    return max(types, default=0x2, key=lambda x: max(x, 0x2))
