"""`--weights=FILE`: the bytes of large constants in a file beside the text instead of in it.

The text says `#ge.external<"model.weights", offset = 64, size = 4096>`, with the file's name without folders; reading
maps the file, so nothing is copied until a kernel or a fold looks at the bytes. A constant is an operation of `ge` or
`ge_task` with dense elements as property `value` and a result of the same tensor type.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from ge_dialect.dialects.ge import ExternalAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.weights import ELIDE_ABOVE_BYTES, WeightsError, elements_attr
from ge_dialect.dialects.ge_task import BufferType, PlacedTensorType
from ge_dialect.dialects.location import location_text
from ge_dialect.tools.output import whole_file

ALIGNMENT = 64
"""Every constant begins at a multiple of this many bytes, so that a mapped view is aligned for any element type."""


class WeightsWriter(ExitStack):
    """Writes the bytes of the constants of one or more modules to `path`, as a context manager.

    The file appears (or changes) when the body of the `with` succeeds and some constant was written; until then a file
    that was there, and views of it, stay as they are. Constants that share bytes in memory share them in the file.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._stream: IO[bytes] | None = None
        self._size = 0
        self._places: dict[
            int, tuple[bytes, int]
        ] = {}  # the bytes are kept, so that no id is used again

    def externalize(self, module: ModuleOp) -> None:
        """Move the bytes of every constant of more than 256 bytes to the file; the module then refers to it.

        Raises OSError for a path that cannot be written.
        """
        for op, value in _constants(module):
            if isinstance(value, DenseIntOrFPElementsAttr):
                data = value.data.data
                if len(data) > ELIDE_ABOVE_BYTES and _fits(op, len(data)):
                    place = ExternalAttr(Path(self._path).name, self._offset_of(data), len(data))
                    op.properties["value"] = place

    def _offset_of(self, data: bytes) -> int:
        """Where `data` is in the file; written at the next aligned offset when it is not there yet."""
        if (known := self._places.get(id(data))) is not None:
            return known[1]
        if self._stream is None:
            self._stream = self.enter_context(whole_file(self._path, "wb"))
        begin = self._size + -self._size % ALIGNMENT
        self._stream.write(bytes(begin - self._size))
        self._stream.write(data)
        self._size = begin + len(data)
        self._places[id(data)] = (data, begin)
        return begin


def load_weights(module: ModuleOp, path: str) -> None:
    """Give every constant whose bytes lie in the file named like `path` a read-only view of them.

    Constants in other files stay as they are. Raises OSError when the file cannot be read, WeightsError when it is too
    short or a size does not fit the constant's type.
    """
    name = Path(path).name
    wanted = [
        (op, value)
        for op, value in _constants(module)
        if isinstance(value, ExternalAttr) and value.file.data == name
    ]
    if not wanted:
        return
    mapped = _map(path)
    loaded: dict[tuple[int, Attribute], Attribute] = {}  # views of one constant share it again
    for op, value in wanted:
        begin, size = value.offset.data, value.size.data
        if begin + size > len(mapped):
            message = f"bytes {begin} to {begin + size} are wanted, {path} has {len(mapped)}"
            raise WeightsError(message, location_text(op))
        kind = _tensor_of(op)
        if kind is None or not _fits(op, size):
            raise WeightsError(f"{size} bytes do not make a {kind}", location_text(op))
        key = (begin, kind)
        if key not in loaded:
            array = np.frombuffer(mapped[begin : begin + size], dtype_of(kind.element_type).numpy)
            loaded[key] = elements_attr(array.reshape(kind.get_shape()))
        op.properties["value"] = loaded[key]


def _constants(module: ModuleOp) -> Iterator[tuple[Operation, Attribute]]:
    """Every operation of this project's dialects with a property `value`, and the value."""
    for op in module.walk():
        value = op.properties.get("value")
        if value is not None and op.name.startswith(("ge.", "ge_task.")):
            yield op, value


def _tensor_of(op: Operation) -> TensorType[Attribute] | None:
    """The ranked tensor type of the constant `op`."""
    kind = op.results[0].type if op.results else None
    if isinstance(kind, BufferType | PlacedTensorType):
        kind = kind.tensor
    return kind if isa(kind, TensorType[Attribute]) else None


def _fits(op: Operation, size: int) -> bool:
    """Whether `size` bytes are what the tensor type of the constant `op` takes, in numpy's representation."""
    kind = _tensor_of(op)
    if kind is None:
        return False
    dtype = dtype_of(kind.element_type).numpy
    return (
        dtype is not None
        and int(np.prod(kind.get_shape(), dtype=np.int64)) * dtype.itemsize == size
    )


def _map(path: str) -> memoryview:
    with open(path, "rb") as stream:
        if stream.seek(0, 2) == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
