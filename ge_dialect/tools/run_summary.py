"""What ge-run prints about a run, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ge_dialect.kernels.spec import is_array
from ge_dialect.runtime import RunReport
from ge_dialect.runtime.checker import Finding
from ge_dialect.runtime.feeds import dtype_text
from ge_dialect.tools.oracle import Verdict

SHOWN = 8
"""Outputs of a rank that the text lists, and comparisons that passed; JSON has all."""


@dataclass(slots=True)
class Summary:
    """A run: its report, outputs of each rank, wall times of all repetitions in microseconds, findings, verdict.

    `opaque_types` ran without a kernel. `costs`: the text has a bar for each kind of work.
    """

    model: str
    report: RunReport
    ranks: Sequence[Mapping[str, Any]]
    wall_us: list[float]
    random_seed: int | None
    opaque_types: list[str]
    findings: list[Finding] = field(default_factory=list[Finding])
    verdict: Verdict | None = None
    costs: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "model": self.model,
            "random_inputs_seed": self.random_seed,
            "report": self.report.to_dict(),
            "wall_us": self.wall_us,
            "opaque_types": self.opaque_types,
            "findings": [
                {"condition": x.condition, "severity": x.severity, "message": x.message}
                for x in self.findings
            ],
            "outputs": [
                {"rank": rank, "name": name, **_json_facts(value)}
                for rank, outputs in enumerate(self.ranks)
                for name, value in outputs.items()
            ],
            "check": self.verdict
            and {
                "oracle": self.verdict.oracle,
                "passed": self.verdict.passed,
                "outputs": [
                    {
                        "name": x.name,
                        "error": _number(x.error),
                        "tolerance": x.tolerance,
                        "own_error_in_float64": x.own_error,
                        "oracle_error_in_float64": x.oracle_error,
                        "passed": x.passed,
                    }
                    for x in self.verdict.comparisons
                ],
            },
        }

    def to_text(self) -> str:
        """A few aligned lines; of many outputs the first `SHOWN`."""
        rows = [*self._work(), *self._memory(), *self._time()]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value}" for name, value in rows]
        if self.costs:
            lines += cost_bars(self.report)
        for rank, outputs in enumerate(self.ranks):
            of = f" of rank {rank}" if len(self.ranks) > 1 else ""
            listed = [f"output{of} {name}: {describe(value)}" for name, value in outputs.items()]
            lines += listed[:SHOWN]
            if len(listed) > SHOWN:
                lines.append(f"... and {len(listed) - SHOWN} outputs more; --json lists all")
        if self.random_seed is not None:
            lines.append(
                f"inputs are random (seed {self.random_seed}); --inputs FILE.npz gives your own"
            )
        if self.opaque_types:
            types = ", ".join(self.opaque_types)
            lines.append(f"warning: no kernel for {types}: opaque bytes, the numbers mean nothing")
        lines += [f"warning: {text}" for text in self.report.warnings]
        lines += [str(finding) for finding in self.findings]
        if self.verdict is not None:
            lines += _verdict_lines(self.verdict)
        return "\n".join(lines)

    def _work(self) -> list[tuple[str, str]]:
        report = self.report
        kinds = ", ".join(
            f"{n} {kind}" for kind, n in sorted(report.by_kind.items(), key=lambda x: (-x[1], x[0]))
        )
        rows = [
            ("model", f"{self.model} (@{report.model})"),
            ("tasks", f"{report.tasks}" + (f": {kinds}" if kinds else "")),
        ]
        if report.host_calls or report.steps:
            steps = ", ".join(f"{n} {kind}" for kind, n in report.steps.items())
            rows.append(
                ("host steps", ", ".join(x for x in (f"{report.host_calls} host_call", steps) if x))
            )
        rows.append(
            (
                "host",
                f"{report.launches} launches, {report.h2d} h2d, {report.d2h} d2h, {report.syncs} syncs, "
                f"{report.moved_bytes} bytes moved",
            )
        )
        if report.virtual_nodes:
            rows.append(
                (
                    "without task",
                    f"{report.virtual_nodes} nodes: {report.skipped_inits} kernels not initialised, "
                    f"{report.avoided_launches} tasks not issued, {report.unmoved_bytes} bytes not copied",
                )
            )
        rows.append(("streams", f"{report.streams}, {report.events} events"))
        return rows

    def _memory(self) -> list[tuple[str, str]]:
        report = self.report
        bound = report.lower_bound_bytes
        shown = "lower bound unknown"
        if bound is not None:
            ratio = report.feature_map_bytes / bound if bound else 1.0
            shown = (
                f"lower bound {bound}: {report.lower_bound_kind or 'max live'}, ratio {ratio:.3f}"
            )
        hits = report.allocations - report.cache_misses
        cached = f", {hits} from the cache" if report.cache_misses else ""
        return [
            (
                "peak bytes",
                f"{report.peak_bytes}, feature map {report.feature_map_bytes} ({shown}), "
                f"{report.allocations} allocations{cached}",
            ),
            ("weight bytes", f"{report.weight_bytes}"),
        ]

    def _time(self) -> list[tuple[str, str]]:
        best = min(self.wall_us)
        repeats = "" if len(self.wall_us) == 1 else f" (best of {len(self.wall_us)})"
        return [
            ("simulated us", f"{self.report.simulated_us:.1f} (profile {self.report.profile})"),
            ("emulator us", f"{best:.0f}{repeats}"),
        ]


BAR = 40
"""Characters of the longest bar: the whole simulated time."""


def cost_bars(report: RunReport) -> list[str]:
    """A bar for each kind of work of the host and of the device, the longest first; a full one is the whole time.

    Host and streams work side by side, so all bars together may be longer than one full one.
    """
    total = report.simulated_us
    rows = [
        (f"{place} {kind}", us)
        for place, kinds in (("host", report.host_us), ("device", report.device_us))
        for kind, us in sorted(kinds.items(), key=lambda x: (-x[1], x[0]))
        if us > 0
    ]
    if not rows or total <= 0:
        return []
    width = max(len(name) for name, _ in rows)
    digits = max(len(f"{us:.1f}") for _, us in rows)
    return [
        f"  {name:<{width}}  {us:>{digits}.1f} us {us / total:>6.1%}  {'#' * _length(us, total)}".rstrip()
        for name, us in rows
    ]


def _length(part: float, total: float) -> int:
    return min(BAR, max(1, round(BAR * part / total)))


def describe(value: Any) -> str:
    """Element type, shape and range of an output."""
    facts = _facts(value)
    if "dtype" not in facts:
        return str(facts["kind"])
    text = f"{facts['dtype']} {facts['shape']}"
    return (
        text if facts["min"] is None else f"{text}, min {facts['min']:.6g}, max {facts['max']:.6g}"
    )


def _facts(value: Any) -> dict[str, Any]:
    if not is_array(value):
        length = f" of {len(value)}" if type(value) in (list, dict) else ""
        return {"kind": "nothing" if value is None else f"{type(value).__name__}{length}"}
    low = high = None
    if value.dtype.kind not in "OUSc":
        with np.errstate(all="ignore"):
            numbers = value.astype(np.float64)
        numbers = numbers[~np.isnan(numbers)]
        if numbers.size:
            low, high = float(numbers.min()), float(numbers.max())
    return {
        "dtype": dtype_text(value.dtype),
        "shape": list(value.shape),
        "min": low,
        "max": high,
    }


def _json_facts(value: Any) -> dict[str, Any]:
    facts = _facts(value)
    return {key: _number(x) if key in ("min", "max") else x for key, x in facts.items()}


def _number(value: float | None) -> float | None:
    """JSON has no infinities."""
    return value if value is not None and np.isfinite(value) else None


def _verdict_lines(verdict: Verdict) -> list[str]:
    lines = [f"checked against {verdict.oracle}"]
    hidden: list[float] = []
    listed = 0
    for x in verdict.comparisons:
        if x.passed:
            listed += 1
            if listed > SHOWN:
                hidden.append(x.error)
                continue
        passed = "ok" if x.passed else "FAILED"
        line = (
            f"  {x.name}: max relative error {x.error:.3g} (tolerance {x.tolerance:.3g}) {passed}"
        )
        if x.own_error is not None and x.oracle_error is not None:
            line += f"; from the float64 result ours is {x.own_error:.3g} away, the oracle's {x.oracle_error:.3g}"
        lines.append(line)
    if hidden:
        lines.append(
            f"  ... and {len(hidden)} outputs more, max relative error {max(hidden):.3g} ok"
        )
    return lines
