"""ge-opt in one process: what the lit tests of test/filecheck/tools do not show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ge_dialect import program
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import graphs, nodes, set_node_name
from ge_dialect.formats.errors import GeError
from ge_dialect.preset import Preset
from ge_dialect.tools import ge_opt

TEXT = '"test.op"() {a} : () -> ()\n'


@dataclass(frozen=True)
class Mark(ModulePass):
    """Marks every operation and says so."""

    name = "ge-test-mark"
    tag: str = "t"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.body.block.ops:
            inner.attributes["tag"] = StringAttr(self.tag)
            emit_remark(inner, self.name, "passed", f"marked {self.tag}", tag=self.tag)
            emit_remark(inner, self.name, "missed", "not marked twice", condition="once")


@dataclass(frozen=True)
class Both(Preset):
    """Two marks, one after the other."""

    name = "ge-test-both"
    second: str = "b"

    def passes(self) -> tuple[ModulePass, ...]:
        return (Mark("a"), Mark(self.second))


@dataclass(frozen=True)
class Refuse(ModulePass):
    """Fails as a pass does that cannot go on."""

    name = "ge-test-refuse"
    how: str = "ge"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.how == "ge":
            raise GeError("no\nway", 'net.onnx: node "x"')
        if self.how == "xdsl":
            raise PassFailedException("cannot go on")
        raise AssertionError("a defect")


@dataclass(frozen=True)
class Break(ModulePass):
    """Leaves a graph whose names are not unique; mends it on the second run."""

    name = "ge-test-break"
    to: str = "same"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in graphs(op):
            for index, node in enumerate(nodes(graph)):
                set_node_name(node, self.to if self.to == "same" else f"{self.to}{index}")


class Main(ge_opt.GeOptMain):
    """ge-opt with the passes of this file."""

    def register_all_passes(self) -> None:
        super().register_all_passes()
        for each in (Mark, Both, Refuse, Break):
            self.register_pass(each.name, lambda each=each: each)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs ge-opt on `TEXT` (or another) in a file `in.mlir` of the working directory; returns the exit code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ge_opt, "GeOptMain", Main)

    def call(*args: str, text: str | bytes = TEXT) -> int:
        Path("in.mlir").write_bytes(text if isinstance(text, bytes) else text.encode())
        return ge_opt.main(["in.mlir", *args])

    return call


def test_preset_is_expanded_and_its_options_reach_the_passes(run, capsys):
    assert run("-p", "ge-test-both{second=z}", "--dump-pass-pipeline") == 0
    captured = capsys.readouterr()
    assert captured.err == 'builtin.module(ge-test-mark{tag="a"},ge-test-mark{tag="z"})\n'
    assert 'tag = "z"' in captured.out


def test_preset_runs_as_one_pass_in_other_tools():
    module = ModuleOp([])
    Both().apply(Context(), module)  # no operation to mark, no driver: nothing fails


def test_print_ir_after_goes_to_stderr(run, capsys):
    assert run("-p", "ge-test-both", "--print-ir-after=ge-test-mark") == 0
    captured = capsys.readouterr()
    assert captured.err.count("// -----// IR after ge-test-mark //----- //") == 2
    assert captured.err.index('tag = "a"') < captured.err.index('tag = "b"')
    assert "IR after" not in captured.out


def test_print_ir_after_all(run, capsys):
    assert run("-p", "ge-test-mark,cse", "--print-ir-after-all") == 0
    err = capsys.readouterr().err
    assert [line for line in err.splitlines() if "IR after" in line] == [
        "// -----// IR after ge-test-mark //----- //",
        "// -----// IR after cse //----- //",
    ]


def test_timing_names_every_pass(run, capsys):
    assert run("-p", "ge-test-mark,cse", "--timing") == 0
    captured = capsys.readouterr()
    assert [line.split()[-1] for line in captured.err.splitlines()] == [
        "step",
        "(parse)",
        "ge-test-mark",
        "cse",
        "(print)",
        "(verify)",
        "total",
    ]
    assert "seconds" not in captured.out


def test_remarks_have_places(run, capsys):
    assert run("-p", "ge-test-mark", "--remarks") == 0
    assert capsys.readouterr().err.splitlines() == [
        "in.mlir:1:1: remark: [ge-test-mark] passed: marked t",
        "in.mlir:1:1: remark: [ge-test-mark] missed: not marked twice",
    ]


def test_remarks_are_filtered(run, capsys):
    assert run("-p", "ge-test-mark", "--remarks=mis+ed: not") == 0
    assert (
        capsys.readouterr().err == "in.mlir:1:1: remark: [ge-test-mark] missed: not marked twice\n"
    )


def test_remarks_as_json(run, capsys):
    assert run("-p", "ge-test-mark", "--remarks=json") == 0
    first = json.loads(capsys.readouterr().err.splitlines()[0])
    assert first == {
        "pass": "ge-test-mark",
        "kind": "passed",
        "location": "in.mlir:1:1",
        "message": "marked t",
        "args": {"tag": "t"},
    }


def test_remarks_are_silent_by_default(run, capsys):
    assert run("-p", "ge-test-mark") == 0
    assert capsys.readouterr().err == ""


def test_remarks_made_before_a_failure_are_printed(run, capsys):
    assert run("-p", "ge-test-mark,ge-test-refuse", "--remarks=passed") == 1
    assert capsys.readouterr().err.splitlines() == [
        "in.mlir:1:1: remark: [ge-test-mark] passed: marked t",
        'net.onnx: node "x": error: no way',
    ]


def test_bad_remark_pattern(run, capsys):
    assert run("--remarks=(") == 1
    assert capsys.readouterr().err.startswith("ge-opt: error: --remarks: ")


def test_expected_remarks(run, capsys):
    text = '"test.op"() : () -> () // expected-remark {{not marked}}\n'
    assert run("-p", "ge-test-mark", "--verify-diagnostics", text=text) == 0
    assert run("-p", "cse", "--verify-diagnostics", text=text) == 1
    assert (
        'in.mlir:1:1: error: expected remark "not marked" was not produced'
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("how", "line"),
    [("ge", 'net.onnx: node "x": error: no way'), ("xdsl", "in.mlir: error: cannot go on")],
)
def test_failing_pass_is_one_line(run, capsys, how, line):
    assert run("-p", f"ge-test-refuse{{how={how}}}") == 1
    captured = capsys.readouterr()
    assert captured.err == line + "\n"
    assert captured.out == ""


def test_defects_keep_their_traceback(run):
    with pytest.raises(AssertionError, match="a defect"):
        run("-p", "ge-test-refuse{how=defect}")


def test_output_file_is_whole_or_untouched(run, tmp_path, capsys):
    output = tmp_path / "out.mlir"
    assert run("-o", "out.mlir") == 0
    before = output.read_text()
    assert before == 'builtin.module {\n  "test.op"() {a} : () -> ()\n}\n'
    two = TEXT + "// -----\n" + '"nope.op"() : () -> ()\n'
    assert run("-o", "out.mlir", "--split-input-file", text=two) == 1
    assert output.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mlir", "out.mlir"]
    assert capsys.readouterr().err == ("in.mlir:3:10: error: Operation nope.op is not registered\n")


def test_output_folder_must_exist(run, capsys):
    assert run("-o", "missing/out.mlir") == 1
    assert capsys.readouterr().err == "missing/out.mlir: error: No such file or directory\n"


def test_verifier_errors_have_a_place(run, capsys):
    text = 'func.func @f() {\n  func.return\n}\n\n"func.func"() ({}) : () -> ()\n'
    assert run(text=text) == 1
    err = capsys.readouterr().err
    assert err.startswith("in.mlir:5:1: error: ")
    assert err.count("\n") == 1


def test_text_that_is_not_utf8(run, capsys):
    assert run(text=b'"test.op"() {a = "\xff"} : () -> ()') == 1
    assert capsys.readouterr().err == "in.mlir: error: not UTF-8 text: byte 18 is invalid\n"


def test_unknown_extension(run, tmp_path, capsys):
    (tmp_path / "model.bin").write_text(TEXT)
    assert ge_opt.main(["model.bin"]) == 1
    assert "model.bin: error: unknown file extension '.bin' (known: " in capsys.readouterr().err
    assert ge_opt.main(["model.bin", "-f", "mlir"]) == 0


def test_weights_file(run, tmp_path, capsys):
    text = (
        '"ge.graph"() <{sym_name = "g"}> ({\n'
        '  %a = "ge.constant"() <{value = dense<1.5> : tensor<65xf32>}> {ge.name = "a"} : () -> tensor<65xf32>\n'
        '  %b = "ge.constant"() <{value = dense<2> : tensor<99xi32>}> {ge.name = "b"} : () -> tensor<99xi32>\n'
        '  %c = "ge.constant"() <{value = dense<3> : tensor<2xi32>}> {ge.name = "c"} : () -> tensor<2xi32>\n'
        "}) : () -> ()\n"
    )
    assert run("--weights=w.bin", text=text) == 0
    external = capsys.readouterr().out
    assert '#ge.external<"w.bin", offset = 0, size = 260>' in external
    assert '#ge.external<"w.bin", offset = 320, size = 396>' in external
    assert "dense<3> : tensor<2xi32>" in external
    assert (tmp_path / "w.bin").stat().st_size == 320 + 396
    # Reading it back and writing it again, over the file that is mapped, gives the same.
    assert run("--weights=w.bin", "--verify-roundtrip", text=external) == 0
    assert capsys.readouterr().out == external
    assert run("--weights=inline", text=text) == 0
    inline = capsys.readouterr().out
    assert "dense<1.500000e+00> : tensor<65xf32>" in inline
    # A file that is too short, and one that is not there.
    (tmp_path / "w.bin").write_bytes(bytes(300))
    assert run("--weights=w.bin", text=external) == 1
    assert run("--weights=missing/w.bin", text=external) == 1
    assert capsys.readouterr().err.splitlines() == [
        "in.mlir:4:5: error: bytes 320 to 716 are wanted, w.bin has 300",
        "missing/w.bin: error: No such file or directory",
    ]


def test_weights_file_is_not_written_without_large_constants(run, tmp_path):
    (tmp_path / "w.bin").write_text("precious")
    assert run("--weights=w.bin") == 0
    assert (tmp_path / "w.bin").read_text() == "precious"


def test_print_ir_after_needs_a_pass_of_the_pipeline(run, capsys):
    assert run("-p", "ge-test-both", "--print-ir-after=cse") == 1
    assert run("-p", "ge-test-both", "--print-ir-after=ge-test-both") == 1
    assert capsys.readouterr().err.splitlines() == [
        "ge-opt: error: --print-ir-after: the pipeline has no pass 'cse'",
        "ge-opt: error: --print-ir-after: the pipeline has no pass 'ge-test-both'",
    ]


def test_binary_files_are_not_split(run, tmp_path, capsys):
    (tmp_path / "m.onnx").write_bytes(b"")
    assert ge_opt.main(["m.onnx", "--split-input-file"]) == 1
    assert capsys.readouterr().err == "m.onnx: error: --split-input-file is for MLIR text\n"


def test_a_closed_pipe_is_no_traceback(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(TEXT * 5000)
    tool = Path(sys.executable).with_name("ge-opt")
    with subprocess.Popen(
        [tool, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "builtin.module {\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode in (0, 1)  # 0 when Python saw the last write as done


TWO = """
ge.graph @g {
  %a = ge.data index 0 {ge.name = "a"} : tensor<2xf32>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<2xf32>
}
"""


def test_verification_at_both_ends_and_on_demand_in_between(
    run, capsys, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GE_VERIFY_EACH", "0")
    # xDSL's --disable-verify takes this away from the class, for good
    monkeypatch.setattr(Attribute, "__post_init__", Attribute.__post_init__)
    mended = "ge-test-break,ge-test-break{to=n}"
    assert run("-p", mended, text=TWO) == 0
    assert run("-p", "ge-test-break", text=TWO) == 1
    assert capsys.readouterr().err.rstrip().endswith("(after pass ge-test-break)")
    assert run("-p", "cse,ge-test-break,ge-test-mark", text=TWO) == 1
    assert capsys.readouterr().err.rstrip().endswith("(after 3 passes; --verify-each says which)")
    assert run("-p", mended, "--verify-each", text=TWO) == 1
    assert capsys.readouterr().err.rstrip().endswith("(after pass ge-test-break)")
    monkeypatch.setenv("GE_VERIFY_EACH", "1")
    assert run("-p", mended, text=TWO) == 1
    assert run("-p", mended, "--disable-verify", text=TWO) == 0


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (
            "ge-topo-sort{mode=x}",
            "option 'mode' should be one of stable, bfs, dfs, rdfs, min-peak, got 'x'",
        ),
        ("ge-topo-sort{mood=bfs}", "there is no option 'mood' (it has mode); did you mean mode?"),
        ("ge-verify-sync{a=1}", "there is no option 'a' (it has none)"),
        ("ge-split-streams{max-tasks=x}", "option 'max-tasks' should be a whole number, got 'x'"),
        ("ge-plan-memory{check=7}", "option 'check' should be true or false, got 7"),
        (
            "ge-plan-memory{reusable-inputs=x}",
            "option 'reusable-inputs' should be a list, each a whole number, got 'x'",
        ),
    ],
)
def test_wrong_options_are_told_what_is_allowed(run, capsys, pipeline: str, message: str):
    assert run("-p", pipeline) == 1
    name = pipeline.partition("{")[0]
    assert capsys.readouterr().err == f"ge-opt: error: pass '{name}': {message}\n"
    with pytest.raises(GeError, match=re.escape(message)):
        program.make_passes(pipeline)
