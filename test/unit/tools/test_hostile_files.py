"""Files, options and streams that are not what they should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from ge_dialect.formats.errors import LONGEST, GeError
from ge_dialect.kernels.device_profile import ProfileError, load_profile
from ge_dialect.runtime import TensorSlot
from ge_dialect.tools import ge_opt, ge_run, ge_translate
from ge_dialect.tools.diagnostics import run_tool
from ge_dialect.tools.frontends import parse_dims
from ge_dialect.tools.output import whole_file
from ge_dialect.tools.random_inputs import random_inputs

MODEL = (
    '<ir_version: 8, opset_import: ["": 17]> g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }'
)
OLD = b"old"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(MODEL).SerializeToString())
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that a failing command must leave as it is."""
    path = tmp_path / "old"
    path.write_bytes(OLD)
    return path


def test_names_and_messages_become_one_line() -> None:
    error = GeError("value \x1b[31m is\n  wrong", 'm.onnx: node "a\nb"')
    assert error.render() == 'm.onnx: node "a b": error: value \\x1b[31m is wrong'
    long = GeError(f"begin {'n' * 5000} end", "m.onnx").render()
    assert len(long) < LONGEST + 50
    assert long.startswith("m.onnx: error: begin nnn")
    assert long.endswith("nnn end")
    assert GeError("größer").render("m") == "m: error: größer"


def test_memory_that_is_not_there_is_a_users_error(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> None:
        raise MemoryError("no 8 TiB")

    assert run_tool(body, "m.onnx") == 1
    assert capsys.readouterr().err == "m.onnx: error: not enough memory. no 8 TiB\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--outputs", "OLD", "--trace", "nowhere/t.json"),
        ("--trace", "OLD", "--outputs", "nowhere/{rank}.npz", "--ranks", "2"),
        ("--outputs", "OLD", "--trace", "FOLDER"),
        ("--outputs", "OLD", "--inputs", "OLD"),
        ("--outputs", "OLD", "--trace", "OLD"),
        ("--outputs", "OLD", "--inputs", "nothing.npz"),
        ("--outputs", "OLD", "--profile", "nothing.toml"),
        ("--outputs", "OLD", "--seed", "-1"),
        ("--outputs", "OLD", "--ranks", "1000000000"),
        ("--outputs", "OLD", "--weights", "OLD"),
        ("--outputs", ""),
    ],
    ids=" ".join,
)
def test_ge_run_writes_all_files_or_none(
    options: tuple[str, ...], model: Path, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"OLD": str(old), "FOLDER": str(old.parent)}
    assert ge_run.main([str(model), *(names.get(x, x) for x in options)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert ": error: " in captured.err
    assert old.read_bytes() == OLD
    assert sorted(x.name for x in old.parent.iterdir()) == ["m.onnx", "old"]


def test_the_model_is_not_overwritten(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = model.read_bytes()
    assert ge_run.main([str(model), "--outputs", str(model)]) == 1
    assert f"the model and --outputs {model} are the same file" in capsys.readouterr().err
    assert ge_translate.main(["--import-onnx", str(model), "-o", str(model)]) == 1
    assert model.read_bytes() == data


def test_text_and_weights_in_one_file(
    model: Path, old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for main in (ge_opt.main, ge_translate.main):
        assert main([str(model), "-o", str(old), "--weights", str(old)]) == 1
        assert "-o and --weights are the same file" in capsys.readouterr().err
    assert old.read_bytes() == OLD


def test_links_in_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "loop"
    path.symlink_to("loop")
    with pytest.raises(GeError, match="no path of a file"), whole_file(str(path)):
        pass


def test_dims_are_for_onnx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.mlir"
    path.write_text("builtin.module {}")
    assert ge_opt.main([str(path), "--dim", "batch=1"]) == 1
    assert "--dim fixes dimensions of .onnx models only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("batch=٣",), "NAME=NUMBER"),
        ((f"batch={1 << 63}",), "cannot be"),
        ((f"batch={'9' * 5000}",), "cannot be"),
        (("batch=1", "batch=2"), "given twice"),
    ],
)
def test_impossible_dims(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(GeError, match=message):
        parse_dims(settings)


@pytest.mark.parametrize("value", ["nan", "inf", "1e300", "5e-324", "9" * 400, "9" * 5000])
@pytest.mark.parametrize("key", ["fixed_us", "bytes_per_us"])
def test_profiles_without_end(key: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(f"[device]\nkernel = {{ {key} = {value} }}")
    with pytest.raises(ProfileError):
        load_profile(str(path))


def test_a_profile_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(f"a = {'[' * 5000}{']' * 5000}")
    with pytest.raises(ProfileError, match="nested too deeply"):
        load_profile(str(path))


def test_text_is_verified_before_it_is_lowered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        '"ge.graph"() <{sym_name = "main"}> ({\n'
        '  %x = "ge.data"() <{index = "b"}> {ge.name = "x"} : () -> tensor<2xf32>\n'
        "}) : () -> ()"
    )
    assert ge_run.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2:3: error: ")


def test_objects_in_an_npz_are_not_unpickled(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "harm"),)

    path = tmp_path / "evil.npz"
    np.savez(path, x=np.array([Evil()], object))
    assert ge_run.main([str(model), "--inputs", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}: error: not an .npz file of arrays\n"
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_standard_streams(closed: str) -> None:
    command = f'"$0" -m ge_dialect.tools.ge_opt {closed}'
    result = subprocess.run(
        ["sh", "-c", command, sys.executable],
        input="builtin.module {}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr
    assert result.returncode == (1 if closed == "<&-" else 0)


def test_random_inputs_beyond_memory() -> None:
    slot = TensorSlot("n", np.dtype(np.int64), ((1 << 63) - 1,))
    with pytest.raises(GeError, match="no random values for input 'n'"):
        random_inputs([slot], 0)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("dense<0> : tensor<99999999999999999999xf32>", "cannot fit"),
        ("dense<1.0e300> : tensor<2xf32>", "float too large"),
        ("dense<1> : tensor<2xcomplex<f32>>", "xDSL cannot read this"),
        ("dense<1> : tensor<1xi128>", "not implemented"),
        ("#ge.strings<[1] : tensor<1x!ge.string>>", "holds strings"),
        ('#ge.strings<["a"] : tensor<2x!ge.string>>', "1 elements"),
        ('#ge.strings<["a"] : tensor<?x!ge.string>>', "1 elements"),
    ],
    ids=lambda text: text[:30],
)
def test_attributes_that_xdsl_has_no_words_for(
    attribute: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(f"builtin.module attributes {{a = {attribute}}} {{}}")
    assert ge_opt.main([str(path)]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(f"{path}:1:")
    assert errors.count("\n") == 1
    assert message in errors


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        ("dense<1> : tensor<4xindex>", "holds elements of type index, which GE lacks"),
        (f"dense<1.0> : tensor<{'1x' * 70}f32>", "70 dimensions"),
    ],
)
def test_constants_that_nothing_computes(
    constant: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = constant.partition(" : ")[2]
    path = tmp_path / "m.mlir"
    path.write_text(
        '"ge.graph"() <{sym_name = "main"}> ({\n'
        f'  %c = "ge.constant"() <{{value = {constant}}}> {{ge.name = "c"}} : () -> {kind}\n'
        f'  %y = "ge.op"(%c) <{{type = "Relu"}}> {{ge.name = "r"}} : ({kind}) -> {kind}\n'
        f'  "ge.net_output"(%y) {{ge.name = "o"}} : ({kind}) -> ()\n'
        "}) : () -> ()"
    )
    assert ge_run.main([str(path)]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("%x:0 = {} : () -> ()", "an input without a value"),
        ("%x = {} : () -> !ge.control", "an input without a value"),
        ("%x = {} : () -> tensor<9223372036854775808xf32>", "no dimension of size"),
    ],
)
def test_inputs_that_onnx_cannot_say(
    data: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "m.mlir", tmp_path / "m.onnx"
    op = '"ge.data"() <{index = 0 : i64}> {ge.name = "x"}'
    path.write_text(f'"ge.graph"() <{{sym_name = "main"}}> ({{ {data.format(op)} }}) : () -> ()')
    assert ge_translate.main([str(path), "-o", str(target)]) == 1
    assert message in capsys.readouterr().err
    assert not target.exists()
    assert ge_run.main([str(path)]) in (0, 1)


def test_sources_of_tasks_name_an_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        "ge_task.model @m streams 1 arenas {hbm = 512} zero_copy 512 {\n"
        '  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>\n'
        '  %y = ge_task.buffer hbm at 256 size 16 output 0 name "y" : tensor<4xf32>\n'
        '  ge_task.kernel "Neg"(%x) -> (%y) stream 0 source "u"\n'
        "  ge_task.end_graph stream 0\n}"
    )
    assert ge_run.main([str(path)]) == 1
    assert "source: not an operator of the form" in capsys.readouterr().err
    path.write_text(
        "ge_task.host @m streams 1 {\n"
        '  %x = ge_task.input 0 name "x" : device tensor<4xf32>\n'
        '  %y = ge_task.launch "Neg"(%x) -> (device tensor<4xf32>) stream 0 source "u"\n'
        '  ge_task.output 0(%y) name "y"\n}'
    )
    assert ge_run.main([str(path)]) == 1
    assert "source: not an operator of the form" in capsys.readouterr().err


def test_weights_in_a_file_that_is_not_ascii(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = onnx.numpy_helper.from_array(np.ones((3, 100), np.float32), "w")
    proto = onnx.parser.parse_model(MODEL.replace("float[2, 3] y", "float[2, 100] y"))
    proto.graph.node[0].CopyFrom(onnx.helper.make_node("MatMul", ["x", "w"], ["y"]))
    proto.graph.initializer.append(weights)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    text, weights = tmp_path / "m.mlir", tmp_path / "größe.weights"
    assert ge_opt.main([str(path), "-o", str(text), "--weights", str(weights)]) == 0
    assert ge_run.main([str(text), "--weights", str(weights)]) == 0
    assert not capsys.readouterr().err


def test_names_that_are_not_ascii_are_read_back(model: Path, tmp_path: Path) -> None:
    proto = onnx.load_model_from_string(model.read_bytes())
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "Größe", "maß"
    proto.opset_import.add(domain="maß", version=1)
    metadata = {"schlüssel": "wert", "50%": "", 'a "b"\n': "c"}
    for key, value in metadata.items():
        proto.metadata_props.add(key=key, value=value)
    model.write_bytes(proto.SerializeToString())
    text = tmp_path / "m.mlir"
    assert ge_opt.main([str(model), "-o", str(text), "--verify-roundtrip"]) == 0
    assert ge_translate.main([str(text), "-o", str(tmp_path / "again.onnx")]) == 0
    again = onnx.load_model_from_string((tmp_path / "again.onnx").read_bytes())
    assert (again.graph.node[0].op_type, again.graph.node[0].domain) == ("Größe", "maß")
    assert {x.domain: x.version for x in again.opset_import} == {"": 17, "maß": 1}
    assert metadata.items() <= {x.key: x.value for x in again.metadata_props}.items()


@pytest.mark.parametrize("data", [b"\1\0", b"\7\0", [7, 0]], ids=str)
def test_truth_has_one_byte(data: bytes | list[int], model: Path, tmp_path: Path) -> None:
    """In the model any byte but 0 is true, xDSL reads `true` as -1, numpy writes 1."""
    kind = onnx.TensorProto.BOOL
    proto = onnx.load_model_from_string(model.read_bytes())
    proto.graph.initializer.append(
        onnx.TensorProto(name="c", dims=[2], data_type=kind, raw_data=data)
        if isinstance(data, bytes)
        else onnx.TensorProto(name="c", dims=[2], data_type=kind, int32_data=data)
    )
    proto.graph.node.append(onnx.helper.make_node("Not", ["c"], ["n"]))
    proto.graph.output.append(onnx.helper.make_tensor_value_info("n", kind, [2]))
    model.write_bytes(proto.SerializeToString())
    text = tmp_path / "m.mlir"
    for pipeline in ("ge-verify", "ge-pipeline"):
        options = ["-p", pipeline, "-o", str(text), "--verify-roundtrip"]
        assert ge_opt.main([str(model), *options]) == 0
        assert ge_run.main([str(text), "--outputs", str(tmp_path / "o.npz")]) == 0
        found = np.load(tmp_path / "o.npz")["n"]
        np.testing.assert_array_equal(found.view(np.uint8), [0, 1])
