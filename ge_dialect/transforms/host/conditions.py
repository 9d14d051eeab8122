"""The conditions that a node must meet to join the host nodes (spec/host_execution.md sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import NoneType
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    dims_of,
    input_desc,
    is_absent,
    output_desc,
    slot_attrs,
)
from ge_dialect.transforms.engines.ge_assign_engines import placement_type
from ge_dialect.transforms.host.roles import LOCAL_LIB, REPLACEABLE_LIBS, kernel_lib, producer
from ge_dialect.transforms.host.sizes import ANY_SIZE, MAX_ELEMENTS, input_small, output_small
from ge_dialect.transforms.host.support import DEFAULT_KERNELS, HostKernels


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first condition that a node fails, by name, in a sentence, with the slot that it is about."""

    condition: str
    message: str
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What may move: the host's kernels, and the number of elements of the largest small tensor.

    `absent_inputs`: an input slot that is not wired does no harm. GE's rule is that it does.
    """

    kernels: HostKernels = DEFAULT_KERNELS
    limit: int = MAX_ELEMENTS
    absent_inputs: bool = False

    def output_refusal(self, op: Operation) -> Refusal | None:
        """The first output that is not small. An output that is not there is none."""
        if placement_type(op) in ANY_SIZE:
            return None
        for slot, result in enumerate(data_results(op)):
            kind = result.type
            if isinstance(kind, NoneType) or output_small(dims_of(kind), limit=self.limit):
                continue
            desc = output_desc(op, slot)
            bounds = () if desc.encoding is None else (desc.encoding.range or ())[1::2]
            if not output_small(desc.shape, bounds, self.limit):
                bounded = f" bounded by {list(bounds)}" if bounds else ""
                said = f"output {slot} has the shape {_text(desc.shape)}{bounded}"
                return Refusal("output-small", f"{said}, not up to {self.limit} elements", slot)
        return None

    def input_refusal(self, op: Operation, slot: int) -> Refusal | None:
        """What is wrong with an input, whoever makes it: no descriptor, not small, not wired."""
        value = data_operands(op)[slot]
        if self.absent_inputs and is_absent(value):
            return None
        own = None
        if "ge.arg_attrs" in op.attributes:
            own = slot_attrs(op, "arg", slot).data.get("type")
        if isinstance(own, NoneType) or (own is None and is_absent(value)):
            unwired = "is absent and " if is_absent(value) else ""
            return Refusal("input-desc", f"input {slot} {unwired}has no descriptor", slot)
        shape = dims_of(value.type) if own is None else input_desc(op, slot).shape
        if not input_small(shape, self.limit) and placement_type(op) not in ANY_SIZE:
            said = f"input {slot} has the shape {_text(shape)}"
            return Refusal("input-small", f"{said}, not up to {self.limit} elements", slot)
        if is_absent(value):
            return Refusal("input-connected", f"input {slot} is not wired", slot)
        return None

    def move_refusal(self, op: Operation) -> Refusal | None:
        """Why a node whose tensors fit cannot be computed on the host, or must not leave its engine."""
        if (unsupported := self.kernels.refusal(op, placement_type(op))) is not None:
            return Refusal(*unsupported)
        lib = kernel_lib(op)
        if lib not in REPLACEABLE_LIBS:
            return Refusal("kernel-lib", f"the kernel lib {lib or '(none)'} is not given up")
        return None


@dataclass(slots=True)
class Trial:
    """How far the conditions of one node have been tested; those passed once hold for good."""

    op: Operation
    outputs_fit: bool = False
    next_input: int = 0
    refusal: Refusal | None = None
    final: bool = False
    """No later host node can change the verdict."""

    def passes(self, rules: Rules, on_host: Callable[[Operation], bool]) -> bool:
        """Whether the node meets all conditions now; else `refusal` is the first that it fails.

        Goes on where the last call stopped, so all calls together look at each input once, and once more for each call.
        """
        if self.final:
            return False
        if not self.outputs_fit:
            if (refusal := rules.output_refusal(self.op)) is not None:
                return self._fail(refusal)
            self.outputs_fit = True
        operands = data_operands(self.op)
        while self.next_input < len(operands):
            slot = self.next_input
            if (refusal := rules.input_refusal(self.op, slot)) is not None:
                return self._fail(refusal)
            if not is_absent(operands[slot]) and not on_host(producer(operands[slot])):
                self.refusal = Refusal("input-on-host", f"input {slot} is made on the device", slot)
                return False
            self.next_input += 1
        if kernel_lib(self.op) != LOCAL_LIB:
            if (refusal := rules.move_refusal(self.op)) is not None:
                return self._fail(refusal)
        self.refusal = None
        return True

    def _fail(self, refusal: Refusal) -> bool:
        self.refusal, self.final = refusal, True
        return False


def _text(shape: tuple[int, ...] | None) -> str:
    """A shape as it is written in types: ? for an unknown dimension, * for an unknown rank."""
    if shape is None:
        return "*"
    return "[" + ", ".join("?" if dim < 0 else str(dim) for dim in shape) + "]"
