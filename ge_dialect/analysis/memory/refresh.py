"""Which nodes cannot work with addresses that change between steps (spec/memory.md 8.3 and 10)."""

from __future__ import annotations

from ge_dialect.analysis.memory.model import Node

JUMP_TYPES = frozenset({"StreamSwitch", "LabelSwitchByIndex"})
"""Types that read their input by an address fixed at load time."""


def refuses_refresh(node: Node) -> bool:
    """Whether the node's outputs need addresses that stay (section 8.3).

    Collectives and custom operators may too; how they say so is not known, so they are taken to follow new addresses.
    A jump by index has outputs only where it hands values through, which it does not touch.
    """
    return node.type == "StreamSwitch"


def input_refuses_refresh(node: Node, slot: int) -> bool:
    """Whether the node reads input `slot` by an address that stays: jumps do, the values that decide about them."""
    return node.type in JUMP_TYPES and (slot == 0 or node.type == "StreamSwitch")
