"""What the emulator itself costs for each node that the host schedules, and how host execution's passes grow.

    python bench/host_overhead.py [--json FILE] [--nodes N] [--repeat N]

A chain of tiny nodes of unknown shape is compiled and run; the same numpy calls alone are timed in the same process.
The difference, divided by the nodes, is the overhead of one host-scheduled node: shapes inferred and checked, storage
taken and given back, clocks kept. The chain is run twice, as launches on the device and as calls on the host.

The growth of ge-host-exec and ge-partition-dynamic is that of chains of tenfold length, 1,000 to 100,000 nodes, as
nodes a second over those of the shortest: on a shape vector, where every node moves to the host, and on a vector of
known length, where all become one cluster.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ge_dialect import program
from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.collector import collector_paused
from ge_dialect.dialects.engine_table import ENGINES, HOST_CPU
from ge_dialect.dialects.ge.access import get_flag, graphs, nodes
from ge_dialect.dialects.ge.element_types import ir_element_type
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp, NetOutputOp, OpOp
from ge_dialect.dialects.ge.weights import elements_attr, ranked_tensor
from ge_dialect.formats.dtypes import dtype_by_name

KINDS = (("Add", np.add), ("Mul", np.multiply), ("Sub", np.subtract), ("Maximum", np.maximum))
LENGTH = 4
UNKNOWN = ranked_tensor(ir_element_type(dtype_by_name("FLOAT")), [-1] * LENGTH)


def chain(count: int, start: Literal["unknown", "shape", "known"] = "unknown") -> ModuleOp:
    """`count` nodes, each on the one before and a constant: on vectors of unknown length, on a shape, or on vectors of
    known length in a graph of unknown shape."""
    dtype = dtype_by_name("INT64" if start == "shape" else "FLOAT")
    kind = ranked_tensor(ir_element_type(dtype), [-1 if start == "unknown" else LENGTH])
    value = elements_attr(np.full(1, 0.5, dtype.numpy))
    graph = GraphOp("main", attributes={"ge.unknown_shape": UNIT})
    if start == "shape":
        data = DataOp.make((), (UNKNOWN,), {"index": i64(0)}, {"ge.name": string("data")})
        graph.block.add_op(data)
        properties: dict[str, Attribute] = {"type": string("Shape")}
        x: Operation = OpOp.make(data.results, (kind,), properties, {"ge.name": string("x")})
    else:
        x = DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})
    c = ConstantOp.make((), (value.type,), {"value": value}, {"ge.name": string("c")})
    graph.block.add_ops([x, c])
    last, other = x.results[0], c.results[0]
    for index in range(count):
        name, _ = KINDS[index % len(KINDS)]
        attributes: dict[str, Attribute] = {"ge.name": string(f"n{index}")}
        op = OpOp.make((last, other), (kind,), {"type": string(name)}, attributes)
        graph.block.add_op(op)
        last = op.results[0]
    graph.block.add_op(NetOutputOp.make((last,), (), {}, {"ge.name": string("out")}))
    return ModuleOp([graph])


def on_host(module: ModuleOp) -> None:
    """Give every computing node to the host CPU."""
    for op in nodes(graphs(module)[0]):
        if isinstance(op, OpOp):
            op.attributes["ge.engine"] = string(HOST_CPU)
            op.attributes["ge.kernel_lib"] = string(ENGINES[HOST_CPU].kernel_lib)


def median(run: Callable[[], Any], repeat: int) -> float:
    """Median seconds of `repeat` runs after one that is not counted."""
    run()
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def overhead(count: int, repeat: int, host: bool) -> dict[str, Any]:
    """Microseconds a node, of the emulator and of numpy alone."""
    module = chain(count)
    if host:
        on_host(module)
    loaded = program.Program(
        program.compile(module, pipeline="ge-assign-engines,convert-ge-to-ge-task").module
    )
    x = np.ones(LENGTH, np.float32)
    c = np.full(1, 0.5, np.float32)

    def numpy_alone() -> np.ndarray:
        value = x
        for index in range(count):
            value = KINDS[index % len(KINDS)][1](value, c)
        return value

    report = loaded.run({"x": x}).report
    assert (report.host_calls if host else report.launches) == count
    ours = median(lambda: loaded.run({"x": x}), repeat)
    numpy = median(numpy_alone, repeat)
    return {
        "steps": "host calls" if host else "launches",
        "nodes": count,
        "emulator_us": ours / count * 1e6,
        "numpy_us": numpy / count * 1e6,
        "overhead_us": (ours - numpy) / count * 1e6,
    }


def growth(count: int, start: Literal["shape", "known"]) -> dict[str, Any]:
    """Seconds of the passes on a chain, and how many nodes moved or were cut out. The cycle collector rests, as in
    `ge_dialect.compile`; the time is the processor's, so that neighbours do not count."""
    module = chain(count, start)
    ctx = program.context()
    row: dict[str, Any] = {"start": start, "nodes": count}
    with collector_paused():
        for each in program.make_passes("ge-assign-engines,ge-host-exec,ge-partition-dynamic"):
            begun = time.process_time()
            each.apply(ctx, module)
            row[each.name] = time.process_time() - begun
    found = graphs(module)
    row["moved"] = sum(get_flag(op, "ge.small_shape_host_cpu") for op in nodes(found[0]))
    row["clusters"] = len(found) - 1
    return row


def main() -> None:
    """The command line tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    found: dict[str, Any] = {"overhead": [], "growth": []}
    for host in (False, True):
        row = overhead(args.nodes, args.repeat, host)
        found["overhead"].append(row)
        print(
            f"{row['nodes']} {row['steps']}: emulator {row['emulator_us']:.1f} us, "
            f"numpy {row['numpy_us']:.1f} us, overhead {row['overhead_us']:.1f} us a node"
        )
    for start in ("shape", "known"):
        first: dict[str, float] = {}
        for count in (1_000, 10_000, 100_000):
            row = growth(count, start)
            for each in ("ge-host-exec", "ge-partition-dynamic"):
                rate = count / row[each]
                row[f"{each} rate of 1000"] = rate / first.setdefault(each, rate)
            found["growth"].append(row)
            print(
                ", ".join(
                    f"{k} {v:.3f}" if type(v) is float else f"{k} {v}" for k, v in row.items()
                )
            )
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
