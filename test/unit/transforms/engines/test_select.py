"""Engine choice against the facts of the reference (test/conformance/cases/host_execution.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ge_dialect.analysis import task_kinds
from ge_dialect.dialects.engine_table import ENGINES, HOST_CPU, scheduling
from ge_dialect.dialects.engine_types import (
    GE_LOCAL_GONE,
    GE_LOCAL_NO_TASK,
    RTS_TYPES,
    engines_of_type,
)
from ge_dialect.transforms.engines.select import (
    Candidate,
    Names,
    PlacementFailure,
    Policy,
    excluded_engines,
    host_cpu_candidate,
    select,
    stack_nodes_for_ge_local,
)

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "conformance" / "cases" / "host_execution.json").read_text()
)["cases"]


def of_kind(kind: str) -> list[Any]:
    return [
        pytest.param(case["input"], case["expect"], id=case["id"])
        for case in CASES
        if case["kind"] == kind
    ]


@pytest.mark.parametrize(("given", "expect"), of_kind("placement"))
def test_placement(given: dict[str, Any], expect: dict[str, Any]) -> None:
    attrs = given.get("attrs", {})
    op = given.get("op", {})
    names = Names(
        op.get("engine", ""),
        op.get("lib", ""),
        attrs.get("_lxfusion_engine_name", ""),
        attrs.get("_lxfusion_op_kernel_lib_name", ""),
        attrs.get("_specified_engine_name", ""),
        attrs.get("_specified_kernel_lib_name", ""),
    )
    if "type" in given:
        placement = select(given["type"], names, Policy())
    else:
        policy = Policy(support=lambda candidate: given["stores"].get(candidate.kernel_lib))
        if not expect["ok"]:
            with pytest.raises(PlacementFailure):
                select("T", names, policy, known=())
            return
        placement = select("T", names, policy, known=())
    found = placement.names
    assert found.engine == expect["engine"]
    assert found.kernel_lib == expect.get("lib", found.kernel_lib)
    if "attrs" in expect:
        assert found.attr_engine == expect["attrs"]["_lxfusion_engine_name"]
        assert found.attr_lib == expect["attrs"]["_lxfusion_op_kernel_lib_name"]


@pytest.mark.parametrize(("given", "expect"), of_kind("exclude"))
def test_exclude(given: dict[str, Any], expect: dict[str, Any]) -> None:
    excluded = excluded_engines(
        given.get("ge.engineType", ""), given.get("ge.exec.exclude_engines", "")
    )
    assert sorted(excluded) == expect["excluded"]


@pytest.mark.parametrize(("given", "expect"), of_kind("flags"))
def test_flags(given: dict[str, Any], expect: dict[str, Any]) -> None:
    row = scheduling(given["engine"])
    assert {key: getattr(row, key) for key in expect} == expect


@pytest.mark.parametrize(("given", "expect"), of_kind("host_exec_flag"))
def test_host_cpu_candidate(given: dict[str, Any], expect: dict[str, Any]) -> None:
    found = host_cpu_candidate(Candidate(*pair) for pair in given["candidates"])
    names = ("", "") if found is None else (found.engine, found.kernel_lib)
    assert names == (expect["engine"], expect["lib"])


@pytest.mark.parametrize(("given", "expect"), of_kind("reassign_stack"))
def test_stack_operators(given: dict[str, Any], expect: dict[str, Any]) -> None:
    nodes = [tuple(item) for item in given["ops"]]
    assert sorted(stack_nodes_for_ge_local(nodes, given)) == expect["ge_local"]


def test_every_kind_of_fact_is_here() -> None:
    for kind in ("placement", "exclude", "flags", "host_exec_flag", "reassign_stack"):
        assert of_kind(kind), kind


def test_the_only_attribute_is_filled_from_the_op() -> None:
    found = select("T", Names("E", "K"), Policy()).names
    assert (found.attr_engine, found.attr_lib) == ("E", "K")


def test_conflicting_names_are_warned_about() -> None:
    assert select("T", Names("E", "K", "F", "L"), Policy()).warning is not None
    assert select("T", Names("E", "K", "E", "K"), Policy()).warning is None


def test_a_missing_store_stops_the_search() -> None:
    known = (Candidate("A", "a"), Candidate("B", "b"))
    with pytest.raises(PlacementFailure, match="no store 'a'"):
        select("T", Names(), Policy(support=lambda c: True if c.kernel_lib == "b" else None), known)
    refused = Policy(support=lambda c: c.kernel_lib == "b")
    assert select("T", Names(), refused, known).names.engine == "B"


def test_exclusion_does_not_apply_to_the_specified_pair() -> None:
    names = Names(specified_engine="VectorEngine", specified_lib="VectorEngine")
    assert select("Relu", names, Policy()).names.engine == "VectorEngine"


def test_host_flag_leaves_inputs_and_outputs_alone() -> None:
    policy = Policy(host_exec=True)
    assert select("NetOutput", Names(), policy).names.engine == "DNN_VM_RTS"
    assert select("Data", Names(), policy).names.engine == "DNN_VM_GE_LOCAL"
    chosen = select("Pack", Names(), policy).names
    assert (chosen.engine, chosen.attr_engine) == (HOST_CPU, "")


def test_candidates_are_in_order_of_cost() -> None:
    assert engines_of_type("Minimum") == (
        "AIcoreEngine", "VectorEngine", "DNN_VM_AICPU_ASCEND", "DNN_VM_AICPU",
    )  # fmt: skip
    assert engines_of_type("ReadVariableOp") == ("DNN_VM_RTS", "DNN_VM_GE_LOCAL")


def test_the_table_is_complete() -> None:
    assert len(ENGINES) == 15
    assert {row.cost for row in ENGINES.values()} == {0, 1, 2, 3, 4, 5, 9, 10}
    assert [name for name, row in ENGINES.items() if not row.atomic] == ["ffts_plus"]
    assert [name for name, row in ENGINES.items() if row.independent] == ["DNN_HCCL"]
    assert not GE_LOCAL_NO_TASK & RTS_TYPES


def test_placement_and_task_generation_know_the_same_types() -> None:
    assert GE_LOCAL_NO_TASK == task_kinds.GE_LOCAL_NO_TASK
    assert GE_LOCAL_GONE == task_kinds.GE_LOCAL_GONE
    assert set(task_kinds.RTS_RULES) == RTS_TYPES
