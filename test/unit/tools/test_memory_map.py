"""Pictures of memory plans."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ge_dialect import program
from ge_dialect.analysis.packing import check_plan
from ge_dialect.analysis.packing.csv_format import read_table
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.ge_opt import main as ge_opt
from ge_dialect.tools.ge_plan import main as ge_plan
from ge_dialect.tools.memory_map import (
    MapBuffer,
    MemoryMap,
    Role,
    html_text,
    map_csv_text,
    map_of_graph,
    maps_of_module,
    svg_text,
    write_memory_maps,
)
from ge_dialect.tools.memory_map.model import bytes_text, ticks

HOSTILE = "x</script><b>&\"'@DATA@\x00"
MAP = MemoryMap(
    "a <b> @DATA@",
    [
        MapBuffer(HOSTILE, 0, 4, 64, 0, "Relu", Role.FEATURE),
        MapBuffer("y & z", 2, 6, 32, 64, "<Add>", Role.FEATURE),
        MapBuffer("in", 0, 1, 16, 96, "Data", Role.INPUT),
    ],
    96,
    90,
    "max live",
    "node",
    top=112,
)


def page_data(page: str) -> Any:
    found = re.search(r"const data = (.*);\n", page)
    assert found is not None
    return json.loads(found[1])


def boxes_of(svg: str) -> list[ElementTree.Element]:
    """The buffers of a picture: boxes with a tool tip."""
    root = ElementTree.fromstring(svg)
    return [box for box in root.iter() if box.tag.endswith("rect") and len(box)]


def test_page_holds_the_data_and_nothing_foreign() -> None:
    page = html_text([MAP])
    (shown,) = page_data(page)["maps"]
    assert [box[:4] for box in shown["boxes"]] == [[0, 4, 0, 64], [2, 6, 64, 32], [0, 1, 96, 16]]
    assert shown["names"] == [HOSTILE, "y & z", "in"]
    assert [shown["types"][box[4]] for box in shown["boxes"]] == ["Relu", "<Add>", "Data"]
    assert [shown["roles"][box[5]] for box in shown["boxes"]][-1] == "model input"
    assert (shown["peak"], shown["bound"], shown["height"]) == (96, 90, 112)
    assert shown["axis"] == "node index, in order of issue"
    assert page.count("</script>") == 1
    assert "<title>a &lt;b&gt; @DATA@, memory hbm</title>" in page
    assert "http" not in page


def test_bytes_in_use_leave_out_inputs_and_outputs() -> None:
    assert MAP.live() == [(0, 64), (2, 96), (4, 32), (6, 0)]


def test_the_peak_is_marked_and_explained() -> None:
    assert MAP.busiest() == (2, 4, 96)
    assert [buffer.name for buffer in MAP.at_peak()] == [HOSTILE, "y & z"]
    (shown,) = page_data(html_text([MAP]))["maps"]
    assert (shown["busiest"], shown["tight"]) == ([2, 4, 96], [0, 1])
    assert shown["peakText"] == f"most in use from node 2 to 3: 96 B = {HOSTILE} 64 B, y & z 32 B"
    told = "".join(ElementTree.fromstring(svg_text(MAP)).itertext())
    assert "most in use from node 2 to 3: 96 B = x" in told
    assert svg_text(MAP).count('class="m1"') == 1


def test_nothing_in_use_has_no_peak_to_explain() -> None:
    empty = MemoryMap("m", [MapBuffer("in", 0, 1, 16, 0, "Data", Role.INPUT)], 0, 0, "", top=16)
    assert (empty.busiest(), empty.at_peak()) == (None, [])
    text = svg_text(empty)
    assert 'class="m1"' not in text
    assert "lower bound" not in text
    (shown,) = page_data(html_text([empty]))["maps"]
    assert (shown["busiest"], shown["tight"], shown["peakText"]) == (None, [], "")


def test_a_peak_that_is_the_bound_is_said_once() -> None:
    tight = MemoryMap("m", [MapBuffer("a", 0, 2, 4096, 0)], 4096, 4096, "max live")
    told = "".join(ElementTree.fromstring(svg_text(tight)).itertext())
    assert told.count("lower bound") == 2  # in the summary, and at the line
    assert "peak 4 KiB = lower bound" in told


def test_names_stand_in_buffers_with_room_for_them() -> None:
    wide = MapBuffer("model/layer/with/a/long/name/" * 9, 0, 50, 4096, 0)
    flat = MapBuffer("flat", 0, 100, 8, 4096)
    narrow = MapBuffer("narrow", 50, 51, 4096, 0)
    long = MapBuffer("long", 51, 100, 4096, 0)
    text = svg_text(MemoryMap("m", [wide, flat, narrow, long], 4104, 0, ""))
    names = re.findall(r'<text class="n"[^>]*>([^<]*)</text>', text)
    assert len(names) == 2
    assert names[0].startswith("model/layer")
    assert "\N{HORIZONTAL ELLIPSIS}" in names[0]
    assert len(names[0]) < 100
    assert names[1] == "long"


def test_still_is_well_formed_and_to_scale() -> None:
    text = svg_text(MAP)
    first, second, _ = boxes_of(text)
    assert float(first.attrib["height"]) == pytest.approx(2 * float(second.attrib["height"]), 0.01)
    assert float(first.attrib["width"]) == pytest.approx(float(second.attrib["width"]), 0.01)
    assert float(second.attrib["y"]) + float(second.attrib["height"]) == pytest.approx(
        float(first.attrib["y"]), abs=0.02
    )
    told = "".join(ElementTree.fromstring(text).itertext())
    assert "y & z (<Add>): 32 bytes (32 B) at 64, in use [2, 6), intermediate" in told
    assert "x</script><b>&\"'@DATA@\N{REPLACEMENT CHARACTER} (Relu): 64 bytes" in told
    assert "peak 96 B" in told
    assert "lower bound 90 B" in told
    assert "node index, in order of issue" in told


def test_axes_have_units() -> None:
    large = MemoryMap("m", [MapBuffer("b", 0, 10, 9 << 20, 0)], 9 << 20, 0, "")
    told = "".join(ElementTree.fromstring(svg_text(large)).itertext())
    assert all(f"\n{size}\n" in told for size in ("0 B", "2 MiB", "4 MiB", "6 MiB", "8 MiB"))
    assert bytes_text(1536) == "1.5 KiB"


@pytest.mark.parametrize(("high", "factor"), [(1, 1), (7, 1), (1000, 1), (9 << 20, 1 << 20)])
def test_ticks_are_few_and_round(high: int, factor: int) -> None:
    found = ticks(0, high, factor)
    assert found[0] == 0
    assert 2 <= len(found) <= 9
    assert all(at % factor == 0 for at in found)
    assert ticks(3, 3) == [3]


def test_table_is_what_ge_plan_reads() -> None:
    twice = MemoryMap("t", [MapBuffer("a", 0, 1, 64, 0), MapBuffer("a", 1, 2, 64, 0)], 64, 64, "")
    table = read_table(map_csv_text(twice), "m.csv")
    assert (table.ids, table.sizes) == (["a", "a #2"], [64, 64])


@pytest.mark.parametrize("suffix", ["html", "svg", "csv"])
def test_suffix_chooses(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map.{suffix}"
    assert write_memory_maps(str(path), [MAP]) == [str(path)]
    assert path.read_text().startswith({"html": "<!doctype", "svg": "<svg", "csv": "id,"}[suffix])


def test_several_maps(tmp_path: Path) -> None:
    other = MemoryMap("b/../c", MAP.buffers, 96, 90, "max live", space="p2p_ddr")
    page = write_memory_maps(str(tmp_path / "m.html"), [MAP, other])
    assert len(page_data(Path(page[0]).read_text())["maps"]) == 2
    pictures = write_memory_maps(str(tmp_path / "m.svg"), [MAP, other])
    assert [Path(each).name for each in pictures] == [
        "m.a__b___DATA_.hbm.svg",
        "m.b____c.p2p_ddr.svg",
    ]


def test_light_enough_for_ten_thousand_buffers() -> None:
    buffers = [MapBuffer(f"node_{i}:0", i, i + 3, 512, i % 4 * 512, "Relu") for i in range(10_000)]
    large = MemoryMap("m", buffers, 2048, 2048, "max live")
    assert len(html_text([large])) < 700_000
    assert len(svg_text(large)) < 2_500_000


GRAPH = """
"ge.graph"() <{sym_name = "g"}> ({
  %x = "ge.data"() <{index = 0 : i64}> {ge.name = "x"} : () -> tensor<64xf32>
  %a = "ge.op"(%x) <{type = "Own"}> {ge.name = "a"} : (tensor<64xf32>) -> tensor<64xf32>
  %b = "ge.op"(%a) <{type = "Relu"}> {ge.name = "b"} : (tensor<64xf32>) -> tensor<64xf32>
  %c = "ge.op"(%b, %b) <{type = "Own"}> {ge.name = "c", ge.workspace_bytes = array<i64: 64>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  "ge.net_output"(%c) {ge.name = "out"} : (tensor<64xf32>) -> ()
}) : () -> ()
"""
PLAN = "ge-assign-engines,ge-topo-sort,ge-assign-streams,ge-plan-memory"
OPTIONS = ["--semantics=off"]


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "g.mlir"
    path.write_text(GRAPH)
    return str(path)


def test_map_of_a_planned_graph(source: str) -> None:
    module = program.load(source)
    graph = graphs(module)[0]
    with pytest.raises(GeError, match='graph "g" has no memory plan: run ge-plan-memory'):
        maps_of_module(module)
    ctx = program.context()
    for each in program.make_passes(PLAN):
        each.apply(ctx, module)
    found = map_of_graph(graph)
    rows = {
        (buffer.name, buffer.type, buffer.role, buffer.start, buffer.end)
        for buffer in found.buffers
    }
    assert rows == {
        ("x:0", "Data", Role.INPUT, 0, 2),
        ("a:0 and 1 written over it", "Own", Role.FEATURE, 1, 4),
        ("c:0", "Own", Role.OUTPUT, 3, 5),
        ("c workspace 0", "Own", Role.WORKSPACE, 3, 4),
    }
    assert found.peak == found.bound == sum(x.size for x in found.buffers if x.end == 4)
    table = read_table(map_csv_text(found), "m.csv")
    assert check_plan(table.problem(), [buffer.offset for buffer in found.buffers]) == []


@pytest.mark.parametrize("last", ["", ",convert-ge-to-ge-task"])
def test_ge_opt_draws(tmp_path: Path, source: str, last: str) -> None:
    for suffix in ("html", "svg", "csv"):
        path = tmp_path / f"m.{suffix}"
        arguments = [source, "-p", PLAN + last, "--memory-map", str(path), "-o", "/dev/null"]
        assert ge_opt([*arguments, *OPTIONS]) == 0
        text = path.read_text()
        if suffix == "html":
            names = page_data(text)["maps"][0]["names"]
        elif suffix == "svg":
            assert len(boxes_of(text)) == 4
            continue
        else:
            names = read_table(text, "m.csv").ids
        assert {"c:0", "a:0 and 1 written over it", "c workspace 0"} <= set(names)
    assert ge_plan([str(tmp_path / "m.csv"), "-o", str(tmp_path / "p.csv")]) == 0


def test_members_of_a_run_are_their_own_pieces(tmp_path: Path) -> None:
    source, path = tmp_path / "c.mlir", tmp_path / "c.csv"
    source.write_text(
        """
        ge.graph @c {
          %x = ge.data index 0 {ge.name = "x"} : tensor<64x64xf32>
          %a = ge.op "Own" (%x) {ge.name = "a"} : tensor<64x64xf32>
          %b = ge.op "Own" (%x) {ge.name = "b"} : tensor<64x64xf32>
          %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<128x64xf32>
          %d = ge.op "Own" (%c) {ge.name = "d"} : tensor<64x64xf32>
          ge.net_output (%d) {ge.name = "out"}
        }
        """
    )
    for last, end in (("{until=ge-plan-memory}", 5), ("", 4)):
        arguments = [str(source), "-p", f"ge-pipeline{last}", "--memory-map", str(path)]
        assert ge_opt([*arguments, "-o", "/dev/null", "--semantics=off"]) == 0
        table = read_table(path.read_text(), "c.csv")
        ends = {name: upper for name, upper in zip(table.ids, table.upper, strict=True)}
        assert ends["a:0"] == ends["b:0"] == end
        assert "c:0" not in ends


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory-map", "m.png"], "a memory map is written as .html, .svg or .csv, not '.png'"),
        (["--memory-map", "m.svg"], 'g.mlir:2:1: error: graph "g" has no memory plan'),
        (["--memory-map", "none/m.svg", "-p", PLAN], "none/m.svg"),
        (["--memory-map", "o.csv", "-p", PLAN], "-o and --memory-map are the same file"),
    ],
)
def test_errors_leave_nothing_behind(
    tmp_path: Path,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ge_opt(["g.mlir", "-o", "o.csv", *OPTIONS, *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["g.mlir"]


def test_a_host_program_has_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "h.mlir"
    source.write_text(
        'ge.graph @h {\n  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>\n'
        '  %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<?xf32>\n  ge.net_output (%y) {ge.name = "o"}\n}\n'
    )
    path = tmp_path / "m.svg"
    assert ge_opt([str(source), "-p", "ge-pipeline", "--memory-map", str(path)]) == 1
    assert "@h has no memory plan: its memory is taken at run time" in capsys.readouterr().err
