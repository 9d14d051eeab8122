"""Python's cycle collector and large modules."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Keep Python's cycle collector from looking at a growing module again and again: hardly anything of it is garbage,
    and the looking takes as long as an import itself."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
