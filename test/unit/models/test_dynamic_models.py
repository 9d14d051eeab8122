"""Dynamic models: compiled once for any shape, run on several, equal to onnxruntime each time."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from feeds import make_feeds
from models import PACKAGED_MODELS, SHARED_MODELS, Model

from ge_dialect.dialects.ge_task import HostOp
from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions
from ge_dialect.tools.oracle import compare_with_oracle


@dataclass(frozen=True)
class Case:
    """A model and the shapes to run it on, each as values of its open dimensions."""

    name: str
    shapes: tuple[dict[str, int], ...]
    model: Model = field(compare=False)


def _case(name: str, *shapes: dict[str, int]) -> Case:
    return Case(name, shapes, next(m for m in SHARED_MODELS + PACKAGED_MODELS if m.name == name))


CASES = (
    _case("gpt2_slim_dyn", *({"batch": b, "seq": s} for b, s in ((1, 5), (2, 8), (1, 33)))),
    _case(
        "llama2_shape",
        *({"batch": b, "seq": s, "total_seq": s} for b, s in ((1, 5), (2, 8), (1, 33))),
    ),
    _case(
        "silero_vad",
        {"input:0": 1, "input:1": 512, "state:1": 1},
        {"input:0": 3, "input:1": 512, "state:1": 3},
    ),
    _case("silero_vad_16k_op15", {"batch": 1, "sequence": 512}, {"batch": 3, "sequence": 512}),
    _case("silero_vad_op18_ifless", {"batch": 1, "sequence": 512}, {"batch": 3, "sequence": 512}),
    _case("magika_standard_v3_3", {"bytes:0": 1}, {"bytes:0": 3}),
    _case(
        "ch_ppocr_mobile_v2.0_cls_infer",
        {"x:0": 1, "x:2": 48, "x:3": 192},
        {"x:0": 2, "x:2": 48, "x:3": 96},
    ),
    _case(
        "ch_PP-OCRv4_det_infer",
        {"x:0": 1, "x:2": 96, "x:3": 128},
        {"x:0": 1, "x:2": 64, "x:3": 160},
    ),
    _case(
        "ch_PP-OCRv4_rec_infer",
        {"x:0": 1, "x:2": 48, "x:3": 160},
        {"x:0": 2, "x:2": 48, "x:3": 80},
    ),
    _case("nmp", {"serving_default_input_2:0:0": 1}, {"serving_default_input_2:0:0": 2}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_one_program_for_several_shapes(case: Case) -> None:
    pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")
    path = case.model.path
    if path is None:
        pytest.skip(case.model.why)
    program = compile(path, device_options=DeviceOptions(accumulate=case.model.accumulate))
    assert any(isinstance(op, HostOp) for op in program.module.body.block.ops)
    for dims in case.shapes:
        feeds = make_feeds(path, dims, picture=case.model.picture)
        verdict = compare_with_oracle(str(path), feeds, program.run(feeds).outputs)
        assert verdict.oracle.startswith("onnxruntime")
        assert verdict.passed, verdict
