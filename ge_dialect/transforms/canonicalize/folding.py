"""Computing a node whose inputs are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.sizes import value_bytes
from ge_dialect.dialects.ge.access import data_operands, data_results, is_absent, static_shape
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels import Array, evaluate
from ge_dialect.kernels.spec import spec_of
from ge_dialect.transforms.canonicalize.constants import ConstantTable
from ge_dialect.transforms.canonicalize.plain_tensor import plain_tensor


class NotFolded(Exception):
    """Why a node with constant inputs is left alone: a key and a sentence."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition


def has_constant_inputs(op: Operation, constants: ConstantTable) -> bool:
    """Whether every wired input is a constant, with bytes or without."""
    return all(value in constants or is_absent(value) for value in data_operands(op))


def fold(op: Operation, constants: ConstantTable, limit: int) -> list[Array]:
    """The outputs of a node with constant inputs. Raises NotFolded.

    `limit`: bytes by which the outputs may exceed the inputs; where the outputs' shapes are not known beforehand,
    the bytes that the inputs may have.
    """
    values = [None if is_absent(value) else value for value in data_operands(op)]
    results = data_results(op)
    kinds = [result.type for result in results]
    if any(
        plain_tensor(kind) is None for kind in (*kinds, *(v.type for v in values if v is not None))
    ):
        raise NotFolded("not-a-plain-tensor", "an input or output is no tensor in a plain format")
    missing = next((v for v in values if v is not None and not constants.has_bytes(v)), None)
    if missing is not None:
        raise NotFolded("weights-elided", "the bytes of an input are not in this text")
    inputs = [None if value is None else constants.array(value) for value in values]
    # An input that stands there twice has its bytes once: a chain of Concat(x, x) doubles them at each step.
    held = {id(array): array.nbytes for array in inputs if array is not None}
    _check_size(kinds, sum(held.values()), limit)
    try:
        outputs = evaluate(spec_of(op), inputs)
    except GeError as error:
        raise NotFolded("kernel", f"cannot be computed: {error.message}") from None
    return _checked(outputs, kinds)


def _check_size(kinds: Sequence[Attribute], input_bytes: int, limit: int) -> None:
    sizes = [value_bytes(kind) for kind in kinds]
    known = [size for size in sizes if size is not None]
    growth = sum(known) - input_bytes if len(known) == len(sizes) else input_bytes
    if growth > limit:
        raise NotFolded("fold-limit", f"folding would add {growth} bytes, the limit is {limit}")


def _checked(outputs: Sequence[object], kinds: Sequence[Attribute]) -> list[Array]:
    """The outputs as read-only arrays; they must be what the node's types promise."""
    found: list[Array] = []
    for value, kind in zip(outputs, kinds, strict=False):
        if not isinstance(value, np.ndarray):
            raise NotFolded("not-a-plain-tensor", "an output is no tensor")
        output = cast("Array", value)
        shape = static_shape(kind)
        if shape is not None and shape != output.shape:
            raise NotFolded(
                "type", f"computed shape {list(output.shape)} is not the declared {list(shape)}"
            )
        if output.base is None and output.flags.owndata:
            output.flags.writeable = False  # ours alone: the constant may hold this very memory
        found.append(output)
    if len(found) < len(kinds):
        raise NotFolded("kernel", f"the kernel made {len(found)} of {len(kinds)} outputs")
    return found
