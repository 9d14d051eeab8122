"""Memory types that a node asks for, slot by slot (spec/memory.md 1.4).

GE keeps them as numbers; those of the on-chip memories are constants of a library outside its sources, so text and
cases use names. Both are read.
"""

from __future__ import annotations

from types import MappingProxyType

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_attr

HBM = "HBM"
_NAMES = MappingProxyType(
    {
        0x0: "DEFAULT",
        0x2: HBM,
        0x4: "DDR",
        0x11: "P2P_DDR",
        0x40: "TS",
        0x81: "HOST",
        0x90: "HOST_SVM",
        1 << 15: "UB",
        1 << 16: "L1",
        1 << 17: "L2",
    }
)
ORDINARY = frozenset({"DEFAULT", HBM, "DDR"})
"""Types that the device memory pool serves."""

INPUT_TYPES, OUTPUT_TYPES = "_input_memory_type", "_output_memory_type"


def memory_types(op: Operation, attribute: str) -> list[str]:
    """The entries of `_input_memory_type` or `_output_memory_type`, by name; a number without name as text."""
    value = ge_attr(op, attribute)
    if not isinstance(value, list):
        return []
    return [_NAMES.get(item, str(item)) if isinstance(item, int) else str(item) for item in value]  # pyright: ignore
