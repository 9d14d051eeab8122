"""What can go wrong when a program is loaded or run."""

from __future__ import annotations

from ge_dialect.formats.errors import GeError


class LoadError(GeError):
    """The program cannot be put on the emulated device: memory, kernels, kinds of tasks."""


class RunError(GeError):
    """A step cannot begin or cannot go on."""


class FeedError(RunError):
    """The inputs given for a step are not those of the program: name, element type or shape."""


class TaskError(RunError):
    """A task failed while it ran."""


class DeadlockError(RunError):
    """No started stream can go on and some have tasks left; the message lists their heads (choice E15)."""


class RunawayError(RunError):
    """More tasks ran in one step than `DeviceOptions.max_tasks` allows (choice E14)."""
