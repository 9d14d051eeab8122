"""What a case of no_task.json asserts, kind by kind."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from case_graphs import ge_dtype, ge_value, no_task_module, node_of
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge.access import graph_of, node_name, slot_attrs
from ge_dialect.formats.axis_maps import aligned_shape, transfer_dims
from ge_dialect.formats.cube import NO_PLATFORM
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.transforms.no_task.dim_checks import RealDim, dim_alignment, real_dim
from ge_dialect.transforms.no_task.ge_concat_no_task import GeConcatNoTask
from ge_dialect.transforms.no_task.ge_pack_no_task import GePackNoTask
from ge_dialect.transforms.no_task.ge_split_no_task import GeSplitNoTask
from ge_dialect.transforms.no_task.input_checks import is_aligned

Case = dict[str, Any]

PASSES: MappingProxyType[str, ModulePass] = MappingProxyType(
    {
        "concat": GeConcatNoTask(cube="none"),
        "pack": GePackNoTask(cube="none"),
        "split_c_to_n": GeSplitNoTask(rules="c-to-n"),
        "split_n_axis": GeSplitNoTask(rules="n-axis"),
    }
)
_LOCKS = {
    "can_reused_for_concat_optimize": "concat_reusable",
    "can_reused_for_pack_optimize": "pack_reusable",
}


def check_pass(case: Case) -> None:
    """Kinds `concat`, `pack` and `split_*`: the marks, the reason, the locks."""
    expect = case["expect"]
    module = no_task_module(case["graph"], case.get("format_c0_field"))
    module.verify()
    with collect_remarks() as collector:
        PASSES[case["kind"]].apply(Context(), module)
    target = node_of(module, case["target"])
    assert bool(ge_value(target, "_no_task")) is expect["no_task"]
    for name, value in expect.get("attrs", {}).items():
        assert ge_value(target, name) == value
    graph = graph_of(target).sym_name.data
    told = [
        remark
        for remark in collector.remarks
        if (remark.args["graph"], remark.args["node"]) == (graph, node_name(target))
    ]
    if expect["no_task"]:
        assert [remark.kind for remark in told][-1:] == ["passed"]
    elif "reason" in expect:
        assert [remark.args.get("reason") for remark in told] == [expect["reason"]]
    lock = _LOCKS[case.get("lock_attr", "can_reused_for_concat_optimize")]
    for place, unlocked in expect.get("locks", {}).items():
        name, _, output = place.rpartition(":")
        value = slot_attrs(node_of(module, name), "res", int(output)).data.get(lock)
        free = not (isinstance(value, IntegerAttr) and value.value.data == 0)
        assert free is unlocked, place


def check_real_dim(case: Case) -> None:
    """Kind `real_dim`."""
    given = case["input"]
    view = RealDim(
        given["aligned"], given["src"], given["storage"], given["s2d"], given["d2s"], given["dim"]
    )
    assert (real_dim(view)[0] is None) is case["expect"]["ok"]


def check_dim_alignment(case: Case) -> None:
    """Kind `dim_alignment`."""
    given = case["input"]
    holds, _ = dim_alignment(given["aligned"], given["origin"], given["dim"])
    assert holds is case["expect"]["ok"]


def check_tensor_align(case: Case) -> None:
    """Kind `tensor_align`."""
    given = case["input"]
    dtype = dtype_by_name(ge_dtype(given["dtype"]))
    holds = is_aligned(given["input_anchor_count"], tuple(given["shape"]), dtype)
    assert holds is case["expect"]["ok"]


def check_format_map(case: Case) -> None:
    """Kind `format_map`."""
    given, expect = case["input"], case["expect"]
    origin, storage, shape = given["origin_format"], given["format"], given["origin_shape"]
    mask = given.get("reshape_type_mask", 0)
    cube = NO_PLATFORM.of(dtype_by_name(ge_dtype(given["dtype"])))
    aligned = aligned_shape(origin, storage, shape, cube, mask)
    maps = transfer_dims(origin, storage, shape, mask)
    assert (aligned is not None and maps is not None) is expect["supported"]
    if aligned is not None and maps is not None:
        assert list(aligned) == expect["aligned"]
        assert [list(axes) for axes in maps[0]] == expect["s2d"]
        assert [list(axes) for axes in maps[1]] == expect["d2s"]
