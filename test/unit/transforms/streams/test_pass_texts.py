"""Every pass about streams says what it expects, what it guarantees and what it does to a graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_dialect.passes import PASSES
from ge_dialect.universe import resolve

FOLDERS = ("transforms.streams.", "transforms.sync.", "transforms.split.")
OTHERS = ("ge-assign-streams", "ge-sync-single-stream", "ge-schedule-order")
NAMES = [
    name for name, place in PASSES.items() if name in OTHERS or any(x in place for x in FOLDERS)
]
LIT = Path(__file__).parents[3] / "filecheck" / "transforms"


@pytest.mark.parametrize("name", NAMES)
def test_expects_guarantees_and_an_example(name: str) -> None:
    text = resolve(PASSES[name]).__doc__
    assert text is not None
    for part in ("Expects", "Guarantees", "Before and after"):
        assert part in text, part


@pytest.mark.parametrize("name", NAMES)
def test_has_a_lit_test_of_its_own(name: str) -> None:
    assert list(LIT.glob(f"*/{name.replace('-', '_')}.mlir"))
