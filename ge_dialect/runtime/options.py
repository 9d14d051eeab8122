"""The points that the reference leaves open, each one option; defaults are those of spec/tasks.md section 10.

E6 (a jump to a label of another stream is an error), E11 (a word is 1 or 0), E17 (overlapping copies behave like
memmove), E18 (addresses are read when the task runs), E24, E26 and E29 have one behaviour and therefore no option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """How the emulated device behaves."""

    order: Literal["round_robin", "random"] = "round_robin"
    """E1: which started stream runs its next task. Round robin goes by ascending stream id, one task a turn."""
    seed: int = 0
    """E1: seed of the random order; each step of one `Executable` draws another order from it."""
    switch_true_stops_current: bool = False
    """E2: whether a taken STREAM_SWITCH ends its own stream for this step."""
    switch_operand_types: Literal["convert", "error"] = "convert"
    """E3: operands of STREAM_SWITCH of another type than `data_type`: convert by value and warn, or refuse."""
    switch_n_no_match: Literal["error", "ignore"] = "error"
    """E4: STREAM_SWITCH_N without an equal row."""
    label_index: Literal["error", "clamp_last"] = "error"
    """E5: a label index outside the list (negative too)."""
    reactivation: Literal["restart", "ignore"] = "restart"
    """E7: activating a stream that has drained in this step."""
    after_end_graph: Literal["warn", "error"] = "warn"
    """E8: a task that runs behind END_GRAPH on its stream (the checker reports it in any case)."""
    model_exit: Literal["own_stream", "all_streams"] = "own_stream"
    """E9: what MODEL_EXIT drops."""
    double_record: Literal["warn", "error"] = "warn"
    """E10: recording what is recorded already."""
    external_notifies: frozenset[int] = frozenset()
    """E12: notifies that are recorded from outside before each step; 0xFFFFFFFF stands for the external handle."""
    left_recorded: Literal["warn", "error"] = "warn"
    """E13: an event, notify or word still recorded at the end of a step (it is cleared)."""
    max_tasks: int = 1_000_000
    """E14: tasks that one step may run on one device."""
    fill_byte: int = 0xA5
    """E16: content of memory that nothing was loaded into."""
    trap_uninitialised: bool = False
    """E16: refuse to read bytes that nothing has written since loading (slower)."""
    unknown_kernels: Literal["opaque", "error"] = "opaque"
    """E20: operator types without a kernel compute bytes that depend on type, attributes and inputs, or are refused."""
    accumulate: Literal["float32", "float64"] = "float32"
    """In what float32 products are summed; float64 is slower and gives the same results with any BLAS library."""
    ranks: int = 1
    """E21: emulated devices; all run the program, collectives meet by group and sequence number."""
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """The ranks of a communication group, in order; a group that is not listed holds all ranks."""
    strict_rt1: bool = False
    """E25: refuse STREAM_SWITCH_N and MODEL_EXIT, which the static loader has no runner for."""
    profile: str = "default"
    """E28: the device profile: a name in `kernels/profiles`, or a path to a TOML file."""
    record_timeline: bool = False
    """Keep when each task began and ended on the simulated clock, for `timeline.chrome_trace`."""
