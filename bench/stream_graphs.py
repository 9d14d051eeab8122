"""Generated graphs for stream assignment, of any size: what trained networks look like, and shapes made to hurt.

A graph is a list of `Made` nodes in topological order. All generators are linear and depend on nothing but their
arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import DataOp, GraphOp, NetOutputOp, OpOp

CORE, VIEW, CPU, COLLECTIVE = "core", "view", "cpu", "collective"

_TYPE_AND_ENGINE = MappingProxyType(
    {
        CORE: ("Work", "AIcoreEngine"),
        VIEW: ("NoOp", "DNN_VM_GE_LOCAL"),
        CPU: ("HostlikeWork", "DNN_VM_AICPU_ASCEND"),
        COLLECTIVE: ("HcomAllReduce", "DNN_HCCL"),
    }
)
_INPUT = -1


@dataclass(frozen=True, slots=True)
class Made:
    """One node: the nodes that it reads (-1: the input of the graph), its kind, the elements of its output."""

    sources: tuple[int, ...]
    kind: str = CORE
    elements: int = 1 << 16


Shape = Callable[[int], list[Made]]
"""From the number of nodes wanted (about) to a graph."""


def series_parallel(count: int, seed: int = 1) -> list[Made]:
    """Forks of two to four branches, some of them with a fork of their own, each closed by a join."""
    rng = random.Random(seed)
    made = [Made((_INPUT,))]
    while len(made) < count:
        _fork(rng, made, depth=2)
    return made


def _fork(rng: random.Random, made: list[Made], depth: int) -> None:
    start, ends = len(made) - 1, list[int]()
    for _ in range(rng.randint(2, 4)):
        at = start
        for _ in range(rng.randint(1, 5)):
            made.append(Made((at,), rng.choices((CORE, VIEW), (9, 1))[0], _elements(rng)))
            at = len(made) - 1
        if depth > 1 and rng.random() < 0.2:
            _fork(rng, made, depth - 1)
            at = len(made) - 1
        ends.append(at)
    made.append(Made(tuple(ends), CORE, _elements(rng)))


def layered(count: int, width: int = 50, seed: int = 2) -> list[Made]:
    """Layers of `width` nodes; each reads one to three nodes of the layer before."""
    rng = random.Random(seed)
    made: list[Made] = []
    for index in range(count):
        first = (index // width - 1) * width
        if first < 0:
            made.append(Made((_INPUT,), CORE, _elements(rng)))
            continue
        sources = {first + rng.randrange(width) for _ in range(rng.randint(1, 3))}
        kind = rng.choices((CORE, VIEW, CPU), (18, 3, 1))[0]
        made.append(Made(tuple(sorted(sources)), kind, _elements(rng)))
    return made


def transformer(count: int) -> list[Made]:
    """Layers of a transformer that is cut over several devices: attention and feed-forward, each closed by an
    all-reduce; one mask is read by all layers."""
    wide, scores = 1 << 20, 1 << 18
    made = [Made((_INPUT,), CORE, wide), Made((_INPUT,), CORE, scores)]
    stream, mask = 0, 1
    while len(made) < count:
        first = len(made)
        rows: tuple[tuple[tuple[int, ...], str, int], ...] = (
            ((stream,), CORE, wide),  # 0 norm
            ((first,), CORE, wide),  # 1 q
            ((first,), CORE, wide),  # 2 k
            ((first,), CORE, wide),  # 3 v
            ((first + 1,), VIEW, wide),
            ((first + 2,), VIEW, wide),
            ((first + 4,), CORE, wide),  # 6 rotary
            ((first + 5,), CORE, wide),
            ((first + 6, first + 7, mask), CORE, scores),
            ((first + 8,), CORE, scores),  # 9 softmax
            ((first + 9, first + 3), CORE, wide),
            ((first + 10,), CORE, wide),
            ((first + 11,), COLLECTIVE, wide),
            ((first + 12, stream), CORE, wide),  # 13 residual
            ((first + 13,), CORE, wide),  # 14 norm
            ((first + 14,), CORE, 4 * wide),  # 15 gate
            ((first + 14,), CORE, 4 * wide),  # 16 up
            ((first + 15,), CORE, 4 * wide),
            ((first + 17, first + 16), CORE, 4 * wide),
            ((first + 18,), CORE, wide),
            ((first + 19,), COLLECTIVE, wide),
            ((first + 20, first + 13), CORE, wide),
        )
        made += (Made(*row) for row in rows)
        stream = len(made) - 1
    return made


def far_edges(count: int, seed: int = 3) -> list[Made]:
    """Each node reads one to three of all nodes before it."""
    rng = random.Random(seed)
    made: list[Made] = []
    for index in range(count):
        sources = {rng.randrange(-1, index) for _ in range(rng.randint(1, 3))} if index else {-1}
        kind = rng.choices((CORE, VIEW, CPU), (18, 3, 1))[0]
        made.append(Made(tuple(sorted(sources)), kind, _elements(rng)))
    return made


def chain(count: int) -> list[Made]:
    """One node after the other."""
    return [Made((index - 1,)) for index in range(count)]


def fan(count: int) -> list[Made]:
    """One tensor that half of all nodes read, each with a node behind it."""
    half = count // 2
    return (
        [Made((_INPUT,))]
        + [Made((0,)) for _ in range(half)]
        + [Made((1 + i,)) for i in range(half)]
    )


def reductions(count: int) -> list[Made]:
    """1,024 chains of nodes side by side on one input, joined at the end."""
    lanes = min(1024, max(1, count // 4))
    made = [Made((_INPUT,))] + [Made((0,)) for _ in range(lanes)]
    while len(made) < count:
        made.append(Made((len(made) - lanes,)))
    made.append(Made(tuple(range(len(made) - lanes, len(made)))))
    return made


def bipartite(count: int) -> list[Made]:
    """Up to 300 nodes that each of as many others reads, and chains side by side behind these."""
    width = min(300, max(2, int((count / 2) ** 0.5)))
    made = [Made((_INPUT,)) for _ in range(width)]
    made += [Made(tuple(range(width))) for _ in range(width)]
    while len(made) < count:
        made.append(Made((len(made) - width,)))
    return made


def _elements(rng: random.Random) -> int:
    return 1 << rng.randint(10, 22)


NETWORKS: Mapping[str, Shape] = MappingProxyType(
    {"series_parallel": series_parallel, "layered": layered, "transformer": transformer}
)
HOSTILE: Mapping[str, Shape] = MappingProxyType(
    {
        "chain": chain,
        "fan": fan,
        "reductions": reductions,
        "bipartite": bipartite,
        "far_edges": far_edges,
    }
)


def module_of(made: Sequence[Made]) -> ModuleOp:
    """The graph, with engines: an input, the nodes `n0`, `n1`, ..., an output that reads what nobody else does."""
    graph = GraphOp("main")
    types: dict[int, TensorType] = {}

    def tensor(elements: int) -> TensorType:
        return types.setdefault(elements, TensorType(f32, [elements]))

    data = DataOp.make(
        (),
        [tensor(1 << 16)],
        {"index": i64(0)},
        {"ge.name": string("x"), "ge.engine": string("DNN_VM_GE_LOCAL")},
    )
    values = [data.results[0]]
    ops: list[DataOp | OpOp | NetOutputOp] = [data]
    engines = {name: string(engine) for name, (_, engine) in _TYPE_AND_ENGINE.items()}
    kinds = {name: string(kind) for name, (kind, _) in _TYPE_AND_ENGINE.items()}
    read = [False] * (len(made) + 1)
    for index, node in enumerate(made):
        for source in node.sources:
            read[source + 1] = True
        op = OpOp.make(
            [values[source + 1] for source in node.sources],
            [tensor(node.elements)],
            {"type": kinds[node.kind]},
            {"ge.name": string(f"n{index}"), "ge.engine": engines[node.kind]},
        )
        values.append(op.results[0])
        ops.append(op)
    outputs = [value for value, used in zip(values[1:], read[1:], strict=True) if not used]
    ops.append(
        NetOutputOp.make(
            outputs, (), {}, {"ge.name": string("out"), "ge.engine": string("DNN_VM_RTS")}
        )
    )
    graph.block.add_ops(ops)
    return ModuleOp([graph])
