"""Dimensions of a model's inputs that have a name or nothing instead of a value."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge import DataOp
from ge_dialect.dialects.ge.access import get_text, graphs, nodes, output_desc
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.formats.errors import GeError


def require_dims(module: ModuleOp, path: str) -> None:
    """Raise GeError, naming the flags that give them values, when inputs of the model have unknown dimensions."""
    names: dict[str, None] = {}
    nameless: list[str] = []
    for graph in graphs(module)[:1]:
        for op in nodes(graph):
            if not isinstance(op, DataOp) or not op.results:
                continue
            listed = op.attributes.get("ge.dim_names")
            given: list[str] = [] if listed is None else to_python(listed)
            for axis, dim in enumerate(output_desc(op, 0).shape or ()):
                if dim >= 0:
                    continue
                if axis < len(given) and given[axis]:
                    names.setdefault(given[axis])
                else:
                    nameless.append(get_text(op, "ge.name") or "")
    if names:
        flags = " ".join(f"--dim {name}=N" for name in names)
        raise GeError(
            f"the model has symbolic dimensions: give them values with {flags}, or inputs with --inputs FILE.npz",
            path,
        )
    if nameless:
        raise GeError(
            f"input '{nameless[0]}' has a dimension without a value: give the input with --inputs FILE.npz",
            path,
        )
