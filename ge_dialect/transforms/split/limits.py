"""What a device says about the depth of its streams (spec/streams.md section 8.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.transforms.streams.errors import StreamError

RESERVED_TASKS = 27
"""Queue entries of every stream that are not for the model: 7 for profiling, 20 in reserve."""


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

    def normal(self) -> int:
        """Entries of a normal stream. Raises StreamLimitError when the device gives no answer."""
        if self.normal_tasks is None:
            raise StreamLimitError("the device does not say how many tasks a stream takes")
        return self.normal_tasks

    def is_unlimited(self) -> bool:
        """Whether streams are unlimited. Raises StreamLimitError when the device gives no answer."""
        if self.unlimited_depth is None:
            raise StreamLimitError("the device does not say whether its streams are unlimited")
        return self.unlimited_depth
