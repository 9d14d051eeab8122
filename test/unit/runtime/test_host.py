"""Host programs: steps, regions, sequences, placement, the allocator's numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from ge_dialect.program import context
from ge_dialect.runtime import Executable, LoadError, RunawayError, RunError, TaskError, load

Loader = Callable[..., Executable]

X = np.array([1, -2, 3, -4], np.float32)

LOOP = """
ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : device tensor<?xf32>
  %n = ge_task.input 1 name "n" : host tensor<i64>
  %one = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
  %zero = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
  %l = ge_task.list_new : !ge_task.list<tensor<?xf32>>
  %i, %v, %l2 = ge_task.while(%zero, %x, %l)
      -> (host tensor<i64>, device tensor<?xf32>, !ge_task.list<tensor<?xf32>>) cond (%a, %b, %bl) {
    %c = ge_task.host_call "Less"(%a, %n) -> (host tensor<i1>)
    ge_task.yield(%c)
  } body (%d, %e, %el) {
    %f = ge_task.host_call "Add"(%d, %one) -> (host tensor<i64>)
    %g = ge_task.launch "Add"(%e, %x) -> (device tensor<?xf32>) stream 0
    ge_task.list_append(%el, %g)
    ge_task.yield(%f, %g, %el)
  }
  %s = ge_task.list_stack(%l2) axis 0 : device tensor<?x?xf32>
  %big = ge_task.host_call "Greater"(%n, %one) -> (host tensor<i1>)
  %r = ge_task.if %big -> (device tensor<?xf32>) {
    %q = ge_task.launch "Neg"(%v) -> (device tensor<?xf32>) stream 0
    ge_task.yield(%q)
  } else {
    ge_task.yield(%x)
  }
  ge_task.output 0(%r) name "r"
  ge_task.output 1(%s) name "s"
}"""


@pytest.mark.parametrize("times", [0, 1, 3])
def test_while_if_and_lists(loaded: Loader, times: int) -> None:
    executable = loaded(LOOP)
    for _ in range(2):
        result = executable.run({"x": X, "n": np.array(times)})
        np.testing.assert_array_equal(result["r"], -X * (times + 1) if times > 1 else X)
        rows = [X * k for k in range(2, times + 2)]
        np.testing.assert_array_equal(result["s"], np.stack(rows) if rows else np.zeros((0, 0)))
    report = result.report
    assert report.launches == times + (times > 1)
    assert report.host_calls == 2 * times + 2
    assert report.steps.get("iteration", 0) == times
    assert (report.h2d, report.d2h) == (1, 2)


def test_runaway_loop(loaded: Loader) -> None:
    with pytest.raises(RunawayError, match="more than 50 steps"):
        loaded(LOOP, max_tasks=50).run([X, np.array(1000)])


def test_values_are_given_back_behind_their_last_reader(loaded: Loader) -> None:
    chain = "\n".join(
        f'%v{k + 1} = ge_task.launch "Neg"(%v{k}) -> (device tensor<?xf32>) stream 0'
        for k in range(10)
    )
    text = f"""
    ge_task.host @m streams 1 {{
      %v0 = ge_task.input 0 : device tensor<?xf32>
      {chain}
      ge_task.output 0(%v10)
    }}"""
    report = loaded(text).run([np.zeros(1000, np.float32)]).report
    assert report.allocations == 11
    assert report.peak_bytes == 2 * 4000  # never more than a kernel's input and output


def test_loop_gives_back_what_iterations_leave(loaded: Loader) -> None:
    few, many = (loaded(LOOP).run([X, np.array(n)]).report.peak_bytes for n in (10, 20))
    assert many - few == 2 * 16 * 10  # the list keeps one row an iteration, stacking copies it


def test_views_share_storage(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<?x?xf32>
      %shape = ge_task.const dense<[-1]> : tensor<1xi64> : device tensor<1xi64>
      %flat = ge_task.launch "Reshape"(%x, %shape) -> (device tensor<?xf32>) stream 0
      %y = ge_task.launch "Neg"(%flat) -> (device tensor<?xf32>) stream 0
      ge_task.output 0(%y)
    }"""
    result = loaded(text).run([X.reshape(2, 2)])
    np.testing.assert_array_equal(result["output0"], -X)
    assert result.report.allocations == 2  # the input's and the result's


SPELLED_OUT = """
ge_task.host @m streams 1 events 1 {
  %x = ge_task.input 0 name "x" : any tensor<?xf32>
  %d = ge_task.ensure_device(%x)
  %s = ge_task.infer_shape "Neg"(%d) -> (!ge_task.shape<1>)
  %t = ge_task.tiling "Neg"(%d) -> (!ge_task.tiling)
  %y = ge_task.alloc(%s) stream 0 : device tensor<?xf32>
  ge_task.launch "Neg"(%d) outs (%y) tiling %t stream 0
  %s2 = ge_task.shape_const [2, 2]
  %v = ge_task.view(%y, %s2) : device tensor<2x2xf32>
  ge_task.sync stream 0
  %h = ge_task.d2h(%v) stream 0
  ge_task.free(%y) stream 0
  ge_task.output 0(%h) name "y"
}"""


def test_steps_spelled_out(loaded: Loader) -> None:
    result = loaded(SPELLED_OUT, record_timeline=True).run([X])
    np.testing.assert_array_equal(result["y"], -X.reshape(2, 2))
    report = result.report
    assert (report.launches, report.h2d, report.d2h, report.syncs) == (1, 1, 1, 1)
    assert {"alloc": 1, "free": 1, "infer_shape": 1, "tiling": 1}.items() <= report.steps.items()
    tracks = {x.track for x in result.timeline[0]}
    assert tracks == {"host", "stream 0"}
    sync = next(x for x in result.timeline[0] if x.kind == "stream_sync")
    kernel = next(x for x in result.timeline[0] if x.kind == "kernel")
    assert sync.start >= kernel.end


def test_free_twice(parse: Callable[[str], ModuleOp]) -> None:
    text = SPELLED_OUT.replace("ge_task.output", "ge_task.free(%y) stream 0\n  ge_task.output")
    with pytest.raises(VerifyException, match=r"'ge_task.free' operand 0 has ended"):
        parse(text)
    module = Parser(context(), text).parse_module()
    with pytest.raises(TaskError, match="given back before"):  # unverified, it shows in the run
        load(module).run([X])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ge_task.sync stream 0", "ge_task.free(%v) stream 0", "'ge_task.d2h' operand 0 has ended"),
        ("free(%y)", "free(%x)", "takes what 'ge_task.input' gives"),
    ],
)
def test_what_has_ended_and_what_cannot_end(
    parse: Callable[[str], ModuleOp], old: str, new: str, message: str
) -> None:
    with pytest.raises(VerifyException, match=message):
        parse(SPELLED_OUT.replace(old, new))


@pytest.mark.parametrize(
    ("without", "reader"),
    [
        (SPELLED_OUT.replace('ge_task.launch "Neg"(%d) outs (%y) tiling %t stream 0\n', ""), "d2h"),
        (SPELLED_OUT.replace("(%d) outs (%y)", "(%y) outs (%y)"), "launch"),
        (SPELLED_OUT.replace("output 0(%h)", "output 0(%z)").replace("  ge_task.free", "  %z = ge_task.alloc(%s) : host tensor<?xf32>\n  ge_task.free"), "output"),
    ],
)  # fmt: skip
def test_storage_that_nothing_wrote(
    parse: Callable[[str], ModuleOp], without: str, reader: str
) -> None:
    with pytest.raises(VerifyException, match=f"'ge_task.{reader}' reads a tensor that no step"):
        parse(without)


def test_a_view_keeps_the_storage(loaded: Loader) -> None:
    """The storage goes back when the last of a tensor and its views has ended."""
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<400xf32>
      %a = ge_task.alloc stream 0 : device tensor<400xf32>
      ge_task.launch "Neg"(%x) outs (%a) stream 0
      %v = ge_task.view(%a) : device tensor<20x20xf32>
      ge_task.free(%a) stream 0
      %b = ge_task.alloc stream 0 : device tensor<20x20xf32>
      ge_task.launch "Abs"(%v) outs (%b) stream 0
      ENDS
      %c = ge_task.alloc stream 0 : device tensor<20x20xf32>
      ge_task.launch "Neg"(%b) outs (%c) stream 0
      ge_task.output 0(%c)
    }"""
    x = np.ones(400, np.float32)
    ended = loaded(text.replace("ENDS", "ge_task.free(%v) stream 0")).run([x]).report
    assert ended.peak_bytes == 2 * 1600  # the input's block is free, too, when the last is made
    kept = loaded(text.replace("ENDS", "")).run([x]).report
    assert kept.peak_bytes == 2 * 1600


def test_smaller_result_publishes_its_shape(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<4xf32>
      %y = ge_task.alloc stream 0 : device tensor<1x4xi64>
      ge_task.launch "NonZero"(%x) outs (%y) stream 0 source "ai.onnx::NonZero@13"
      ge_task.sync stream 0
      %s = ge_task.read_shape(%y)
      %v = ge_task.view(%y, %s) : device tensor<?x?xi64>
      ge_task.output 0(%v)
    }"""
    result = loaded(text).run([np.array([0, 5, 0, 7], np.float32)])
    np.testing.assert_array_equal(result["output0"], [[1, 3]])


def test_sequences_and_optionals(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : host tensor<4xf32>
      %i = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
      %n = ge_task.host_call "Neg"(%x) -> (host tensor<4xf32>)
      %s = ge_task.host_call "SequenceConstruct"(%x, %n)
          -> (!ge_task.object<!ge.sequence<tensor<4xf32>>>) source "ai.onnx::SequenceConstruct@11"
      %y = ge_task.host_call "SequenceAt"(%s, %i) -> (host tensor<4xf32>) source "ai.onnx::SequenceAt@11"
      ge_task.output 0(%y) name "y"
      ge_task.output 1(%s) name "s"
    }"""
    executable = loaded(text)
    result = executable.run([X])
    np.testing.assert_array_equal(result["y"], -X)
    assert [item.tolist() for item in result["s"]] == [X.tolist(), (-X).tolist()]
    assert str(executable.outputs[1]) == "'s' (no tensor)"


def test_case_takes_the_last_region_outside(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : host tensor<4xf32>
      %i = ge_task.input 1 : host tensor<i32>
      %y = ge_task.case %i -> (host tensor<4xf32>) {
        %a = ge_task.host_call "Neg"(%x) -> (host tensor<4xf32>)
        ge_task.yield(%a)
      } {
        ge_task.yield(%x)
      }
      ge_task.output 0(%y)
    }"""
    executable = loaded(text)
    for index, wanted in (0, -X), (1, X), (7, X), (-1, X):
        np.testing.assert_array_equal(executable.run([X, np.int32(index)])["output0"], wanted)


def test_placement_of_what_branches_disagree_about(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : host tensor<4xf32>
      %c = ge_task.input 1 : host tensor<i1>
      %y = ge_task.if %c -> (any tensor<4xf32>) {
        %d = ge_task.h2d(%x) stream 0
        ge_task.yield(%d)
      } else {
        ge_task.yield(%x)
      }
      %h = ge_task.ensure_host(%y)
      ge_task.output 0(%h)
    }"""
    executable = loaded(text)
    for taken in (True, False):
        report = executable.run([X, np.bool_(taken)]).report
        assert (report.h2d, report.d2h, report.syncs) == (taken, taken, taken)


def test_embedded_task_list(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 name "x" : device tensor<4xf32>
      %y = ge_task.execute @cluster(%x) -> (device tensor<4xf32>) stream 0
      %z = ge_task.launch "Neg"(%y) -> (device tensor<4xf32>) stream 0
      ge_task.output 0(%z) name "z"
    }
    ge_task.model @cluster streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
      %y = ge_task.buffer hbm at 32 size 16 output 0 : tensor<4xf32>
      ge_task.kernel "Abs"(%x) -> (%y) stream 0
    }"""
    result = loaded(text).run([X])
    np.testing.assert_array_equal(result["z"], -np.abs(X))
    assert result.report.launches == 2
    assert result.report.by_kind == {"kernel": 2}


def test_variables_keep_their_value(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<4xf32>
      %v = ge_task.variable "total" : device tensor<4xf32>
      %kept = ge_task.launch "Identity"(%v) -> (device tensor<4xf32>) stream 0
      ge_task.launch "Add"(%v, %x) outs (%v) stream 0
      ge_task.output 0(%kept)
      ge_task.output 1(%v)
    }"""
    executable = loaded(text)
    for step in range(3):
        result = executable.run([X])
        np.testing.assert_array_equal(
            result["output0"], X * step
        )  # no alias of what is written later
        np.testing.assert_array_equal(result["output1"], X * (step + 1))


def test_result_that_contradicts_its_type(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<4xf32>
      %y = ge_task.launch "Neg"(%x) -> (device tensor<5xf32>) stream 0 {ge.name = "n"}
      ge_task.output 0(%y)
    }"""
    with pytest.raises(
        TaskError,
        match=r'step "n" \(Neg\): output 0 has the shape \[4\], its type says 5 for dimension 0',
    ):
        loaded(text).run([X])


def test_what_cannot_be_loaded(loaded: Loader) -> None:
    text = """
    ge_task.host @m streams 1 {
      %x = ge_task.input 0 : device tensor<?xf32>
      %y = ge_task.launch "Unheard"(%x) -> (device tensor<?xf32>) stream 0
      ge_task.output 0(%y)
    }"""
    with pytest.raises(LoadError, match="no kernel for operators of the type Unheard"):
        loaded(text)
    with pytest.raises(LoadError, match="one rank"):
        loaded(LOOP, ranks=2)
    known = loaded(text.replace("?", "4"))
    known.run([X])
    assert known.opaque_types() == ["Unheard"]


CHOICE = """
ge_task.host @m streams 1 {
  %c = ge_task.input 0 name "c" : host tensor<KIND>
  %one = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
  %zero = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
  %r = ge_task.if %c -> (host tensor<i64>) {
    ge_task.yield(%one)
  } else {
    ge_task.yield(%zero)
  }
  ge_task.output 0(%r)
}
"""


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        ("f32", np.float32(0.5), 1),
        ("f32", np.float32(-0.25), 1),
        ("f32", np.float32(np.nan), 1),
        ("f32", np.float32(-0.0), 0),
        ("complex<f32>", np.complex64(0.5j), 1),
        ("i64", np.int64(-3), 1),
        ("i1", np.bool_(False), 0),
    ],
)
def test_a_condition_counts_by_being_other_than_zero(
    kind: str, value: np.generic, wanted: int
) -> None:
    module = Parser(context(), CHOICE.replace("KIND", kind)).parse_module()
    found = load(module).run({"c": np.array(value)})
    assert int(np.asarray(next(iter(found.outputs.values())))) == wanted


def test_a_condition_that_is_no_number_is_an_error() -> None:
    text = Parser(context(), CHOICE.replace("KIND", "!ge.string")).parse_module()
    with pytest.raises(RunError, match="condition is not one number but 1 elements of type object"):
        load(text).run({"c": np.array("yes", object)})
    many = Parser(context(), CHOICE.replace("tensor<KIND>", "tensor<?xi1>")).parse_module()
    with pytest.raises(RunError, match="condition is not one number but 2 elements of type bool"):
        load(many).run({"c": np.array([True, False])})
