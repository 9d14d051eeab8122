"""The table of operators that ONNX and GE both have, for import, export and whoever documents it.

An ONNX operator without a row, or whose condition does not hold, is imported as it is, with `source`. If, which both
have under the same name, is no row: its sub-graphs are the importer's and exporter's business.
"""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.lowering.onnx.twins import compute, parts, plain, shape
from ge_dialect.lowering.onnx.twins.form import Twin

TWINS: tuple[Twin, ...] = (*plain.ROWS, *compute.ROWS, *shape.ROWS, *parts.ROWS)

TWIN_OF_ONNX: MappingProxyType[str, Twin] = MappingProxyType({row.onnx: row for row in TWINS})
TWIN_OF_GE: MappingProxyType[str, Twin] = MappingProxyType(
    {ge: row for row in TWINS for ge in row.ge}
)
