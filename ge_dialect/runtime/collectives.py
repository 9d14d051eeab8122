"""Collective tasks: what the ranks of a group compute together, and where they meet.

One rank alone copies (choice E21). Several ranks meet by group and sequence number: the k-th collective of a group in
the issue order of one rank is the k-th of every other rank, whatever order their streams run in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels import Array, OpSpec
from ge_dialect.runtime.compute import Operand, Thunk
from ge_dialect.runtime.errors import LoadError, RunError
from ge_dialect.runtime.memory import bytes_of

DEFAULT_GROUP = "hccl_world_group"

REDUCTIONS: Mapping[str, np.ufunc] = MappingProxyType(
    {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
)


@dataclass(slots=True, eq=False)
class Collective:
    """One collective (or point-to-point) task of one rank.

    `ins`/`outs` are the task's tensors; `root` the rank of Broadcast and Reduce; `peer` the other side of Send and
    Receive. `sequence` counts the collectives of `channel` in issue order.
    """

    kind: str
    group: str
    ins: tuple[Array, ...]
    outs: tuple[Array, ...]
    reduction: str = "sum"
    root: int = 0
    peer: int = 0
    tag: int = 0
    sequence: int = 0

    @property
    def channel(self) -> str:
        """What the sequence numbers count within: the group, or for point to point kind, peer and tag in it."""
        if self.kind in POINT_TO_POINT:
            return f"{self.group}/{self.kind}/{self.peer}/{self.tag}"
        return self.group


POINT_TO_POINT = ("Send", "Receive")

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "HcomAllReduce": "AllReduce",
        "HcomAllGather": "AllGather",
        "HcomReduceScatter": "ReduceScatter",
        "HcomBroadcast": "Broadcast",
        "HcomReduce": "Reduce",
        "HcomAllToAll": "AllToAll",
        "HcomSend": "Send",
        "HcomReceive": "Receive",
    }
)
"""Operator types with a meaning here; other types of the library are kernels like any other, opaque ones as a rule."""


def is_collective(type: str) -> bool:
    """Whether the operator type has a meaning here."""
    return type in _KINDS


def collective_of(
    spec: OpSpec, ins: Sequence[Operand | None], outs: Sequence[Operand | None]
) -> Collective | None:
    """The collective that the task of `spec` is, None for an operator type without a meaning here.

    Raises LoadError for a reduction that is none and for a collective without tensors.
    """
    kind = _KINDS.get(spec.type)
    if kind is None:
        return None
    reduction = spec.string("reduction", "sum")
    if reduction not in REDUCTIONS:
        raise LoadError(f"reduction '{reduction}' is unknown (known: {', '.join(REDUCTIONS)})")
    found = Collective(
        kind,
        spec.string("group", DEFAULT_GROUP),
        tuple(x.view for x in ins if x is not None),
        tuple(x.view for x in outs if x is not None),
        reduction,
        spec.int("root_rank", 0),
        spec.int("dest_rank" if kind == "Send" else "src_rank", 0),
        spec.int("sr_tag", 0),
    )
    wanted = (1, 0) if kind == "Send" else (0, 1) if kind == "Receive" else (1, 1)
    if len(found.ins) < wanted[0] or len(found.outs) < wanted[1]:
        raise LoadError(f"{spec.type} has {len(found.ins)} inputs and {len(found.outs)} outputs")
    if kind not in POINT_TO_POINT and len(found.ins) != len(found.outs):
        raise LoadError(
            f"{spec.type} pairs inputs with outputs, it has {len(found.ins)} and {len(found.outs)}"
        )
    return found


def alone(found: Collective) -> Thunk:
    """The collective of a single rank: a copy of input to output.

    Where sizes differ, as the program was written for several ranks, every rank is taken to hold what this one holds:
    gathered pieces repeat, a scattered result is the first piece. Receive leaves its output as it is.
    """
    pairs = list(zip(found.ins, found.outs, strict=False))

    def run() -> None:
        for source, target in pairs:
            flat = np.resize(source.reshape(-1).copy(), target.size)
            target[...] = flat.reshape(target.shape)

    return run


Members: TypeAlias = Sequence[Collective]
"""The same collective as each rank of the group has it, in group order."""


def perform(members: Members, ranks: Sequence[int]) -> None:
    """Compute a collective for all members. Raises RunError when their tensors do not fit together."""
    first = members[0]
    for rank, member in zip(ranks, members, strict=True):
        if (member.kind, member.reduction, len(member.ins)) != (
            first.kind,
            first.reduction,
            len(first.ins),
        ):
            raise RunError(
                f"group '{first.group}', collective {first.sequence}: rank {ranks[0]} is at {first.kind}, "
                f"rank {rank} at {member.kind}"
            )
    if first.kind in ("Broadcast", "Reduce") and first.root not in ranks:
        raise RunError(
            f"root rank {first.root} is not in group '{first.group}' of ranks {list(ranks)}"
        )
    for index in range(len(first.ins)):
        sources = [member.ins[index] for member in members]
        targets = [member.outs[index] for member in members]
        try:
            results = _COMPUTE[first.kind](first, sources, ranks)
            for target, result in zip(targets, results, strict=True):
                target[...] = result.reshape(target.shape)
        except ValueError as error:
            shapes = f"{list(sources[0].shape)} to {list(targets[0].shape)}"
            raise RunError(
                f"{first.kind} of {len(ranks)} ranks (group '{first.group}'): {shapes} does not fit: {error}"
            ) from error


def _reduced(first: Collective, sources: Sequence[Array]) -> Array:
    """The ranks' tensors combined one after the other, in their own type, in rank order."""
    combine = REDUCTIONS[first.reduction]
    total = sources[0].copy()
    for source in sources[1:]:
        total = combine(total, source).astype(total.dtype)
    return total


def _all_reduce(first: Collective, sources: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    return [_reduced(first, sources)] * len(ranks)


def _reduce(first: Collective, sources: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    """The root gets the result, the others keep what they gave."""
    total = _reduced(first, sources)
    return [
        total if rank == first.root else source.copy()
        for rank, source in zip(ranks, sources, strict=True)
    ]


def _broadcast(first: Collective, sources: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    return [sources[list(ranks).index(first.root)].copy()] * len(ranks)


def _all_gather(first: Collective, sources: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    return [np.concatenate(sources, axis=0)] * len(ranks)


def _reduce_scatter(
    first: Collective, sources: Sequence[Array], ranks: Sequence[int]
) -> list[Array]:
    return np.split(_reduced(first, sources), len(ranks), axis=0)


def _all_to_all(first: Collective, sources: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    pieces = [np.split(source, len(ranks), axis=0) for source in sources]
    return [np.concatenate([piece[k] for piece in pieces], axis=0) for k in range(len(ranks))]


_COMPUTE: Mapping[str, Callable[[Collective, Sequence[Array], Sequence[int]], list[Array]]] = (
    MappingProxyType(
        {
            "AllReduce": _all_reduce,
            "Reduce": _reduce,
            "Broadcast": _broadcast,
            "AllGather": _all_gather,
            "ReduceScatter": _reduce_scatter,
            "AllToAll": _all_to_all,
        }
    )
)


def transfer(message: bytes, found: Collective) -> None:
    """Put what a Send gave into the output of a Receive. Raises RunError when the sizes differ."""
    target = found.outs[0]
    if len(message) != target.nbytes:
        raise RunError(
            f"Receive from rank {found.peer} takes {target.nbytes} bytes, {len(message)} were sent"
        )
    target[...] = np.frombuffer(message, np.uint8).view(target.dtype).reshape(target.shape)


def message_of(found: Collective) -> bytes:
    """What a Send gives."""
    return bytes_of(found.ins[0]).tobytes()
