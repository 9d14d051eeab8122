"""`ge-opt --list-passes`: this project's passes, a line each."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from typing import Any

from xdsl.passes import ModulePass

from ge_dialect.passes import PASSES
from ge_dialect.universe import resolve


def summary(module_pass: type[ModulePass]) -> str:
    """The first paragraph of a pass's docstring, on one line."""
    return " ".join((inspect.getdoc(module_pass) or "").partition("\n\n")[0].split())


def pass_list() -> str:
    """Name and summary of every pass in the table, in the table's order."""
    width = max(map(len, PASSES), default=0)
    return "".join(
        f"{name:<{width}}  {summary(resolve(reference))}\n" for name, reference in PASSES.items()
    )


class ListPasses(argparse.Action):
    """Prints the list and exits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, nargs=0, **kwargs)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        print(pass_list(), end="")
        parser.exit()
