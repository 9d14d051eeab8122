"""Inputs for a model, and the oracle's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper


def fixed_shapes(model: onnx.ModelProto, dims: dict[str, int]) -> dict[str, tuple[Any, list[int]]]:
    """Name -> (numpy type, shape) of each input that has no initializer; `dims` by name or `input:axis`."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    shapes: dict[str, tuple[Any, list[int]]] = {}
    for value in model.graph.input:
        if value.name in initialized:
            continue
        tensor = value.type.tensor_type
        shape = [
            dims.get(f"{value.name}:{axis}", dims.get(dim.dim_param, dim.dim_value))
            for axis, dim in enumerate(tensor.shape.dim)
        ]
        shapes[value.name] = (helper.tensor_dtype_to_np_dtype(tensor.elem_type), shape)
    return shapes


def print_like(height: int, width: int, seed: int) -> np.ndarray:
    """A page with rows of random black glyphs on white, [height, width], white 1 and black -1."""
    rng = np.random.default_rng(seed)
    page = np.ones((height, width), np.float32)
    for top in range(20, height - 20, 40):
        for left in range(16, width - 24, 14):
            strokes = np.kron(rng.random((5, 3)) > 0.45, np.ones((3, 3))) > 0
            page[top : top + 15, left : left + 9][strokes] = -1
    return page


def make_feeds(
    path: Path, dims: dict[str, int], seed: int = 0, *, picture: bool = False
) -> dict[str, np.ndarray]:
    """Random inputs: normal numbers, small token numbers, token types, masks of ones, positions in order."""
    rng = np.random.default_rng(seed)
    feeds: dict[str, np.ndarray] = {}
    for name, (dtype, shape) in fixed_shapes(
        onnx.load(path, load_external_data=False), dims
    ).items():
        if picture:
            feeds[name] = np.broadcast_to(print_like(shape[2], shape[3], seed), shape).astype(dtype)
        elif np.dtype(dtype).kind == "f":
            feeds[name] = rng.standard_normal(shape).astype(dtype)
        elif "mask" in name:
            feeds[name] = np.ones(shape, dtype)
        elif "type" in name:
            feeds[name] = rng.integers(0, 2, shape).astype(dtype)
        elif "position" in name:
            feeds[name] = np.broadcast_to(np.arange(shape[-1], dtype=dtype), shape).copy()
        elif name == "sr":
            feeds[name] = np.array(16000, dtype)
        else:
            feeds[name] = rng.integers(0, 50, shape).astype(dtype)
    return feeds


def session(model: Path | bytes, *, optimise: bool, threads: int = 1) -> Any:
    """An onnxruntime session with a fixed number of threads, of a file or of a model's bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimise else level.ORT_DISABLE_ALL
    source = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
