"""Which nodes cannot work with addresses that change between steps (spec/memory.md 8.3 and 10)."""

from __future__ import annotations

from ge_dialect.analysis.memory.model import Node
from ge_dialect.dialects.engine_table import ENGINES, HCCL
from ge_dialect.dialects.engine_types import HCCL_PREFIX
from ge_dialect.dialects.ge.access import get_text

JUMP_TYPES = frozenset({"StreamSwitch", "LabelSwitchByIndex"})
"""Types that read their input by an address fixed at load time."""

_HCCL_LIB = ENGINES[HCCL].kernel_lib


def refuses_refresh(node: Node, *, refreshable: bool) -> bool:
    """Whether the node's inputs and outputs need addresses that stay (section 8.3).

    Jumps always do; collectives do unless the feature map is refreshable, in which case they are built for it.
    """
    if node.type in JUMP_TYPES:
        return True
    if refreshable:
        return False
    return node.type.startswith(HCCL_PREFIX) or get_text(node.op, "ge.kernel_lib") == _HCCL_LIB
