"""What `xdsl-opt` and every other xDSL tool discover of this project (entry point group `xdsl.universe`).

Every xDSL tool on the machine imports this module at start-up, so it imports nothing heavy: each getter imports its
module when it is called. Frontends are not listed: two packages that claim one key break every xDSL tool, so ge-opt
registers its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType
from typing import Any

from xdsl.universe import Universe

from ge_dialect.passes import PASSES

DIALECTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "ge": "ge_dialect.dialects.ge:Ge",
        "ge_task": "ge_dialect.dialects.ge_task:GeTask",
    }
)
TARGETS: MappingProxyType[str, str] = MappingProxyType({})


def resolve(reference: str) -> Any:
    """The object that `"module:name"` names. Raises ImportError or AttributeError when it is not there."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def lazy(reference: str) -> Callable[[], Any]:
    """A function without parameters that resolves `reference` when it is called."""

    def get() -> Any:
        return resolve(reference)

    return get


GE_UNIVERSE = Universe(
    all_dialects={name: lazy(reference) for name, reference in DIALECTS.items()},
    all_passes={name: lazy(reference) for name, reference in PASSES.items()},
    all_targets={name: lazy(reference) for name, reference in TARGETS.items()},
)
