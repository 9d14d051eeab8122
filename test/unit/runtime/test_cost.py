"""Device profiles and the timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ge_dialect.kernels.device_profile import ProfileError, load_profile
from ge_dialect.runtime import Executable
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
    with pytest.raises(
        ProfileError, match=r"no device profile 'nope' \(known: ascend-2024, bandwidth, default"
    ):
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


ROOFLINE = """
[device]
kernel = { fixed_us = 1.0, bytes_per_us = 1e9, vector_flops_per_us = 4096.0 }
[engines]
AIcoreEngine = { fixed_us = 2.0, bytes_per_us = 16384.0, vector_flops_per_us = 1e9, cube_flops_per_us = 1000.0 }
"""


def test_roofline_by_engine(loaded: Loader, tmp_path: Path) -> None:
    path = tmp_path / "roofline.toml"
    path.write_text(ROOFLINE)

    def kernel_us(text: str) -> float:
        return loaded(text, profile=str(path)).run([X]).report.device_us["kernel"]

    assert kernel_us(TEXT) == pytest.approx(1 + 1)  # one operation an element, bytes are free
    on_core = TEXT.replace("-> (%a) stream 0", '-> (%a) engine "AIcoreEngine" stream 0')
    assert kernel_us(on_core) == pytest.approx(2 + 2)  # 32768 bytes count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[host]\nlaunch = { issue_us = 1 }", "host.launch has an unknown key 'issue_us'"),
        ("[device]\nsync = { cube_flops_per_us = 1 }", "unknown key 'cube_flops_per_us'"),
        ("[engines]\nGpu = {}", "unknown kind 'Gpu' in [engines]"),
        ("[about]\nyear = 2024", "[about] should be a table of texts"),
    ],
)
def test_what_tables_refuse(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ProfileError) as caught:
        load_profile(str(path))
    assert message in caught.value.message


def test_the_calibrated_profile_says_where_its_numbers_are_from() -> None:
    profile = load_profile("ascend-2024")
    assert "20240726-1" in profile.about["source"]
    host = profile.host
    # The fragment's operators are of known shape: nothing is inferred or tiled for them in a step.
    issuing = 3 * sum(host[part].fixed_us for part in ("alloc", "launch"))
    copies = sum(host[kind].issue_us + host[kind].fixed_us for kind in ("h2d", "d2h"))
    # The three causes that the article names have a third of its 3 ms each.
    for third in (issuing, copies, host["stream_sync"].fixed_us):
        assert third == pytest.approx(1000, abs=2)
    # Behind it four kernels on the host are left, and Reshape, whose shape is inferred.
    kernels = 4 * sum(host[part].fixed_us for part in ("alloc", "host_call"))
    assert kernels + host["infer_shape"].fixed_us == pytest.approx(10, rel=0.1)
