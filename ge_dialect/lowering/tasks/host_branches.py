"""If, Case, While and calls of a host program: the graphs that a node owns become regions.

Tensors that come out of a region or go round a loop are on the device, texts on the host; a value that every branch
leaves on the host stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute, Block, Operation

from ge_dialect.dialects.engine_types import BRANCH_TYPES, CALL_TYPES
from ge_dialect.dialects.ge import NetOutputOp
from ge_dialect.dialects.ge.access import data_operands, data_results, ge_type, subgraph_names
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge_task import (
    CaseOp,
    IfOp,
    PlacedTensorType,
    Placement,
    WhileOp,
    YieldOp,
)
from ge_dialect.lowering.tasks.host_lowering import HostLowering, Lower
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue, Scope
from ge_dialect.lowering.tasks.host_types import host_type, is_host_only, join


def joined(
    lowering: HostLowering, op: Operation, what: str, kinds: Sequence[Attribute]
) -> Attribute:
    """The type of a value that comes from several places. Raises TaskGenerationError when they do not fit."""
    kind = kinds[0]
    for other in kinds[1:]:
        try:
            kind = join(kind, other)
        except ValueError as error:
            lowering.builder.refuse(op, f"has no common type for {what}: {error}")
    return kind


def graph_outputs(graph: GraphOp) -> list[Attribute]:
    """The types of a graph's outputs."""
    for op in graph.block.ops:
        if isinstance(op, NetOutputOp):
            return [value.type for value in data_operands(op)]
    return []


def _branch(lowering: HostLowering, op: Operation) -> None:
    """If, Case: each graph sees the node's inputs, the condition or index included as number 0."""
    names = subgraph_names(op)
    inputs = lowering.operands(op)
    is_case = "Case" in ge_type(op)
    if not inputs or not names or (not is_case and len(names) != 2):
        lowering.builder.refuse(
            op,
            f"needs a condition and its graphs, got {len(inputs)} inputs and {len(names)} graphs",
        )
    condition = lowering.builder.get(inputs[0], Placement.HOST)
    scopes: list[Scope] = []
    outputs: list[list[HostValue]] = []
    for name in names:
        with lowering.builder.region(repeats=False) as scope:
            outputs.append(
                lowering.lower_graph(lowering.subgraph(op, name), dict(enumerate(inputs)))
            )
        scopes.append(scope)
    results = data_results(op)
    for name, values in zip(names, outputs, strict=True):
        if len(values) < len(results):
            lowering.builder.refuse(
                op, f"has {len(results)} outputs, its graph @{name} {len(values)}"
            )
    columns = [[values[k] for values in outputs] for k in range(len(results))]
    kinds = [
        joined(lowering, op, f"output {k}", [x.kind for x in column])
        for k, column in enumerate(columns)
    ]
    places = [_common_place(column) for column in columns]
    for i, scope in enumerate(scopes):
        with lowering.builder.inside(scope):
            yielded = [
                lowering.builder.as_type(op, column[i], kind, place)
                for column, kind, place in zip(columns, kinds, places, strict=True)
            ]
            lowering.builder.append(YieldOp.make(yielded))
    types = [host_type(kind, place) for kind, place in zip(kinds, places, strict=True)]
    regions = [lowering.builder.finish(scope) for scope in scopes]
    attributes = {key: op.attributes[key] for key in ("ge.name",) if key in op.attributes}
    made = (
        CaseOp.make(condition, types, regions, attributes=attributes)
        if is_case
        else IfOp.make(condition, types, regions[0], regions[1], attributes=attributes)
    )
    lowering.builder.append(made)
    _own(lowering.builder, made)
    for result, ssa, kind in zip(results, made.results, kinds, strict=True):
        ssa.name_hint = result.name_hint
        lowering.values[result] = lowering.builder.value(kind, ssa)


def _common_place(values: Sequence[HostValue]) -> Placement:
    places = {value.placement for value in values if value.constant is None}
    return Placement.HOST if places == {Placement.HOST} else Placement.DEVICE


def _own(builder: HostBuilder, made: Operation) -> None:
    """Tensors that come out of a region end like those of any step."""
    for result in made.results:
        if isinstance(result.type, PlacedTensorType):
            builder.own(result, 0)


def _call(lowering: HostLowering, op: Operation) -> None:
    """PartitionedCall: one step when its graph is a task list already, else the graph's nodes stand in its place."""
    names = subgraph_names(op)
    if len(names) != 1:
        lowering.builder.refuse(op, f"needs one graph, got {len(names)}")
    if names[0] in lowering.models:
        lowering.execute(op, names[0])
        return
    values = lowering.lower_graph(
        lowering.subgraph(op, names[0]), dict(enumerate(lowering.operands(op)))
    )
    results = data_results(op)
    if len(values) < len(results):
        lowering.builder.refuse(
            op, f"has {len(results)} outputs, its graph @{names[0]} {len(values)}"
        )
    for result, value in zip(results, values, strict=False):
        lowering.values[result] = value


def _while(lowering: HostLowering, op: Operation) -> None:
    """While: graphs cond and body, all inputs are carried."""
    names = subgraph_names(op)
    if len(names) != 2:
        lowering.builder.refuse(
            op, f"needs two graphs, the condition and the body, got {len(names)}"
        )
    cond, body = (lowering.subgraph(op, name) for name in names)
    initial = lowering.operands(op)
    nexts = graph_outputs(body)
    if len(nexts) < len(initial):
        lowering.builder.refuse(
            op, f"has {len(initial)} inputs, its body gives {len(nexts)} values"
        )
    kinds = [
        joined(lowering, op, f"input {k}", [value.kind, kind])
        for k, (value, kind) in enumerate(zip(initial, nexts, strict=False))
    ]

    def condition(values: Sequence[HostValue]) -> HostValue:
        outputs = lowering.lower_graph(cond, dict(enumerate(values)))
        if len(outputs) != 1:
            lowering.builder.refuse(
                op, f"needs one output of graph @{names[0]}, got {len(outputs)}"
            )
        return outputs[0]

    results = make_while(
        lowering,
        op,
        initial,
        kinds,
        condition,
        lambda values: lowering.lower_graph(body, dict(enumerate(values))),
    )
    for result, value in zip(data_results(op), results, strict=False):
        lowering.values[result] = value


def make_while(
    lowering: HostLowering,
    op: Operation,
    initial: Sequence[HostValue],
    kinds: Sequence[Attribute],
    condition: Callable[[Sequence[HostValue]], HostValue],
    body: Callable[[Sequence[HostValue]], Sequence[HostValue]],
    on_host: frozenset[int] = frozenset(),
) -> list[HostValue]:
    """Append a `while` over values of types `kinds`, of which `on_host` names those kept on the host.

    `condition` and `body` append the steps of the two regions; the answer are the values behind the loop.
    """
    builder = lowering.builder
    places = [
        Placement.HOST if k in on_host or is_host_only(kind) else Placement.DEVICE
        for k, kind in enumerate(kinds)
    ]
    types = [host_type(kind, place) for kind, place in zip(kinds, places, strict=True)]
    regions: list[tuple[Scope, Block]] = []
    for make in ("cond", "body"):
        block = Block(arg_types=types)
        with builder.region(repeats=True) as scope:
            arguments = [
                builder.value(kind, ssa) for kind, ssa in zip(kinds, block.args, strict=True)
            ]
            if make == "cond":
                builder.append(YieldOp.make([builder.get(condition(arguments), Placement.HOST)]))
            else:
                nexts = body(arguments)
                yielded = [
                    builder.as_type(op, value, kind, place)
                    for value, kind, place in zip(nexts, kinds, places, strict=False)
                ]
                builder.append(YieldOp.make(yielded))
        regions.append((scope, block))
    init = [
        builder.as_type(op, value, kind, place)
        for value, kind, place in zip(initial, kinds, places, strict=True)
    ]
    attributes = {key: op.attributes[key] for key in ("ge.name",) if key in op.attributes}
    made = WhileOp.make(
        init, types, *(builder.finish(*region) for region in regions), attributes=attributes
    )
    builder.append(made)
    _own(builder, made)
    return [builder.value(kind, ssa) for kind, ssa in zip(kinds, made.results, strict=True)]


BRANCHES: Mapping[str, Lower] = MappingProxyType(
    {
        **dict.fromkeys(sorted(BRANCH_TYPES), _branch),
        **dict.fromkeys(sorted(CALL_TYPES), _call),
        **dict.fromkeys(("While", "_While", "StatelessWhile"), _while),
    }
)
"""How each GE type of control flow is lowered."""
