"""What nodes are to the search for host nodes (spec/host_execution.md sections 3 and 4)."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.engine_table import (
    AI_CORE,
    AI_CPU,
    AI_CPU_ASCEND,
    ENGINES,
    GE_LOCAL,
    HOST_CPU,
)
from ge_dialect.dialects.ge.access import ge_attr, ge_type, get_text
from ge_dialect.dialects.ge.graph import GateOp, TokenOp

DATA_LIKE = frozenset({"Data", "RefData", "AippData", "AnnData"})
CONST_LIKE = frozenset({"Const", "Constant", "ConstPlaceHolder"})
SHAPE_INSPECTORS = frozenset({"Shape", "ShapeN", "Rank", "Size", "GatherShapes"})
"""GE-local types that are anchors: they read a shape record, which is on the host in any case."""

HOST_LIB = ENGINES[HOST_CPU].kernel_lib
LOCAL_LIB = ENGINES[GE_LOCAL].kernel_lib
REPLACEABLE_LIBS = frozenset(ENGINES[name].kernel_lib for name in (AI_CORE, AI_CPU, AI_CPU_ASCEND))
"""Kernel libs of device nodes that may be moved; no other device engine is given up."""

HOST_TENSOR = "_host_tensor"
"""GE attribute of a graph input: what is fed lies on the host."""


def kernel_lib(op: Operation) -> str:
    """The node's kernel lib, that of its engine where it names none, "" before engines are assigned."""
    lib = get_text(op, "ge.kernel_lib")
    if lib:
        return lib
    engine = ENGINES.get(get_text(op, "ge.engine") or "")
    return "" if engine is None else engine.kernel_lib


def is_anchor(op: Operation) -> bool:
    """Whether the node's results are on the host by what it is, so that a search starts at it."""
    lib = kernel_lib(op)
    if lib == HOST_LIB:
        return True
    kind = ge_type(op)
    if lib == LOCAL_LIB and kind in SHAPE_INSPECTORS:
        return True
    return kind in DATA_LIKE and bool(ge_attr(op, HOST_TENSOR, False))


def producer(value: SSAValue) -> Operation:
    """The node that makes a value; a `ge.gate` only delays it."""
    owner = value.owner
    while isinstance(owner, GateOp):
        owner = owner.value.owner
    assert isinstance(owner, Operation)
    return owner


def readers(value: SSAValue) -> list[tuple[Operation, int]]:
    """The nodes that read a value, each with its input slot; gates are looked through, tokens only order."""
    found: list[tuple[Operation, int]] = []
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, GateOp):
                pending.append(use.operation.output)
            elif not isinstance(use.operation, TokenOp):
                found.append((use.operation, use.index))
    return found
