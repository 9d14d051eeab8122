"""Which node is certainly done before another starts, when streams run side by side.

Happens-before on `ge` is the closure of data edges, control edges and block order on each stream; a node without
stream orders nothing (design.md section 6). Events realise it later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, OpResult

from ge_dialect.analysis.liveness import stream_of


class HappensBefore:
    """Vector clocks of the ops of one block: for each op and stream, the last op there that is done before it.

    Ops without stream count as a stream of one op each only in so far as edges lead through them. Memory is
    ops x streams integers; `before` takes constant time for ops with streams.
    """

    def __init__(self, ops: Sequence[Operation]) -> None:
        self._place = {op: index for index, op in enumerate(ops)}
        self._stream = [stream_of(op) for op in ops]
        row_of = {
            stream: row
            for row, stream in enumerate(sorted({s for s in self._stream if s is not None}))
        }
        self._row = [None if stream is None else row_of[stream] for stream in self._stream]
        self._clock = np.full((len(ops), max(1, len(row_of))), -1, dtype=np.int64)
        self._sources: list[set[int]] = [set() for _ in ops]  # ops without stream that come before
        last: dict[int, int] = {}
        for index, op in enumerate(ops):
            for operand in op.operands:
                if isinstance(operand, OpResult) and operand.op in self._place:
                    self._join(index, self._place[operand.op])
            if (row := self._row[index]) is not None:
                if row in last:
                    self._join(index, last[row])
                last[row] = index

    def _join(self, index: int, source: int) -> None:
        np.maximum(self._clock[index], self._clock[source], out=self._clock[index])
        row = self._row[source]
        if row is None:
            self._sources[index].add(source)
        elif self._clock[index][row] < source:
            self._clock[index][row] = source
        self._sources[index] |= self._sources[source]

    def before(self, first: Operation, second: Operation) -> bool:
        """Whether `first` is done before `second` starts, whatever the streams do meanwhile."""
        source, target = self._place[first], self._place[second]
        row = self._row[source]
        if row is None:
            return source in self._sources[target]
        return bool(self._clock[target][row] >= source)
