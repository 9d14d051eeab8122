"""What a device says about the depth of its streams (spec/streams.md section 8.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ge_dialect.kernels.device_limits import DeviceLimits
from ge_dialect.transforms.streams.errors import StreamError

PROFILING_TASKS = 7
"""Queue entries of every stream that profiling takes."""

RESERVED_TASKS = PROFILING_TASKS + 20
"""Queue entries of every stream that are kept free when streams are split: for profiling, and 20 in reserve."""


class StreamLimitError(StreamError):
    """The device does not say how deep its streams are, or a limit of it is broken."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Queue entries that one stream takes, by kind of stream; None where the device gives no answer.

    `unlimited_depth`: streams take any number of tasks, so that nothing needs splitting.
    """

    normal_tasks: int | None = 1024
    huge_tasks: int | None = 8192
    unlimited_depth: bool | None = False

    @classmethod
    def of(cls, device: DeviceLimits) -> Self:
        """What a device profile says."""
        unlimited = device.unlimited_depth
        return cls(device.tasks_per_stream, device.tasks_per_huge_stream, unlimited)

    def normal(self) -> int:
        """Entries of a normal stream. Raises StreamLimitError when the device gives no answer."""
        if self.normal_tasks is None:
            raise StreamLimitError(
                "the device does not say how many tasks a stream takes", code="E19999"
            )
        return self.normal_tasks

    def is_unlimited(self) -> bool:
        """Whether streams are unlimited. Raises StreamLimitError when the device gives no answer."""
        if self.unlimited_depth is None:
            raise StreamLimitError("the device does not say whether its streams are unlimited")
        return self.unlimited_depth
