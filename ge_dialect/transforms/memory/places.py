"""How a plan stands on the nodes: offsets and spaces, one an output."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.attrs import i64_array, string

HBM, WEIGHT, VARIABLE = "hbm", "weight", "var"
NO_MEMORY = -1


def write_places(op: Operation, places: Sequence[tuple[int, str]]) -> None:
    """Set `ge.offsets`, and `ge.spaces` where not all are `hbm`."""
    spaces = [space for _, space in places]
    op.attributes["ge.offsets"] = i64_array([offset for offset, _ in places])
    if any(space != HBM for space in spaces):
        texts: list[Attribute] = [string(space) for space in spaces]
        op.attributes["ge.spaces"] = ArrayAttr(texts)
    else:
        op.attributes.pop("ge.spaces", None)
