"""Pass `ge-plan-memory`: where every output lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.analysis.aliases import is_view
from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.liveness import Liveness, Memory, Role, Workspace, liveness, stream_of
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_type,
    get_flag,
    graphs,
    node_name,
    set_int,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import ConcatOp, PackOp, SplitOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.memory.first_fit import Interval, Packing, pack

HBM, WEIGHT, VARIABLE = "hbm", "weight", "var"
NO_MEMORY = -1

_SPACE_OF_ROLE = {Role.WEIGHT: WEIGHT, Role.VARIABLE: VARIABLE}


@dataclass(frozen=True)
class GePlanMemory(ModulePass):
    """Give every output of the root graph a place in a memory space.

    Expects a module of known shape (`ge_dialect.analysis.known_shape`) in topological order; of any other the graph is
    left alone, with a remark: its memory is allocated at run time. Engines and streams count where they are given.

    Guarantees afterwards (spec/memory.md 1.2 and 8.3, spec/tasks.md 6):
    * `ge.offsets` on every node with data outputs, -1 for one without memory; `ge.spaces` where not all are `hbm`;
      `ge.workspace_offsets` where there are `ge.workspace_bytes`;
    * `hbm` holds the feature map, then the zero-copy tail: model outputs in order, then model inputs by ascending
      size. Constants lie in `weight`, variables in `var`. A model output that is a model input, a constant or a
      variable stays where that is;
    * blocks are multiples of 512 bytes and as large as the stored size; two of them share bytes only when the last
      reader of the one stands before the writer of the other. Views, gates and outputs with `reuse_input` are their
      input's memory;
    * the graph has `ge.arenas`, `ge.zero_copy_size`, `ge.peak_bytes` and `ge.lower_bound_bytes`, the latter two of the
      feature map without the tail.

    With more than one stream, each gets a part of the feature map of its own, and what another stream reads is not
    reused: right whatever events are set later, not tight.

    Options:
    * `mode`: `first-fit` (the only one): the lowest free place, the best of four orders of placing.

    Raises GeError for a concat, pack or split that is marked `ge.no_task`: its operands' places are not free.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2x64xf16>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.offsets = array<i64: 0>} : tensor<2x64xf16>
    """

    name = "ge-plan-memory"

    mode: Literal["first-fit"] = "first-fit"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found:
            return
        root = found[0]
        if not is_known(op):
            emit_remark(
                root,
                self.name,
                "missed",
                "not planned: shapes known at run time only",
                condition="unknown",
            )
            return
        _refuse_no_task(root.block.ops)
        live = liveness(root)
        plan = _Plan()
        bound = live.lower_bound()
        order = plan.place_feature_map(live, bound)
        peak = plan.sizes[HBM]
        plan.place_tail(live.memory)
        plan.place_own_spaces(live.memory)
        plan.write(root, live)
        root.attributes["ge.arenas"] = DictionaryAttr({k: i64(v) for k, v in plan.sizes.items()})
        set_int(root, "ge.zero_copy_size", plan.sizes[HBM] - peak)
        set_int(root, "ge.peak_bytes", peak)
        set_int(root, "ge.lower_bound_bytes", bound)
        ratio = peak / bound if bound else 1.0
        emit_remark(
            root,
            self.name,
            "analysis",
            f"peak {peak} bytes, lower bound {bound}, ratio {ratio:.3f}, placed by {order}",
            peak=peak,
            bound=bound,
            ratio=ratio,
            order=order,
        )


def _refuse_no_task(ops: Iterable[Operation]) -> None:
    for op in ops:
        if (
            get_flag(op, "ge.no_task")
            and isinstance(op, ConcatOp | PackOp | SplitOp)
            and not is_view(op)
        ):
            raise GeError(
                f'node "{node_name(op)}" of type {ge_type(op)} makes no task; first fit does not lay out its operands',
                location_text(op),
            )


class _Plan:
    """Places found so far, and the bytes of each space."""

    def __init__(self) -> None:
        self.sizes = {HBM: 0, WEIGHT: 0}
        self.places: dict[int, int] = {}  # by id of a Memory, which `Liveness.memory` keeps alive
        self.workspaces: dict[Operation, dict[int, int]] = {}

    def place_feature_map(self, live: Liveness, bound: int) -> str:
        """Pack what is neither input nor output; answer the order that was best (of the first part)."""
        last = live.length - 1
        parts = _parts(live)
        orders: list[str] = []
        for stream, items in parts.items():
            intervals = [_interval(item, last, stream, several=len(parts) > 1) for item in items]
            packing: Packing = pack(intervals, bound if len(parts) == 1 else 0)
            for item, offset in zip(items, packing.offsets, strict=True):
                self._put(item, self.sizes[HBM] + offset)
            self.sizes[HBM] += packing.peak
            orders.append(packing.order)
        return orders[0] if orders else "start"

    def _put(self, item: Memory | Workspace, offset: int) -> None:
        if isinstance(item, Memory):
            self.places[id(item)] = offset
        else:
            self.workspaces.setdefault(item.op, {})[item.index] = offset

    def place_tail(self, memory: list[Memory]) -> None:
        """The zero-copy tail: outputs in order, then inputs by size."""
        outputs = [item for item in memory if item.role is Role.OUTPUT]
        inputs = [item for item in memory if item.role is Role.INPUT]
        outputs.sort(key=lambda item: item.io)
        inputs.sort(key=lambda item: (item.bytes, item.io))
        for item in (*outputs, *inputs):
            self._append(item, HBM)

    def place_own_spaces(self, memory: list[Memory]) -> None:
        """Constants and variables, in block order."""
        for item in memory:
            if (space := _SPACE_OF_ROLE.get(item.role)) is not None:
                self._append(item, space)

    def _append(self, item: Memory, space: str) -> None:
        at = self.sizes.get(space, 0)
        self.places[id(item)] = at
        self.sizes[space] = at + item.bytes

    def write(self, graph: GraphOp, live: Liveness) -> None:
        """Put the places on the nodes."""
        for op in graph.block.ops:
            if results := data_results(op):
                _write_places(op, [self._place(live, result) for result in results])
            if (offsets := self.workspaces.get(op)) is not None:
                op.attributes["ge.workspace_offsets"] = i64_array(
                    [offsets[i] for i in range(len(offsets))]
                )

    def _place(self, live: Liveness, value: SSAValue) -> tuple[int, str]:
        memory = live.of.get(value)
        if memory is None:
            return NO_MEMORY, HBM
        return self.places[id(memory)], _SPACE_OF_ROLE.get(memory.role, HBM)


def _write_places(op: Operation, places: list[tuple[int, str]]) -> None:
    spaces = [space for _, space in places]
    op.attributes["ge.offsets"] = i64_array([offset for offset, _ in places])
    if any(space != HBM for space in spaces):
        texts: list[Attribute] = [string(space) for space in spaces]
        op.attributes["ge.spaces"] = ArrayAttr(texts)
    else:
        op.attributes.pop("ge.spaces", None)


def _parts(live: Liveness) -> dict[int | None, list[Memory | Workspace]]:
    """What to pack, by the stream that writes it; one part when the graph uses a single stream."""
    feature = [item for item in live.memory if item.role is Role.FEATURE]
    streams = {
        stream: None for item in live.memory for stream in item.streams if stream is not None
    }
    if len(streams) <= 1:
        items = [*feature, *live.workspaces]
        return {None: items} if items else {}
    parts: dict[int | None, list[Memory | Workspace]] = {}
    for item in feature:
        parts.setdefault(next(iter(item.streams)), []).append(item)
    for space in live.workspaces:
        parts.setdefault(stream_of(space.op), []).append(space)
    return parts


def _interval(item: Memory | Workspace, last: int, stream: int | None, several: bool) -> Interval:
    if isinstance(item, Workspace):
        forever = several and stream is None
        return Interval(item.at, last if forever else item.at, item.bytes)
    crosses = several and (stream is None or any(other != stream for other in item.streams))
    return Interval(item.start, last if crosses else item.end, item.bytes)
