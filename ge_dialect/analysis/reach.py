"""Which node is certainly done before another starts, when streams run side by side.

Happens-before on `ge` is the closure of data edges, control edges and block order on each stream; a node without
stream orders nothing (design.md section 6). Events realise it later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, OpResult

from ge_dialect.analysis.liveness import stream_of

Clock = NDArray[np.int64]


class HappensBefore:
    """Vector clocks of the ops of one block: for each op and stream, the last op there that is done before it.

    `ops` are in block order; an edge that leads through an op which is not among them is not seen. Ops without stream
    order nothing themselves, but edges lead through them. Memory is ops x streams integers; `before` takes constant
    time for ops with streams.
    """

    def __init__(self, ops: Sequence[Operation]) -> None:
        self._ops = ops
        self._place = {op: index for index, op in enumerate(ops)}
        streams = [stream_of(op) for op in ops]
        row_of = {
            stream: row for row, stream in enumerate(sorted({s for s in streams if s is not None}))
        }
        self._row = [None if stream is None else row_of[stream] for stream in streams]
        self.streams = max(1, len(row_of))
        """How many streams a clock has; at least one."""
        self._clock = np.full((len(ops), self.streams), -1, dtype=np.int64)
        self._fill()

    def _fill(self) -> None:
        last: dict[int, int] = {}
        place, rows, clocks = self._place, self._row, self._clock
        for index, op in enumerate(self._ops):
            sources = {
                place[operand.op]
                for operand in op.operands
                if isinstance(operand, OpResult) and operand.op in place
            }
            if (row := rows[index]) is not None:
                if row in last:
                    sources.add(last[row])
                last[row] = index
            clock = clocks[index]
            for source in sources:
                np.maximum(clock, clocks[source], out=clock)
            for source in sources:
                at = rows[source]
                if at is not None and clock[at] < source:
                    clock[at] = source

    def done_before(self, op: Operation) -> Clock:
        """For each stream the place in the block of the last op there that is done before `op` starts, -1 for none."""
        return self._clock[self._place[op]]

    def position(self, op: Operation) -> tuple[int | None, int]:
        """The stream of an op, as a column of clocks (None without one), and its place in the block."""
        place = self._place[op]
        return self._row[place], place

    def before(self, first: Operation, second: Operation) -> bool:
        """Whether `first` is done before `second` starts, whatever the streams do meanwhile."""
        source, target = self._place[first], self._place[second]
        row = self._row[source]
        if row is None:
            return source < target and self._leads_to(source, target)
        return bool(self._clock[target][row] >= source)

    def _leads_to(self, source: int, target: int) -> bool:
        """Whether an edge out of an op without stream leads to another op, by way of others like it at first."""
        seen = {source}
        stack = [source]
        while stack:
            for result in self._ops[stack.pop()].results:
                for use in result.uses:
                    place = self._place.get(use.operation)
                    if place is None or place in seen or place > target:
                        continue
                    row = self._row[place]
                    if place == target or (row is not None and self._clock[target][row] >= place):
                        return True
                    seen.add(place)
                    if row is None:
                        stack.append(place)
        return False
