"""Whether small-shape host execution runs at all (spec/host_execution.md section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from ge_dialect.formats.errors import GeError

LEVEL_DEFAULTS = MappingProxyType({"O0": "false", "O1": "false", "O2": "true", "O3": "true"})
"""Value of the option `hostcpu_engine_update_pass` that each optimisation level sets."""

_SWITCH = MappingProxyType({"": None, "on": True, "off": False})


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to run, and the number of the rule that decided."""

    runs: bool
    rule: int
    reason: str


def decide(
    level: str = "O3", pass_switch: str = "", option: str = "", runtime_v2: str = ""
) -> Decision:
    """The first rule that decides wins.

    `level`: O0 to O3. `pass_switch`: "on" or "off" when the user named the pass `HostShapeOptimizationPass`, else "".
    `option`: what the user set `hostcpu_engine_update_pass` to, "" = the level's default. `runtime_v2`: the text of
    `ENABLE_RUNTIME_V2`, "" when it is not set. Raises GeError for another level or switch.
    """
    if level not in LEVEL_DEFAULTS:
        raise GeError(
            f"no optimisation level '{level}', expected one of {', '.join(LEVEL_DEFAULTS)}"
        )
    if pass_switch not in _SWITCH:
        raise GeError(f"the pass switch is 'on', 'off' or empty, not '{pass_switch}'")
    switch = _SWITCH[pass_switch]
    if switch is not None:
        said = f"the pass switch HostShapeOptimizationPass is {pass_switch}"
        return Decision(switch, 1 if switch else 2, said)
    if (option or LEVEL_DEFAULTS[level]) == "false":
        by = "" if option else f" at level {level}"
        return Decision(False, 3, f"option hostcpu_engine_update_pass is false{by}")
    if _is_zero(runtime_v2):
        return Decision(False, 4, f"ENABLE_RUNTIME_V2 is {runtime_v2}")
    return Decision(True, 5, "nothing forbids it")


def _is_zero(text: str) -> bool:
    """Whether a text is a number in base 10, and that is 0."""
    try:
        return int(text, 10) == 0
    except ValueError:
        return False
