"""Every kind of task: its class, its constructor, both text forms, its number of hardware tasks."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, DictionaryAttr, ModuleOp, StringAttr, TensorType, f16
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge_task import (
    KIND_BY_OP,
    TASK_KINDS,
    TASK_OPS,
    AbsentOp,
    AuxiliaryTaskOp,
    BufferOp,
    CopyTaskOp,
    EventRecordOp,
    EventWaitOp,
    GeTask,
    KernelOp,
    KernelTaskOp,
    LabelSwitchOp,
    MemcpyAsyncOp,
    ModelOp,
    NotifyWaitOp,
    ProfilerTraceOp,
    SimpleTaskOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    StreamSwitchOp,
    TaskOp,
    WaitOp,
)
from ge_dialect.dialects.ge_task.control import TraceTaskOp
from ge_dialect.dialects.ge_task.sync import FlagTaskOp

TENSOR = TensorType(f16, [2, 64])


def context() -> Context:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(GeTask)
    return ctx


def text(op: Operation, *, generic: bool) -> str:
    output = StringIO()
    Printer(output, print_generic_format=generic).print_op(op)
    return output.getvalue()


def make(kind: type[TaskOp], x: SSAValue, y: SSAValue) -> TaskOp:
    """A task of this kind, with what the kind requires."""
    if issubclass(kind, CopyTaskOp):
        return kind.make(None, [x], [y], stream=0, op_index=5, count=256)
    if issubclass(kind, KernelTaskOp):
        return kind.make("T", [x], [y], [x], stream=0, op_index=5, engine="E")
    if issubclass(kind, AuxiliaryTaskOp):
        return kind.make("T", [x], [], stream=0, op_index=5)
    if issubclass(kind, FlagTaskOp | TraceTaskOp):
        return kind.make(0, stream=0, op_index=5)
    if issubclass(kind, StreamSwitchOp):
        return kind.make([x, y], stream=0, condition=0, true_stream=1)
    if issubclass(kind, StreamSwitchNOp):
        return kind.make([x], stream=0, targets=[1, 2, 3, 4], true_streams=[0, 1])
    if issubclass(kind, StreamLabelSwitchByIndexOp | LabelSwitchOp):
        return kind.make([x], stream=0, labels=[0])
    assert issubclass(kind, SimpleTaskOp)
    return kind.make(stream=0, op_index=5)


@pytest.mark.parametrize("kind", TASK_OPS, ids=lambda kind: kind.name)
def test_each_kind_verifies_and_round_trips(kind: type[TaskOp]) -> None:
    x = BufferOp.make(TENSOR, "hbm", 0, 256, input=0, name="x")
    y = BufferOp.make(TENSOR, "hbm", 256, 256)
    task = make(kind, x.results[0], y.results[0])
    module = ModuleOp([x, y, task])
    module.verify()
    for generic in (False, True):
        printed = text(module, generic=generic)
        again = Parser(context(), printed).parse_module()
        again.verify()
        assert module.is_structurally_equivalent(again)
        assert text(again, generic=generic) == printed
        assert (f'"{kind.name}"' in printed) == generic


def test_there_is_one_class_a_kind() -> None:
    assert [row.number for row in TASK_KINDS] == list(range(51))
    assert sorted(op.TASK_TYPE for op in TASK_OPS) == list(range(51))
    for op in TASK_OPS:
        assert KIND_BY_OP[op.name].number == op.TASK_TYPE


def test_the_table_says_which_kinds_the_loader_runs() -> None:
    runnable = {row.number for row in TASK_KINDS if row.runnable}
    ranges = [(0, 9), (12, 15), (19, 19), (22, 24), (26, 27), (29, 35), (38, 47), (50, 50)]
    assert runnable == {n for first, last in ranges for n in range(first, last + 1)}


def test_hardware_tasks() -> None:
    assert EventRecordOp.make(0, stream=0).hardware_tasks() == 1
    assert EventWaitOp.make(0, stream=0).hardware_tasks() == 2
    assert NotifyWaitOp.make(0, stream=0).hardware_tasks() == 1
    assert KernelOp.make("T", [], [], stream=0, sqe_num=0).hardware_tasks() == 1
    assert KernelOp.make("T", [], [], stream=0, sqe_num=3).hardware_tasks() == 3
    assert EventWaitOp.make(0, stream=0, sqe_num=3).hardware_tasks() == 4


def test_operand_groups_and_properties_of_a_kernel() -> None:
    x = BufferOp.make(TENSOR, "hbm", 0, 256)
    no = AbsentOp.make()
    attrs = DictionaryAttr({"axis": i64(1)})
    task = KernelOp.make(
        "T",
        [x.results[0], no.results[0]],
        [x.results[0]],
        [x.results[0], x.results[0]],
        stream=3,
        op_index=7,
        attributes={"ge.name": StringAttr("t")},
        source="ai.onnx::T@1",
        attrs=attrs,
        block_dim=8,
    )
    assert [len(group) for group in (task.ins, task.outs, task.workspaces)] == [2, 1, 2]
    assert task.stream.value.data == 3
    assert task.op_index is not None
    assert task.op_index.value.data == 7
    assert task.properties["source"] == StringAttr("ai.onnx::T@1")
    assert task.attrs == attrs
    assert task.attributes["ge.name"] == StringAttr("t")


def test_a_flag_that_is_off_is_absent() -> None:
    assert "notify" not in ProfilerTraceOp.make(4, stream=0).properties
    assert "notify" in ProfilerTraceOp.make(4, notify=True, stream=0).properties


def test_text_that_is_not_ascii_round_trips() -> None:
    x = BufferOp.make(TENSOR, "hbm", 0, 256, name="é")
    module = ModuleOp([x, KernelOp.make("Ü", [x.results[0]], [], stream=0)])
    for generic in (False, True):
        printed = text(module, generic=generic)
        again = Parser(context(), printed).parse_module()
        again.verify()
        assert text(again, generic=generic) == printed
        buffer = next(op for op in again.walk() if isinstance(op, BufferOp))
        assert buffer.describe() == "buffer %é hbm[0, 256)"


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(VerifyException, match=r"'ge_task.event_record' event must be >= 0, got -1"):
        EventRecordOp.make(-1, stream=0).verify()
    with pytest.raises(VerifyException, match=r"'ge_task.kernel' stream must be >= 0, got -2"):
        KernelOp.make("T", [], [], stream=-2).verify()


def test_a_copy_fits_its_buffers() -> None:
    x = BufferOp.make(TENSOR, "hbm", 0, 256)
    y = BufferOp.make(TensorType(f16, [2]), "hbm", 0, 4)
    MemcpyAsyncOp.make(None, x.results, y.results, stream=0, count=4).verify()
    with pytest.raises(
        VerifyException, match=r"count 5 is more than the 4 bytes of the destination"
    ):
        MemcpyAsyncOp.make(None, x.results, y.results, stream=0, count=5).verify()
    with pytest.raises(VerifyException, match=r"count 4 is more than dst_max 3"):
        MemcpyAsyncOp.make(None, x.results, y.results, stream=0, count=4, dst_max=3).verify()
    with pytest.raises(VerifyException, match=r"kind 9 is unknown, it should be 0 to 8"):
        MemcpyAsyncOp.make(None, x.results, y.results, stream=0, count=4, kind=9).verify()


def test_steps_of_a_host_program_are_no_tasks() -> None:
    model = ModelOp.make("m", [WaitOp.make(0, stream=0)], stream_num=1)
    with pytest.raises(VerifyException, match=r"'ge_task.wait' is neither"):
        model.verify()
