"""Building and loading the compiled kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.analysis.packing import IntervalConflicts, Problem
from ge_dialect.analysis.packing.kernel import binding, build
from ge_dialect.analysis.packing.model import model_of

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
)


@needs_compiler
def test_builds_and_loads(tmp_path: Path) -> None:
    path = build.build(tmp_path / "packing.so")
    assert path is not None
    kernel = binding.load(path)
    assert kernel is not None
    model = model_of(Problem([3, 2], IntervalConflicts([0, 1], [2, 3])), 1)
    offsets, peak = kernel.first_fit(model, np.array([0, 1]), False)
    assert (offsets.tolist(), peak) == ([0, 3], 5)
    with pytest.raises(ValueError, match="an order of 1 for 2 buffers"):
        kernel.first_fit(model, np.array([0]), False)


@needs_compiler
def test_library_of_other_sources_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "source_digest", lambda: "older")
    path = build.build(tmp_path / "packing.so")
    assert path is not None
    assert binding.load(path) is None


def test_no_compiler_no_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    assert build.build(tmp_path / "packing.so") is None
    assert list(tmp_path.iterdir()) == []
    assert binding.load(tmp_path / "packing.so") is None
