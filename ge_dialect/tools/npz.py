"""Named arrays in `.npz` files."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.spec import is_array
from ge_dialect.tools.output import whole_file


def read_npz(path: str) -> dict[str, np.ndarray]:
    """The arrays of a file. Raises OSError when it cannot be opened, GeError when it is no npz or holds objects.

    Element types that numpy's files do not know (bfloat16, int4, ...) come back as plain bytes of their width.
    """
    try:
        archive: Any = np.load(path, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise GeError("a single array (.npy), not an .npz file", path)
        with archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise GeError("not an .npz file of arrays", path) from error


def write_npz(path: str, values: Mapping[str, Any]) -> None:
    """Write arrays under their names, the whole file or nothing; element k of a sequence `s` is called `s.k`.

    Raises OSError when the file cannot be written, GeError for a value that is no array.
    """
    with whole_file(path, "wb") as stream:
        write_npz_to(stream, values)


def write_npz_to(stream: IO[bytes], values: Mapping[str, Any]) -> None:
    """Write arrays as `write_npz` does, to an open file."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in _arrays(values):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _arrays(values: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in values.items():
        if isinstance(value, list):
            yield from _arrays({f"{name}.{i}": item for i, item in enumerate(value)})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        elif is_array(value):
            yield name, value.astype(str) if value.dtype.kind == "O" else value
        elif value is not None:
            raise GeError(
                f"output '{name}' is a {type(value).__name__}, which an .npz file cannot hold"
            )
