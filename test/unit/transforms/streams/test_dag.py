from __future__ import annotations

import random
from pathlib import Path

import pytest
from stream_ir import apply, graph_of, streams_of

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.streams.dag.allocate import allocate
from ge_dialect.transforms.streams.dag.problem import Dag, DagNode, Residual
from ge_dialect.transforms.streams.dag.profile import measured, read_profile
from ge_dialect.transforms.streams.ge_stream_auto import GeStreamAuto

STRATEGIES = ("LoadBalance", "MainStream", "WeightedLoadBalance")


def _random(seed: int) -> Dag:
    pick = random.Random(seed)
    count = pick.randint(0, 40)
    nodes = [
        DagNode(pick.choice(["", "", "", "l", "m"]), pick.choice([-1.0, -1.0, 0.0, 2.5]))
        for _ in range(count)
    ]
    successors: list[list[int]] = [
        [b for b in range(a + 1, min(count, a + 8)) if pick.random() < 0.3] for a in range(count)
    ]
    return Dag(nodes, successors)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(60))
def test_limits_and_labels(strategy: str, seed: int) -> None:
    dag = _random(seed)
    limit = seed % 5
    found = allocate(dag, strategy, limit, base=10)
    labels = {node.serial for node in dag.nodes} - {""}
    of_label: dict[str, int] = {}
    free: set[int] = set()
    for node, stream in zip(dag.nodes, found.streams, strict=True):
        if node.serial:
            assert of_label.setdefault(node.serial, stream) == stream
        elif node.time == 0.0:
            assert stream == -1
        else:
            free.add(stream)
    assert len(free) <= limit + 1
    assert free | set(of_label.values()) == set(range(10, 10 + found.count))
    assert len(set(of_label.values())) == len(labels)


def test_without_limit_there_are_eight() -> None:
    dag = Dag([DagNode()] * 50, [[]] * 50)
    assert allocate(dag, "LoadBalance").count == 8


def test_load_is_balanced() -> None:
    dag = Dag([DagNode()] * 40, [[]] * 40)
    streams = allocate(dag, "LoadBalance", 3).streams
    assert sorted(streams.count(stream) for stream in range(4)) == [10, 10, 10, 10]


def test_what_runs_alone_is_on_the_first_stream() -> None:
    # Four chains of three nodes side by side, one of them longer: its end is alone on its level.
    dag = Dag([DagNode()] * 13, [[] if n in (2, 5, 8, 12) else [n + 1] for n in range(13)])
    streams = allocate(dag, "MainStream", 7).streams
    assert len(set(streams)) == 4
    assert streams[9:] == [0, 0, 0, 0]


def test_measured_times_are_balanced() -> None:
    # One node as long as the three others together.
    dag = Dag([DagNode(time=9.0), *[DagNode(time=3.0)] * 3], [[]] * 4)
    streams = allocate(dag, "WeightedLoadBalance", 1).streams
    assert streams[1] == streams[2] == streams[3] != streams[0]


def test_edges_bridge_over_what_takes_no_time() -> None:
    dag = Dag(
        [DagNode(), DagNode(time=0.0), DagNode("l"), DagNode(), DagNode()],
        [[1, 2], [3], [3, 4], [], []],
    )
    residual = Residual.of(dag)
    assert residual.nodes == [0, 3, 4]
    assert residual.successors == [[1, 2], [], []]
    assert residual.levels == [0, 1, 1]


def test_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.csv"
    path.write_text("name,time_us,cube,vector\nblock/mul,2.5,4,\nadd,1,,8\n")
    rows = read_profile(str(path))
    assert measured(rows, "block/mul") == rows["block/mul"]
    assert measured(rows, "deep/er/add") == rows["add"]
    assert measured(rows, "deep/mul") is None
    assert (rows["add"].time, rows["add"].cores) == (1.0, 8)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,cube\na,1\n", "no column 'time_us'"),
        ("name,time_us\na,fast\n", "not a row of a profile"),
    ],
)
def test_bad_profile(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "profile.csv"
    path.write_text(text)
    with pytest.raises(GeError, match=problem):
        read_profile(str(path))
    with pytest.raises(GeError, match="cannot read the profile"):
        read_profile(str(tmp_path / "none.csv"))


def test_a_profile_that_knows_a_node_changes_the_strategy(tmp_path: Path) -> None:
    path = tmp_path / "profile.csv"
    path.write_text("name,time_us\nn0,9\nn1,3\nn2,3\nn3,3\n")
    module = graph_of([[]] * 4, [0] * 4)
    graphs(module)[0].attributes["ge.stream_num"] = i64(1)
    apply(module, GeStreamAuto("LoadBalance:2", str(path)))
    first, *others = streams_of(module)
    assert len(set(others)) == 1
    assert first not in others
