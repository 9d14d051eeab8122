"""Reading and writing packing problems as CSV."""

from __future__ import annotations

import numpy as np
import pytest

from ge_dialect.analysis.packing import PackingError
from ge_dialect.analysis.packing.csv_format import plan_text, read_table

TEXT = 'size,id,lower,upper,alignment,note,offset,fixed\n5,a,0,3,4,"x, y",9,\n2,b,1,2,,,,12\n'


def test_columns_in_any_order_others_are_copied() -> None:
    table = read_table(TEXT, "f.csv")
    assert (table.ids, table.lower, table.upper, table.sizes) == (
        ["a", "b"],
        [0, 1],
        [3, 2],
        [5, 2],
    )
    assert (table.alignments, table.fixed) == ([4, 1], {1: 12})
    assert plan_text(table, np.array([8, 12])) == (
        'size,id,lower,upper,alignment,note,fixed,offset\n5,a,0,3,4,"x, y",,8\n2,b,1,2,,,12,12\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv:1: no column id: the first line should be id,lower,upper,size"),
        ("id,lower,upper\n", "f.csv:1: no column size"),
        ("id,lower,upper,size\na,0,1\n", "f.csv:2: 3 fields in 4 columns"),
        ("id,lower,upper,size\na,0,1,2\n\nb,0,x,2\n", "f.csv:4: upper 'x' is not a whole number"),
        ("id,lower,upper,size\na,3,1,2\n", "f.csv:2: upper 1 is before lower 3"),
        ("id,lower,upper,size\na,0,1,-2\n", "f.csv:2: size -2 is negative"),
        ("id,lower,upper,size\na,0,1,99999999999999999999\n", "f.csv:2: size 9+ is out of range"),
        ("id,lower,upper,size,alignment\na,0,1,2,0\n", "f.csv:2: alignment 0 is not positive"),
        ('id,lower,upper,size\n"a,0,1,2\n', "f.csv:2: "),
        ("id,lower,upper,size\na,0,1,1_0\n", "f.csv:2: size '1_0' is not a whole number"),
        ("id,lower,upper,size,size\na,0,1,1,2\n", "f.csv:1: two columns are called size"),
        ("id,lower,upper,size,fixed\na,0,1,1,-7\n", "f.csv:2: the fixed address -7 is negative"),
        (
            "id,lower,upper,size,alignment,fixed\na,0,1,1,4,6\n",
            "f.csv:2: the fixed address 6 is no multiple of 4",
        ),
    ],
)
def test_faults_have_a_place(text: str, message: str) -> None:
    with pytest.raises(PackingError, match=message):
        read_table(text, "f.csv")


def test_sizes_whose_sum_leaves_64_bits_are_refused() -> None:
    large = (1 << 62) - 1
    rows = "".join(f"b{k},0,1,{large}\n" for k in range(5))
    table = read_table(f"id,lower,upper,size\n{rows}", "f.csv")
    with pytest.raises(
        PackingError, match=f"f.csv: the buffers have {5 * large + 5} bytes together"
    ):
        table.problem()


def test_empty_file_with_header() -> None:
    table = read_table("id,lower,upper,size\n", "f.csv")
    assert table.problem().count == 0
    assert plan_text(table, np.zeros(0, dtype=np.int64)) == "id,lower,upper,size,offset\n"
