from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.ge import ConstantOp, ExternalAttr
from ge_dialect.dialects.ge.weights import WeightsError, array_of, elements_attr
from ge_dialect.dialects.ge_task import BufferOp
from ge_dialect.tools.weights_file import WeightsWriter, load_weights


def _constant(array: np.ndarray, value: Attribute | None = None) -> ConstantOp:
    attribute = elements_attr(array)
    return ConstantOp.make(
        result_types=[attribute.type],
        properties={"value": value or attribute},
        attributes={"ge.name": StringAttr("w")},
    )


def _buffer(array: np.ndarray) -> BufferOp:
    attribute = elements_attr(array)
    return BufferOp.make(attribute.type, "weight", 0, array.nbytes, value=attribute)


def _values(module: ModuleOp) -> list[Attribute]:
    return [op.properties["value"] for op in module.body.block.ops]


@pytest.mark.parametrize("make", [_constant, _buffer])
@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "bool"])
def test_there_and_back(tmp_path: Path, make: type[Operation], kind: str) -> None:
    array = (np.arange(600).reshape(3, 200) % 7).astype(kind)
    module = ModuleOp([make(array)])
    with WeightsWriter(str(tmp_path / "w.bin")) as writer:
        writer.externalize(module)
    assert _values(module) == [ExternalAttr("w.bin", 0, array.nbytes)]
    assert (tmp_path / "w.bin").read_bytes() == array.tobytes()
    load_weights(module, str(tmp_path / "w.bin"))
    (value,) = _values(module)
    np.testing.assert_array_equal(array_of(value), array)
    assert not array_of(value).flags.writeable


def test_shared_bytes_are_written_once_and_shared_again(tmp_path: Path) -> None:
    array = np.arange(100)
    first = _constant(array)
    module = ModuleOp([first, _constant(array, first.value), _constant(array + 1)])
    with WeightsWriter(str(tmp_path / "w.bin")) as writer:
        writer.externalize(module)
    assert [value.offset.data for value in _values(module)] == [
        0,
        0,
        832,
    ]  # 800 up to a multiple of 64
    load_weights(module, str(tmp_path / "w.bin"))
    one, two, three = _values(module)
    assert one is two
    assert one is not three


def test_several_modules_share_a_file(tmp_path: Path) -> None:
    modules = [ModuleOp([_constant(np.full(100, number))]) for number in (1, 2)]
    with WeightsWriter(str(tmp_path / "w.bin")) as writer:
        for module in modules:
            writer.externalize(module)
    for number, module in zip((1, 2), modules, strict=True):
        load_weights(module, str(tmp_path / "w.bin"))
        assert array_of(_values(module)[0])[0] == number


def test_small_constants_and_other_files_stay(tmp_path: Path) -> None:
    elsewhere = ExternalAttr("other.bin", 0, 800)
    module = ModuleOp([_constant(np.arange(32)), _constant(np.arange(100), elsewhere)])
    before = _values(module)
    with WeightsWriter(str(tmp_path / "w.bin")) as writer:
        writer.externalize(module)
    load_weights(module, str(tmp_path / "w.bin"))
    assert _values(module) == before
    assert not (tmp_path / "w.bin").exists()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (ExternalAttr("w.bin", 8, 800), "bytes 8 to 808 are wanted"),
        (ExternalAttr("w.bin", 0, 792), "792 bytes do not make a tensor<100xi64>"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, place: ExternalAttr, message: str) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(800))
    module = ModuleOp([_constant(np.arange(100), place)])
    with pytest.raises(WeightsError, match=message):
        load_weights(module, str(tmp_path / "w.bin"))


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "w.bin"
    path.write_bytes(b"old")

    def write() -> None:
        with WeightsWriter(str(path)) as writer:
            writer.externalize(ModuleOp([_constant(np.arange(100))]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert path.read_bytes() == b"old"
