"""Streams from whole graphs to split queues against the facts of streams.json (any file of that schema)."""

from __future__ import annotations

from typing import Any

import pytest
from stream_case_graphs import Json, nodes_by_name, stream_module, stream_of
from stream_expect import caught, check_logical, check_status, run
from stream_options import chain_of, options_of
from stream_sync import (
    check_events,
    check_model,
    check_split,
    cut,
    decide_huge,
    finish,
    model_of,
    place_builders,
    synchronize,
)
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.access import get_int, graphs


@pytest.mark.cases(levels=("static_pipeline",))
def test_pipeline(case: dict[str, Any]) -> None:
    expect = case["expect"]
    module = stream_module(case, default_stream=None)
    error = run(module, chain_of(case))
    if error is not None:
        check_status(expect, error)
        return
    found = nodes_by_name(module)
    if expect.get("status", "SUCCESS") == "SUCCESS":
        check_logical(expect, module, found)
    initial = {name: stream_of(op) for name, op in found.items()}
    error = caught(lambda: synchronize(case, module))
    if error is not None or "limits" not in case:
        if check_status(expect, error):
            check_model(case, module, initial)
        return
    if expect.get("status", "SUCCESS") == "SUCCESS":
        check_model(case, module, initial)
    check_status(expect, caught(lambda: split(case, module)))


def split(case: Json, module: ModuleOp) -> None:
    """Split queues by the case's task counts: the whole of spec 8."""
    # The cases place types on engines that make no task of them; the counts are the case's anyway.
    place_builders(module)
    huge: list[int] = []
    if options_of(case).mode == "single":
        main_streams = get_int(graphs(module)[0], "ge.main_stream_num") or 0
        huge = decide_huge(case, model_of(module), main_streams)
    if "huge_streams" in case["expect"]:
        assert huge == case["expect"]["huge_streams"]
    made = cut(case, module, huge=bool(huge), activate=True)
    finish(module, made)
    check_split(case, module, made)
    check_events(case["expect"], made.events)
    module.verify()
