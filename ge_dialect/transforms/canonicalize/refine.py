"""Narrowing result types by shape functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneType
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.node_info import infer_node
from ge_dialect.dialects.ge.access import data_results, set_result_type, static_shape
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.types import ControlType, UndefinedType
from ge_dialect.dialects.ge.weights import ranked_tensor, tensor_type
from ge_dialect.formats.dtypes import DType
from ge_dialect.kernels.shapes.info import ANY_TYPE, Info, TensorInfo
from ge_dialect.transforms.canonicalize.plain_tensor import Shape, plain_tensor


def merged_shape(old: Shape | None, new: Shape | None) -> Shape | None:
    """What two shapes of one tensor say together. Raises ValueError when they contradict each other."""
    if old is None or new is None:
        return new if old is None else old
    if len(old) != len(new) or any(
        a != b and a >= 0 and b >= 0 for a, b in zip(old, new, strict=True)
    ):
        raise ValueError(f"shape {list(new)} contradicts {list(old)}")
    return tuple(b if a < 0 else a for a, b in zip(old, new, strict=True))


def narrowed(kind: Attribute, shape: Shape | None, dtype: DType) -> Attribute:
    """`kind` with what is newly known; types with a storage format and types that are no tensors stay as they are.

    Raises ValueError for a contradiction.
    """
    known = plain_tensor(kind)
    if known is None:
        return kind
    both = merged_shape(known.shape, shape)
    if isinstance(known.element, UndefinedType) and dtype is not ANY_TYPE:
        return kind if both is None else tensor_type(dtype, both)
    if both is None or both == known.shape:
        return kind
    try:
        return tensor_type(dtype_of(known.element), both)
    except KeyError:
        return ranked_tensor(known.element, both)


def needs_refining(op: Operation) -> bool:
    """Whether a result is a tensor whose shape is not wholly known."""
    for result in op.results:
        kind = result.type
        if not isinstance(kind, ControlType | NoneType) and static_shape(kind) is None:
            return True
    return False


def refine_results(op: Operation) -> int:
    """Narrow the node's result types by its shape function; the number of results that changed.

    Raises GeError (of the shape function) or ValueError where the node contradicts itself.
    """
    return apply_infos(op, infer_node(op))


def apply_infos(op: Operation, infos: Sequence[Info | None]) -> int:
    """Narrow the node's data results by what is known about them; the number of results that changed."""
    changed = 0
    for index, info in enumerate(infos[: len(data_results(op))]):
        if not isinstance(info, TensorInfo):
            continue
        old = op.results[index].type
        new = narrowed(old, info.shape, info.dtype)
        if new is not old and new != old:
            set_result_type(op, index, new)
            changed += 1
    return changed
