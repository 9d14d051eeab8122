"""What is wrong with the options of a pass, a frontend or a target, in the words of who wrote them."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible


def option_problem(kind: type[ArgSpecConvertible], spec: ArgSpec, otherwise: str) -> str:
    """Why `kind` cannot be made from `spec`: an unknown option with what there is, or a value with what is allowed.

    `otherwise` is the answer when neither is the matter.
    """
    known = [field.name for field in fields(kind) if field.init and field.name != "name"]
    given = spec.normalize_parameter_names().parameters
    for option in given:
        if option not in known:
            close = [_shown(each) for each in get_close_matches(option, known)]
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            what = f"it has {', '.join(map(_shown, known))}" if known else "it has none"
            return f"there is no option '{_shown(option)}' ({what}){hint}"
    types = get_type_hints(kind)
    for option, values in given.items():
        try:
            kind.from_spec(ArgSpec(spec.name, {option: values}))
        except ValueError as error:
            if "requires argument" in str(error):
                continue
            got = ",".join(map(_value, values)) or "nothing"
            return f"option '{_shown(option)}' should be {allowed_text(types[option])}, got {got}"
    return otherwise


def _shown(option: str) -> str:
    return option.replace("_", "-")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "left out",
}


def allowed_text(kind: Any) -> str:
    """The values of a type in words: `one of a, b, c`, `a whole number`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if origin in (Union, UnionType):
        parts = [allowed_text(each) for each in arguments if each is not NoneType]
        return " or ".join(parts)
    if origin in (tuple, list, set, frozenset):
        return f"a list, each {allowed_text(arguments[0])}"
    return _WORDS.get(kind, str(kind))
