"""From a region to the one node that stands for it (spec/host_execution.md section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FusedLoc, NoneAttr, UnknownLoc
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import UNIT, i64, i64_array, string, string_attr
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attrs,
    ge_type,
    node_name,
    slot_attrs,
    source_op,
)
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.nodes import OpOp
from ge_dialect.kernels.fused import BODY, FUSED_TYPE, OUTPUTS
from ge_dialect.transforms.host.support import HOST_NAMES

NODE_NAMES = "_fused_node_names"

DEPENDS_ON_INPUT_SHAPE = 1
"""`_unknown_shape_type` by public convention (spec/host_execution.md section 12)."""

_FIXED: Mapping[str, Attribute] = {
    "opKernelLib": string("HOSTCPUKernel"),
    "_unknown_shape_type": i64(DEPENDS_ON_INPUT_SHAPE),
}


def external_inputs(ops: Sequence[Operation]) -> list[SSAValue]:
    """The values that nodes of a region read from outside, each once, in the order of first use."""
    own = set(ops)
    found = {x: None for op in ops for x in data_operands(op) if x.owner not in own}
    return list(found)


def build(ops: Sequence[Operation], outputs: Sequence[OpResult], number: int) -> OpOp:
    """The fused node number `number` of the nodes `ops`, which are in order, with results for their `outputs`.

    The original names, types and outputs are kept as the attributes `_fused_node_names`, `_fused_node_types` and
    `_fused_output_refs` ("name:slot").
    """
    inputs = external_inputs(ops)
    numbers: dict[SSAValue, int] = {value: -1 - k for k, value in enumerate(inputs)}
    body: list[Attribute] = []
    count = 0
    for op in ops:
        body.append(_entry(op, [numbers[x] for x in data_operands(op)]))
        for result in data_results(op):
            numbers[result] = count
            count += 1
    refs = [f"{node_name(output.op)}:{output.index}" for output in outputs]
    attrs: dict[str, Attribute] = {
        **_FIXED,
        BODY: ArrayAttr(body),
        OUTPUTS: i64_array([numbers[output] for output in outputs]),
        NODE_NAMES: ArrayAttr([string_attr(node_name(op)) for op in ops]),
        "_fused_node_types": ArrayAttr([string_attr(ge_type(op)) for op in ops]),
        "_fused_output_refs": ArrayAttr([string_attr(ref) for ref in refs]),
    }
    attributes: dict[str, Attribute] = {
        "ge.name": string(f"{FUSED_TYPE}_{number}"),
        "ge.engine": string(HOST_NAMES[0]),
        "ge.kernel_lib": string(HOST_NAMES[1]),
        "ge.small_shape_host_cpu": UNIT,
    }
    slots = [slot_attrs(output.op, "res", output.index) for output in outputs]
    if any(slot.data for slot in slots):
        attributes["ge.res_attrs"] = ArrayAttr(slots)
    properties: dict[str, Attribute] = {"type": string(FUSED_TYPE), "attrs": DictionaryAttr(attrs)}
    fused = OpOp.make(inputs, [output.type for output in outputs], properties, attributes)
    fused.location = _location(ops)
    for made, output in zip(fused.results, outputs, strict=True):
        made.name_hint = output.name_hint
    return fused


def _entry(op: Operation, inputs: Sequence[int]) -> DictionaryAttr:
    """One node of the body."""
    entry: dict[str, Attribute] = {
        "type": string_attr(ge_type(op)),
        "inputs": i64_array(inputs),
        "n_outputs": i64(len(data_results(op))),
    }
    if attrs := ge_attrs(op):
        entry["attrs"] = from_python(attrs)
    if (source := source_op(op)) is not None:
        entry["source"] = string_attr(str(source))
    return DictionaryAttr(entry)


def _location(ops: Sequence[Operation]) -> FusedLoc | UnknownLoc:
    places = list(
        dict.fromkeys(op.location for op in ops if not isinstance(op.location, UnknownLoc))
    )
    return FusedLoc(ArrayAttr(places), NoneAttr()) if places else UnknownLoc()
