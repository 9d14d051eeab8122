"""ONNX's backend tests, each through import, task list and emulator.

Every case of the suite that onnx ships (node, simple, converted from PyTorch, and the light models) is one test. Cases
that cannot pass are listed with their reason in `exceptions.toml`; a listed case that passes fails here, so that the
list cannot grow stale.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from ge_dialect.onnx_backend import GeBackend

LISTED = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text())
EXCEPTIONS: dict[str, str] = LISTED["cases"]
RANDOM: dict[str, str] = LISTED["random"]
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


@cache
def cases() -> dict[str, Any]:
    """Name -> case. Some cases are made by code that divides by zero on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [case for kind in KINDS for case in load_model_tests(kind=kind)]
    return {case.name: case for case in found}


def load(case: Any) -> tuple[onnx.ModelProto, Iterator[tuple[list[Any], list[Any]]]]:
    if case.model_dir is None:
        data_sets = [
            ([plain(x) for x in ins], [plain(x) for x in outs]) for ins, outs in case.data_sets
        ]
        return case.model, iter(data_sets)
    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    return model, (read_data_set(model, data) for data in sorted(folder.glob("test_data_set_*")))


def plain(value: Any) -> Any:
    """The value of a proto; cases hold protos where numpy has no type of its own."""
    match value:
        case onnx.TensorProto():
            return numpy_helper.to_array(value)
        case onnx.SequenceProto():
            return numpy_helper.to_list(value)
        case onnx.OptionalProto():
            return numpy_helper.to_optional(value)
        case np.generic():
            return np.asarray(value)
        case _:
            return value


def read_data_set(model: onnx.ModelProto, folder: Path) -> tuple[list[Any], list[Any]]:
    def read(stem: str, values: Any) -> list[Any]:
        files = sorted(folder.glob(f"{stem}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
        return [read_value(path, value.type) for path, value in zip(files, values, strict=False)]

    return read("input", model.graph.input), read("output", model.graph.output)


def read_value(path: Path, kind: onnx.TypeProto) -> Any:
    data = path.read_bytes()
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(
        kind.WhichOneof("value") or "", onnx.TensorProto
    )
    return plain(proto.FromString(data))


def check(case: Any) -> None:
    model, data_sets = load(case)
    prepared = GeBackend.prepare(model)
    count = 0
    for inputs, expected in data_sets:
        outputs = prepared.run(inputs)
        Runner.assert_similar_outputs(expected, list(outputs), rtol=case.rtol, atol=case.atol)
        count += 1
    assert count > 0, "a case without data proves nothing"


def check_form(case: Any) -> None:
    model, data_sets = load(case)
    for inputs, expected in data_sets:
        for output, wanted in zip(GeBackend.prepare(model).run(inputs), expected, strict=True):
            assert (output.shape, output.dtype) == (wanted.shape, wanted.dtype)


@pytest.mark.parametrize("name", sorted(cases()))
def test_case(name: str) -> None:
    if name in RANDOM:
        check_form(cases()[name])
        return
    if name not in EXCEPTIONS:
        check(cases()[name])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(cases()[name])
        except Exception:
            return
    pytest.fail(
        f"{name} is listed as an exception ({EXCEPTIONS[name]}) but passes: take it off the list"
    )


def test_exceptions_are_cases() -> None:
    assert set(EXCEPTIONS) | set(RANDOM) <= set(cases())
