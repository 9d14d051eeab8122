"""Result types against what the operators say: element types and shapes."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, NoneType
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.node_info import TypeInfos, infer_node, info_of_type
from ge_dialect.dialects.ge.access import (
    UNKNOWN_DIM,
    data_operands,
    data_results,
    ge_type,
    graph_table,
    graphs,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import NetOutputOp
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.shapes.info import ANY_TYPE, Info, OpaqueInfo, TensorInfo, dtype_text
from ge_dialect.transforms.verify.finding import Finding, Findings
from ge_dialect.transforms.verify.label_checks import label_findings

_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})


def semantic_findings(module: ModuleOp) -> Findings:
    """Every node whose inputs and attributes do not go together, or whose result types are not what follows.

    Operators without a shape function, missing constants and other storage formats than the origin's are not judged.
    """
    table = graph_table(module)
    types = TypeInfos()
    for graph in graphs(module):
        for op in graph.block.ops:
            if not isinstance(op, GeNode):
                continue
            try:
                outputs = infer_node(op, types=types)
            except GeError as error:
                yield Finding(op, error.message)
                continue
            yield from _result_findings(op, outputs, types)
            if ge_type(op) in _BRANCHES:
                yield from _branch_findings(op, table)
    yield from label_findings(module)


def _result_findings(op: GeNode, outputs: list[Info | None], types: TypeInfos) -> Findings:
    for index, (result, info) in enumerate(zip(data_results(op), outputs, strict=False)):
        if info is None or info is (said := types.look(result.type)[1]) or info == said:
            continue
        if not compatible(result.type, info):
            yield Finding(
                op,
                f"output {index} has type {result.type}, but {ge_type(op)} gives {info_text(info)}",
            )


def _branch_findings(op: GeNode, table: dict[str, GraphOp]) -> Findings:
    """The outputs of a conditional are those of whichever graph runs."""
    results = data_results(op)
    for name in subgraph_names(op):
        graph = table.get(name)
        net_output = None if graph is None else _net_output(graph)
        if net_output is None:
            continue
        values = data_operands(net_output)
        if len(values) != len(results):
            yield Finding(
                op, f"{ge_type(op)} has {len(results)} outputs, graph @{name} has {len(values)}"
            )
            continue
        for index, (result, value) in enumerate(zip(results, values, strict=True)):
            info = info_of_type(value.type)
            if info is not None and not compatible(result.type, info):
                yield Finding(
                    op,
                    f"output {index} has type {result.type}, but output {index} of graph @{name} is {value.type}",
                )


def _net_output(graph: GraphOp) -> Operation | None:
    return next((op for op in graph.block.ops if isinstance(op, NetOutputOp)), None)


def compatible(kind: Attribute, info: Info) -> bool:
    """Whether some value can be of the type `kind` and be what `info` says. An unwanted output (`none`) always is."""
    if isinstance(kind, NoneType):
        return True
    said = info_of_type(kind)
    if isinstance(info, OpaqueInfo) or not isinstance(said, TensorInfo):
        return (
            isinstance(said, OpaqueInfo)
            and isinstance(info, OpaqueInfo)
            and type(said.type) is type(info.type)
        )
    if said.dtype != info.dtype and ANY_TYPE not in (said.dtype, info.dtype):
        return False
    if said.shape is None or info.shape is None:
        return True
    return len(said.shape) == len(info.shape) and all(
        a == b or UNKNOWN_DIM in (a, b) for a, b in zip(said.shape, info.shape, strict=True)
    )


def info_text(info: Info) -> str:
    """As the IR spells the type."""
    if isinstance(info, OpaqueInfo):
        return str(info.type)
    dims = (
        "*x"
        if info.shape is None
        else "".join("?x" if dim < 0 else f"{dim}x" for dim in info.shape)
    )
    return f"tensor<{dims}{dtype_text(info.dtype)}>"
