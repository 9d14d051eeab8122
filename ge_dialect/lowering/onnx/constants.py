"""ONNX tensors as constant attributes and back; tensors whose bytes lie in files beside the model."""

from __future__ import annotations

import math
import mmap
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import cast

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from xdsl.dialects.builtin import (
    AnyDenseElement,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
)
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.weights import GREATEST_RANK, array_of, elements_attr, tensor_type
from ge_dialect.formats.dtypes import DType, dtype_of_numpy
from ge_dialect.lowering.onnx.errors import OnnxExportError, OnnxImportError
from ge_dialect.lowering.onnx.value_types import element_dtype

Elements = Attribute
"""A `DenseIntOrFPElementsAttr` or, for strings, a `StringElementsAttr`."""


_INTERN_BYTES = 64


class ExternalFiles:
    """The files beside a model, each mapped once. Nothing outside the model's folder is opened.

    `folder` is the folder of the model file, None for a model that came without a file.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._maps: dict[str, memoryview] = {}

    def bytes_of(self, tensor: TensorProto) -> memoryview:
        """The bytes of a tensor with external data, without a copy.

        Raises OnnxImportError for a path that leaves the folder, a missing file, or one that is too short.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        data = self._map(location, tensor.name)
        dtype = element_dtype(tensor.data_type)
        expected = dtype.bytes_of(math.prod(tensor.dims))
        try:
            offset = int(entries.get("offset", "0"))
            length = int(entries.get("length", str(expected)))
        except ValueError:
            raise OnnxImportError(
                f'external data of tensor "{tensor.name}": offset and length must be integers'
            ) from None
        if length != expected:
            raise OnnxImportError(
                f'external data of tensor "{tensor.name}" is {length} bytes long, {expected} are needed'
            )
        if offset < 0 or offset + length > len(data):
            raise OnnxImportError(
                f'external data of tensor "{tensor.name}": bytes {offset} to {offset + length} are not in'
                f' "{location}", which has {len(data)}'
            )
        return data[offset : offset + length]

    def _map(self, location: str, tensor: str) -> memoryview:
        if location in self._maps:
            return self._maps[location]
        path = self._resolve(location, tensor)
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for a writer
                raise OnnxImportError(
                    f'external data "{location}" of tensor "{tensor}" is no regular file'
                )
            size = status.st_size
            with path.open("rb") as file:
                data = (
                    memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                    if size
                    else memoryview(b"")
                )
        except OSError as error:
            raise OnnxImportError(
                f'external data "{location}" of tensor "{tensor}" cannot be read: {error.strerror}'
            ) from None
        self._maps[location] = data
        return data

    def _resolve(self, location: str, tensor: str) -> Path:
        """The file behind `location`, which after following all links lies in the model's folder."""
        if self.folder is None:
            raise OnnxImportError(
                f'tensor "{tensor}" has external data in "{location}", but the model came without a folder to look in'
            )
        if not location:
            raise OnnxImportError(f'external data of tensor "{tensor}" names no file')
        root = self.folder.resolve()
        relative = Path(location)
        outside = relative.is_absolute() or ".." in relative.parts
        try:
            path = (root / relative).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a NUL in the name
            raise OnnxImportError(
                f'external data "{location}" of tensor "{tensor}" cannot be found: {error}'
            ) from None
        if outside or not path.is_relative_to(root):
            raise OnnxImportError(
                f'external data "{location}" of tensor "{tensor}" is outside the model\'s folder'
            )
        return path


def tensor_elements(tensor: TensorProto, files: ExternalFiles) -> Elements:
    """The constant of an ONNX tensor, over the tensor's own bytes where they can be used as they are.

    Elements of less than eight bits get a byte each. Raises OnnxImportError for a tensor whose bytes do not fit its
    shape and type, and whatever `ExternalFiles.bytes_of` raises.
    """
    dtype = element_dtype(tensor.data_type)
    _check_dims(tensor.name, tensor.dims)
    external = tensor.data_location == TensorProto.EXTERNAL
    if not external and not tensor.HasField("raw_data"):
        return _converted(tensor)
    data = files.bytes_of(tensor) if external else tensor.raw_data
    dims = tuple(tensor.dims)
    expected = dtype.bytes_of(math.prod(dims))
    if dtype.numpy is None or dtype.name in ("STRING", "UNDEFINED"):
        raise OnnxImportError(f'tensor "{tensor.name}" of {dtype.name} cannot have raw bytes')
    if len(data) != expected:
        raise OnnxImportError(
            f'tensor "{tensor.name}" has {len(data)} bytes, {expected} are needed for {list(dims)} {dtype.name}'
        )
    if dtype.name == "BOOL" and max(data, default=0) > 1:
        data = (np.frombuffer(data, np.uint8) != 0).tobytes()  # any byte but 0 is true
    if dtype.bits < 8:
        packed = TensorProto(data_type=tensor.data_type, dims=dims, raw_data=bytes(data))
        return _converted(packed)
    return (
        _interned(dtype, dims, bytes(data))
        if expected <= _INTERN_BYTES
        else _dense(dtype, dims, data)
    )


def _check_dims(name: str, dims: Sequence[int]) -> None:
    if len(dims) > GREATEST_RANK:
        raise OnnxImportError(
            f'tensor "{name}" has {len(dims)} dimensions, more than {GREATEST_RANK}'
        )
    for size in dims:
        if size < 0:
            raise OnnxImportError(f'tensor "{name}" has a dimension of size {size}')


@lru_cache(maxsize=1 << 12)
def _interned(dtype: DType, dims: tuple[int, ...], data: bytes) -> Elements:
    """Axes, limits and factors of a model repeat a few values many times; making the attribute is what costs."""
    return _dense(dtype, dims, data)


def _dense(dtype: DType, dims: tuple[int, ...], data: bytes | memoryview) -> Elements:
    kind = cast("TensorType[AnyDenseElement]", tensor_type(dtype, dims))
    return DenseIntOrFPElementsAttr(kind, BytesAttr(cast("bytes", data)))


def _converted(tensor: TensorProto) -> Elements:
    try:
        return elements_attr(onnx_array(tensor))
    except (TypeError, ValueError) as error:
        raise OnnxImportError(f'tensor "{tensor.name}" is damaged: {error}') from None


def onnx_array(tensor: TensorProto) -> np.ndarray:
    """A new array of an ONNX tensor without external data; strings are objects of `bytes`."""
    if tensor.data_type == TensorProto.STRING:
        strings = np.empty(len(tensor.string_data), dtype=object)
        strings[:] = list(tensor.string_data)
        return strings.reshape(tuple(tensor.dims))
    array = numpy_helper.to_array(tensor)
    if array.dtype == np.bool_:
        array = np.asarray(
            array.view(np.uint8) != 0
        )  # numbers other than 0 and 1 stay in the bytes otherwise
    array.flags.writeable = False
    return array


def sparse_elements(sparse: onnx.SparseTensorProto, files: ExternalFiles) -> Elements:
    """The dense constant of a sparse ONNX tensor. Raises OnnxImportError when its indices do not fit."""
    values = array_of(tensor_elements(sparse.values, files))
    indices = array_of(tensor_elements(sparse.indices, files))
    shape = tuple(sparse.dims)
    _check_dims(sparse.values.name, shape)
    try:
        dense = np.zeros(shape, dtype=values.dtype)
        if values.dtype == object:
            dense.fill("")
        if indices.ndim == 2:
            dense[tuple(indices.T)] = values
        else:
            dense.reshape(-1)[indices] = values
    except (IndexError, ValueError, MemoryError) as error:
        raise OnnxImportError(f'sparse tensor "{sparse.values.name}" is damaged: {error}') from None
    return elements_attr(dense)


def tensor_proto(name: str, value: Attribute) -> TensorProto:
    """The ONNX tensor of a constant. Raises WeightsError for bytes that are not there, OnnxExportError for an element
    type that ONNX lacks."""
    array = array_of(value, name)
    dtype = dtype_of_numpy(array.dtype)
    if dtype.onnx is None:
        raise OnnxExportError(f'ONNX has no element type {dtype.name}, which constant "{name}" has')
    if dtype.name == "STRING":
        proto = TensorProto(name=name, data_type=dtype.onnx, dims=array.shape)
        proto.string_data.extend(str(item).encode() for item in array.reshape(-1).tolist())
        return proto
    if dtype.bits < 8:
        return numpy_helper.from_array(array, name)
    return TensorProto(
        name=name,
        data_type=dtype.onnx,
        dims=array.shape,
        raw_data=np.ascontiguousarray(array).tobytes(),
    )
