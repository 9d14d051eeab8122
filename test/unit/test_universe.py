"""What xDSL's own tools see of this project."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from ge_dialect.passes import PASSES
from ge_dialect.universe import DIALECTS, GE_UNIVERSE, TARGETS, resolve


def test_the_entry_point_names_the_universe() -> None:
    (entry,) = (each for each in entry_points(group="xdsl.universe") if each.name == "ge")
    assert entry.load() is GE_UNIVERSE


def test_no_name_clashes_with_another_package() -> None:
    names = Universe.get_multiverse()  # raises ValueError for a name claimed twice
    assert set(DIALECTS) <= set(names.all_dialects)
    assert set(PASSES) <= set(names.all_passes)


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_resolve(name: str) -> None:
    assert GE_UNIVERSE.all_dialects[name]().name == name


@pytest.mark.parametrize("name", PASSES)
def test_passes_resolve(name: str) -> None:
    module_pass = GE_UNIVERSE.all_passes[name]()
    assert issubclass(module_pass, ModulePass)
    assert module_pass.name == name
    assert name.startswith(("ge-", "convert-ge-"))
    assert module_pass.__doc__
    assert module_pass().spec().name == name  # every option has a default


def test_targets_resolve() -> None:
    for name in TARGETS:
        assert GE_UNIVERSE.all_targets[name]().name == name
        assert name.startswith("ge-")


def test_an_unknown_reference_is_an_error() -> None:
    with pytest.raises(AttributeError):
        resolve("ge_dialect.passes:NOTHING")


def test_the_universe_imports_nothing_heavy() -> None:
    code = (
        "import sys; import ge_dialect.universe; "
        "print([m for m in sys.modules if m.startswith('ge_dialect.') or m in ('numpy', 'onnx')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['ge_dialect.passes', 'ge_dialect.universe']"


def test_xdsl_opt_reads_our_text(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(
        '"ge.graph"() <{sym_name = "g"}> ({\n  %n = "ge.absent"() : () -> none\n}) : () -> ()\n'
    )
    tool = Path(sys.executable).with_name("xdsl-opt")
    done = subprocess.run([tool, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ge.graph @g" in done.stdout
