"""Host programs: constructors, both text forms, compatibility of types, checks on the whole program."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX as ANY,
)
from xdsl.dialects.builtin import (
    Builtin,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from ge_dialect.dialects.ge_task import (
    AllocOp,
    BufferOp,
    CaseOp,
    D2hOp,
    EnsureDeviceOp,
    EnsureHostOp,
    ExecuteOp,
    FreeOp,
    GeTask,
    H2dOp,
    HostCallOp,
    HostConstOp,
    HostInputOp,
    HostOp,
    HostOutputOp,
    HostVariableOp,
    IfOp,
    InferShapeOp,
    LaunchOp,
    ListAppendOp,
    ListNewOp,
    ListStackOp,
    ListType,
    ModelOp,
    NopOp,
    ObjectType,
    PlacedTensorType,
    Placement,
    ReadShapeOp,
    RecordOp,
    ShapeConstOp,
    ShapeOfOp,
    ShapeType,
    SyncOp,
    TilingOp,
    TilingType,
    ViewOp,
    WaitOp,
    WhileOp,
    YieldOp,
)
from ge_dialect.dialects.ge_task.host_step import compatible

ROWS = TensorType(f32, [ANY, 4])
FLAG = PlacedTensorType(TensorType(i1, []), Placement.HOST)
COUNT = PlacedTensorType(TensorType(i64, []), Placement.HOST)


def on(placement: Placement, *shape: int) -> PlacedTensorType:
    return PlacedTensorType(TensorType(f32, shape), placement)


def device(*shape: int) -> PlacedTensorType:
    return on(Placement.DEVICE, *shape)


def host(*shape: int) -> PlacedTensorType:
    return on(Placement.HOST, *shape)


def context() -> Context:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(GeTask)
    return ctx


def check_round_trip(module: ModuleOp) -> None:
    module.verify()
    for generic in (False, True):
        output = StringIO()
        Printer(output, print_generic_format=generic).print_op(module)
        again = Parser(context(), output.getvalue()).parse_module()
        again.verify()
        assert module.is_structurally_equivalent(again)


def program(*ops: Operation, streams: int = 1, events: int = 0) -> HostOp:
    return HostOp.make("p", ops, stream_num=streams, event_num=events)


def test_self_allocating_program() -> None:
    x = HostInputOp.make(PlacedTensorType(ROWS, Placement.ANY), 0, name="x")
    d = EnsureDeviceOp.make(x.results[0])
    w = HostConstOp.make(
        device(4, 4), DenseIntOrFPElementsAttr.from_list(TensorType(f32, [4, 4]), [1.0]), name="w"
    )
    y = LaunchOp.make(
        "MatMul", [d.results[0], w.results[0]], [device(ANY, 4)], stream=0, op_index=3
    )
    h = EnsureHostOp.make(y.results[0])
    s = HostCallOp.make(
        "SequenceConstruct",
        [h.results[0]],
        [ObjectType(f32)],
        source="ai.onnx::SequenceConstruct@11",
    )
    out = HostOutputOp.make(s.results[0], 0, name="out")
    assert d.results[0].type == PlacedTensorType(ROWS, Placement.DEVICE)
    assert [len(g) for g in (y.ins, y.outs, y.workspaces, y.values)] == [2, 0, 0, 1]
    check_round_trip(ModuleOp([program(x, d, w, y, h, s, out)]))


def test_destination_program() -> None:
    x = HostInputOp.make(host(ANY, 4), 0)
    d = H2dOp.make(x.results[0], stream=0)
    sx = ShapeOfOp.make(d.results[0])
    k = ShapeConstOp.make([3])
    s = InferShapeOp.make("Relu", [sx.results[0], k.results[0]], [ShapeType(None)], op_index=1)
    t = TilingOp.make("Relu", [d.results[0]], [TilingType(), ShapeType(1)])
    work = AllocOp.make(device(ANY), t.results[1], stream=0)
    y = AllocOp.make(device(ANY, 4), s.results[0], stream=0)
    run = LaunchOp.make(
        "Relu", d.results, stream=0, outs=y.results, workspaces=work.results, tiling=t.results[0]
    )
    free = FreeOp.make(work.results[0], stream=0)
    sync = SyncOp.make(stream=0)
    real = ReadShapeOp.make(y.results[0])
    view = ViewOp.make(device(ANY, 4), y.results[0], real.results[0])
    h = D2hOp.make(view.results[0], stream=0)
    state = HostVariableOp.make(host(4), "state")
    out = HostOutputOp.make(h.results[0], 0)
    assert [len(g) for g in (run.ins, run.outs, run.workspaces)] == [1, 1, 1]
    assert run.tiling is t.results[0]
    assert sx.results[0].type == ShapeType(2)
    steps = (x, d, sx, k, s, t, work, y, run, free, sync, real, view, h, state, out)
    check_round_trip(ModuleOp([program(*steps)]))


def test_branches() -> None:
    c = HostInputOp.make(FLAG, 0)
    x = HostInputOp.make(device(4), 1)
    y = HostInputOp.make(host(4), 2)
    either = PlacedTensorType(UnrankedTensorType(f32), Placement.ANY)
    r = IfOp.make(c.results[0], [either], [YieldOp.make(x.results)], [YieldOp.make(y.results)])
    n = HostInputOp.make(COUNT, 3)
    case = CaseOp.make(n.results[0], [either], [[YieldOp.make(v.results)] for v in (x, y, r)])
    check_round_trip(ModuleOp([program(c, x, y, r, n, case)]))
    assert len(case.branches()) == 3


def test_loop_that_collects() -> None:
    go = HostInputOp.make(FLAG, 0)
    x = HostInputOp.make(device(4), 1)
    kept = ListNewOp.make(ListType(TensorType(f32, [ANY])))
    types = [FLAG, device(ANY)]
    cond = Block(arg_types=types)
    cond.add_op(YieldOp.make([cond.args[0]]))
    body = Block(arg_types=types)
    y = LaunchOp.make("Exp", [body.args[1]], [device(ANY)], stream=0)
    body.add_ops(
        [
            y,
            ListAppendOp.make(kept.results[0], y.results[0]),
            YieldOp.make([body.args[0], y.results[0]]),
        ]
    )
    loop = WhileOp.make([go.results[0], x.results[0]], types, Region(cond), Region(body))
    all_of_it = ListStackOp.make(device(ANY, ANY), kept.results[0], axis=1, reverse=True)
    check_round_trip(ModuleOp([program(go, x, kept, loop, all_of_it)]))


def test_while_arguments_must_match() -> None:
    text = """
    ge_task.host @p {
      %c = ge_task.input 0 : host tensor<i1>
      %r = ge_task.while(%c) -> (host tensor<i1>) cond (%a, %b) { ge_task.yield(%a) } body (%d) { ge_task.yield(%d) }
    }"""
    with pytest.raises(ParseError, match=r"expected 1 arguments of 'cond', got 2"):
        Parser(context(), text).parse_module()


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (device(4), device(4), True),
        (device(4), device(ANY), True),
        (device(ANY), device(4), True),
        (device(4), device(5), False),
        (device(4), device(4, 1), False),
        (device(4), host(4), False),
        (device(4), on(Placement.ANY, 4), True),
        (device(4), PlacedTensorType(UnrankedTensorType(f32), Placement.DEVICE), True),
        (device(4), PlacedTensorType(UnrankedTensorType(i1), Placement.DEVICE), False),
        (ShapeType(2), ShapeType(None), True),
        (ShapeType(2), ShapeType(3), False),
        (ObjectType(f32), ObjectType(f32), True),
        (ObjectType(f32), ObjectType(i1), False),
        (ListType(TensorType(f32, [ANY])), ListType(TensorType(f32, [2])), True),
        (ListType(TensorType(f32, [1])), device(1), False),
    ],
)
def test_compatible(one: Attribute, other: Attribute, agree: bool) -> None:
    assert compatible(one, other) is agree


def test_events_are_paired() -> None:
    program(RecordOp.make(0, stream=0), WaitOp.make(0, stream=1), streams=2, events=1).verify()
    with pytest.raises(VerifyException, match=r"event 0 is recorded only on stream 1, where"):
        program(RecordOp.make(0, stream=1), WaitOp.make(0, stream=1), streams=2, events=1).verify()
    with pytest.raises(VerifyException, match=r"event 1 is out of range: event_num is 1"):
        program(RecordOp.make(1, stream=0), events=1).verify()


def test_execute_names_a_task_list_with_room_for_its_values() -> None:
    def module(*ins: int, name: str = "m") -> ModuleOp:
        x = BufferOp.make(TensorType(f32, [4]), "hbm", 0, 16, input=0)
        y = BufferOp.make(TensorType(f32, [4]), "hbm", 16, 16, output=0)
        values = [HostInputOp.make(device(4), i) for i in ins]
        run = ExecuteOp.make(name, [v.results[0] for v in values], [device(4)], stream=0)
        model = ModelOp.make("m", [x, y], stream_num=1, arenas={"hbm": 32})
        return ModuleOp([model, program(*values, run)])

    check_round_trip(module(0))
    with pytest.raises(VerifyException, match=r"@m has 1 inputs, got 0"):
        module().verify()
    with pytest.raises(VerifyException, match=r"no task list @gone beside the program"):
        module(0, name="gone").verify()


def test_steps_that_do_not_fit() -> None:
    x = HostInputOp.make(device(4), 0)
    with pytest.raises(VerifyException, match=r"it takes no workspace and no tiling"):
        LaunchOp.make("T", [], [device(4)], stream=0, workspaces=x.results).verify()
    with pytest.raises(VerifyException, match=r"sees 20 bytes in a tensor of 16"):
        ViewOp.make(device(5), x.results[0]).verify()
    with pytest.raises(VerifyException, match=r"cannot move a tensor"):
        ViewOp.make(host(4), x.results[0]).verify()
    with pytest.raises(VerifyException, match=r"must say host or device, got any"):
        AllocOp.make(on(Placement.ANY, 4)).verify()
    with pytest.raises(VerifyException, match=r"of device memory needs a stream"):
        AllocOp.make(device(4)).verify()
    with pytest.raises(VerifyException, match=r"shape of rank 2 does not fit a tensor of rank 1"):
        AllocOp.make(host(ANY), ShapeConstOp.make([1, 2]).results[0]).verify()
    with pytest.raises(VerifyException, match=r"results should be a tiling and a shape"):
        TilingOp.make("T", [], [ShapeType(1)]).verify()
    kept = ListNewOp.make(ListType(TensorType(f32, [])))
    with pytest.raises(VerifyException, match=r"axis 1 is out of range for rank 1"):
        ListStackOp.make(device(ANY), kept.results[0], axis=1).verify()
    with pytest.raises(VerifyException, match=r"'ge_task.nop' is none"):
        program(NopOp.make(stream=0)).verify()


def test_an_input_stands_outside_of_regions() -> None:
    c = HostInputOp.make(FLAG, 0)
    inner = [HostInputOp.make(FLAG, 1), YieldOp.make()]
    with pytest.raises(VerifyException, match=r"stands inside a region"):
        program(c, IfOp.make(c.results[0], [], inner, [YieldOp.make()])).verify()


@pytest.mark.parametrize("type", ["buffer<f32>", "list<f32>", "tensor<f32, host>"])
def test_types_are_made_of_tensor_types(type: str) -> None:
    with pytest.raises(ParseError, match=r"expected a tensor type, got f32"):
        Parser(context(), f'"ge_task.list_new"() : () -> !ge_task.{type}').parse_module()


@pytest.mark.parametrize(
    "text",
    [
        "buffer<tensor<?x2xf16>>",
        "buffer<tensor<*xf16>>",
        "tensor<tensor<4xi8>, any>",
        "shape<0>",
        "shape<*>",
        "tiling",
        "object<tuple<f32, i64>>",
        "list<tensor<?xf32>>",
    ],
)
def test_types_round_trip(text: str) -> None:
    type = Parser(context(), f"!ge_task.{text}").parse_type()
    assert str(type) == f"!ge_task.{text}"
