"""ONNX's backend interface: whatever is written against `onnx.backend.base` runs on the emulated device.

    from ge_dialect.onnx_backend import GeBackend

    outputs = GeBackend.prepare(model).run([x, y])

A model goes the whole way: import, `ge-pipeline`, task list, emulator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import onnx
from onnx.backend.base import Backend, BackendRep

from ge_dialect.program import Program, compile


class GeBackendRep(BackendRep):
    """A model, compiled once for each combination of input shapes that it is run with."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._programs: dict[tuple[tuple[int, ...] | None, ...], Program] = {}
        initialized = {tensor.name for tensor in model.graph.initializer}
        self._inputs = [value.name for value in model.graph.input if value.name not in initialized]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs for `inputs`, by name or in the order of the model's inputs (initialized ones left out).

        Raises GeError for a model that cannot be compiled or inputs that do not fit it.
        """
        values: list[Any]
        if isinstance(inputs, Mapping):
            given = cast("Mapping[str, Any]", inputs)
            values = [given[name] for name in self._inputs]
        else:
            values = (
                list(cast("Sequence[Any]", inputs)) if isinstance(inputs, Sequence) else [inputs]
            )
        shapes = tuple(getattr(value, "shape", None) for value in values)
        program = self._programs.get(shapes)
        if program is None:
            program = self._programs[shapes] = compile(self._with_shapes(shapes))
        return tuple(program.run(values).outputs.values())

    def _with_shapes(self, shapes: Sequence[tuple[int, ...] | None]) -> onnx.ModelProto:
        """The model with its inputs' unknown dimensions set to those of the values at hand."""
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        by_name = dict(zip(self._inputs, shapes, strict=False))
        for value in model.graph.input:
            shape = by_name.get(value.name)
            if shape is None or not value.type.HasField("tensor_type"):
                continue
            dims = value.type.tensor_type.shape.dim
            if len(dims) != len(shape) and value.type.tensor_type.HasField("shape"):
                continue  # the run refuses it, naming the input
            value.type.tensor_type.shape.Clear()
            for size in shape:
                value.type.tensor_type.shape.dim.add().dim_value = size
        return model


class GeBackend(Backend):
    """ONNX's backend interface on the emulator; the only device is `CPU`, on which the emulator runs."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Every model may be tried."""
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> GeBackendRep:
        """The model, ready to run."""
        return GeBackendRep(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is the one there is."""
        return device == "CPU"
