"""Events as tables on nodes: numbers, errors, multiplexing, exemptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.dialects.ge.access import get_ints, node_name
from ge_dialect.program import context
from ge_dialect.transforms.sync.attached_events import slots_of_ir_input
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import SyncError, SyncModel
from ge_dialect.transforms.sync.reuse import multiplex, reuse_in_gears

Run = Callable[[str, ModuleOp], None]

PAIR = """
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<2xf32>
  %a = ge.op "{first}" (%x) attrs {first_attrs} {{ge.name = "a", ge.stream = 0 : i64}} : tensor<2xf32>
  %b = {second} (%a) attrs {second_attrs} {{ge.name = "b"{stream}}} : tensor<2xf32>
}}
"""


def pair(
    first: str = "Opaque",
    second: str = 'ge.op "Opaque"',
    first_attrs: str = "{}",
    second_attrs: str = "{}",
    stream: str = ", ge.stream = 1 : i64",
) -> ModuleOp:
    """Node b reads node a."""
    text = PAIR.format(
        first=first,
        second=second,
        first_attrs=first_attrs,
        second_attrs=second_attrs,
        stream=stream,
    )
    return Parser(context(), text).parse_module()


def model_of(module: ModuleOp) -> SyncModel:
    model = SyncModel.of(module)
    assert model is not None
    return model


def by_name(module: ModuleOp) -> dict[str, Operation]:
    return {node_name(op): op for op in model_of(module).nodes}


@pytest.mark.parametrize(
    ("given", "events"),
    [
        ({}, 1),
        ({"first": "Enter"}, 0),
        ({"first": "RefEnter"}, 0),
        ({"first": "Enter", "second": "ge.stream_active"}, 1),
        ({"stream": ", ge.stream = 0 : i64"}, 0),
        ({"stream": "", "second_attrs": "{_thread_scope_id = 0 : i64}"}, 0),
        ({"first_attrs": '{_ffts_plus_sub_graph = "g"}'}, 0),
        ({"first_attrs": '{_ffts_sub_graph = "g"}'}, 0),
        ({"second_attrs": '{_stream_label = "L"}'}, 1),
    ],
)
def test_rule_of_a_pair(given: dict[str, Any], events: int, run: Run) -> None:
    module = pair(**given)
    run("ge-insert-events", module)
    assert Events.read(model_of(module)).count == events


def test_numbers_follow_names_in_bytes() -> None:
    module = pair()
    model, nodes = model_of(module), by_name(module)
    events = Events(
        count=9, send={nodes["b"]: [7], nodes["a"]: [8, 3]}, recv={nodes["x"]: [3, 7, 8]}
    )
    events.renumber(model, 10)
    assert events.send == {nodes["b"]: [12], nodes["a"]: [10, 11]}
    assert events.recv == {nodes["x"]: [11, 12, 10]}
    assert events.count == 13


def test_an_event_that_nobody_sends() -> None:
    module = pair()
    nodes = by_name(module)
    events = Events(send={nodes["a"]: [0]}, recv={nodes["b"]: [0, 1]})
    with pytest.raises(SyncError, match="event 1 is waited for but never sent"):
        events.renumber(model_of(module))
    Events(recv={nodes["b"]: [1]}).renumber(model_of(module))  # nothing is sent: not noticed


def test_tables_survive_on_the_nodes() -> None:
    module = pair()
    model, nodes = model_of(module), by_name(module)
    events = Events(count=4, send={nodes["a"]: [1, 0]}, recv={nodes["b"]: [0, 1]})
    events.add_side(nodes["a"], 5, nodes["b"], None)
    events.add_side(nodes["a"], None, nodes["b"], 6)
    events.write(model)
    assert get_ints(nodes["a"], "ge.send_events") == [1, 0, 5]
    assert Events.read(model) == events
    Events().write(model)
    assert Events.read(model) == Events()


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("SendTo;b", "expected 'SendTo;<node>;<number>'"),
        ("Send;b;0", "has 'Send' in _event_multiplexing"),
        ("SendTo;b;-1", "has '-1' in _event_multiplexing"),
        ("SendTo;b;x", "has 'x' in _event_multiplexing"),
        ("RecvFrom;nobody;0", "names 'nobody' in _event_multiplexing"),
    ],
)
def test_wrong_wishes(wish: str, message: str) -> None:
    module = pair(first_attrs=f'{{_event_multiplexing = ["{wish}"]}}')
    nodes = by_name(module)
    events = Events(count=1, send={nodes["a"]: [0]}, recv={nodes["b"]: [0]})
    assert multiplex(model_of(module), events) == 0  # not heeded below the threshold
    with pytest.raises(SyncError, match=message) as error:
        multiplex(model_of(module), events, threshold=0)
    assert error.value.status == "PARAM_INVALID"


def test_wishes_merge_events() -> None:
    module = pair(
        second_attrs='{_event_multiplexing = ["SendTo;x;0", "RecvFrom;a;0", "SendTo;a;7"]}'
    )
    nodes = by_name(module)
    x, a, b = nodes["x"], nodes["a"], nodes["b"]
    events = Events(count=3, send={a: [0, 1], b: [2]}, recv={b: [0, 1], x: [2]})
    # b's event to x and the first of a's events to b share a number; b sends nothing to a.
    assert multiplex(model_of(module), events, threshold=2) == 1
    assert events.send == {a: [0, 1], b: [1]}
    assert events.recv == {b: [0, 1], x: [1]}
    assert events.count == 2


def nested(depth: int) -> ModuleOp:
    """A gear whose branch owns sub-graphs down to `depth` levels, each with one event."""
    text = """ge.graph @main {
      %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
      %c = ge.op "Case" (%x) attrs {_batch_num = 1 : i64} subgraphs [@g0] {ge.name = "case"} : tensor<2xf32>
    }"""
    for level in range(depth + 1):
        owns = f"subgraphs [@g{level + 1}] " if level < depth else ""
        text += f"""
        ge.graph @g{level} {{
          %a = ge.op "Opaque" {{ge.name = "a{level}", ge.stream = 0 : i64}} : tensor<2xf32>
          %b = ge.op "Opaque" (%a) {owns}{{ge.name = "b{level}", ge.stream = 1 : i64}} : tensor<2xf32>
        }}"""
    return Parser(context(), text).parse_module()


def test_gears_are_numbered_through_their_levels(run: Run) -> None:
    module = nested(10)
    run("ge-insert-events,ge-optimize-events,ge-reuse-events", module)
    events = Events.read(model_of(module))
    assert events.count == 11
    assert [get_ints(by_name(module)[f"a{level}"], "ge.send_events") for level in range(11)] == [
        [level] for level in range(11)
    ]
    module = nested(11)
    run("ge-insert-events", module)
    with pytest.raises(SyncError, match="more than 10 levels"):
        reuse_in_gears(model_of(module), Events.read(model_of(module)))


def test_slots_of_ir_inputs() -> None:
    text = """ge.graph @main {
      %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
      %y = ge.op "Opaque" (%x, %x, %x, %x) attrs {_ir_inputs_key = ["q", "xs", "w"], _ir_inputs_value = array<i64: 0, 2, 1>}
          {ge.name = "y", ge.arg_attrs = [{name = "q"}, {name = "xs0"}, {name = "xs1"}, {name = "w"}]} : tensor<2xf32>
    }"""
    op = by_name(Parser(context(), text).parse_module())["y"]
    assert [list(slots_of_ir_input(op, index)) for index in range(3)] == [[0], [1, 2], [3]]
    with pytest.raises(SyncError, match="has no IR input 3"):
        slots_of_ir_input(op, 3)
