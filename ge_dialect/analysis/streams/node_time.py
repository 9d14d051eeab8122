"""How long a node runs on a device, before there are tasks: the times of the simulated clock, from types alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import MappingProxyType
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.sizes import value_bytes
from ge_dialect.analysis.task_count import TaskGenerationError, task_rule
from ge_dialect.analysis.task_kinds import TaskRule
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    dims_of,
    ge_type,
    get_text,
    graph_table,
    is_absent,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.kernels.device_profile import DeviceProfile
from ge_dialect.kernels.spec import Array, spec_of
from ge_dialect.kernels.work import counter_of

_MOST = 1 << 60
"""Elements of an array that numpy can still view."""

_COPIES = frozenset({TaskRule.COPY, TaskRule.COPY_INDIRECT, TaskRule.MERGE})
_NOTHING = frozenset({TaskRule.NONE, TaskRule.END_GRAPH, TaskRule.MODEL_EXIT})
_KIND = MappingProxyType(
    {
        **dict.fromkeys(
            (
                TaskRule.EVENT_RECORD,
                TaskRule.EVENT_WAIT,
                TaskRule.NOTIFY_RECORD,
                TaskRule.NOTIFY_WAIT,
                TaskRule.MEM_EVENT_RECORD,
                TaskRule.MEM_EVENT_WAIT,
            ),
            "sync",
        ),
        **dict.fromkeys(
            (
                TaskRule.STREAM_SWITCH,
                TaskRule.STREAM_SWITCH_N,
                TaskRule.STREAM_ACTIVE,
                TaskRule.LABEL_SET,
                TaskRule.LABEL_GOTO,
                TaskRule.LABEL_SWITCH,
            ),
            "control",
        ),
    }
)


class NodeTimes:
    """Microseconds of the nodes of one model under a device profile; equal nodes are worked out once.

    Dimensions that are not known count as 1, and a node that cannot become a task (an error of its own later) as a
    kernel. A node that owns graphs takes as long as the nodes of the longest of them one by one.
    """

    def __init__(self, module: ModuleOp, profile: DeviceProfile) -> None:
        self._module = module
        self._profile = profile
        self._graphs: dict[GraphOp, float] = {}
        self._kernels: dict[tuple[object, ...], float] = {}

    def of(self, op: Operation) -> float:
        """The time of a node."""
        if "subgraphs" in op.properties:
            return self._of_owner(op)
        try:
            rule = task_rule(op)
        except TaskGenerationError:
            rule = TaskRule.AI_CORE
        if rule in _NOTHING:
            return 0.0
        if rule in _COPIES:
            return self._profile.task("memcpy", _bytes(data_results(op)))
        if rule is TaskRule.HCCL:
            return self._profile.task(
                "collective", _bytes(data_operands(op)) + _bytes(data_results(op))
            )
        kind = _KIND.get(rule)
        return self._kernel(op) if kind is None else self._profile.task(kind, 0)

    def _kernel(self, op: Operation) -> float:
        cost = self._profile.kernel(ge_type(op), get_text(op, "ge.engine") or "")
        if not cost.counts_work:
            return cost.fixed_us
        key = (
            ge_type(op),
            get_text(op, "ge.engine"),
            op.properties.get("attrs"),
            op.properties.get("source"),
            *(value.type for value in (*op.operands, *op.results)),
        )
        known = self._kernels.get(key)
        if known is None:
            views = [
                [None if is_absent(x) else _shaped(x.type) for x in values]
                for values in (data_operands(op), data_results(op))
            ]
            known = self._kernels[key] = cost.of_work(counter_of(spec_of(op))(*views))
        return known

    def _of_owner(self, op: Operation) -> float:
        table = graph_table(self._module)
        owned = [table[name] for name in subgraph_names(op) if name in table]
        return max((self._of_graph(graph) for graph in owned), default=0.0)

    def _of_graph(self, graph: GraphOp) -> float:
        if graph not in self._graphs:
            self._graphs[graph] = 0.0  # a graph that owns itself
            self._graphs[graph] = sum(
                self.of(op) for op in graph.block.ops if isinstance(op, GeNode)
            )
        return self._graphs[graph]


def _bytes(values: Iterable[SSAValue]) -> int:
    return sum(value_bytes(x.type) or 0 for x in values)


def _shaped(kind: Attribute) -> Array | None:
    """An array of the type's shape that takes no memory; None when there is none."""
    dims = dims_of(kind)
    if dims is None:
        return None
    shape = tuple(1 if dim < 0 else dim for dim in dims)
    assert isinstance(kind, TensorType)
    count = math.prod(shape)
    element = cast("TensorType[Attribute]", kind).element_type
    size = value_bytes(ranked_tensor(element, shape)) or 0
    width = size // count if count else 1
    if count > _MOST or max(shape, default=0) > _MOST:
        return None  # numpy has no such array; memory planning will refuse the tensor
    return np.broadcast_to(np.zeros((), f"V{max(width, 1)}"), shape)
