"""docs/architecture.md names what there is: every folder, every option of the device, every page it links to."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ge_dialect.passes import PASSES
from ge_dialect.pipeline import GE_PIPELINE
from ge_dialect.runtime import DeviceOptions

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGE = (DOCS / "architecture.md").read_text()
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def test_every_device_option_is_a_listed_choice() -> None:
    missing = [x.name for x in dataclasses.fields(DeviceOptions) if f"`{x.name}`" not in PAGE]
    assert missing == []


def test_folders_and_starting_points_exist() -> None:
    rows = re.findall(r"^\| `([\w/]+)` \| .* \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 9
    for folder, starts in rows:
        base = ROOT / "ge_dialect" / folder
        assert base.is_dir(), folder
        for name in re.findall(r"`([\w/]+\.py)`", starts):
            assert (base / name).is_file() or (ROOT / name).is_file(), f"{folder}: {name}"


def test_the_order_of_passes_is_that_of_the_pipeline() -> None:
    section = PAGE.split("## The order of passes")[1].split("\n## ")[0]
    cells = [line.split(" | ")[1] for line in section.splitlines() if line.startswith("| ")]
    optional = re.findall(r"\(`([\w-]+)`\)", " ".join(cells))
    always = re.findall(r"(?<!\()`([\w-]+)`", " ".join(cells))
    assert tuple(always) == GE_PIPELINE
    assert len(optional) >= 2
    assert set(optional) <= set(PASSES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in anchors, target


def test_the_index_lists_every_page() -> None:
    index = (DOCS / "index.md").read_text()
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"index.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()
