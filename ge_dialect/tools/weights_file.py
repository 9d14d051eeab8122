"""`--weights=FILE`: the bytes of large constants in a file beside the text instead of in it.

The text says `#ge.external<"model.weights", offset = 64, size = 4096>`, with the file's name without folders; reading
maps the file, so nothing is copied until a kernel or a fold looks at the bytes.
"""

from __future__ import annotations

import mmap
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from ge_dialect.dialects.ge import ConstantOp, ExternalAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.weights import ELIDE_ABOVE_BYTES, WeightsError, elements_attr
from ge_dialect.dialects.location import location_text
from ge_dialect.tools.output import whole_file

ALIGNMENT = 64
"""Every constant begins at a multiple of this many bytes, so that a mapped view is aligned for any element type."""


class WeightsWriter(ExitStack):
    """Writes the bytes of the constants of one or more modules to `path`, as a context manager.

    The file appears (or changes) when the body of the `with` succeeds and some constant was written; until then a file
    that was there, and views of it, stay as they are.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._stream: IO[bytes] | None = None
        self._offset = 0

    def externalize(self, module: ModuleOp) -> None:
        """Move the bytes of every `ge.constant` of more than 256 bytes to the file; the module then refers to it.

        Raises OSError for a path that cannot be written.
        """
        for op in module.walk():
            if not isinstance(op, ConstantOp):
                continue
            value = op.value
            if isinstance(value, DenseIntOrFPElementsAttr):
                data = value.data.data
                if len(data) > ELIDE_ABOVE_BYTES:
                    op.value = ExternalAttr(Path(self._path).name, self._append(data), len(data))

    def _append(self, data: bytes) -> int:
        """Write `data` at the next aligned offset and return the offset."""
        if self._stream is None:
            self._stream = self.enter_context(whole_file(self._path, "wb"))
        begin = self._offset + -self._offset % ALIGNMENT
        self._stream.write(bytes(begin - self._offset))
        self._stream.write(data)
        self._offset = begin + len(data)
        return begin


def load_weights(module: ModuleOp, path: str) -> None:
    """Give every `ge.constant` whose bytes lie in the file named like `path` a read-only view of them.

    Constants in other files stay as they are. Raises OSError when the file cannot be read, WeightsError when it is too
    short or a size does not fit the constant's type.
    """
    name = Path(path).name
    constants = [
        (op, op.value)
        for op in module.walk()
        if isinstance(op, ConstantOp) and isinstance(op.value, ExternalAttr)
    ]
    wanted = [(op, value) for op, value in constants if value.file.data == name]
    if not wanted:
        return
    mapped = _map(path)
    for op, value in wanted:
        begin, size = value.offset.data, value.size.data
        if begin + size > len(mapped):
            message = f"bytes {begin} to {begin + size} are wanted, {path} has {len(mapped)}"
            raise WeightsError(message, location_text(op))
        op.value = elements_attr(_as_array(op, mapped[begin : begin + size]))


def _map(path: str) -> memoryview:
    with open(path, "rb") as stream:
        if stream.seek(0, 2) == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _as_array(op: ConstantOp, data: memoryview) -> np.ndarray:
    """`data` with the element type and shape of the constant's result."""
    kind = op.results[0].type if op.results else None
    if not isa(kind, TensorType[Attribute]):
        raise WeightsError(
            f"a constant in a file needs a ranked tensor type, not {kind}", location_text(op)
        )
    dtype = dtype_of(kind.element_type).numpy
    shape = kind.get_shape()
    count = int(np.prod(shape, dtype=np.int64))
    if dtype is None or count * dtype.itemsize != len(data):
        raise WeightsError(f"{len(data)} bytes do not make a {kind}", location_text(op))
    return np.frombuffer(data, dtype).reshape(shape)
