"""A preset: one name for a fixed list of passes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Preset(ModulePass):
    """A pass that stands for a list of passes.

    ge-opt puts the list in its place, so that verification, printing, timing and remarks see every pass;
    `xdsl-opt`, which knows nothing of presets, runs it as one pass.
    """

    @abstractmethod
    def passes(self) -> tuple[ModulePass, ...]:
        """The passes, in order, with the options that this preset gives them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the passes in order, with nothing in between."""
        for module_pass in self.passes():
            module_pass.apply(ctx, op)


def expand(
    passes: tuple[ModulePass, ...], change: Callable[[ModulePass], ModulePass] = lambda each: each
) -> tuple[ModulePass, ...]:
    """`passes` with every preset replaced by its list, nested presets too. `change` gives what stands for a pass, or
    for a preset before it is replaced."""
    flat: list[ModulePass] = []
    for each in map(change, passes):
        if isinstance(each, Preset):
            flat.extend(expand(each.passes(), change))
        else:
            flat.append(each)
    return tuple(flat)
