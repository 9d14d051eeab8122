"""Continuous inputs and outputs: strides, and which outputs get no memory because their place is given by a consumer.

Source: spec/memory.md sections 1.2, 6, 6.1 and 7.2.
"""

from __future__ import annotations

from ge_dialect.analysis.memory.marks import highest_type, is_outside
from ge_dialect.analysis.memory.model import Node, Output, nopadding_bytes
from ge_dialect.analysis.sizes import aligned

ZERO_MEMORY_TYPES = frozenset(
    "Variable Const Constant MultiShape HvdWait FileConstant ConstPlaceHolder".split()
)
"""Types whose outputs never have pool memory (section 6, step 1)."""


def fusion_stride(output: Output) -> int | None:
    """The stride that the producer itself asks for (`_output_offset_for_buffer_fusion`), None without."""
    strides = output.node.marks.fusion_strides
    if not strides:
        return None
    if output.index >= len(strides):
        raise output.node.error(
            f"has {len(strides)} fusion strides, none for output {output.index}"
        )
    return strides[output.index]


def stride(output: Output, node: Node, *, padded: bool) -> int:
    """Bytes from the start of `output` to that of the next tensor in the continuous run of `node` (section 7.2).

    Raises LayoutError when the node lacks the dimension index that a run without padding needs, or it is no dimension
    of the tensor.
    """
    given = fusion_stride(output)
    if given is not None:
        return given
    if padded:
        return aligned(output.stored)
    dim = node.marks.dim_index
    if dim is None:
        raise node.error("lies without padding but has no _reuse_input_on_dim_index")
    size = nopadding_bytes(output, dim)
    if size is None:
        raise node.error(f"has _reuse_input_on_dim_index {dim}, no dimension of {output}")
    return size


def is_cleaned_separately(node: Node) -> bool:
    """Whether the node zeroes its own inputs (`atomic_input_index` and `need_gentask_atomic`)."""
    return node.marks.atomic_inputs is not None and node.marks.zeroes_itself


def _walk(node: Node, slot: int, *, padded: bool) -> tuple[Node, int] | None:
    """The last continuous input of the wanted kind that an input leads to through references (section 6.1)."""
    found: tuple[Node, int] | None = None
    seen: set[tuple[int, int]] = set()
    stack = [(node, slot)]
    while stack:
        at, index = stack.pop()
        if (at.id, index) in seen:
            continue
        seen.add((at.id, index))
        if at.is_padded_input if padded else at.is_no_padding_input:
            found = (at, index)
        source = at.inputs[index]
        for output in at.outputs:
            if output.source is not None and output.source is source and _slot(output) == index:
                stack.extend(output.consumers)
    return found


def _slot(output: Output) -> int:
    """The input slot that an output refers to; the first, when several slots read the same value."""
    return next(i for i, source in enumerate(output.node.inputs) if source is output.source)


def continuous_consumer(node: Node, slot: int) -> tuple[Node, int, bool] | None:
    """The continuous input (node, slot, padded) that an input is, itself or through references.

    No-padding ones are looked for first, padded ones only where there is none.
    """
    for padded in (False, True):
        found = _walk(node, slot, padded=padded)
        if found is not None:
            return (*found, padded)
    return None


def is_outside_pools(output: Output) -> bool:
    """Whether the output lies in L1 or UB, for which there is no pool (section 1.4)."""
    types = output.node.marks.output_types
    return output.index < len(types) and is_outside(
        highest_type(types[output.index : output.index + 1])
    )


def needs_no_memory(output: Output) -> bool:
    """Whether an output gets no block since its place follows from elsewhere: section 6, steps 1 and 3."""
    node = output.node
    if node.type in ZERO_MEMORY_TYPES or node.marks.in_buffer_pool:
        return True
    if output.stored <= 0 or is_outside_pools(output):
        return True
    no_memory = False
    for consumer, slot in output.consumers:
        found = continuous_consumer(consumer, slot)
        if found is None:
            continue
        target, index, padded = found
        if index == 0:
            return False
        if not padded:
            no_memory = True
        elif node.marks.fusion_strides is not None or is_cleaned_separately(target):
            no_memory = True
    return no_memory
