"""Accessors: what passes learn of a node and how they change it."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, f16, f32, i64
from xdsl.parser import Parser

from ge_dialect.dialects.ge import (
    ConcatOp,
    ConstantOp,
    ControlType,
    DataOp,
    DescAttr,
    GraphOp,
    NetOutputOp,
    OpOp,
    access,
)
from ge_dialect.dialects.ge.attr_values import from_python, to_python
from ge_dialect.dialects.ge.weights import WeightsError, array_of, elements_attr
from ge_dialect.program import context

F32 = TensorType(f32, [2])


def parse(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    module.verify()
    return module


def test_type_is_the_property_or_the_class_default() -> None:
    assert access.ge_type(DataOp.make()) == "Data"
    assert access.ge_type(OpOp.make(properties={"type": from_python("Relu")})) == "Relu"
    assert access.ge_type(ModuleOp([])) == "builtin.module"


def test_attributes_come_under_ge_names_from_both_places() -> None:
    op = ConcatOp.make(
        properties={"concat_dim": from_python(1), "attrs": from_python({"k": [1, 2], "s": "x"})}
    )
    assert access.ge_attrs(op) == {"k": [1, 2], "s": "x", "concat_dim": 1}
    assert access.ge_attr(op, "concat_dim") == 1
    assert access.ge_attr(op, "absent", 7) == 7


def test_control_result_is_added_in_place() -> None:
    data = DataOp.make((), (F32,))
    consumer = OpOp.make([data.results[0]], [F32], {"type": from_python("Relu")})
    graph = GraphOp("g")
    graph.block.add_ops([data, consumer])
    first = access.ensure_control_result(data)
    assert access.ensure_control_result(data) is first
    assert consumer.operands[0] is data.results[0]
    assert isinstance(first.type, ControlType)
    assert access.control_result(data) is first
    assert list(access.data_results(data)) == [data.results[0]]
    access.add_control_edge(data, consumer)
    access.add_control_edge(data, consumer)
    assert list(access.control_operands(consumer)) == [first]
    assert list(access.data_operands(consumer)) == [data.results[0]]
    graph.verify()


def test_input_desc_prefers_the_slots_own_type() -> None:
    own = TensorType(f16, [1, 16, 8, 8], DescAttr("NCHW"))
    data = DataOp.make(
        (),
        (
            TensorType(
                f16,
                [1, 1, 8, 8, 16],
                DescAttr("NC1HWC0", origin_format="NCHW", origin_shape=[1, 16, 8, 8]),
            ),
        ),
    )
    op = OpOp.make([data.results[0]], [], {"type": from_python("A")})
    desc = access.input_desc(op, 0)
    assert (desc.format, desc.origin_format, desc.origin_shape) == (
        "NC1HWC0",
        "NCHW",
        (1, 16, 8, 8),
    )
    access.set_slot_attr(op, "arg", 0, "type", own)
    desc = access.input_desc(op, 0)
    assert (desc.format, desc.shape, desc.origin_shape) == ("NCHW", (1, 16, 8, 8), (1, 16, 8, 8))


def test_changing_a_type_drops_overrides_that_it_makes_stale() -> None:
    new = TensorType(f32, [2], DescAttr("NCHW"))
    data = DataOp.make((), (F32,))
    same = OpOp.make([data.results[0]], [], {"type": from_python("A")})
    other = OpOp.make([data.results[0]], [], {"type": from_python("A")})
    access.set_slot_attr(same, "arg", 0, "type", new)
    access.set_slot_attr(other, "arg", 0, "type", TensorType(f32, [2], DescAttr("NHWC")))
    access.set_result_type(data, 0, new)
    assert "ge.arg_attrs" not in same.attributes
    assert access.input_desc(other, 0).format == "NHWC"
    assert same.operands[0] is data.results[0]


def test_unknown_rank_takes_its_descriptor_from_the_slot() -> None:
    module = parse(
        'ge.graph @g { %x = ge.op "A" {ge.res_attrs = [{desc = #ge.desc<NCHW>}]} : tensor<*xf32> }'
    )
    op = next(iter(access.nodes(access.graphs(module)[0])))
    desc = access.output_desc(op, 0)
    assert (desc.shape, desc.format, desc.dtype.name) == (None, "NCHW", "FLOAT")


def test_absent_value_is_made_once() -> None:
    graph = GraphOp("g")
    value = access.absent_value(graph)
    assert isinstance(value.type, NoneType)
    assert access.absent_value(graph) is value
    assert list(access.nodes(graph)) == []


def test_a_slot_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError, match="no slot 1"):
        access.set_slot_attr(DataOp.make((), (F32,)), "res", 1, "k", i64)


@pytest.mark.parametrize(
    "value",
    [
        True,
        3,
        -1,
        1.5,
        0.1,
        "text",
        "täxt",
        [1, 2],
        [],
        [1.0, 2.5],
        ["a", "b"],
        {"k": [1]},
        b"\xff\x00",
    ],
    ids=repr,
)
def test_values_come_back(value: object) -> None:
    result = to_python(from_python(value))
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "dtype", ["float32", "int64", "bool", "uint8", "complex64", "bfloat16", "int4", "float8_e4m3fn"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2), (1, 100)])
def test_weights_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    import ml_dtypes

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    again = array_of(elements_attr(array))
    assert again.dtype == kind
    assert again.shape == shape
    assert again.tobytes() == array.tobytes()


def test_large_read_only_weights_are_not_copied() -> None:
    array = np.arange(1000, dtype=np.float32)
    array.flags.writeable = False
    assert np.shares_memory(array_of(elements_attr(array)), array)


def test_strings_come_back() -> None:
    array = np.array([["a", "ä"], ["", "b"]], dtype=object)
    assert array_of(elements_attr(array)).tolist() == array.tolist()


def test_elided_weights_are_refused_by_name() -> None:
    module = parse(
        "ge.graph @g { %x = ge.constant value dense_resource<__elided__> : tensor<4xf32> : tensor<4xf32> }"
    )
    op = next(iter(access.nodes(access.graphs(module)[0])))
    assert isinstance(op, ConstantOp)
    with pytest.raises(WeightsError, match='"w1" were left out'):
        array_of(op.value, "w1")


def test_a_graph_without_net_output_and_one_with_none_last_round_trip() -> None:
    text = 'ge.graph @g {\n  %x = ge.data index 0 : tensor<1xf32>\n  ge.net_output (%x)\n  ge.op "A" (%x)\n}'
    module = parse(text)
    assert isinstance(list(access.nodes(access.graphs(module)[0]))[1], NetOutputOp)
    assert parse(str(module)).is_structurally_equivalent(module)
    empty = parse("ge.graph @g { }")
    assert parse(str(empty)).is_structurally_equivalent(empty)
    assert "bb0" not in str(empty)
