"""The three numbers of the cube unit, M0, K0 (= C0) and N0, by element type (spec/formats.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ge_dialect.formats.dtypes import DType
from ge_dialect.formats.errors import GeError
from ge_dialect.formats.format_table import FIXED_C0, primary


class Cube(NamedTuple):
    """Rows M0, inner width K0 and columns N0 of one multiplication of the cube unit."""

    m0: int
    k0: int
    n0: int


_SIXTEEN = Cube(16, 16, 16)


@dataclass(frozen=True)
class CubeTable:
    """The cube of each element type; `overrides` by GE's name of the type, `default` for the others."""

    default: Cube = _SIXTEEN
    overrides: Mapping[str, Cube] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, dtype: DType) -> Cube:
        """M0, K0 and N0 of an element type."""
        return self.overrides.get(dtype.name, self.default)

    def c0(self, storage_format: str, dtype: DType, carried: int | None = None) -> int:
        """C0 of a format value: what its name fixes, else what it carries, else K0 of the element type."""
        fixed = FIXED_C0.get(primary(storage_format))
        if fixed is not None:
            return fixed
        return self.of(dtype).k0 if carried is None else carried


def cube_table(section: Mapping[str, str]) -> CubeTable:
    """The table of section `DtypeMKN` of a platform description: `Default` and element types (`DT_INT8` or `INT8`),
    each as `M0,K0,N0`.

    A type whose value is not three numbers has the default's. Raises GeError for such a `Default`.
    """
    default = _SIXTEEN
    if (text := section.get("Default")) is not None:
        found = _cube(text)
        if found is None:
            raise GeError(f"DtypeMKN: Default is '{text}', expected three numbers: M0,K0,N0")
        default = found
    overrides: dict[str, Cube] = {}
    for name, text in section.items():
        if name != "Default" and (found := _cube(text)) is not None:
            overrides[name.removeprefix("DT_")] = found
    return CubeTable(default, MappingProxyType(overrides))


def _cube(text: str) -> Cube | None:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() for part in parts):
        return None
    m0, k0, n0 = (int(part) for part in parts)
    return Cube(m0, k0, n0)


NO_PLATFORM = CubeTable()
"""Without a platform description every element type has 16, 16, 16."""

PLATFORM = CubeTable(
    _SIXTEEN,
    MappingProxyType(
        {
            "INT8": Cube(16, 32, 16),
            "UINT8": Cube(16, 32, 16),
            "INT4": Cube(16, 64, 16),
            "INT2": Cube(16, 128, 16),
            "UINT2": Cube(16, 128, 16),
            "UINT1": Cube(16, 256, 16),
        }
    ),
)
"""The table on which the platform descriptions of Ascend 910 and 310 agree."""

CUBE_TABLES: Mapping[str, CubeTable] = MappingProxyType({"platform": PLATFORM, "none": NO_PLATFORM})
"""Both tables by the name that options use."""
