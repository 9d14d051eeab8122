"""Pictures of memory plans."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ge_dialect import program
from ge_dialect.analysis.packing import check_plan
from ge_dialect.analysis.packing.csv_format import read_table
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.memory_map import (
    MapBuffer,
    MemoryMap,
    html_text,
    map_csv_text,
    map_of_graph,
    svg_text,
    write_memory_map,
)

MAP = MemoryMap(
    "a <b>",
    [MapBuffer("x</script>", 0, 4, 64, 0), MapBuffer("y & z", 2, 6, 32, 64)],
    96,
    90,
    "max live",
)


def test_page_holds_the_data_and_nothing_foreign() -> None:
    page = html_text(MAP)
    found = re.search(r"const data = (.*);\n", page)
    assert found is not None
    data = json.loads(found[1])
    assert data["boxes"] == [[0, 4, 0, 64], [2, 6, 64, 32]]
    assert data["names"] == ["x</script>", "y & z"]
    assert (data["peak"], data["bound"]) == (96, 90)
    assert page.count("</script>") == 1
    assert "<title>a &lt;b&gt;</title>" in page
    assert "http" not in page


def test_still_is_well_formed_and_to_scale() -> None:
    root = ElementTree.fromstring(svg_text(MAP))
    boxes = [box for box in root.iter() if box.tag.endswith("rect")]
    assert len(boxes) == 2
    first, second = boxes
    assert float(first.attrib["height"]) == pytest.approx(2 * float(second.attrib["height"]), 0.01)
    assert float(second.attrib["y"]) + float(second.attrib["height"]) == pytest.approx(
        float(first.attrib["y"]), abs=0.02
    )
    assert "y & z: 32 bytes at 64, [2, 6)" in "".join(root.itertext())
    assert "peak 96" in svg_text(MAP)
    assert "bound 90" in svg_text(MAP)


def test_table_is_what_ge_plan_reads() -> None:
    table = read_table(map_csv_text(MAP), "m.csv")
    assert (table.ids, table.sizes) == (["x</script>", "y & z"], [64, 32])


@pytest.mark.parametrize("suffix", ["html", "svg", "csv"])
def test_suffix_chooses(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map.{suffix}"
    write_memory_map(str(path), MAP)
    assert path.read_text().startswith({"html": "<!doctype", "svg": "<svg", "csv": "id,"}[suffix])


def test_light_enough_for_ten_thousand_buffers() -> None:
    buffers = [MapBuffer(f"node_{i}:0", i, i + 3, 512, i % 4 * 512) for i in range(10_000)]
    large = MemoryMap("m", buffers, 2048, 2048, "max live")
    assert len(html_text(large)) < 500_000
    assert len(svg_text(large)) < 3_000_000


GRAPH = """
"ge.graph"() <{sym_name = "g"}> ({
  %x = "ge.data"() <{index = 0 : i64}> {ge.name = "x"} : () -> tensor<64xf32>
  %a = "ge.op"(%x) <{type = "Relu"}> {ge.name = "a"} : (tensor<64xf32>) -> tensor<64xf32>
  %b = "ge.op"(%a) <{type = "Relu"}> {ge.name = "b"} : (tensor<64xf32>) -> tensor<64xf32>
  %c = "ge.op"(%b) <{type = "Relu"}> {ge.name = "c"} : (tensor<64xf32>) -> tensor<64xf32>
  "ge.net_output"(%c) {ge.name = "out"} : (tensor<64xf32>) -> ()
}) : () -> ()
"""


def test_map_of_a_planned_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    path.write_text(GRAPH)
    module = program.load(str(path))
    graph = next(op for op in module.body.block.ops if isinstance(op, GraphOp))
    with pytest.raises(GeError, match='graph "g" has no memory plan for hbm'):
        map_of_graph(graph)
    ctx = program.context()
    for each in program.make_passes(
        "ge-assign-engines,ge-topo-sort,ge-assign-streams,ge-plan-memory"
    ):
        each.apply(ctx, module)
    found = map_of_graph(graph)
    assert {buffer.name for buffer in found.buffers} >= {"a:0", "b:0"}
    table = read_table(map_csv_text(found), "m.csv")
    assert check_plan(table.problem(), [buffer.offset for buffer in found.buffers]) == []
