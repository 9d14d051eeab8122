from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from ge_dialect.preset import Preset, expand


@dataclass(frozen=True)
class Step(ModulePass):
    """Appends its letter to an attribute of the module."""

    name = "ge-test-step"
    letter: str = "x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        before = op.attributes.get("seen")
        text = before.data if isinstance(before, StringAttr) else ""
        op.attributes["seen"] = StringAttr(text + self.letter)


@dataclass(frozen=True)
class Inner(Preset):
    name = "ge-test-inner"

    def passes(self) -> tuple[ModulePass, ...]:
        return (Step("b"), Step("c"))


@dataclass(frozen=True)
class Outer(Preset):
    name = "ge-test-outer"

    def passes(self) -> tuple[ModulePass, ...]:
        return (Step("a"), Inner())


def test_expand_flattens_nested_presets() -> None:
    assert expand((Outer(), Step("d"))) == (Step("a"), Step("b"), Step("c"), Step("d"))


def test_apply_runs_the_list_in_order() -> None:
    module = ModuleOp([])
    Outer().apply(Context(), module)
    assert module.attributes["seen"] == StringAttr("abc")
