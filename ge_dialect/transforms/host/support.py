"""Whether the host CPU can compute a node (spec/host_execution.md section 5, `host_supported`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.engine_table import ENGINES, HOST_CPU
from ge_dialect.dialects.ge.access import data_operands, data_results
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.host_kernel_table import HOST_KERNELS, NUMBERS_AND_BOOL
from ge_dialect.formats.errors import GeError

NEVER_ON_HOST = frozenset({"RandomUniform"})
"""Operator types that stay on the device whatever kernels there are: the black list."""


@dataclass(frozen=True, slots=True)
class HostKernels:
    """The kernels of the host's store: operator type -> element types it takes, none of them = it refuses the type.

    `loaded` false: the store that checks element types is not there, so that every registered type is accepted.
    """

    types: Mapping[str, frozenset[str]]
    loaded: bool = True

    def refusal(self, op: Operation, kind: str) -> tuple[str, str] | None:
        """The first condition that forbids a node of the type `kind`, and a sentence about it; None: supported."""
        if kind in NEVER_ON_HOST:
            return "black-list", f"{kind} never moves to the host"
        accepted = self.types.get(kind)
        if accepted is None:
            return "host-kernel", f"the host CPU has no kernel for {kind}"
        if not self.loaded:
            return None
        if not accepted:
            return "host-support", f"the host CPU's kernel for {kind} refuses the node"
        for side, values in (("input", data_operands(op)), ("output", data_results(op))):
            for index, value in enumerate(values):
                if isinstance(value.type, NoneType):
                    continue
                name = _element_name(value.type)
                if name not in accepted:
                    said = f"{side} {index} has elements of type {name}"
                    return "host-support", f"{said}, which the host CPU's kernel for {kind} lacks"
        return None


def _element_name(kind: Attribute) -> str:
    """The name of a tensor's element type; UNDEFINED for another value (a sequence, a map) and a type GE lacks."""
    if not isinstance(kind, TensorType | UnrankedTensorType):
        return "UNDEFINED"
    tensor = cast("TensorType[Attribute] | UnrankedTensorType[Attribute]", kind)
    try:
        return dtype_of(tensor.element_type).name
    except KeyError:
        return "UNDEFINED"


DEFAULT_KERNELS = HostKernels(HOST_KERNELS)


def kernels_of(text: str, loaded: bool = True) -> HostKernels:
    """The table without (`-Type`) or with further (`+Type`) operator types, or with these alone (`Type`).

    Types are separated by `|`; blanks are trimmed and empty parts ignored.

    Types that the default table lacks get kernels for all numbers and booleans. Raises GeError for a mixture of plain
    names and signed ones, and for a type to leave out that is not there.
    """
    names = [name for part in text.split("|") if (name := part.strip())]
    signed = [name for name in names if name[:1] in "+-"]
    if signed and len(signed) < len(names):
        raise GeError(
            "host kernels are named either all plainly (these alone) or all with + or - (changes)"
        )
    found = dict(HOST_KERNELS) if signed or not names else {}
    for name in names:
        kind = name.lstrip("+-")
        if name.startswith("-"):
            if found.pop(kind, None) is None:
                raise GeError(f"the host CPU has no kernel for {kind} that could be left out")
        else:
            found[kind] = HOST_KERNELS.get(kind, NUMBERS_AND_BOOL)
    return HostKernels(found, loaded)


HOST_NAMES = (ENGINES[HOST_CPU].name, ENGINES[HOST_CPU].kernel_lib)
"""Engine and kernel lib of a node on the host CPU."""
