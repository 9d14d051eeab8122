"""The emulator: runs task lists and host programs on numpy, with memory, streams, sync and a simulated clock.

executable = load(module, DeviceOptions())
result = executable.run({"x": array})
result.outputs["y"], result.report.simulated_us
"""

from __future__ import annotations

from ge_dialect.runtime.errors import (
    DeadlockError,
    FeedError,
    LoadError,
    RunawayError,
    RunError,
    TaskError,
)
from ge_dialect.runtime.executor import RunResult
from ge_dialect.runtime.feeds import TensorSlot
from ge_dialect.runtime.load import Executable, load, load_ranks
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.report import RunReport

__all__ = [
    "DeadlockError",
    "DeviceOptions",
    "Executable",
    "FeedError",
    "LoadError",
    "RunError",
    "RunReport",
    "RunResult",
    "RunawayError",
    "TaskError",
    "TensorSlot",
    "load",
    "load_ranks",
]
