"""The Python way in: what `compile`, `load` and `Program` promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ge_dialect
from ge_dialect import GeError, compile
from ge_dialect.program import make_passes
from ge_dialect.runtime import DeviceOptions

NET = """
ge.graph @net {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<2x4xf32>
  %y = ge.op "{type}" (%x) {{ge.name = "y"}} : tensor<2x4xf32>
  ge.net_output (%y) {{ge.name = "out"}}
}}
"""
X = np.ones((2, 4), np.float32)


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    """A graph of one operator."""
    path = tmp_path / "net.mlir"
    path.write_text(NET.format(type="Relu"))
    return path


@pytest.fixture
def unheard(tmp_path: Path) -> Path:
    """A graph with an operator that has no kernel."""
    path = tmp_path / "unheard.mlir"
    path.write_text(NET.format(type="Unheard"))
    return path


def test_inputs_by_name_or_in_order(relu: Path) -> None:
    program = compile(relu)
    assert np.array_equal(program.run({"x": -X}).outputs["output0"], 0 * X)
    assert np.array_equal(program.run([X]).outputs["output0"], X)


@pytest.mark.parametrize("inputs", [{"y": X}, [X, X], [X[0]], [X.astype(np.float64)], [X.tolist()]])
def test_inputs_that_are_not_the_models(relu: Path, inputs: list[np.ndarray]) -> None:
    with pytest.raises(GeError):
        compile(relu).run(inputs)


def test_an_operator_without_a_kernel_is_an_error_unless_opaque_bytes_are_asked_for(
    unheard: Path,
) -> None:
    with pytest.raises(GeError, match="no kernel for operators of the type Unheard"):
        compile(unheard).run([X])
    program = compile(unheard, device_options=DeviceOptions(unknown_kernels="opaque"))
    assert program.run([X]).report.opaque_tasks == 1
    assert program.executable.opaque_types() == ["Unheard"]


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("ge-nothing", "unknown pass 'ge-nothing'"),
        ("ge-plan-memory{", "'ge-plan-memory{' is no pipeline: Expected argument name here"),
        ("ge-topo-sort{mode=sideways}", "pass 'ge-topo-sort'"),
        ("ge-pipeline{until=ge-nothing}", "ge-pipeline has no pass 'ge-nothing'"),
    ],
)
def test_wrong_pipelines(pipeline: str, message: str) -> None:
    with pytest.raises(GeError) as raised:
        make_passes(pipeline)
    assert message in str(raised.value)


def test_pipelines_may_name_the_passes_of_other_packages() -> None:
    assert [each.name for each in make_passes("cse,ge-topo-sort")] == ["cse", "ge-topo-sort"]


def test_a_module_without_a_task_list_does_not_run(relu: Path) -> None:
    program = compile(relu, pipeline="ge-canonicalize")
    with pytest.raises(GeError, match="no task list"):
        program.run([X])


def test_the_package_lists_what_it_offers() -> None:
    assert set(dir(ge_dialect)) == {"GeError", "Program", "compile"}
    assert all(getattr(ge_dialect, name) for name in dir(ge_dialect))


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(ge_dialect.__file__).parent / "py.typed").is_file()
