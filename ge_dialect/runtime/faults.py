"""From what a kernel raises to an error that names the task."""

from __future__ import annotations

from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.errors import KERNEL_FAULTS
from ge_dialect.runtime.errors import RunError, TaskError

__all__ = ["KERNEL_FAULTS", "task_fault"]


def task_fault(task: str, error: Exception) -> RunError:
    """The error of `task` that stands for what its kernel raised; errors of the emulator stay what they are."""
    if isinstance(error, RunError):
        return error
    text = error.message if isinstance(error, GeError) else f"{type(error).__name__}: {error}"
    return TaskError(f"{task}: {text}")
