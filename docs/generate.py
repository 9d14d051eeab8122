"""Writes the reference pages of docs/ from the code: dialects, passes, attributes.

`python docs/generate.py` writes them; with `--check` it writes nothing, names the pages that are out of date and exits
with 1.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

from xdsl.dialects.builtin import SymbolNameConstraint
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    OperandDef,
    OptionalDef,
    OptPropertyDef,
    ParamAttrConstraint,
    RangeConstraint,
    RegionDef,
    ResultDef,
    VarConstraint,
    VariadicDef,
)
from xdsl.passes import ModulePass

from ge_dialect.dialects.ge.attribute_table import ATTRIBUTES, SLOT_ATTRIBUTES
from ge_dialect.kernels.registry import FAMILIES
from ge_dialect.lowering.onnx.op_table import TWINS
from ge_dialect.passes import PASSES
from ge_dialect.preset import Preset
from ge_dialect.tools.list_passes import summary
from ge_dialect.universe import DIALECTS, resolve

DOCS = Path(__file__).resolve().parent
NOTICE = "<!-- Written by docs/generate.py (`make docs`); changes made here are lost. -->"


def pages() -> dict[str, str]:
    """The pages' text by file name below docs/."""
    dialects = {f"dialects/{name}.md": dialect_page(resolve(ref)) for name, ref in DIALECTS.items()}
    written = {
        **dialects,
        "passes.md": passes_page(),
        "attributes.md": attributes_page(),
        "operators.md": operators_page(),
    }
    return {name: _with_rules_linked(name, text) for name, text in written.items()}


def _with_rules_linked(page: str, text: str) -> str:
    """A page with what docstrings cite as `spec/streams.md` linked to where it says what that is."""
    place = "../" * page.count("/") + "architecture.md#where-the-rules-come-from"
    return re.sub(
        r"spec/(\w+)\.md",
        lambda found: f"the reference's [{found[1].replace('_', '-')} rules]({place})",
        text,
    )


def dialect_page(dialect: Dialect) -> str:
    """Types, attributes and operations of a dialect."""
    summary = inspect.getdoc(import_module(DIALECTS[dialect.name].partition(":")[0])) or ""
    types = [each for each in dialect.attributes if issubclass(each, TypeAttribute)]
    attributes = [each for each in dialect.attributes if not issubclass(each, TypeAttribute)]
    parts = [NOTICE, f"# Dialect `{dialect.name}`", summary]
    for title, group, sigil in (("Types", types, "!"), ("Attributes", attributes, "#")):
        if group:
            parts.append(f"## {title}")
            parts += [f"### `{sigil}{each.name}`\n\n{_doc(each)}" for each in group]
    forms = dict.fromkeys(form for each in dialect.operations for form in _forms(each))
    if forms:
        parts.append("## Forms\n\nWhat several operations have in common.")
        parts += [f"### {form.__name__}\n\n{_doc(form)}" for form in forms]
    parts.append("## Operations")
    parts += [operation_section(each) for each in dialect.operations]
    return "\n\n".join(parts) + "\n"


def operation_section(operation: type[Operation]) -> str:
    """Docstring and declared parts of one operation."""
    definition = operation.get_irdl_definition()
    rows = [
        *(_part("operand", name, each) for name, each in definition.operands),
        *(_part("result", name, each) for name, each in definition.results),
        *(_part("region", name, each) for name, each in definition.regions),
    ]
    for name, each in definition.properties.items():
        need = "optional " if isinstance(each, OptPropertyDef) else ""
        rows.append(f"| {need}property | `{name}` | {_constraint(each.constr)} |")
    section = f"### `{operation.name}`\n\n{_doc(operation)}"
    if forms := _forms(operation):
        links = ", ".join(f"[{form.__name__}](#{form.__name__.lower()})" for form in forms)
        section += f"\n\nForm: {links}."
    ge_types = getattr(operation, "GE_TYPES", None)
    if ge_types:
        section += f"\n\nGE operator types: {', '.join(f'`{each}`' for each in ge_types)}."
    if rows:
        section += "\n\n| part | name | what |\n| --- | --- | --- |\n" + "\n".join(rows)
    return section


def passes_page() -> str:
    """Every pass of the table with its options."""
    rows = [f"| [`{name}`](#{name}) | {_cell(summary(resolve(PASSES[name])))} |" for name in PASSES]
    parts = [NOTICE, "# Passes", "| pass | what it does |\n| --- | --- |\n" + "\n".join(rows)]
    for name, reference in PASSES.items():
        module_pass: type[ModulePass] = resolve(reference)
        parts.append(f"## `{name}`\n\n{_doc(module_pass)}")
        if issubclass(module_pass, Preset):
            listed = ", ".join(f"[`{each.name}`](#{each.name})" for each in module_pass().passes())
            parts.append(f"Runs: {listed}.")
        if options := list(_options(module_pass)):
            parts.append("| option | type | default |\n| --- | --- | --- |\n" + "\n".join(options))
    return "\n\n".join(parts) + "\n"


def attributes_page() -> str:
    """The table of discardable attributes."""
    rows = [
        f"| `{row.name}` | {row.kind.value} | {row.on} | {_cell(row.meaning)} | "
        f"{'' if row.ge_spelling is None else f'`{row.ge_spelling}`'} | {_cell(row.written_by)} |"
        for row in ATTRIBUTES
    ]
    head = (
        "| attribute | type | on | meaning | GE's spelling | written by |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    intro = (
        "What importers and passes note down on operations. These attributes are discardable: an operation means the\n"
        "same without them. `ge-verify` checks their types and places."
    )
    return (
        f"{NOTICE}\n\n# Attributes\n\n{intro}\n\n{head}\n"
        + "\n".join(rows)
        + "\n"
        + slots_section()
    )


def operators_page() -> str:
    """What ONNX operators become, and which GE types have kernels."""
    intro = (
        "The importer writes an operator that GE has too under GE's name, with GE's inputs and attributes; the\n"
        "exporter goes the other way. `ge-opt model.onnx` shows the exact form. Every other operator, and one whose\n"
        'condition does not hold, stays what it is: `ge.op "Name" (...) source "domain::Name@version"` with ONNX\'s\n'
        "attributes, and means what ONNX says."
    )
    rows = [
        f"| `{row.onnx}` | {', '.join(f'`{each}`' for each in row.ge)} | {_cell(row.condition)} |"
        for row in TWINS
    ]
    table = "| ONNX | GE | when |\n| --- | --- | --- |\n" + "\n".join(rows)
    families = [
        f"* {name.replace('_', ' ')}: {', '.join(f'`{each}`' for each in sorted(kernels))}"
        for name in FAMILIES
        if (kernels := import_module(f"ge_dialect.kernels.{name}").GE_KERNELS)
    ]
    kernels = (
        "## Kernels\n\nGE types that the emulator and folding compute, by module of `ge_dialect.kernels`. Operators\n"
        "with a `source` have kernels there too, or are computed by onnx's reference implementation. Collectives are\n"
        "the emulator's own.\n\n" + "\n".join(families)
    )
    return f"{NOTICE}\n\n# Operators\n\n{intro}\n\n{table}\n\n{kernels}\n"


def slots_section() -> str:
    """The table of what the slots' dictionaries may hold."""
    rows = [
        f"| `{row.key}` | {row.side} | {_cell(row.meaning)} | "
        f"{'' if row.ge_spelling is None else f'`{row.ge_spelling}`'} |"
        for row in SLOT_ATTRIBUTES
    ]
    head = "| key | slots | meaning | GE's spelling |\n| --- | --- | --- | --- |"
    intro = "`ge.arg_attrs` and `ge.res_attrs` hold one dictionary a data slot, left out when all are empty."
    return f"\n## Slots\n\n{intro}\n\n{head}\n" + "\n".join(rows) + "\n"


def _forms(operation: type[Operation]) -> list[type]:
    """The documented base classes of this project that an operation derives from, the nearest first."""
    return [
        base
        for base in operation.__mro__[1:]
        if base.__module__.startswith("ge_dialect.") and _doc(base)
    ]


def _doc(thing: type) -> str:
    """The docstring of a class itself; an inherited one says nothing about it."""
    own = thing.__dict__.get("__doc__")
    return "" if own is None else inspect.cleandoc(own)


def _options(module_pass: type[ModulePass]) -> Iterator[str]:
    hints = get_type_hints(module_pass)
    for field in dataclasses.fields(module_pass):
        default = "required" if field.default is dataclasses.MISSING else f"`{field.default}`"
        if field.default_factory is not dataclasses.MISSING:
            default = f"`{field.default_factory()}`"
        yield f"| `{field.name.replace('_', '-')}` | {_cell(_type_name(hints[field.name]))} | {default} |"


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _part(kind: str, name: str, definition: OperandDef | ResultDef | RegionDef) -> str:
    how = ""
    if isinstance(definition, OptionalDef):
        how = "optional "
    elif isinstance(definition, VariadicDef):
        how = "variadic "
    what = "" if isinstance(definition, RegionDef) else _constraint(definition.constr)
    return f"| {how}{kind} | `{name}` | {what} |"


def _constraint(constraint: AttrConstraint | RangeConstraint) -> str:
    """A constraint in a few words."""
    match constraint:
        case RangeConstraint():
            inner = getattr(constraint, "constr", None)
            return "any" if inner is None else _constraint(inner)
        case BaseAttr(attr=kind) | ParamAttrConstraint(base_attr=kind):
            return _attribute_name(kind)
        case EqAttrConstraint(attr=value):
            return f"`{_cell(str(value))}`"
        case AnyOf(attr_constrs=choices):
            return " or ".join(dict.fromkeys(_constraint(each) for each in choices))
        case VarConstraint(constraint=inner):
            return _constraint(inner)
        case AnyAttr():
            return "any"
        case SymbolNameConstraint():
            return "symbol name"
        case _:
            inner = getattr(constraint, "constr", None)
            return type(constraint).__name__ if inner is None else _constraint(inner)


def _attribute_name(kind: type[Attribute]) -> str:
    return f"`{kind.name}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write or check the pages; returns the exit code."""
    check = arguments == ["--check"]
    stale = 0
    for name, text in pages().items():
        path = DOCS / name
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        print(f"{'out of date' if check else 'written'}: docs/{name}")
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
