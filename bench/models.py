"""The real models that benchmarks and the model tests run on, found on this machine.

Models are not part of the repository: shared ones are taken from a folder (environment variable GE_MODELS, default
`../shared/models` beside the repository), the others from the Python packages that ship them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("GE_MODELS", ROOT.parent / "shared" / "models"))


@dataclass(frozen=True)
class Model:
    """One model; `dims` fixes its symbolic dimensions, `path` is None (with `why`) when it is not installed."""

    name: str
    path: Path | None
    why: str = ""
    dims: dict[str, int] = field(default_factory=dict)
    accumulate: Literal["float32", "float64"] = "float32"
    """In what products are summed: the last bits of sums, which depend on the BLAS library, can matter."""
    picture: bool = False
    """The input is a picture of print, without which a text detector's output is zero but for rounding."""


def _packaged(
    package: str, relative: str, install: str, dims: dict[str, int] | None = None
) -> Model:
    name = Path(relative).stem if package != "magika" else "magika_standard_v3_3"
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return Model(name, None, f"not installed: {install}", dims or {})
    path = Path(spec.origin).parent / relative
    if not path.exists():
        return Model(name, None, f"not in the installed {package}: {install}", dims or {})
    return Model(name, path, "", dims or {})


def _shared(name: str, dims: dict[str, int] | None = None) -> Model:
    path = SHARED / f"{name}.onnx"
    if not path.exists():
        return Model(name, None, "no folder of shared models (set GE_MODELS)", dims or {})
    return Model(name, path, "", dims or {})


SHARED_MODELS: tuple[Model, ...] = (
    _shared("bert_base_slim"),
    _shared("densenet121_slim"),
    _shared("gpt2_slim_dyn", {"batch": 2, "seq": 8}),
    _shared("hrnet_slim"),
    _shared("inception_v3_slim"),
    _shared("llama2_shape", {"batch": 2, "seq": 8, "total_seq": 8}),
    _shared("moe_dense_slim"),
    _shared("resnet50_slim"),
    _shared("shufflenet_v2_slim"),
    _shared("squeezenet_slim"),
    _shared("toy_allgather_split_concat"),
    _shared("toy_split_relu_concat_axis0"),
    _shared("toy_split_relu_concat_axis1"),
    _shared("unet_slim"),
)

LIGHT_MODELS: tuple[Model, ...] = tuple(
    _packaged("onnx", f"backend/test/data/light/light_{name}.onnx", "pip install onnx")
    for name in (
        "bvlc_alexnet",
        "densenet121",
        "inception_v1",
        "inception_v2",
        "resnet50",
        "shufflenet",
        "squeezenet",
        "vgg19",
        "zfnet512",
    )
)

_SILERO = "pip install --no-deps silero-vad==6.2.3"
_OCR = "pip install --no-deps rapidocr-onnxruntime==1.4.4"
PACKAGED_MODELS: tuple[Model, ...] = (
    _packaged(
        "silero_vad",
        "data/silero_vad.onnx",
        _SILERO,
        {"input:0": 1, "input:1": 512, "state:1": 1},
    ),
    _packaged(
        "silero_vad", "data/silero_vad_16k_op15.onnx", _SILERO, {"batch": 1, "sequence": 512}
    ),
    _packaged(
        "silero_vad", "data/silero_vad_op18_ifless.onnx", _SILERO, {"batch": 1, "sequence": 512}
    ),
    _packaged("silero_vad", "data/silero_vad_openvino_16k.onnx", _SILERO),
    _packaged(
        "magika",
        "models/standard_v3_3/model.onnx",
        "pip install --no-deps magika==1.0.3",
        {"bytes:0": 1},
    ),
    _packaged(
        "rapidocr_onnxruntime",
        "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        _OCR,
        {"x:0": 1, "x:2": 48, "x:3": 192},
    ),
    replace(
        _packaged(
            "rapidocr_onnxruntime",
            "models/ch_PP-OCRv4_det_infer.onnx",
            _OCR,
            {"x:0": 1, "x:2": 96, "x:3": 128},
        ),
        picture=True,
        accumulate="float64",  # 60 layers between a sum and a sigmoid
    ),
    _packaged(
        "rapidocr_onnxruntime",
        "models/ch_PP-OCRv4_rec_infer.onnx",
        _OCR,
        {"x:0": 1, "x:2": 48, "x:3": 160},
    ),
    _packaged(
        "basic_pitch",
        "saved_models/icassp_2022/nmp.onnx",
        "pip install --no-deps basic-pitch==0.4.0",
        {"serving_default_input_2:0:0": 1},
    ),
)


def installed(models: Iterable[Model]) -> list[Model]:
    """Those that are here; prints one line for each reason why the others are not."""
    missing: dict[str, list[str]] = {}
    found: list[Model] = []
    for model in models:
        if model.path is None:
            missing.setdefault(model.why, []).append(model.name)
        else:
            found.append(model)
    for why, names in missing.items():
        print(f"left out, {why}: {', '.join(names)}")
    return found


ALL_MODELS = SHARED_MODELS + LIGHT_MODELS + PACKAGED_MODELS
