"""What the kind of a copy says about the two places, against where they are (choice E17)."""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.dialects.ge_task.memory import MEMCPY_KINDS
from ge_dialect.runtime.memory import Extent

DEVICE_TO_DEVICE = 3
"""The kind of a copy that names none."""

HOST_SPACES = frozenset({"host", "host_svm"})
_HOST, _DEVICE = "host", "device"
_SIDES = MappingProxyType(
    {
        0: (_HOST, _HOST),
        1: (_HOST, _DEVICE),
        2: (_DEVICE, _HOST),
        3: (_DEVICE, _DEVICE),
        5: (_DEVICE, _DEVICE),
        6: (_HOST, _DEVICE),
        7: (_DEVICE, _HOST),
    }
)
"""Source and destination by kind; 4 (managed) and 8 (default) fit everything."""


def _side(extent: Extent) -> str:
    return _HOST if extent.space in HOST_SPACES else _DEVICE


def kind_mismatch(kind: int, source: Extent, target: Extent) -> str | None:
    """What is wrong with the kind of a copy from `source` to `target`; None: nothing."""
    sides = _SIDES.get(kind)
    found = (_side(source), _side(target))
    if sides is None or sides == found:
        return None
    return (
        f"kind {MEMCPY_KINDS[kind]} copies from {sides[0]} to {sides[1]}, "
        f"the buffers are {source} and {target}"
    )
