"""ge-plan from the command line's point of view, in process."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from ge_dialect.analysis.packing.csv_format import read_table
from ge_dialect.tools.ge_plan import main

Run = Callable[..., tuple[int, str, str]]

EXAMPLE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit code, standard output, standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "input.12.csv"
    path.write_text(EXAMPLE)
    return path


def test_offsets_go_to_standard_output(run: Run, example: Path) -> None:
    code, out, err = run(example, "--capacity", 12)
    assert code == 0
    assert [line.rpartition(",")[0] for line in out.splitlines()] == EXAMPLE.splitlines()
    assert all(0 <= int(line.rpartition(",")[2]) <= 8 for line in out.splitlines()[1:])
    assert err.startswith("peak 12 bytes, lower bound 12 (max live), ratio 1.0000, by ")


def test_output_file_and_map(run: Run, example: Path, tmp_path: Path) -> None:
    code, out, err = run(
        example, "-o", tmp_path / "plan.csv", "--memory-map", tmp_path / "plan.svg"
    )
    assert (code, err) == (0, "")
    assert out.startswith("peak 12 bytes")
    assert "offset" in read_table((tmp_path / "plan.csv").read_text(), "plan.csv").columns
    assert (tmp_path / "plan.svg").read_text().count("<title>") == 5


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(EXAMPLE))
    assert run("-")[1].startswith("id,lower,upper,size,offset\nb1,0,3,4,")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            EXAMPLE,
            ["--capacity", "11"],
            "F: error: the buffers do not fit into 11 bytes: no plan needs less than 12 (max live)",
        ),
        (
            EXAMPLE,
            ["--capacity", "-1"],
            "ge-plan: error: --capacity should not be negative, got -1",
        ),
        (
            EXAMPLE,
            ["--memory-map", "m.png"],
            "m.png: error: a memory map is written as .html, .svg or .csv, not '.png'",
        ),
        (
            "id,lower\n",
            [],
            "F:1: error: no column upper: the first line should be id,lower,upper,size",
        ),
        (
            "id,lower,upper,size,fixed\na,0,2,4,0\nb,1,3,4,2\n",
            [],
            'F:3: error: "b" at 2 overlaps "a" of line 2 at 0 while both are in use',
        ),
        (None, [], "F: error: No such file or directory"),
    ],
)
def test_errors_are_one_line(
    run: Run, tmp_path: Path, text: str | None, arguments: list[str], message: str
) -> None:
    path = tmp_path / "in.csv"
    if text is not None:
        path.write_text(text)
    code, out, err = run(path, "-o", tmp_path / "out.csv", *arguments)
    assert (code, out, err) == (1, "", message.replace("F:", f"{path}:") + "\n")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("output", ["-", "plan.csv"])
def test_no_plan_without_its_map(run: Run, example: Path, tmp_path: Path, output: str) -> None:
    target = output if output == "-" else tmp_path / output
    missing = tmp_path / "missing" / "map.svg"
    assert run(example, "-o", target, "--memory-map", missing) == (
        1,
        "",
        f"{missing}: error: No such file or directory\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == [example.name]


def test_file_that_is_no_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b"id,\xff\n")
    assert run(path)[2] == f"{path}: error: not UTF-8 text: invalid start byte at byte 3\n"


def test_wrong_option_ends_with_two(example: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(example), "--budget-ms", "x"])
