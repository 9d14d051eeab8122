from __future__ import annotations

import random

import pytest
from stream_ir import apply, graph_of, streams_of
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.assign_streams import GeAssignStreams
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.passes import PASSES
from ge_dialect.transforms.streams.auto_mode import parse_auto_mode
from ge_dialect.transforms.streams.errors import StreamError

ENGINES = ("AIcoreEngine", "DNN_HCCL", "DNN_VM_AICPU", "DNN_VM_GE_LOCAL", "VectorEngine")
MODES = ("single", "multi", "cv", "LoadBalance:3", "MainStream:3", "WeightedLoadBalance:3")


def _random(seed: int) -> ModuleOp:
    pick = random.Random(seed)
    count = pick.randint(1, 40)
    sources = [
        sorted({pick.randrange(node) for _ in range(pick.randint(0, 3))}) if node else []
        for node in range(count)
    ]
    return graph_of(sources, engines=[pick.choice(ENGINES) for _ in range(count)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(25))
def test_numbers_have_no_gaps_and_nothing_is_left_over(mode: str, seed: int) -> None:
    module = apply(_random(seed), *GeAssignStreams(mode).passes())
    root = graphs(module)[0]
    streams = streams_of(module)
    count = get_int(root, "ge.stream_num")
    assert {stream for stream in streams if stream >= 0} == set(range(count or 0))
    assert set(root.attributes) <= {"ge.stream_num", "ge.main_stream_num", "ge.custom_streams"}
    for op, stream in zip(root.block.ops, streams, strict=True):
        assert set(op.attributes) <= {"ge.name", "ge.engine", "ge.stream"}
        # Only what makes no task may be without a stream.
        assert stream >= 0 or op.attributes["ge.engine"].data == "DNN_VM_GE_LOCAL"  # pyright: ignore
    if mode == "single":
        assert count is not None
        assert count <= 1


@pytest.mark.parametrize("mode", [*MODES, "dynamic"])
def test_a_second_run_changes_nothing(mode: str) -> None:
    module = _random(7)
    first = streams_of(apply(module, *GeAssignStreams(mode).passes()))
    assert streams_of(apply(module, *GeAssignStreams(mode).passes())) == first


@pytest.mark.parametrize("seed", range(25))
def test_dynamic_streams_are_complete(seed: int) -> None:
    module = apply(_random(seed), *GeAssignStreams("dynamic").passes())
    streams = streams_of(module)
    count = get_int(graphs(module)[0], "ge.stream_num")
    assert count is not None
    assert all(0 <= stream < count for stream in streams)


def test_every_step_is_a_pass_of_the_table() -> None:
    for mode in ("single", "multi", "dynamic"):
        for step in GeAssignStreams(mode).passes():
            module, _, name = PASSES[step.name].partition(":")
            assert (type(step).__module__, type(step).__name__) == (module, name)


@pytest.mark.parametrize(
    "text",
    [
        *["LoadBalance", "LoadBalance:", "LoadBalance:0", "LoadBalance:65", "LoadBalance:+1"],
        *["LoadBalance:1:2", "LoadBalance: 1", "loadbalance:1", "default", "CV", "Other:1", ":1"],
        *["LoadBalance:\N{ARABIC-INDIC DIGIT ONE}"],
    ],
)
def test_texts_that_are_no_mode(text: str) -> None:
    with pytest.raises(StreamError) as error:
        parse_auto_mode(text)
    assert error.value.code == "E10001"
    with pytest.raises(StreamError) as error:
        GeAssignStreams(text).passes()
    assert error.value.code == "E10001"


def test_two_modes_at_once() -> None:
    with pytest.raises(StreamError, match="the mode is 'LoadBalance:2' already"):
        GeAssignStreams("LoadBalance:2", auto="cv").passes()
    with pytest.raises(StreamError, match="option mode cannot be ''"):
        GeAssignStreams("").passes()


def test_a_label_has_its_stream_in_each_graph() -> None:
    module = graph_of(
        [[], [0], [1]],
        engines=["AIcoreEngine", "DNN_HCCL", "AIcoreEngine"],
        attrs={n: {"_user_stream_label": "u"} for n in (0, 1, 2)},
    )
    assert streams_of(apply(module, *GeAssignStreams("multi").passes())) == [0, 0, 0]
