"""Streams from whole graphs to split queues against the facts of streams.json (any file of that schema)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from stream_graphs import Json, nodes_by_name, stream_module, stream_of
from stream_sync import check_model, check_split, cut, finish, limits_of, synchronize
from test_streams_logical import check_attached, check_status, check_streams, options_of, run
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.transforms.split.ge_split_streams import GeSplitStreams
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext

ALLOCATE_NEXT = "allocate_next"


@dataclass(frozen=True)
class CasePass(CustomStreamPass):
    """The stream pass that a case describes: `(node, stream)` pairs."""

    name = "ge-test-stream-pass"

    moves: tuple[tuple[str, int | str], ...] = ()

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        found = nodes_by_name(model.module)
        for node, stream in self.moves:
            number = context.allocate_next() if stream == ALLOCATE_NEXT else int(stream)
            context.set_stream(found[node], number)


def chain_of(case: Json) -> tuple[ModulePass, ...]:
    """The passes of the case's mode, with the case's own stream pass in its place."""
    options = options_of(case)
    moves = tuple((move["node"], move["stream"]) for move in case.get("custom_pass", ()))
    if options.mode == "single":
        return options.single()
    return options.multi(options.auto, [CasePass(moves)] if moves else [])


def check_logical(expect: Json, module: ModuleOp) -> None:
    """What holds after the logical phase."""
    root, found = graphs(module)[0], nodes_by_name(module)
    check_streams(expect, found)
    check_attached(expect, found)
    for key, name in (
        ("total_stream_num", "ge.stream_num"),
        ("main_stream_num", "ge.main_stream_num"),
    ):
        if key in expect:
            assert get_int(root, name) == expect[key]
    if "max_stream_id" in expect:
        assert max(stream_of(op) for op in found.values()) == expect["max_stream_id"]


@pytest.mark.cases(levels=("static_pipeline",))
def test_pipeline(case: dict[str, Any]) -> None:
    expect = case["expect"]
    module = stream_module(case, default_stream=None)
    if not check_status(expect, run(module, chain_of(case))):
        return
    check_logical(expect, module)
    initial = {name: stream_of(op) for name, op in nodes_by_name(module).items()}
    synchronize(case, module)
    check_model(case, module, initial)
    if "limits" in case:
        split(case, module)


def split(case: Json, module: ModuleOp) -> None:
    """Split queues by the case's task counts."""
    found = nodes_by_name(module)
    if limits_of(case).is_unlimited():
        GeSplitStreams(unlimited_depth=True).apply(Context(), module)
        for name, stream in case["expect"].get("node_streams_after_split", {}).items():
            assert stream_of(found[name]) == stream
        return
    for op in found.values():
        # The cases place types on engines that make no task of them; the counts are the case's anyway.
        op.attributes.pop("ge.engine", None)
    made = cut(case, module)
    check_split(case, module, made)
    finish(module, made)
    module.verify()
