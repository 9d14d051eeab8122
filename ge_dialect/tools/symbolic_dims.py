"""Dimensions of a model's inputs that have a name or nothing instead of a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge import DataOp
from ge_dialect.dialects.ge.access import data_results, get_text, graphs, nodes, output_desc
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.formats.errors import GeError
from ge_dialect.runtime import TensorSlot

Labels = Mapping[str, Sequence[str]]
"""By input name: what each dimension is called, "" for one without a name."""


def dim_labels(module: ModuleOp) -> dict[str, list[str]]:
    """The names of the dimensions of the inputs of a graph; nothing for a module without graphs."""
    found: dict[str, list[str]] = {}
    for graph in graphs(module)[:1]:
        for op in nodes(graph):
            if isinstance(op, DataOp) and data_results(op):
                listed = op.attributes.get("ge.dim_names")
                given: list[str] = [] if listed is None else to_python(listed)
                found[get_text(op, "ge.name") or ""] = given
    return found


def require_dims(module: ModuleOp, path: str) -> None:
    """Raise GeError, naming the flags that give them values, when inputs of the model have unknown dimensions."""
    labels = dim_labels(module)
    names: dict[str, None] = {}
    nameless: list[str] = []
    for graph in graphs(module)[:1]:
        for op in nodes(graph):
            if not isinstance(op, DataOp) or not data_results(op):
                continue
            name = get_text(op, "ge.name") or ""
            for axis, dim in enumerate(output_desc(op, 0).shape or ()):
                if dim >= 0:
                    continue
                label = _label(labels, name, axis)
                if label:
                    names.setdefault(label)
                else:
                    nameless.append(name)
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


def _label(labels: Labels, name: str, axis: int) -> str:
    given = labels.get(name, ())
    return given[axis] if axis < len(given) else ""


def with_dims(
    slots: Sequence[TensorSlot], labels: Labels, dims: Mapping[str, int]
) -> list[TensorSlot]:
    """The inputs with their unknown dimensions set: by name, or as `input:axis`.

    Raises GeError for a dimension that has no value and for a value that belongs to no unknown dimension.
    """
    used: set[str] = set()
    missing: dict[str, None] = {}
    found: list[TensorSlot] = []
    for slot in slots:
        shape = list(slot.shape or ())
        for axis, dim in enumerate(shape):
            if dim >= 0:
                continue
            label, place = _label(labels, slot.name, axis), f"{slot.name}:{axis}"
            key = next((x for x in (place, label) if x and x in dims), None)
            if key is None:
                missing.setdefault(label or place)
                continue
            used.add(key)
            shape[axis] = dims[key]
        found.append(slot if slot.shape is None else replace(slot, shape=tuple(shape)))
    if missing:
        flags = " ".join(f"--dim {name}=N" for name in missing)
        raise GeError(f"inputs of a dynamic model need sizes: give {flags}, or --inputs FILE.npz")
    for name in dims:
        if name not in used:
            raise GeError(f"--dim {name}: no input has an unknown dimension of this name")
    return found
