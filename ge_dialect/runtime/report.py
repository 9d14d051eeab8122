"""What a step cost: counts, bytes, simulated time, and what was odd."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class RunReport:
    """One step on one device.

    Counts: `tasks` that ran on the device, `by_kind` their kinds, `launches` calls by which the host handed work to
    the device, `host_calls` operators computed on the host, `steps` other steps of a host
    program, `h2d`/`d2h` copies between the memories, `syncs` waits of the host for the device, `allocations`.
    Nodes without task (`ge_task.virtual`): `virtual_nodes` how many there are, `skipped_inits` the kernels that are not
    initialised for them when the list is loaded (RT1), `avoided_launches` the tasks that are not issued for them in a
    step (RT2: not launched), `unmoved_bytes` what those would have copied.
    Bytes: `peak_bytes` the arena `hbm` (or the most that was allocated at once), `feature_map_bytes` the same without
    model inputs and outputs, `lower_bound_bytes` what no plan of the feature map could do without (None: not known) by
    the argument `lower_bound_kind`, `plain_bound_bytes` the same when nothing is written in place, `weight_bytes`,
    `moved_bytes` in copies between the memories.
    `host_peak_bytes` is the most that a host program had in host memory at once, `reserved_bytes` what its allocator
    holds on the device, in use or kept for later; `cache_misses` counts allocations that had to extend that.
    `simulated_us` is time under the device profile, `wall_us` what the emulator really took. `host_us` and `device_us`
    say what host and streams did in that time, by kind; they work side by side, so the sum may be more. `idle` is time
    in which the host needed a result of the device.
    """

    model: str = ""
    profile: str = "default"
    tasks: int = 0
    by_kind: Mapping[str, int] = field(default_factory=dict[str, int])
    launches: int = 0
    host_calls: int = 0
    steps: Mapping[str, int] = field(default_factory=dict[str, int])
    h2d: int = 0
    d2h: int = 0
    syncs: int = 0
    streams: int = 0
    events: int = 0
    allocations: int = 0
    cache_misses: int = 0
    opaque_tasks: int = 0
    virtual_nodes: int = 0
    skipped_inits: int = 0
    avoided_launches: int = 0
    unmoved_bytes: int = 0
    peak_bytes: int = 0
    feature_map_bytes: int = 0
    host_peak_bytes: int = 0
    reserved_bytes: int = 0
    lower_bound_bytes: int | None = None
    lower_bound_kind: str = ""
    plain_bound_bytes: int | None = None
    weight_bytes: int = 0
    arenas: Mapping[str, int] = field(default_factory=dict[str, int])
    moved_bytes: int = 0
    simulated_us: float = 0.0
    host_us: Mapping[str, float] = field(default_factory=dict[str, float])
    device_us: Mapping[str, float] = field(default_factory=dict[str, float])
    wall_us: float = 0.0
    warnings: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, the fields in order."""
        return asdict(self)

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(self.to_dict(), indent=2)
