"""The passes of static allocation against the rules written out (`stream_rules`), on random nested graphs."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest
from stream_ir import apply
from stream_rule_models import module_of, random_model
from stream_rules import Allocation, LabelRefusedError, Options

from ge_dialect.assign_streams import GeAssignStreams
from ge_dialect.dialects.ge.access import get_int, graphs, node_name
from ge_dialect.transforms.streams.errors import StreamError


def _options(seed: int) -> Options:
    pick = random.Random(seed)
    return Options(
        single=pick.random() < 0.15,
        memory_priority=pick.random() < 0.2,
        hcom_parallel=pick.random() < 0.5,
        stable_rdfs=pick.random() < 0.15,
        max_parallel={"AIcoreEngine": 2, "DNN_VM_AICPU": 3} if pick.random() < 0.3 else {},
    )


@pytest.mark.parametrize("first", range(0, 400, 20))
def test_streams_are_those_of_the_rules(first: int) -> None:
    for seed in range(first, first + 20):
        compare(seed)


def compare(seed: int) -> None:
    model, options = random_model(seed), _options(seed)
    module = module_of(deepcopy(model))
    passes = GeAssignStreams(
        "single" if options.single else "multi",
        max_parallel=",".join(f"{name}:{n}" for name, n in options.max_parallel.items()),
        memory_priority=options.memory_priority,
        hcom_parallel=options.hcom_parallel,
        topo_sorting_mode="3" if options.stable_rdfs else "",
    ).passes()
    try:
        main = Allocation(model, options).run()
    except LabelRefusedError:
        with pytest.raises(StreamError):
            apply(module, *passes)
        return
    apply(module, *passes)
    found = {
        node_name(op): get_int(op, "ge.stream", -1)
        for graph in graphs(module)
        for op in graph.block.ops
        if node_name(op)
    }
    wanted = {node.name: node.stream for graph in model for node in graph.nodes}
    assert found == wanted, seed
    assert get_int(graphs(module)[0], "ge.main_stream_num") == main, seed
