"""Nodes that must not be issued together, though their group says so."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.parser import Parser

from ge_dialect.analysis.task_count import TaskGenerationError
from ge_dialect.lowering.tasks.convert_ge_to_ge_task import ConvertGeToGeTask
from ge_dialect.program import context

T = "tensor<4xf32>"


def lower(between: str, reads: str, offset: int) -> list[str]:
    """The names of the nodes in the order of the list: `a` and `b` are a group, `between` stands between them."""
    on_core = 'ge.engine = "AIcoreEngine", ge.stream = 0 : i64'
    text = f"""
    ge.graph @main attributes {{ge.stream_num = 2 : i64, ge.event_num = 1 : i64}} {{
      %x = ge.data index 0 {{ge.name = "x", ge.offsets = array<i64: 4096>}} : {T}
      %a = ge.op "Relu" (%x) attrs {{_l1_fusion_group_id = 1}} {{ge.name = "a", {on_core}, ge.offsets = array<i64: 0>}} : {T}
      {between.format(core=on_core)}
      %b = ge.op "Abs" ({reads}) attrs {{_l1_fusion_group_id = 1}} {{ge.name = "b", {on_core}, ge.offsets = array<i64: {offset}>}} : {T}
    }}"""
    module = Parser(context(), text).parse_module()
    module.verify()
    options = {"buffer_optimize": "l1_optimize", "fusion_brackets": False}
    ConvertGeToGeTask(**options).apply(Context(), module)  # pyright: ignore[reportArgumentType]
    model = module.body.block.first_op
    assert model is not None
    return [str(op.properties["op_index"].value.data) for op in model.tasks()]  # pyright: ignore


MIDDLE = (
    '%m = ge.op "Exp" (%x) {{ge.name = "m", {core}, ge.offsets = array<i64: 512>}} : tensor<4xf32>'
)
ELSEWHERE = MIDDLE.replace("{core}", 'ge.engine = "AIcoreEngine", ge.stream = 1 : i64')


def test_what_does_not_touch_may_be_passed() -> None:
    assert lower(MIDDLE, "%a", 1024) == ["1", "3", "2"]
    assert lower(ELSEWHERE, "%m", 1024) == ["1", "3", "2"], "events order streams, not the list"
    send = 'ge.send event_id 0 {{ge.name = "s", ge.stream = 0 : i64}}'
    assert lower(send, "%a", 1024) == ["1", "3", "2"]


@pytest.mark.parametrize(
    ("between", "reads", "offset", "name"),
    [
        (MIDDLE, "%m", 1024, "m"),  # reads what was written
        (MIDDLE, "%a", 512, "m"),  # writes where was written
        (MIDDLE, "%a", 4096, "m"),  # writes where was read
        ('ge.recv event_id 0 {{ge.name = "r", ge.stream = 0 : i64}}', "%a", 1024, "r"),
    ],
)
def test_what_must_be_waited_for_may_not(between: str, reads: str, offset: int, name: str) -> None:
    message = (
        f'"b" of type Abs cannot be issued with fusion group 1: it has to stand behind "{name}"'
    )
    with pytest.raises(TaskGenerationError, match=message):
        lower(between, reads, offset)
