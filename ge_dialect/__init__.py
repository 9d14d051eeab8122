"""ge-dialect: GE's graph-compiler concepts as xDSL dialects, passes and an emulator.

`compile` and `Program` are the way in from Python; they are imported when first used, so that loading the dialects
into another compiler costs nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ge_dialect.formats.errors import GeError
    from ge_dialect.program import Program, compile

__all__ = ["GeError", "Program", "compile"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "GeError":
        from ge_dialect.formats.errors import GeError

        return GeError
    if name in __all__:
        from ge_dialect import program

        return getattr(program, name)
    raise AttributeError(f"module 'ge_dialect' has no attribute '{name}'")
