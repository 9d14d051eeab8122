"""What the checker proves of a task list, and what it refuses to believe."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.runtime.checker import check

Parse = Callable[[str], ModuleOp]

BUFFERS = """
  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
  %a = ge_task.buffer hbm at 64 size 16 : tensor<4xf32>
  %half = ge_task.buffer hbm at 72 size 8 : tensor<2xf32>
  %b = ge_task.buffer hbm at 128 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 192 size 16 output 0 name "y" : tensor<4xf32>
"""
GOOD = """
  ge_task.kernel "Neg"(%x) -> (%a) stream 0 op 0
  ge_task.event_record 0 stream 0 op 1
  ge_task.event_wait 0 stream 1 op 2
  ge_task.kernel "Abs"(%a) -> (%b) stream 1 op 3
  ge_task.event_record 1 stream 1 op 4
  ge_task.event_wait 1 stream 0 op 5
  ge_task.kernel "Neg"(%b) -> (%a) stream 0 op 6
  ge_task.kernel "Neg"(%a) -> (%y) stream 0 op 7
  ge_task.end_graph stream 0 op 8
"""


def findings(parse: Parse, tasks: str, streams: int = 2) -> list[str]:
    module = parse(
        f"ge_task.model @m streams {streams} events 4 notifies 1 arenas {{hbm = 512}} {{ {BUFFERS} {tasks} }}"
    )
    model = module.body.block.first_op
    assert isinstance(model, ModelOp)
    return [str(finding) for finding in check(model)]


def test_a_good_list(parse: Parse) -> None:
    assert findings(parse, GOOD) == []


def test_read_of_what_may_not_be_written(parse: Parse) -> None:
    tasks = GOOD.replace("ge_task.event_record 0 stream 0 op 1\n", "").replace(
        "ge_task.event_wait 0 stream 1 op 2\n", ""
    )
    found = findings(parse, tasks)
    assert any("[hazard]" in x and "hbm [64, 80)" in x for x in found)


def test_write_over_what_may_not_be_read(parse: Parse) -> None:
    tasks = GOOD.replace("ge_task.event_record 1 stream 1 op 4\n", "").replace(
        "ge_task.event_wait 1 stream 0 op 5\n", ""
    )
    found = findings(parse, tasks)
    assert any("[hazard]" in x for x in found)


def test_hazard_through_a_partial_overlap(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.kernel "Neg"(%x) -> (%a) stream 0
        ge_task.kernel "Neg"(%a) -> (%y) stream 0
        ge_task.kernel "Unheard"(%x) -> (%half) stream 1
        """,
    )
    assert len(found) >= 1
    assert all("[hazard]" in x for x in found)


def test_order_through_a_third_stream(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.kernel "Neg"(%x) -> (%a) stream 0
        ge_task.event_record 0 stream 0
        ge_task.event_wait 0 stream 2
        ge_task.event_record 1 stream 2
        ge_task.event_wait 1 stream 1
        ge_task.kernel "Abs"(%a) -> (%y) stream 1
        """,
        3,
    )
    assert found == []


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("(%a) stream 0 op 0", "(%b) stream 0 op 0", "reads hbm [64, 80) before all of it was written"),
        ("-> (%y)", "-> (%b)", "'y' is hbm [192, 208), which nothing writes"),
        ("op 7", "op 3", "task 7 (kernel, stream 0) stands apart from the other tasks of node 3"),
        ("ge_task.end_graph stream 0 op 8", "ge_task.end_graph stream 0 op 8 ge_task.end_graph stream 1 op 9",
         "is a second END_GRAPH"),
        ("ge_task.end_graph stream 0 op 8", "ge_task.end_graph stream 0 op 8 ge_task.nop stream 0 op 9",
         "stands behind END_GRAPH"),
        ("ge_task.end_graph", "ge_task.event_record 2 stream 0 op 9 ge_task.end_graph",
         "records event 2, which nothing waits for"),
        ("ge_task.end_graph", "ge_task.notify_wait 0 stream 0 op 9 ge_task.end_graph",
         "waits for notify 0, which nothing records"),
    ],
)  # fmt: skip
def test_findings(parse: Parse, old: str, new: str, wanted: str) -> None:
    found = findings(parse, GOOD.replace(old, new))
    assert any(wanted in x for x in found), found


def test_circle(parse: Parse) -> None:
    found = findings(
        parse,
        """
        ge_task.event_wait 0 stream 0
        ge_task.event_record 1 stream 0
        ge_task.event_wait 1 stream 1
        ge_task.event_record 0 stream 1
        ge_task.kernel "Neg"(%x) -> (%y) stream 0
        """,
    )
    assert any("[order]" in x and "can never run" in x for x in found)


def test_activation_orders_and_is_needed(parse: Parse) -> None:
    payload = 'payload {"_switch_branch_node_label" = "b"}'
    tasks = f"""
      ge_task.kernel "Neg"(%x) -> (%a) stream 0
      ge_task.stream_active 1 stream 0 {payload}
      ge_task.kernel "Neg"(%a) -> (%y) stream 1
    """
    assert findings(parse, tasks) == []
    assert any("[hazard]" in x for x in findings(parse, tasks.replace(payload, "")))
    reached = tasks.replace("ge_task.stream_active 1 stream 0", "ge_task.stream_active 1 stream 1")
    assert any("[order]" in x for x in findings(parse, reached))
