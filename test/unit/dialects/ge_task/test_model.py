"""Rules of a task list as a whole: each with a list that keeps it and one that breaks it."""

from __future__ import annotations

import gc
import time

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    IntegerType,
    TensorType,
    UnrankedTensorType,
    f16,
    f32,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge_task import (
    EXTERNAL_NOTIFY,
    BufferOp,
    BufferType,
    EndGraphOp,
    EventRecordOp,
    EventWaitOp,
    KernelOp,
    LabelSetOp,
    ModelOp,
    NotifyRecordOp,
    StreamActiveOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    TaskOp,
    tensor_bytes,
)
from ge_dialect.dialects.ge_task.model_checks import verify_model


def model(*ops: TaskOp | BufferOp, **header: int) -> ModelOp:
    made = ModelOp.make(
        "m", ops, stream_num=2, event_num=2, notify_num=1, label_num=2, arenas={"hbm": 64}
    )
    made.properties.update({name: i64(value) for name, value in header.items()})
    return made


def record(event: int, stream: int) -> EventRecordOp:
    return EventRecordOp.make(event, stream=stream)


def wait(event: int, stream: int) -> EventWaitOp:
    return EventWaitOp.make(event, stream=stream)


def buffer(offset: int, space: str = "hbm") -> BufferOp:
    return BufferOp.make(TensorType(f32, [4]), space, offset, 16)


def index_jump(labels: list[int]) -> tuple[BufferOp, StreamLabelSwitchByIndexOp]:
    index = buffer(0)
    return index, StreamLabelSwitchByIndexOp.make(index.results, stream=0, labels=labels)


def switch_n(streams: list[int]) -> tuple[BufferOp, StreamSwitchNOp]:
    value = buffer(0)
    return value, StreamSwitchNOp.make(
        value.results, stream=0, targets=list(range(len(streams))), true_streams=streams
    )


GOOD = {
    "nothing": (),
    "ids that no task uses": (EndGraphOp.make(stream=0),),
    "an event recorded and never waited for": (record(1, 0),),
    "an event used in turn": (record(0, 0), wait(0, 1), record(0, 1), wait(0, 0)),
    "a wait that stands in front of its record": (wait(0, 1), record(0, 0)),
    "an event recorded by either branch": (record(0, 0), record(0, 1), wait(0, 0)),
    "a notify from outside": (NotifyRecordOp.make(EXTERNAL_NOTIFY, stream=0),),
    "a notify without a partner": (NotifyRecordOp.make(0, stream=0),),
    "a jump back": (LabelSetOp.make(1, stream=0), StreamLabelGotoOp.make(1, stream=0)),
    "views that overlap": (buffer(0), buffer(8), buffer(48)),
}


@pytest.mark.parametrize("ops", GOOD.values(), ids=GOOD.keys())
def test_kept(ops: tuple[TaskOp | BufferOp, ...]) -> None:
    model(*(op.clone() for op in ops)).verify()


BAD = {
    "(task 1) stream 2 is out of range: stream_num is 2": lambda: (
        EndGraphOp.make(stream=0),
        EndGraphOp.make(stream=2),
    ),
    "event 2 is out of range: event_num is 2": lambda: (record(2, 0),),
    "notify 1 is out of range: notify_num is 1": lambda: (NotifyRecordOp.make(1, stream=0),),
    "label 2 is out of range: label_num is 2": lambda: index_jump([0, 2]),
    "target stream 5 is out of range: stream_num is 2": lambda: (StreamActiveOp.make(5, stream=0),),
    "target stream 2 is out of range: stream_num is 2": lambda: switch_n([0, 2]),
    "(task 0) event 1 is recorded nowhere": lambda: (wait(1, 0), record(0, 1)),
    "(task 1) event 0 is recorded only on stream 1, where": lambda: (record(0, 1), wait(0, 1)),
    "(task 1) label 0 is set twice, first by task 0": lambda: (
        LabelSetOp.make(0, stream=0),
        LabelSetOp.make(0, stream=1),
    ),
    "(task 0) label 1 is set nowhere": lambda: index_jump([1]),
    "hbm[49, 65) lies outside arena 'hbm' of 64 bytes": lambda: (buffer(49),),
    "var[0, 16) lies outside arena 'var' of 0 bytes": lambda: (buffer(0, "var"),),
}


@pytest.mark.parametrize("message", BAD)
def test_broken(message: str) -> None:
    with pytest.raises(VerifyException) as error:
        model(*BAD[message]()).verify()
    assert message in str(error.value)


def test_header() -> None:
    with pytest.raises(VerifyException, match=r"zero_copy_size 65 is more than the 64 bytes"):
        model(zero_copy_size=65).verify()
    with pytest.raises(VerifyException, match=r"event_num must be >= 0, got -1"):
        model(event_num=-1).verify()
    with pytest.raises(VerifyException, match=r"huge stream 2 is out of range"):
        ModelOp.make("m", stream_num=2, huge_streams=[1, 2]).verify()
    with pytest.raises(VerifyException, match=r"arena 'hbm' should be a number of bytes"):
        ModelOp.make("m", stream_num=1, arenas={"hbm": -1}).verify()


def test_tasks_and_buffers_are_listed_in_order() -> None:
    x, task = buffer(0), EndGraphOp.make(stream=0)
    made = model(x, task)
    assert made.tasks() == [task]
    assert made.buffers() == [x]
    assert made.arena_sizes() == {"hbm": 64}


@pytest.mark.parametrize(
    ("element", "shape", "size"),
    [
        (f16, [2, 64], 256),
        (f32, [], 4),
        (i1, [9], 9),
        (IntegerType(4), [3], 3),
        (ComplexType(f32), [3], 24),
        (f32, [0, 5], 0),
        (f32, [DYNAMIC_INDEX, 5], None),
    ],
)
def test_bytes_of_a_tensor(element: Attribute, shape: list[int], size: int | None) -> None:
    tensor = TensorType(element, shape)
    assert tensor_bytes(tensor) == size
    assert tensor_bytes(UnrankedTensorType(element)) is None
    BufferOp.make(tensor, "hbm", 0, 7 if size is None else size).verify()
    if size is not None:
        with pytest.raises(VerifyException, match=f"size {size + 1} should be {size}, the bytes"):
            BufferOp.make(tensor, "hbm", 0, size + 1).verify()


def test_checking_a_list_takes_time_in_proportion_to_it() -> None:
    def seconds(tasks: int) -> float:
        view = BufferType(TensorType(f32, [4]))
        x = BufferOp.make(view, "hbm", 0, 16)
        ops = [KernelOp.make("T", x.results, x.results, stream=0) for _ in range(tasks // 2)]
        pairs = [op for i in range(tasks // 4) for op in (record(i, 0), wait(i, 1))]
        made = ModelOp.make(
            "m", [x, *ops, *pairs], stream_num=2, event_num=tasks, arenas={"hbm": 64}
        )
        best = float("inf")
        gc.disable()  # a collection walks everything that other tests have left
        for _ in range(3):
            start = time.process_time()  # other processes do not count
            verify_model(made)
            best = min(best, time.process_time() - start)
        gc.enable()
        return best

    assert seconds(16_000) < 40 * max(seconds(1_000), 1e-4)
