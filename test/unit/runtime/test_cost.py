"""Device profiles and the timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.runtime import Executable
from ge_dialect.runtime.cost import ProfileError, load_profile
from ge_dialect.runtime.timeline import chrome_trace_json

Loader = Callable[..., Executable]

TEXT = """
ge_task.model @m streams 1 arenas {hbm = 65536} {
  %x = ge_task.buffer hbm at 0 size 16384 input 0 name "x" : tensor<4096xf32>
  %a = ge_task.buffer hbm at 16384 size 16384 : tensor<4096xf32>
  %y = ge_task.buffer hbm at 32768 size 16384 output 0 name "y" : tensor<4096xf32>
  ge_task.kernel "Neg"(%x) -> (%a) stream 0 {ge.name = "n"}
  ge_task.memcpy_async(%a) -> (%y) count 16384 stream 0
  ge_task.end_graph stream 0
}"""
X = np.zeros(4096, np.float32)


def test_default_profile(loaded: Loader) -> None:
    report = loaded(TEXT).run([X]).report
    device = 10 + 1 + 16384 / 4096
    host = 10 + 20 + 2 * (10 + 16384 / 10000)
    assert report.simulated_us == pytest.approx(device + host)
    assert report.moved_bytes == 2 * 16384


def test_profile_from_a_file(loaded: Loader, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        "[device]\nkernel = { fixed_us = 1.0 }\n[operators]\nNeg = { bytes_per_us = 1024.0 }\n"
    )
    report = loaded(TEXT, profile=str(path)).run([X]).report
    assert report.profile == "mine"
    assert report.simulated_us == pytest.approx(2 * 16384 / 1024)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[device]\nkernels = {}", "unknown kind 'kernels' in [device]"),
        ("[devices]", "unknown table [devices]"),
        ("[device]\nkernel = 3", "device.kernel should be a table"),
        ("[device]\nkernel = { fixed = 1 }", "unknown key 'fixed'"),
        ("[device]\nkernel = { fixed_us = -1 }", "should be a number >= 0"),
        ("[device", "Expected"),
    ],
)
def test_malformed_profiles(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ProfileError) as caught:
        load_profile(str(path))
    assert message in caught.value.message
    assert caught.value.location == str(path)


def test_unknown_profile() -> None:
    with pytest.raises(ProfileError, match=r"no device profile 'nope' \(known: ascend-2024, bandwidth, default"):
        load_profile("nope")
    with pytest.raises(ProfileError, match="No such file"):
        load_profile("/nowhere/x.toml")


def test_chrome_trace(loaded: Loader) -> None:
    result = loaded(TEXT, record_timeline=True, ranks=2).run([X])
    trace = json.loads(chrome_trace_json(result.timeline))
    spans = [x for x in trace["traceEvents"] if x["ph"] == "X"]
    assert [x["name"] for x in spans if x["pid"] == 1] == ["n", "memcpy_async", "end_graph"]
    assert spans[0]["dur"] == 10
    names = {x["args"]["name"] for x in trace["traceEvents"] if x["ph"] == "M"}
    assert names == {"rank 0", "rank 1", "stream 0"}
