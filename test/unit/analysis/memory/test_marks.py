"""GE's memory attributes of a node, from either home."""

from __future__ import annotations

import pytest
from run_graphs import op_named, parsed

from ge_dialect.analysis.memory.marks import (
    MEMORY_TYPES,
    NO_MARKS,
    Marks,
    highest_type,
    is_outside,
    is_special,
    marks_of,
)

TEXT = """
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<2xf32>
  %y = ge.op "Foo" (%x) attrs {{{attrs}}} {{ge.name = "y"{marks}}} : tensor<2xf32>
}}
"""


def marks(attrs: str = "", more: str = "") -> Marks:
    return marks_of(op_named(parsed(TEXT.format(attrs=attrs, marks=more)), "y"))


def test_a_plain_node_has_the_shared_empty_marks() -> None:
    assert marks("keep_dims = true") is NO_MARKS


@pytest.mark.parametrize("name", ["_no_padding_continuous_input", "_nopadding_continuous_input"])
def test_both_spellings_of_the_source_count(name: str) -> None:
    assert marks(f"{name} = true").no_padding_input
    assert not marks(f"{name} = false").no_padding_input


def test_marks_of_passes_count_and_win() -> None:
    assert marks("", ", ge.no_task").no_task
    assert (
        marks("_reuse_input_on_dim_index = 3", ", ge.reuse_input_on_dim_index = 1").dim_index == 1
    )


def test_lists_are_none_where_they_are_not_there() -> None:
    assert marks("continuous_input = true").fusion_strides is None
    assert marks("_output_offset_for_buffer_fusion = array<i64: 7, 9>").fusion_strides == (7, 9)
    assert marks("_output_offset_list_for_continuous = array<i64>").output_list == ()


def test_memory_types_by_name_and_number() -> None:
    assert marks('_output_memory_type = ["HBM", "L1"]').output_types == (2, 1 << 16)
    assert marks("_input_memory_type = array<i64: 17>").input_types == (0x11,)


def test_a_pool_needs_both_of_its_attributes() -> None:
    assert not marks("_buffer_pool_id = 1").in_buffer_pool
    assert marks("_buffer_pool_id = 1, _buffer_pool_size = 512").in_buffer_pool


def test_kinds_of_memory() -> None:
    special = {name for name, number in MEMORY_TYPES.items() if is_special(number)}
    assert special == set(MEMORY_TYPES) - {"DEFAULT", "HBM", "DDR"}
    assert {name for name, number in MEMORY_TYPES.items() if is_outside(number)} == {"UB", "L1"}
    assert highest_type([]) == 2
    assert highest_type([0x11, 0x81, 2]) == 0x81
