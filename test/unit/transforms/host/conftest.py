"""Graphs in the dialect's text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ge_dialect.dialects.ge import Ge
from ge_dialect.transforms.engines.ge_assign_engines import GeAssignEngines

Read = Callable[[str], ModuleOp]


@pytest.fixture
def read() -> Read:
    """Parses a module and gives its nodes engines."""

    def parse(text: str) -> ModuleOp:
        ctx = Context()
        ctx.load_dialect(Builtin)
        ctx.load_dialect(Ge)
        module = Parser(ctx, text).parse_module()
        GeAssignEngines().apply(ctx, module)
        return module

    return parse
