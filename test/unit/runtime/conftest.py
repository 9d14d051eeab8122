from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge_dialect.program import context
from ge_dialect.runtime import DeviceOptions, Executable, load

Parse = Callable[[str], ModuleOp]
Loader = Callable[..., Executable]


@pytest.fixture
def parse() -> Parse:
    """A verified module of its text."""

    def run(text: str) -> ModuleOp:
        module = Parser(context(), text).parse_module()
        module.verify()
        return module

    return run


@pytest.fixture
def loaded(parse: Parse) -> Loader:
    """The executable of a text, with options of the device by name."""

    def run(text: str, **options: object) -> Executable:
        return load(parse(text), DeviceOptions(**options))  # pyright: ignore[reportArgumentType]

    return run
