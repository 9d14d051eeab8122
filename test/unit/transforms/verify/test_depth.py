"""Graphs nested deeper than the passes go down are one error at the node; text nested deeper than the parser goes too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_dialect.tools.ge_opt import main
from ge_dialect.transforms.verify.module_checks import MAX_DEPTH

OWNER = (
    '  %r = ge.op "PartitionedCall" (%x) subgraphs [@g{0}] {{ge.name = "n{0}"}} : tensor<2xf32>\n'
)
INNER = '  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<2xf32>\n'
LEAF = '  %r = ge.op "Neg" (%x) {ge.name = "l"} : tensor<2xf32>\n'
END = '  ge.net_output (%r) {ge.name = "o"}\n}\n'


def _nested(levels: int) -> str:
    text = 'ge.graph @main {\n  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>\n'
    for level in range(levels):
        text += OWNER.format(level) + END + f"ge.graph @g{level} {{\n" + INNER
    return text + LEAF + END


def test_graphs_as_deep_as_allowed_go_through(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(_nested(MAX_DEPTH))
    assert main([str(path), "-p", 'ge-pipeline{streams="schedule:2"}', "-o", "/dev/null"]) == 0


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 1_000])
def test_deeper_graphs_are_one_line(
    levels: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(_nested(levels))
    assert main([str(path), "-p", "ge-pipeline"]) == 1
    line = 4 + 5 * MAX_DEPTH - 1
    wanted = f'{path}:{line}:3: error: "n{MAX_DEPTH}": graphs are nested more than {MAX_DEPTH} deep'
    assert capsys.readouterr().err == wanted + "\n"


def test_deeper_text_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.mlir"
    value = "[" * 5_000 + "]" * 5_000
    path.write_text(f'ge.graph @main {{\n  ge.op "A" () attrs {{a = {value}}}\n}}\n')
    assert main([str(path)]) == 1
    found = capsys.readouterr().err
    assert found.startswith(f"{path}:2:")
    assert found.endswith(": error: nested too deeply\n")
    assert found.count("\n") == 1
