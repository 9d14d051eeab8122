"""Choosing the engine of one node: spec/engines.md section 3, free of IR so that facts can be checked as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ge_dialect.dialects.engine_table import AI_CORE, ENGINES, HOST_CPU, VECTOR
from ge_dialect.dialects.engine_types import (
    DATA_TYPES,
    STACK_TYPES,
    VARIABLE_TYPES,
    engines_of_type,
)

VECTOR_CORE = "VectorCore"
"""The value of `ge.engineType` that lets VectorEngine take AIcoreEngine's place."""

_BY_SHORT_NAME = MappingProxyType(
    {row.short_name: row.name for row in ENGINES.values() if row.short_name is not None}
)

NOT_ON_HOST = (
    DATA_TYPES
    | VARIABLE_TYPES
    | {"Constant", "Const", "FileConstant", "NetOutput", "PartitionedCall"}
)
"""Types that the host-execution flag leaves to the ordinary choice (section 3, step 3b)."""


def excluded_engines(engine_type: str = "", exclude: str = "") -> frozenset[str]:
    """The engines that are not to be chosen: by option `ge.engineType`, and by the short names in
    `ge.exec.exclude_engines`, which `|` separates; blanks are trimmed, empty and unknown names ignored."""
    names = {AI_CORE if engine_type == VECTOR_CORE else VECTOR}
    for part in exclude.split("|"):
        if (name := _BY_SHORT_NAME.get(part.strip())) is not None:
            names.add(name)
    return frozenset(names)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An engine that knows the node's type, with the store that would make its tasks."""

    engine: str
    kernel_lib: str
    is_async: bool = False


def candidates_of_type(ge_type: str) -> tuple[Candidate, ...]:
    """The engines that know a type, in the order in which they are asked."""
    return tuple(Candidate(name, ENGINES[name].kernel_lib) for name in engines_of_type(ge_type))


@dataclass(frozen=True, slots=True)
class Names:
    """What the node says before the choice, and what it says after.

    `engine`, `kernel_lib`: the op's own; `attr_engine`, `attr_lib`: `_lxfusion_engine_name` and
    `_lxfusion_op_kernel_lib_name`; `specified_engine`, `specified_lib`: `_specified_engine_name` and
    `_specified_kernel_lib_name`. "" = not there.
    """

    engine: str = ""
    kernel_lib: str = ""
    attr_engine: str = ""
    attr_lib: str = ""
    specified_engine: str = ""
    specified_lib: str = ""


ATTR_ENGINE, ATTR_LIB = "_lxfusion_engine_name", "_lxfusion_op_kernel_lib_name"
SPECIFIED_ENGINE, SPECIFIED_LIB = "_specified_engine_name", "_specified_kernel_lib_name"


@dataclass(frozen=True, slots=True)
class Placement:
    """The outcome: the names, whether the node counts as asynchronous, and what deserves a warning."""

    names: Names
    is_async: bool = False
    warning: str | None = None


class PlacementFailure(Exception):
    """No engine takes the node; the message is the first condition that failed."""


DYNAMIC_SHAPE_UNSUPPORTED = "dynamic shape unsupported"
"""The answer of a store that would take the node if its shapes were known."""

Support = Callable[[Candidate], bool | str | None]
"""Whether the store of a candidate supports the node; None: there is no such store. The one text that counts is
`DYNAMIC_SHAPE_UNSUPPORTED`, which ends the search."""


def supports_all(candidate: Candidate) -> bool:
    """The answer of a store that judges by type alone, as those of GE local and RTS do."""
    return True


@dataclass(frozen=True, slots=True)
class Policy:
    """The options of a placement."""

    excluded: frozenset[str] = excluded_engines()
    host_exec: bool = False
    support: Support = supports_all


def _agreeing(names: Names) -> Placement:
    """The op's own engine name wins; missing attributes are filled from the op, others kept (step 1)."""
    differs = (names.attr_engine and names.attr_engine != names.engine) or (
        names.attr_lib and names.attr_lib != names.kernel_lib
    )
    warning = (
        "engine and kernel lib differ from the attribute pair; both are kept" if differs else None
    )
    filled = replace(
        names,
        attr_engine=names.attr_engine or names.engine,
        attr_lib=names.attr_lib or names.kernel_lib,
    )
    return Placement(filled, warning=warning)


def _from_attributes(names: Names) -> Placement:
    """Both attributes are there and the op has no engine (step 2)."""
    lib = names.kernel_lib or names.attr_lib
    warning = None if lib == names.attr_lib else "kernel lib differs from the attribute; it is kept"
    return Placement(replace(names, engine=names.attr_engine, kernel_lib=lib), warning=warning)


def host_cpu_candidate(candidates: Iterable[Candidate]) -> Candidate | None:
    """The host CPU among the candidates, wherever it stands (step 3b)."""
    return next((candidate for candidate in candidates if candidate.engine == HOST_CPU), None)


def select(
    ge_type: str, names: Names, policy: Policy, known: Sequence[Candidate] | None = None
) -> Placement:
    """Choose the engine of a node of type `ge_type`; `known` are the candidates by type (default: our tables).

    Raises PlacementFailure.
    """
    if names.engine:
        return _agreeing(names)
    if names.attr_engine and names.attr_lib:
        return _from_attributes(names)
    specified = bool(names.specified_engine and names.specified_lib)
    if specified:
        candidates: Sequence[Candidate] = (Candidate(names.specified_engine, names.specified_lib),)
    else:
        candidates = candidates_of_type(ge_type) if known is None else known
    if not candidates:
        raise PlacementFailure("no engine knows the type")
    if policy.host_exec and ge_type not in NOT_ON_HOST:
        if (host := host_cpu_candidate(candidates)) is None:
            raise PlacementFailure(
                "the host-execution flag is on and the host CPU does not know the type"
            )
        return Placement(replace(names, engine=host.engine, kernel_lib=host.kernel_lib))
    return _cheapest(candidates, names, policy, specified)


def _cheapest(
    candidates: Sequence[Candidate], names: Names, policy: Policy, specified: bool
) -> Placement:
    """The first candidate, in order, that is not excluded and whose store supports the node (step 3c and 3d)."""
    for candidate in candidates:
        if not specified and candidate.engine in policy.excluded:
            continue
        supported = policy.support(candidate)
        if supported is None:
            raise PlacementFailure(f"there is no store '{candidate.kernel_lib}'")
        if supported == DYNAMIC_SHAPE_UNSUPPORTED:
            raise PlacementFailure(f"'{candidate.kernel_lib}' takes the type in known shapes only")
        if supported:
            chosen = Names(
                candidate.engine,
                candidate.kernel_lib,
                candidate.engine,
                candidate.kernel_lib,
                names.specified_engine,
                names.specified_lib,
            )
            return Placement(chosen, candidate.is_async)
    tried = ", ".join(candidate.engine for candidate in candidates)
    raise PlacementFailure(
        f"every engine that knows the type is excluded or refuses the node: {tried}"
    )


def stack_nodes_for_ge_local(
    nodes: Iterable[tuple[str, str, bool]], environment: Mapping[str, str]
) -> list[str]:
    """Of (name, type, unknown shape?): the stack operators that go to GE local when `ENABLE_RUNTIME_V2` is "0"."""
    if environment.get("ENABLE_RUNTIME_V2") != "0":
        return []
    return [name for name, ge_type, unknown in nodes if unknown and ge_type in STACK_TYPES]
