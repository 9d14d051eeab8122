"""What the user may choose about the reference's plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options of `ge-plan-memory{mode=reference}`.

    `reuse`: whether memory is given on at all. `memory_priority`: try the four variants with size classes too.
    `release_first`: take the memory that was released first rather than last. `reusable_inputs`/`reusable_outputs`:
    model inputs and outputs whose memory may be given on (an input, after its last reader) or may have held something
    before (an output). `inplace`: nodes may write over an input that dies there.
    """

    reuse: bool = True
    memory_priority: bool = False
    release_first: bool = False
    reusable_inputs: frozenset[int] = frozenset()
    reusable_outputs: frozenset[int] = frozenset()
    inplace: bool = False
