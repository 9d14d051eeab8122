"""What small-shape host execution is worth on dynamic models, beside the published figures.

    python bench/host_execution.py [--json FILE] [--profile NAME|F.toml] [MODEL ...]

Each model is compiled twice, without and with `ge-host-exec`, for any shape; each program then runs three shapes as it
is. Outputs are compared with onnxruntime's (the error is the largest difference over the largest magnitude of the
output). Times are simulated, under a profile that was calibrated on the published fragment alone.

The last row is about the regime that the published step may have been in. The shared model has the published graph but
slim layers, so its kernels take no time; here matrix products are slowed until the step with host execution takes as
long as published. Then the device is busy most of the time and the host's work is partly hidden. Everything else stays
as in the profile.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from feeds import make_feeds, session
from models import SHARED_MODELS, Model

from ge_dialect import program
from ge_dialect.dialects.ge.access import ge_type, get_flag, graphs
from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.kernels.device_profile import DeviceProfile, load_profile
from ge_dialect.runtime import DeviceOptions, RunReport
from ge_dialect.runtime.host import HostExecutable

BEFORE = "ge-pipeline{host-exec=false}"
AFTER = "ge-pipeline"
SHAPES = ((1, 16), (2, 40), (1, 64))
"""Batch and sequence length."""

PUBLISHED_STEPS = {"llama2_shape": (1_062_000.0, 1_009_000.0)}
"""Microseconds before and after, from the article; nothing is published about gpt2_slim_dyn."""


def moved(path: Path, passes: str) -> Counter[str]:
    """How many nodes of each type `ge-host-exec` moves behind `passes`."""
    module = program.load(path)
    ctx = program.context()
    for each in program.make_passes(f"{passes},ge-host-exec"):
        each.apply(ctx, module)
    return Counter(
        ge_type(op)
        for graph in graphs(module)
        for op in graph.block.ops
        if get_flag(op, "ge.small_shape_host_cpu")
    )


def executable(path: Path, pipeline: str, profile: DeviceProfile) -> HostExecutable:
    """The loaded host program of a dynamic model."""
    module = program.compile(path, pipeline=pipeline).module
    ops = list(module.body.block.ops)
    (host,) = [op for op in ops if isinstance(op, HostOp)]
    models = {op.sym_name.data: op for op in ops if isinstance(op, ModelOp)}
    return HostExecutable(host, models, DeviceOptions(unknown_kernels="error"), profile)


def error_of(ours: list[Any], theirs: list[Any]) -> float:
    """Largest difference over the largest magnitude, over all outputs."""
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        if b.size:
            scale = float(np.abs(b).max()) or 1.0
            worst = max(worst, float(np.abs(a.astype(np.float64) - b).max()) / scale)
    return worst


def counts(report: RunReport) -> dict[str, int]:
    """The steps that host execution is about."""
    return {key: getattr(report, key) for key in ("launches", "host_calls", "h2d", "d2h", "syncs")}


def with_slow_products(profile: DeviceProfile, factor: float) -> DeviceProfile:
    """The profile with a matrix unit that is slower by a factor, as if the model were that much wider."""
    engines = dict(profile.engines)
    core = engines["AIcoreEngine"]
    engines["AIcoreEngine"] = replace(core, cube_flops_per_us=core.cube_flops_per_us / factor)
    return replace(profile, engines=engines)


def in_published_regime(
    path: Path, feeds: dict[str, np.ndarray], profile: DeviceProfile, after_us: float
) -> dict[str, float]:
    """Both steps when matrix products take so long that the step with host execution takes `after_us`."""
    low, high = 1.0, 1e9
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        run = executable(path, AFTER, with_slow_products(profile, middle)).run(feeds)
        low, high = (middle, high) if run.report.simulated_us < after_us else (low, middle)
    slow = with_slow_products(profile, high)
    times = {
        name: executable(path, pipeline, slow).run(feeds).report.simulated_us
        for name, pipeline in (("before_us", BEFORE), ("after_us", AFTER))
    }
    return {"slower_products": high, **times}


def measure(model: Model, profile: DeviceProfile) -> dict[str, Any]:
    """Everything about one model."""
    assert model.path is not None
    oracle = session(model.path, optimise=False)
    programs = {
        "before": executable(model.path, BEFORE, profile),
        "after": executable(model.path, AFTER, profile),
    }
    rows: list[dict[str, Any]] = []
    feeds: dict[str, np.ndarray] = {}
    for batch, length in SHAPES:
        dims = {"batch": batch, "seq": length, "total_seq": length}
        feeds = make_feeds(model.path, dims)
        expected = oracle.run(None, feeds)
        row: dict[str, Any] = {"batch": batch, "seq": length}
        for name, loaded in programs.items():
            result = loaded.run(feeds)
            row[name] = {
                **counts(result.report),
                "simulated_us": result.report.simulated_us,
                "error": error_of(list(result.outputs.values()), expected),
            }
        rows.append(row)
    found: dict[str, Any] = {
        "model": model.name,
        "moved": dict(moved(model.path, "ge-canonicalize,ge-assign-engines").most_common()),
        "moved_uncanonicalized": dict(moved(model.path, "ge-assign-engines").most_common()),
        "runs": rows,
    }
    if model.name in PUBLISHED_STEPS:
        before, after = PUBLISHED_STEPS[model.name]
        found["published"] = {"before_us": before, "after_us": after}
        found["published_regime"] = in_published_regime(model.path, feeds, profile, after)
    return found


def show(found: dict[str, Any]) -> None:
    """The figures as text."""
    for key, what in (("moved", "as compiled"), ("moved_uncanonicalized", "without canonicalize")):
        listed = ", ".join(f"{kind} {n}" for kind, n in found[key].items())
        print(f"{found['model']}: {sum(found[key].values())} nodes move {what}: {listed}")
    for row in found["runs"]:
        before, after = row["before"], row["after"]
        gain = 1 - after["simulated_us"] / before["simulated_us"]
        print(f"  batch {row['batch']} seq {row['seq']}:")
        for name in ("before", "after"):
            one = row[name]
            text = ", ".join(f"{one[key]} {key}" for key in counts(RunReport()))
            print(f"    {name:6} {one['simulated_us']:12.1f} us, {text}, error {one['error']:.1e}")
        print(f"    gain {gain:.1%}")
    if "published" in found:
        for key in ("published", "published_regime"):
            one = found[key]
            gain = 1 - one["after_us"] / one["before_us"]
            print(f"  {key}: {one['before_us']:.0f} -> {one['after_us']:.0f} us, gain {gain:.1%}")


def main() -> None:
    """The command line tool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["llama2_shape", "gpt2_slim_dyn"])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--profile", default="ascend-2024")
    args = parser.parse_args()
    known = [model.name for model in SHARED_MODELS]
    for name in args.models:
        if name not in known:
            parser.error(f"no model '{name}'; there are {', '.join(known)}")
    profile = load_profile(args.profile)
    found: list[dict[str, Any]] = []
    for model in SHARED_MODELS:
        if model.name not in args.models:
            continue
        if model.path is None:
            print(f"{model.name}: {model.why}")
            continue
        found.append(measure(model, profile))
        show(found[-1])
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
