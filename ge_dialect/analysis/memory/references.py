"""Which outputs are an input's memory: the reference rules of spec/no_task.md section 3, and our views."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from ge_dialect.analysis.aliases import is_view, named_reference
from ge_dialect.analysis.memory.marks import NO_MARKS, Marks
from ge_dialect.dialects.ge.access import slot_attrs


def reference_input(op: Operation, kind: str, marks: Marks, output: int, inputs: int) -> int | None:
    """The input slot whose memory data output `output` is, None when the output has memory of its own.

    `kind` is the node's GE type, `inputs` how many data slots it has; a slot beyond that is no reference. Where the
    rules speak of sub-graphs (rule 1) there is nothing here: a graph of known shape has none.
    """
    if output == 0 and inputs and (kind == "Merge" or is_view(op)):
        return 0
    if marks.reference and (slot := named_reference(op, output)) is not None:
        return slot if slot < inputs else None
    if "ge.res_attrs" in op.attributes:
        index = slot_attrs(op, "res", output).data.get("reuse_input")
        if isinstance(index, IntegerAttr) and 0 <= index.value.data < inputs:
            return index.value.data
    if marks is NO_MARKS or not marks.output_reuse_input or not inputs:
        return None
    return 0 if marks.no_padding_input or marks.no_padding_output else None
