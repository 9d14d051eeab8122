"""Engine choice beyond the facts of the reference, which test/conformance/test_host_execution.py holds."""

from __future__ import annotations

import pytest

from ge_dialect.analysis import task_kinds
from ge_dialect.dialects.engine_table import ENGINES, HOST_CPU
from ge_dialect.dialects.engine_types import (
    GE_LOCAL_GONE,
    GE_LOCAL_NO_TASK,
    RTS_TYPES,
    engines_of_type,
)
from ge_dialect.transforms.engines.select import (
    DYNAMIC_SHAPE_UNSUPPORTED,
    Candidate,
    Names,
    PlacementFailure,
    Policy,
    select,
)


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
        "AIcoreEngine", "VectorEngine", "DNN_VM_AICPU_ASCEND", "DNN_VM_AICPU", "DNN_VM_HOST_CPU",
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


def test_a_store_for_known_shapes_only_stops_the_search() -> None:
    known = (Candidate("A", "a"), Candidate("B", "b"))
    policy = Policy(support=lambda c: True if c.kernel_lib == "b" else DYNAMIC_SHAPE_UNSUPPORTED)
    with pytest.raises(PlacementFailure, match="'a' takes the type in known shapes only"):
        select("T", Names(), policy, known)


def test_host_flag_leaves_no_other_call_or_constant_alone() -> None:
    policy = Policy(host_exec=True)
    assert select("PartitionedCall", Names(), policy).names.engine == "DNN_VM_GE_LOCAL"
    for kind in ("StatefulPartitionedCall", "ConstPlaceHolder"):
        with pytest.raises(PlacementFailure, match="host CPU does not know"):
            select(kind, Names(), policy)
