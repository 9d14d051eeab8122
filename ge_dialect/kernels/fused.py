"""Several nodes as one: the type FusedHostCpu (spec/host_execution.md section 9).

The node carries the nodes that it stands for as data. They are translated to the text of one Python function, so a run
costs one call for all of them: no look-up, no table of values, no step of the scheduler in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, as_value
from ge_dialect.kernels.spec import OpSpec, Value

FUSED_TYPE = "FusedHostCpu"

BODY, OUTPUTS = "_fused_body", "_fused_outputs"
"""Attributes of the node. `_fused_body`: one dictionary a node in order, with `type`, `attrs`, `source` (where it has
one), `inputs` (numbers of values) and `n_outputs`. The outputs of the body's nodes are numbered 0, 1, ... in order;
input k of the fused node is -1 - k. `_fused_outputs`: the numbers of the values that it returns."""

Find: TypeAlias = Callable[[OpSpec], Kernel]


@dataclass(frozen=True, slots=True)
class BodyNode:
    """One node of the body."""

    spec: OpSpec
    inputs: tuple[int, ...]


def body_of(spec: OpSpec) -> list[BodyNode]:
    """The nodes of a fused node. Raises KernelInputError when the attributes hold none."""
    entries = spec.attrs.get(BODY)
    if not isinstance(entries, list) or not entries:
        raise KernelInputError(f"{FUSED_TYPE}: attribute {BODY} is missing")
    found: list[BodyNode] = []
    try:
        for entry in cast("list[Mapping[str, Any]]", entries):
            source = entry.get("source")
            inner = OpSpec(
                entry["type"],
                entry.get("attrs", {}),
                int(entry["n_outputs"]),
                None if source is None else SourceOp.parse(source),
            )
            found.append(BodyNode(inner, tuple(int(x) for x in entry["inputs"])))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise KernelInputError(f"{FUSED_TYPE}: attribute {BODY} is malformed: {error}") from error
    return found


def fused_kernel(spec: OpSpec, find: Find) -> Kernel:
    """The kernel of one fused node; `find` gives those of its nodes.

    Raises UnsupportedOpError for an operator without a kernel and KernelInputError for attributes that fit no body.
    """
    function = compiled(spec, find)

    def evaluate(_spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        return function(inputs)

    return Kernel(evaluate)


def compiled(spec: OpSpec, find: Find) -> Callable[[Sequence[Value]], list[Value]]:
    """The function from the node's inputs to its outputs. Raises as `fused_kernel` does."""
    body = body_of(spec)
    steps = [partial(find(node.spec).evaluate, node.spec) for node in body]
    names: dict[str, Any] = {"value": as_value}
    names.update((f"step{index}", step) for index, step in enumerate(steps))
    exec(compile(text_of_body(body, spec.ints(OUTPUTS) or ()), f"<{FUSED_TYPE}>", "exec"), names)
    return names["fused"]


def text_of_body(body: Sequence[BodyNode], outputs: Sequence[int]) -> str:
    """The Python text of the function. Raises KernelInputError for a value that is read before it is made."""
    lines = ["def fused(inputs):"]
    at = 0
    for index, node in enumerate(body):
        arguments = "".join(f"{_value(x, at)}, " for x in node.inputs)
        call = f"step{index}(({arguments}))"
        count = node.spec.n_outputs
        if count == 1:
            lines.append(f"    v{at} = value({call}[0])")
        else:
            targets = "".join(f"v{at + k}, " for k in range(count))
            lines.append(f"    {targets}= map(value, {call}[:{count}])")
        at += count
    if not outputs:
        raise KernelInputError(f"{FUSED_TYPE}: attribute {OUTPUTS} is missing")
    lines.append(f"    return [{', '.join(_value(x, at) for x in outputs)}]")
    return "\n".join(lines) + "\n"


def _value(number: int, made: int) -> str:
    """The text for a value, of which those below `made` are there."""
    if number >= made:
        raise KernelInputError(f"{FUSED_TYPE}: value {number} is read before it is made")
    return f"v{number}" if number >= 0 else f"inputs[{-1 - number}]"
