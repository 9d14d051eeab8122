from __future__ import annotations

import json

from xdsl.dialects import test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ge_dialect.analysis.remarks import (
    Remark,
    RemarkCollector,
    collect_remarks,
    emit_remark,
    remarks_wanted,
)


def _op() -> test.TestOp:
    op = test.TestOp()
    op.location = FileLineColLoc(StringAttr("net.mlir"), IntAttr(4), IntAttr(3))
    return op


def test_without_a_collector_remarks_are_dropped() -> None:
    assert not remarks_wanted()
    emit_remark(_op(), "ge-x", "passed", "done")


def test_remarks_are_collected_in_order() -> None:
    with collect_remarks() as collector:
        assert remarks_wanted()
        emit_remark(_op(), "ge-x", "passed", "one")
        emit_remark(_op(), "ge-x", "missed", "two", condition="alignment", input=1)
    assert collector.remarks == [
        Remark("ge-x", "passed", "net.mlir:4:3", "one", {}),
        Remark("ge-x", "missed", "net.mlir:4:3", "two", {"condition": "alignment", "input": 1}),
    ]


def test_collectors_nest_and_end() -> None:
    outer = RemarkCollector()
    with collect_remarks(outer):
        with collect_remarks() as inner:
            emit_remark(_op(), "ge-x", "passed", "inner")
        emit_remark(_op(), "ge-x", "passed", "outer")
    emit_remark(_op(), "ge-x", "passed", "after")
    assert [each.message for each in inner.remarks] == ["inner"]
    assert [each.message for each in outer.remarks] == ["outer"]


def test_forms() -> None:
    remark = Remark("ge-x", "missed", None, "input 1\nis not aligned", {"input": 1})
    assert remark.render("net.onnx") == "net.onnx: remark: [ge-x] missed: input 1 is not aligned"
    assert json.loads(remark.to_json()) == {
        "pass": "ge-x",
        "kind": "missed",
        "location": None,
        "message": "input 1\nis not aligned",
        "args": {"input": 1},
    }
