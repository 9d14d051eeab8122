"""Which nodes cannot work with addresses that change between steps (spec/memory.md 8.3 and 10)."""

from __future__ import annotations

from ge_dialect.analysis.memory.model import Node

JUMP_TYPES = frozenset({"StreamSwitch", "LabelSwitchByIndex"})
"""Types that read their input by an address fixed at load time."""


def refuses_refresh(node: Node) -> bool:
    """Whether the node's inputs and outputs need addresses that stay (section 8.3): jumps do.

    Collectives and custom operators may too; how they say so is not known, so they are taken to follow new addresses.
    """
    return node.type in JUMP_TYPES
