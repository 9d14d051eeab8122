"""ge-run from the command line's point of view, in process."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest

from ge_dialect.tools.ge_run import main
from ge_dialect.tools.npz import read_npz, write_npz

Run = Callable[..., tuple[int, str, str]]

ADD = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[batch, 4] x, int64[2] i) => (float[batch, 4] y, int64[2] k) {
  z = Relu(x)
  y = Add(z, x)
  k = Neg(i)
}"""

TASKS = """
ge_task.model @m streams 1 arenas {hbm = 512} zero_copy 512 {
  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
  %y = ge_task.buffer hbm at 256 size 16 output 0 name "y" : tensor<4xf32>
  ge_task.kernel "Neg"(%x) -> (%y) stream 0 {ge.name = "n"}
  ge_task.end_graph stream 0
}"""

X = np.array([[1, -2, 3, -4]], np.float32)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit code, standard output, standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def add_model(tmp_path: Path) -> Path:
    """An ONNX model with a symbolic dimension."""
    path = tmp_path / "add.onnx"
    onnx.save(onnx.parser.parse_model(ADD), path)
    return path


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A task list as text."""
    path = tmp_path / "tasks.mlir"
    path.write_text(TASKS)
    return path


def test_model_with_given_inputs(run: Run, add_model: Path, tmp_path: Path) -> None:
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, x=X, i=np.array([1, 2]))
    code, out, err = run(
        add_model, "--inputs", inputs, "--outputs", outputs, "--dim", "batch=1", "--check"
    )
    assert (code, err) == (0, "")
    found = read_npz(str(outputs))
    np.testing.assert_array_equal(found["y"], np.maximum(X, 0) + X)
    np.testing.assert_array_equal(found["k"], [-1, -2])
    assert "output y: float32 [1, 4], min -4, max 6" in out
    assert "random" not in out
    assert "y: max relative error 0 (tolerance 1e-05) ok" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add.onnx", "in.npz", "out.npz"]


def test_given_inputs_give_the_dimensions(run: Run, add_model: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.ones((3, 4), np.float32), i=np.array([1, 2]))
    code, out, err = run(add_model, "--inputs", inputs)
    assert (code, err) == (0, "")
    assert "output y: float32 [3, 4], min 2, max 2" in out


def test_json_of_random_inputs(run: Run, add_model: Path) -> None:
    def report(*args: str) -> Any:
        code, out, err = run(add_model, "--dim", "batch=2", "--json", *args)
        assert (code, err) == (0, "")
        return json.loads(out)

    first = report("--seed", "1", "--repeat", "3")
    assert first["random_inputs_seed"] == 1
    assert len(first["wall_us"]) == 3
    assert first["report"]["by_kind"]["kernel"] == 3
    assert first["findings"] == []
    assert first["outputs"] == report("--seed", "1")["outputs"]
    assert first["outputs"] != report("--seed", "2")["outputs"]
    slower = report("--profile", "bandwidth")["report"]
    assert slower["profile"] == "bandwidth"
    assert slower["simulated_us"] != first["report"]["simulated_us"]


def test_task_list_and_trace(run: Run, tasks: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    code, out, err = run(tasks, "--trace", trace)
    assert (code, err) == (0, "")
    assert "inputs are random (seed 0)" in out
    assert "tasks" in out
    names = [x["name"] for x in json.loads(trace.read_text())["traceEvents"] if x["ph"] == "X"]
    assert names == ["n", "end_graph"]


def test_ranks(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reduce.mlir"
    path.write_text(
        TASKS.replace('ge_task.kernel "Neg"', 'ge_task.hccl "HcomAllReduce"').replace(
            "stream 0 {ge.name", 'stream 0 attrs {reduction = "sum"} {ge.name'
        )
    )
    for rank in range(2):
        np.savez(tmp_path / f"in{rank}.npz", x=X[0] * (rank + 1))
    code, _, err = run(
        path,
        "--ranks",
        2,
        "--inputs",
        tmp_path / "in{rank}.npz",
        "--outputs",
        tmp_path / "out{rank}.npz",
    )
    assert (code, err) == (0, "")
    for rank in range(2):
        np.testing.assert_array_equal(read_npz(str(tmp_path / f"out{rank}.npz"))["y"], X[0] * 3)


def error(run: Run, *args: object) -> str:
    """The one line that a failing call prints."""
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    return err.rstrip("\n")


def test_symbolic_dimension_without_a_value(run: Run, add_model: Path) -> None:
    assert error(run, add_model) == (
        f"{add_model}: error: the model has symbolic dimensions: give them values with --dim batch=N, "
        "or inputs with --inputs FILE.npz"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"z": X[0]}, "there is no input 'z'; the program takes 'x' float32 [4]"),
        ({}, "input 'x' is missing; the program takes 'x' float32 [4]"),
        ({"x": X}, "input 'x' has the shape [1, 4], it should be [4]"),
        (
            {"x": X[0].astype(np.float64)},
            "input 'x' has the element type float64, it should be float32",
        ),
    ],
)
def test_wrong_inputs(
    run: Run, tasks: Path, tmp_path: Path, values: dict[str, np.ndarray], message: str
) -> None:
    inputs = tmp_path / "in.npz"
    np.savez(inputs, **values)  # pyright: ignore[reportArgumentType]
    assert error(run, tasks, "--inputs", inputs) == f"{tasks}: error: {message}"


def test_files_that_are_no_inputs(run: Run, tasks: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.npz"
    assert error(run, tasks, "--inputs", missing) == f"{missing}: error: No such file or directory"
    text = tmp_path / "text.npz"
    text.write_text("no")
    assert error(run, tasks, "--inputs", text) == f"{text}: error: not an .npz file of arrays"
    empty = tmp_path / "empty.npz"
    empty.write_bytes(b"")
    assert error(run, tasks, "--inputs", empty) == f"{empty}: error: not an .npz file of arrays"
    single = tmp_path / "single.npy"
    np.save(single, X)
    assert error(run, tasks, "--inputs", single).endswith("a single array (.npy), not an .npz file")
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, x=np.array([{}], object))
    assert error(run, tasks, "--inputs", pickled) == f"{pickled}: error: not an .npz file of arrays"


def test_wrong_command_lines(run: Run, tasks: Path, tmp_path: Path) -> None:
    assert "--ranks should be at least 1" in error(run, tasks, "--ranks", 0)
    assert "--check compares one rank of an .onnx model" in error(run, tasks, "--check")
    assert "takes NAME=NUMBER, got 'batch'" in error(run, tasks, "--dim", "batch")
    assert "--dim fixes dimensions of .onnx models only" in error(run, tasks, "--dim", "batch=1")
    assert "no device profile 'fast'" in error(run, tasks, "--profile", "fast")
    nowhere = tmp_path / "no" / "out.npz"
    assert error(run, tasks, "--outputs", nowhere) == f"{nowhere}: error: No such file or directory"


def test_an_unknown_option_is_exit_code_2(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run("a.mlir", "--frobnicate")
    assert stopped.value.code == 2
    assert "ge-run: error: unrecognized arguments: --frobnicate" in capsys.readouterr().err


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(TASKS.encode())))
    code, out, err = run("-")
    assert (code, err) == (0, "")
    assert "(@m)" in out


def test_constants_in_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    text = tmp_path / "w.mlir"
    text.write_text(
        TASKS.replace("{hbm = 512}", "{hbm = 512, weight = 512}")
        .replace(
            "ge_task.kernel",
            """%w = ge_task.buffer weight at 0 size 16 value #ge.external<"w.bin", offset = 0, size = 16> : tensor<4xf32>
  ge_task.kernel""",
        )
        .replace('"Neg"(%x)', '"Add"(%x, %w)')
    )
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, x=X[0])
    assert "pass --weights=w.bin" in error(run, text, "--inputs", inputs)
    given = ("--inputs", inputs, "--outputs", outputs, "--weights", tmp_path / "w.bin")
    assert run(text, *given)[0] == 0
    np.testing.assert_array_equal(read_npz(str(outputs))["y"], X[0] + np.arange(4))


def test_many_outputs_are_summed_up(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.onnx"
    outputs = ", ".join(f"float[4] y{i}" for i in range(11))
    body = "".join(f"y{i} = Neg(x)" for i in range(11))
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => ({outputs}) {{ {body} }}'
    onnx.save(onnx.parser.parse_model(text), path)
    code, out, _ = run(path, "--check")
    assert code == 0
    assert "output y7:" in out
    assert "output y8:" not in out
    assert "... and 3 outputs more; --json lists all" in out
    assert "  ... and 3 outputs more, max relative error 0 ok" in out
    assert len(json.loads(run(path, "--check", "--json")[1])["check"]["outputs"]) == 11


def test_models_that_are_none(run: Run, tmp_path: Path) -> None:
    assert "No such file" in error(run, tmp_path / "missing.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08\x07garbage")
    assert str(broken) in error(run, broken)
    text = tmp_path / "text.mlir"
    text.write_text("ge_task.model {")
    assert error(run, text).startswith(f"{text}:1:")


def test_unknown_operators_are_refused_unless_opaque(run: Run, tasks: Path) -> None:
    tasks.write_text(TASKS.replace('"Neg"', '"Unheard"'))
    assert "no kernel for operators of the type Unheard" in error(run, tasks)
    code, out, _ = run(tasks, "--opaque")
    assert code == 0
    assert "Unheard" in out
    assert "opaque" in out


def test_checker_errors_fail_the_run(run: Run, tasks: Path) -> None:
    tasks.write_text(TASKS.replace("-> (%y)", "-> (%x)"))
    code, out, err = run(tasks)
    assert code == 1
    assert "error: 'y' is hbm [256, 272), which nothing writes [unwritten]" in out
    assert "the checker found 1 errors" in err


def test_an_oracle_further_from_the_float64_result_than_we_are_is_overruled(
    run: Run, add_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ge_dialect.tools import oracle

    right = oracle._expected

    def rough(path: str, feeds: Any) -> tuple[str, dict[str, np.ndarray]]:
        _, outputs = right(path, feeds)
        return "a rough oracle", {**outputs, "y": outputs["y"] * np.float32(1.001)}

    monkeypatch.setattr(oracle, "_expected", rough)
    code, out, _ = run(add_model, "--dim", "batch=1", "--check")
    assert code == 0
    assert "from the float64 result ours is" in out


def test_outputs_that_differ_fail_the_check(
    run: Run, add_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ge_dialect.tools import exact, oracle

    def wrong(path: str, feeds: Any) -> tuple[str, dict[str, np.ndarray]]:
        return "a wrong oracle", {"y": feeds["x"], "k": -feeds["i"]}

    monkeypatch.setattr(oracle, "_expected", wrong)
    monkeypatch.setattr(exact, "exact_outputs", lambda path, feeds: wrong(path, feeds)[1])
    code, out, err = run(add_model, "--dim", "batch=1", "--check")
    assert code == 1
    assert "y: max relative error" in out
    assert "FAILED" in out
    assert err.rstrip().endswith("1 outputs differ from a wrong oracle: y")


def test_outputs_without_a_range(run: Run, tasks: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.full(4, np.nan, np.float32))
    code, out, err = run(tasks, "--inputs", inputs)
    assert (code, err) == (0, "")
    assert "output y: float32 [4]\n" in out
    np.savez(inputs, x=np.array([np.nan, -np.inf, 1, 2], np.float32))
    assert "output y: float32 [4], min -2, max inf" in run(tasks, "--inputs", inputs)[1]
    code, out, err = run(tasks, "--inputs", inputs, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["outputs"][0]["max"] is None


def test_npz_round_trip(tmp_path: Path) -> None:
    path = str(tmp_path / "v.npz")
    half = np.array([1, 2], ml_dtypes.bfloat16)
    write_npz(
        path,
        {"file": X, "a/b": half, "s": [X, -X], "t": np.array(["ü", "v"], object), "none": None},
    )
    found = read_npz(path)
    assert sorted(found) == ["a/b", "file", "s.0", "s.1", "t"]
    np.testing.assert_array_equal(found["s.1"], -X)
    np.testing.assert_array_equal(found["a/b"].view(ml_dtypes.bfloat16), half)
    assert found["t"].tolist() == ["ü", "v"]
