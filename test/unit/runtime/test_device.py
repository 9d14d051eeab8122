"""Streams, flags, activation and jumps on hand-written task lists (spec/tasks.md sections 3 and 10)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ge_dialect.runtime import (
    DeadlockError,
    Executable,
    LoadError,
    RunawayError,
    RunError,
    TaskError,
)

Loader = Callable[..., Executable]

X = np.array([1, -2, 3, -4], np.float32)

BUFFERS = """
  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
  %a = ge_task.buffer hbm at 64 size 16 : tensor<4xf32>
  %b = ge_task.buffer hbm at 128 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 192 size 16 output 0 name "y" : tensor<4xf32>
"""


def model(
    tasks: str, header: str = "streams 2 events 2 notifies 2 labels 4", buffers: str = ""
) -> str:
    return f"ge_task.model @m {header} arenas {{hbm = 1024}} {{ {BUFFERS} {buffers} {tasks} }}"


ACROSS = model("""
  ge_task.kernel "Neg"(%x) -> (%a) stream 0
  ge_task.event_record 0 stream 0
  ge_task.event_wait 1 stream 0
  ge_task.kernel "Add"(%a, %b) -> (%y) stream 0
  ge_task.end_graph stream 0
  ge_task.event_wait 0 stream 1
  ge_task.kernel "Abs"(%a) -> (%b) stream 1
  ge_task.event_record 1 stream 1
""")


@pytest.mark.parametrize("order", ["round_robin", "random"])
@pytest.mark.parametrize("seed", range(8))
def test_events_order_streams_whatever_the_turns(loaded: Loader, order: str, seed: int) -> None:
    executable = loaded(ACROSS, order=order, seed=seed)
    for factor in (1, 2):  # a second step finds all flags reset
        result = executable.run({"x": X * factor})
        np.testing.assert_array_equal(result["y"], (-X + np.abs(X)) * factor)
        assert result.report.warnings == []


def test_a_missing_wait_shows_in_some_order(loaded: Loader) -> None:
    text = ACROSS.replace("ge_task.event_wait 1 stream 0\n", "").replace(
        "ge_task.event_record 1 stream 1\n", ""
    )
    results = [loaded(text, order="random", seed=seed).run([X])["y"] for seed in range(8)]
    assert len({result.tobytes() for result in results}) > 1


def test_time_runs_beside_on_two_streams(loaded: Loader) -> None:
    result = loaded(ACROSS, record_timeline=True).run([X])
    ends = {(x.track, x.kind, x.index): x.end for x in result.timeline[0]}
    # kernel 10, record 1; the other stream waits until then: wait 1, kernel 10, record 1; then wait 1, kernel 10.
    assert ends["stream 0", "event_record", 1] == 11
    assert ends["stream 1", "event_record", 7] == 23
    assert ends["stream 0", "kernel", 3] == 34


def test_deadlock_names_every_blocked_head(loaded: Loader) -> None:
    text = model("""
      ge_task.event_wait 0 stream 0 {ge.name = "first"}
      ge_task.event_record 1 stream 0
      ge_task.event_wait 1 stream 1
      ge_task.event_record 0 stream 1
    """)
    with pytest.raises(DeadlockError) as caught:
        loaded(text).run([X])
    assert str(caught.value) == (
        'deadlock: stream 0: task 0 "first" (event_wait) waits for event 0; '
        "stream 1: task 2 (event_wait) waits for event 1"
    )


def test_notifies_and_memory_words(loaded: Loader) -> None:
    text = model("""
      ge_task.notify_wait 1 stream 1
      ge_task.kernel "Neg"(%a) -> (%y) stream 1
      ge_task.mem_event_record 7 stream 1
      ge_task.kernel "Neg"(%x) -> (%a) stream 0
      ge_task.notify_record 1 stream 0
      ge_task.mem_event_wait 7 stream 0
      ge_task.end_graph stream 0
    """)
    np.testing.assert_array_equal(loaded(text, order="random").run([X])["y"], X)


def test_external_notify_comes_from_outside(loaded: Loader) -> None:
    text = model("""
      ge_task.notify_wait 4294967295 stream 0
      ge_task.kernel "Neg"(%x) -> (%y) stream 0
    """)
    with pytest.raises(DeadlockError, match="notify 4294967295"):
        loaded(text).run([X])
    executable = loaded(text, external_notifies=frozenset({0xFFFFFFFF}))
    for _ in range(2):
        np.testing.assert_array_equal(executable.run([X])["y"], -X)


def test_lowest_stream_gets_the_event(loaded: Loader) -> None:
    text = model(
        """
      ge_task.event_wait 0 stream 1
      ge_task.event_wait 0 stream 2
      ge_task.nop stream 0
      ge_task.event_record 0 stream 0
    """,
        "streams 3 events 1",
    )
    with pytest.raises(DeadlockError, match=r"^deadlock: stream 2: task 1"):
        loaded(text).run([X])


def test_double_record_and_left_recorded(loaded: Loader) -> None:
    text = model("""
      ge_task.event_record 0 stream 0
      ge_task.event_record 0 stream 0
      ge_task.kernel "Neg"(%x) -> (%y) stream 0
    """)
    warnings = loaded(text).run([X]).report.warnings
    assert warnings == [
        "task 1 (event_record): event 0 is recorded already",
        "event 0 is left recorded",
    ]
    with pytest.raises(RunError, match="recorded already"):
        loaded(text, double_record="error").run([X])
    with pytest.raises(RunError, match="left recorded"):
        loaded(text, left_recorded="error").run([X])


SWITCH_BUFFERS = """
  %p = ge_task.buffer hbm at 256 size 4 input 1 name "p" : tensor<i32>
  %q = ge_task.buffer hbm at 260 size 4 input 2 name "q" : tensor<i32>
"""

SWITCH = model(
    """
  ge_task.kernel "Abs"(%x) -> (%y) stream 0
  ge_task.stream_switch(%p, %q) condition 4 true_stream 1 stream 0
  ge_task.nop stream 0
  ge_task.kernel "Neg"(%x) -> (%y) stream 1
""",
    "streams 2",
    SWITCH_BUFFERS,
)


@pytest.mark.parametrize(("left", "right", "taken"), [(1, 2, True), (2, 2, False), (3, 2, False)])
def test_stream_switch_starts_its_target_only_when_taken(
    loaded: Loader, left: int, right: int, taken: bool
) -> None:
    executable = loaded(SWITCH)
    result = executable.run([X, np.int32(left), np.int32(right)])
    np.testing.assert_array_equal(result["y"], -X if taken else np.abs(X))


def test_taken_switch_may_stop_its_stream(loaded: Loader) -> None:
    goes_on = loaded(SWITCH).run([X, np.int32(1), np.int32(2)]).report
    stops = loaded(SWITCH, switch_true_stops_current=True).run([X, np.int32(1), np.int32(2)]).report
    assert (goes_on.by_kind.get("nop"), stops.by_kind.get("nop")) == (1, None)


def test_switch_operand_of_another_type(loaded: Loader) -> None:
    text = SWITCH.replace("tensor<i32>", "tensor<i1>").replace("size 4", "size 1")
    result = loaded(text).run([X, np.bool_(False), np.bool_(True)])
    np.testing.assert_array_equal(result["y"], -X)
    assert "an operand is bool, compared as int32" in result.report.warnings[0]
    with pytest.raises(LoadError, match="compared as int32"):
        loaded(text, switch_operand_types="error")


SWITCH_N = model(
    """
  ge_task.kernel "Abs"(%x) -> (%y) stream 0
  ge_task.stream_switch_n(%p) targets [1, 1, 2, 2] true_streams [1, 2] data_type 0 stream 0
  ge_task.kernel "Neg"(%x) -> (%y) stream 1
  ge_task.kernel "Add"(%x, %x) -> (%y) stream 2
""",
    "streams 3",
    '%p = ge_task.buffer hbm at 256 size 8 input 1 name "p" : tensor<2xi32>',
)


def test_stream_switch_n(loaded: Loader) -> None:
    executable = loaded(SWITCH_N)
    for row, wanted in ([1, 1], -X), ([2, 2], X + X):
        result = executable.run([X, np.array(row, np.int32)])
        np.testing.assert_array_equal(result["y"], wanted)
    assert "no runner for STREAM_SWITCH_N" in result.report.warnings[0]
    with pytest.raises(TaskError, match=r"no row equals \[1, 2\]"):
        executable.run([X, np.array([1, 2], np.int32)])
    ignoring = loaded(SWITCH_N, switch_n_no_match="ignore")
    np.testing.assert_array_equal(ignoring.run([X, np.array([1, 2], np.int32)])["y"], np.abs(X))
    with pytest.raises(LoadError, match="STREAM_SWITCH_N is not runnable"):
        loaded(SWITCH_N, strict_rt1=True)


BRANCHES = model(
    """
  ge_task.stream_label_switch_by_index(%i) labels [0, 1] stream 0
  ge_task.label_set 0 stream 0
  ge_task.kernel "Neg"(%x) -> (%y) stream 0
  ge_task.stream_label_goto 2 stream 0
  ge_task.label_set 1 stream 0
  ge_task.kernel "Abs"(%x) -> (%y) stream 0
  ge_task.label_set 2 stream 0
  ge_task.end_graph stream 0
""",
    "streams 1 labels 3",
    '%i = ge_task.buffer hbm at 256 size 4 input 1 name "i" : tensor<i32>',
)


def test_label_switch_runs_one_branch(loaded: Loader) -> None:
    executable = loaded(BRANCHES)
    for index, wanted in (0, -X), (1, np.abs(X)):
        result = executable.run([X, np.int32(index)])
        np.testing.assert_array_equal(result["y"], wanted)
        assert result.report.by_kind["kernel"] == 1
    for outside in (2, -1):
        with pytest.raises(TaskError, match=f"index {outside} is out of range, there are 2 labels"):
            executable.run([X, np.int32(outside)])
    clamped = loaded(BRANCHES, label_index="clamp_last").run([X, np.int32(9)])
    np.testing.assert_array_equal(clamped["y"], np.abs(X))


def test_label_loop_counts(loaded: Loader) -> None:
    text = model(
        """
      ge_task.label_set 0 stream 0
      ge_task.kernel "Less"(%n, %limit) -> (%more) stream 0
      ge_task.kernel "Cast"(%more) -> (%i) stream 0 attrs {dst_type = 3 : i64}
      ge_task.stream_label_switch_by_index(%i) labels [2, 1] stream 0
      ge_task.label_set 1 stream 0
      ge_task.kernel "Add"(%n, %one) -> (%n2) stream 0
      ge_task.memcpy_async(%n2) -> (%n) count 4 stream 0
      ge_task.stream_label_goto 0 stream 0
      ge_task.label_set 2 stream 0
      ge_task.memcpy_async(%n) -> (%out) count 4 stream 0
    """,
        "streams 1 labels 3",
        """
      %n = ge_task.buffer hbm at 512 size 4 input 1 name "n" : tensor<i32>
      %n2 = ge_task.buffer hbm at 516 size 4 : tensor<i32>
      %limit = ge_task.buffer hbm at 520 size 4 input 2 name "limit" : tensor<i32>
      %one = ge_task.buffer hbm at 524 size 4 value dense<1> : tensor<i32> : tensor<i32>
      %more = ge_task.buffer hbm at 528 size 1 : tensor<i1>
      %i = ge_task.buffer hbm at 532 size 4 : tensor<i32>
      %out = ge_task.buffer hbm at 536 size 4 output 1 name "count" : tensor<i32>
    """,
    )
    result = loaded(text).run([X, np.int32(0), np.int32(5)])
    assert result["count"] == 5
    assert result.report.by_kind["memcpy_async"] == 6
    with pytest.raises(RunawayError, match="more than 100 tasks"):
        loaded(text, max_tasks=100).run([X, np.int32(0), np.int32(50)])


def test_jump_to_a_label_of_another_stream(loaded: Loader) -> None:
    text = model("""
      ge_task.label_set 0 stream 0
      ge_task.stream_label_goto 0 stream 1
    """)
    with pytest.raises(RunError, match="label 0 is not set on stream 1"):
        loaded(text).run([X])


def test_drained_stream_runs_again_when_activated(loaded: Loader) -> None:
    text = model(
        """
      ge_task.stream_active 1 stream 0
      ge_task.event_wait 0 stream 0
      ge_task.stream_active 1 stream 0
      ge_task.event_wait 0 stream 0
      ge_task.kernel "Add"(%t, %x) -> (%y) stream 0
      ge_task.kernel "Add"(%t, %x) -> (%a) stream 1
      ge_task.memcpy_async(%a) -> (%t) count 16 stream 1
      ge_task.event_record 0 stream 1
    """,
        "streams 2 events 1",
        '%t = ge_task.buffer hbm at 256 size 16 input 1 name "t" : tensor<4xf32>',
    ).replace(
        "ge_task.stream_active 1 stream 0",
        'ge_task.stream_active 1 stream 0 payload {"_switch_branch_node_label" = "b"}',
    )
    zero = np.zeros(4, np.float32)
    np.testing.assert_array_equal(loaded(text).run([X, zero])["y"], 3 * X)
    with pytest.raises(DeadlockError, match="event 0"):
        loaded(text, reactivation="ignore").run([X, zero])


def test_end_graph_on_a_stream_that_never_starts(loaded: Loader) -> None:
    text = SWITCH.replace("(%y) stream 1", "(%y) stream 1 ge_task.end_graph stream 1")
    with pytest.raises(RunError, match="END_GRAPH has not run"):
        loaded(text).run([X, np.int32(2), np.int32(1)])


def test_task_behind_end_graph(loaded: Loader) -> None:
    text = model("""
      ge_task.end_graph stream 0
      ge_task.kernel "Neg"(%x) -> (%y) stream 0
    """)
    result = loaded(text).run([X])
    np.testing.assert_array_equal(result["y"], -X)
    assert result.report.warnings == ["task 1 (kernel Neg) runs behind END_GRAPH on stream 0"]
    with pytest.raises(RunError, match="behind END_GRAPH"):
        loaded(text, after_end_graph="error").run([X])


def test_model_exit_drops_the_rest_of_its_stream(loaded: Loader) -> None:
    text = model("""
      ge_task.kernel "Neg"(%x) -> (%y) stream 0
      ge_task.model_exit stream 0
      ge_task.kernel "Abs"(%x) -> (%y) stream 0
      ge_task.notify_wait 0 stream 1
    """)
    with pytest.raises(DeadlockError, match="stream 1"):
        loaded(text).run([X])
    result = loaded(text, model_exit="all_streams").run([X])
    np.testing.assert_array_equal(result["y"], -X)


def test_kinds_without_a_runner(loaded: Loader) -> None:
    for task in (
        "ge_task.label_goto 0 stream 0 ge_task.label_set 0 stream 0",
        'ge_task.ffts "F"() -> () stream 0',
    ):
        with pytest.raises(LoadError, match="not runnable, the static loader has no runner"):
            loaded(model(task))


def test_wait_behind_a_record_beside_it_costs_nothing_more(loaded: Loader) -> None:
    alone = loaded(model('ge_task.kernel "Neg"(%x) -> (%y) stream 0')).run([X]).report
    both = loaded(
        model("""
          ge_task.kernel "Neg"(%x) -> (%y) stream 0
          ge_task.kernel "Neg"(%x) -> (%a) stream 1
        """)
    ).run([X])
    assert both.report.simulated_us == alone.simulated_us
    assert both.report.tasks == 2
