"""ge-run on models of open dimensions: one program for any size, sizes for random inputs, gears, costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from ge_dialect.tools.ge_run import main

Run = Callable[..., tuple[int, str, str]]

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[batch, seq, 4] x, int64[seq] n) => (float[p, q] y, int64[seq] m) {
  s = Shape(x)
  zero = Constant<value = int64 {0}>()
  b = Gather(s, zero)
  axes = Constant<value = int64[1] {0}>()
  u = Unsqueeze(b, axes)
  rest = Constant<value = int64[1] {-1}>()
  shape = Concat<axis = 0>(u, rest)
  e = Exp(x)
  y = Reshape(e, shape)
  m = Neg(n)
}
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def test_random_inputs_of_given_sizes(run: Run, model: Path) -> None:
    code, out, err = run(model, "--dynamic", "--dim", "batch=2", "--dim", "seq=3", "--check")
    assert (code, err) == (0, "")
    assert "output y: float32 [2, 12]" in out
    assert "host steps" in out  # a host program
    assert "checked against onnxruntime" in out


def test_a_dimension_by_place(run: Run, model: Path) -> None:
    code, out, _ = run(model, "--dynamic", "--dim", "x:0=2", "--dim", "seq=3", "--dim", "n:0=3")
    assert code == 0
    assert "output y: float32 [2, 12]" in out
    assert "output m: int64 [3]" in out


def test_places_of_one_name_that_disagree(run: Run, model: Path) -> None:
    code, _, err = run(model, "--dynamic", "--dim", "x:0=2", "--dim", "seq=3", "--dim", "n:0=5")
    assert code == 1
    assert "dimension 'seq' is 3 in input 'x' and 5 in input 'n'" in err


def test_sizes_that_are_missing_or_too_many(run: Run, model: Path) -> None:
    code, _, err = run(model, "--dynamic", "--dim", "batch=2")
    assert code == 1
    assert "need sizes: give --dim seq=N, or --inputs FILE.npz" in err
    code, _, err = run(model, "--dynamic", *"--dim batch=2 --dim seq=3 --dim depth=1".split())
    assert code == 1
    assert "--dim depth: no input has an unknown dimension of this name" in err
    code, _, err = run(model)
    assert code == 1
    assert "--dim batch=N --dim seq=N" in err


def test_host_execution_can_be_left_out(run: Run, model: Path) -> None:
    sizes = (
        "--dynamic",
        "--dim",
        "batch=2",
        "--dim",
        "seq=3",
        "--profile",
        "ascend-2024",
        "--json",
    )
    before = json.loads(run(model, *sizes, "--pipeline", "ge-pipeline{host-exec=false}")[1])[
        "report"
    ]
    after = json.loads(run(model, *sizes)[1])["report"]
    assert (before["launches"], before["syncs"]) == (4, 1)
    assert (after["launches"], after["syncs"]) == (2, 0)
    assert after["simulated_us"] < before["simulated_us"]
    assert after["profile"] == "ascend-2024"


def test_gears(run: Run, model: Path, tmp_path: Path) -> None:
    code, out, err = run(model, "--gears", "batch=1,2,4", "--dim", "seq=3", "--dim", "batch=4")
    assert (code, err) == (0, "")
    assert "output y: float32 [4, 12]" in out
    assert "host steps" not in out  # a task list
    inputs = tmp_path / "in.npz"
    np.savez(inputs, x=np.ones((2, 3, 4), np.float32), n=np.arange(3))
    code, out, _ = run(model, "--gears", "batch=1,2,4", "--dim", "seq=3", "--inputs", inputs)
    assert code == 0
    assert "output y: float32 [2, 12]" in out
    np.savez(inputs, x=np.ones((3, 3, 4), np.float32), n=np.arange(3))
    code, _, err = run(model, "--gears", "batch=1,2,4", "--dim", "seq=3", "--inputs", inputs)
    assert code == 1
    assert "no gear takes the inputs 'x' [3, 3, 4]" in err
    both = "batch=1,seq=3;batch=1,seq=5"
    code, out, _ = run(model, "--gears", both, "--dim", "batch=1", "--dim", "seq=5")
    assert code == 0
    assert "output y: float32 [1, 20]" in out
    for gears in ("batch=1", "batch=1,2"):
        code, _, err = run(model, "--gears", gears, "--dim", "seq=3", "--dim", "batch=7")
        assert code == 1
        assert "error: no gear has batch=7; there are batch=1" in err
    code, _, err = run(model, "--gears", "batch=1,2,4")
    assert code == 1
    assert "--dim seq=N" in err
    code, _, err = run(model, "--gears", "batch=1", "--dynamic")
    assert code == 1
    assert "--gears makes static programs" in err


def test_costs_as_bars(run: Run, model: Path, tmp_path: Path) -> None:
    sizes = ("--dynamic", "--dim", "batch=2", "--dim", "seq=3")
    assert "#" not in run(model, *sizes)[1]
    code, out, _ = run(model, *sizes, "--costs")
    assert code == 0
    report = json.loads(run(model, *sizes, "--json")[1])["report"]
    for place in ("host", "device"):
        for kind, us in report[f"{place}_us"].items():
            line = next((x for x in out.splitlines() if x.startswith(f"  {place} {kind} ")), None)
            if us:
                assert line is not None
                assert f" {us:.1f} us" in line
                assert len(line) - len(line.rstrip("#")) == max(
                    1, round(40 * us / report["simulated_us"])
                )
    trace = tmp_path / "t.json"
    code, out, _ = run(model, *sizes, "--timeline", trace)
    assert code == 0
    assert "  device kernel" in out
    events = json.loads(trace.read_text())["traceEvents"]
    assert {x["args"]["name"] for x in events if x["ph"] == "M"} == {"rank 0", "host", "stream 0"}
    assert {x["ph"] for x in events} == {"M", "X", "s", "f"}
