"""The rules of the source tree: who may import whom, links, file sizes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ge_dialect"

# A package may import itself and what is listed. Files at the root of ge_dialect count as "tools".
MAY_IMPORT = {
    "formats": set[str](),
    "dialects": {"formats"},
    "kernels": {"formats", "dialects"},
    "analysis": {"formats", "dialects", "kernels"},
    "transforms": {"formats", "dialects", "analysis", "kernels"},
    "lowering": {"formats", "dialects", "analysis", "kernels"},
    "runtime": {"formats", "dialects", "analysis", "kernels"},
    "tools": {"formats", "dialects", "analysis", "kernels", "transforms", "lowering", "runtime"},
}
MODULES = [str(path.relative_to(PACKAGE)) for path in sorted(PACKAGE.rglob("*.py"))]
SOURCES = [
    path
    for folder in ("ge_dialect", "test", "docs", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def layer(parts: tuple[str, ...]) -> str:
    """The layer of a module, given its path below ge_dialect."""
    return parts[0] if len(parts) > 1 and parts[0] in MAY_IMPORT else "tools"


def imported_layers(source: str) -> set[str]:
    """The layers of ge_dialect that a module's text imports, local imports included."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names += [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                # `from ge_dialect import tools` names the layer in the alias.
                names += [f"{module}.{alias.name}" for alias in node.names]
            case ast.ImportFrom(level=level) if level:
                names.append("ge_dialect.<relative import>")
            case _:
                pass
    return {
        name.split(".")[1] if name.split(".")[1] in MAY_IMPORT else "tools"
        for name in names
        if name.split(".")[0] == "ge_dialect" and "." in name
    }


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    own = layer(Path(module).parts)
    wrong = imported_layers((PACKAGE / module).read_text()) - MAY_IMPORT[own] - {own}
    assert not wrong, f"{module} is in {own} and must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize(
    ("source", "layers"),
    [
        ("import ge_dialect.runtime.device", {"runtime"}),
        ("from ge_dialect.lowering.onnx import x", {"lowering"}),
        ("from ge_dialect import transforms", {"transforms"}),
        ("def f():\n    from ge_dialect.kernels import x", {"kernels"}),
        ("from ge_dialect.pipeline import GePipeline", {"tools"}),
        ("from . import x", {"tools"}),
        ("import numpy", set[str]()),
    ],
)
def test_imported_layers(source: str, layers: set[str]) -> None:
    assert imported_layers(source) == layers


@pytest.mark.parametrize("name", ["transforms", "lowering", "runtime"])
def test_links_at_the_root(name: str) -> None:
    link = ROOT / name
    assert link.is_symlink()
    assert str(link.readlink()) == f"ge_dialect/{name}"
    assert link.is_dir()


@pytest.mark.parametrize("folder", ["test", "docs", "bench"])
def test_no_packages_outside_the_package(folder: str) -> None:
    # `test` is a package of the standard library, and xDSL's wheel installs packages `docs` and `tests`.
    assert not list((ROOT / folder).rglob("__init__.py"))


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert not [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()]


def test_no_file_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert not {name: length for name, length in lengths.items() if length > 600}
