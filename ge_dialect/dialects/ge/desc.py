"""`#ge.desc`: what GE's tensor descriptor says beyond shape and element type.

It is the encoding of a ranked tensor type; for an unranked tensor, which cannot have one, it stands as `desc` in
the slot's dictionary (`ge.arg_attrs` / `ge.res_attrs`). No descriptor means: format ND, origin = storage, HBM.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ge_dialect.dialects.attrs import i64_array, integers

_ABSENT = NoneAttr()


def _dim(parser: AttrParser) -> int:
    return -1 if parser.parse_optional_punctuation("?") else parser.parse_integer()


def _dims(parser: AttrParser) -> list[int]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _dim(parser))


def _ranges(parser: AttrParser) -> list[int]:
    pairs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _dims(parser))
    if any(len(pair) != 2 for pair in pairs):
        parser.raise_error("a shape range is a list of [low, high] pairs; high -1 means open")
    return [bound for pair in pairs for bound in pair]


def _array(values: Sequence[int] | None) -> Attribute:
    return _ABSENT if values is None else i64_array(values)


def _ints(attribute: Attribute) -> tuple[int, ...] | None:
    return None if isinstance(attribute, NoneAttr) else integers(attribute)


@irdl_attr_definition
class DescAttr(ParametrizedAttribute):
    """Storage format, origin format and shape, shape ranges and memory type of one tensor.

    `#ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8], range = [[1, 8]], origin_range = [...], memory = L1, c0 = 16>`;
    everything after the storage format is optional, in this order.
    """

    name = "ge.desc"
    storage_format: StringAttr = param_def()
    origin: Attribute = param_def()
    origin_dims: Attribute = param_def()
    dim_range: Attribute = param_def()
    origin_dim_range: Attribute = param_def()
    memory_type: Attribute = param_def()
    c0_size: Attribute = param_def()

    def __init__(
        self,
        format: str = "ND",
        *,
        origin_format: str | None = None,
        origin_shape: Sequence[int] | None = None,
        range: Sequence[int] | None = None,
        origin_range: Sequence[int] | None = None,
        memory: str | None = None,
        c0: int | None = None,
    ) -> None:
        """`range` and `origin_range` are flat: low, high of axis 0, low, high of axis 1, ...; high -1 = open."""
        super().__init__(
            StringAttr(format),
            _ABSENT if origin_format is None else StringAttr(origin_format),
            _array(origin_shape),
            _array(range),
            _array(origin_range),
            _ABSENT if memory is None else StringAttr(memory),
            _array(None if c0 is None else [c0]),
        )

    @property
    def format(self) -> str:
        """The storage format's name, such as NC1HWC0."""
        return self.storage_format.data

    @property
    def origin_format(self) -> str | None:
        """The origin format's name; None = same as storage."""
        return self.origin.data if isinstance(self.origin, StringAttr) else None

    @property
    def origin_shape(self) -> tuple[int, ...] | None:
        """The origin shape (-1 unknown); None = same as storage."""
        return _ints(self.origin_dims)

    @property
    def range(self) -> tuple[int, ...] | None:
        """Low and high bound of each axis of the storage shape, flat."""
        return _ints(self.dim_range)

    @property
    def origin_range(self) -> tuple[int, ...] | None:
        """Low and high bound of each axis of the origin shape, flat."""
        return _ints(self.origin_dim_range)

    @property
    def memory(self) -> str | None:
        """Memory type's name (spec/memory.md 1.4); None = HBM."""
        return self.memory_type.data if isinstance(self.memory_type, StringAttr) else None

    @property
    def c0(self) -> int | None:
        """The C0 that the storage format word carries (spec/formats.md), when it does."""
        values = _ints(self.c0_size)
        return None if values is None else values[0]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        origin: str | None = None
        shape = bounds = origin_bounds = None
        memory: str | None = None
        c0: int | None = None
        with parser.in_angle_brackets():
            storage = parser.parse_identifier_or_str_literal()
            while parser.parse_optional_punctuation(","):
                key = parser.parse_identifier()
                parser.parse_punctuation("=")
                match key:
                    case "origin":
                        origin = parser.parse_optional_identifier_or_str_literal()
                        shape = parser.parse_optional_comma_separated_list(
                            parser.Delimiter.SQUARE, lambda: _dim(parser)
                        )
                    case "range":
                        bounds = _ranges(parser)
                    case "origin_range":
                        origin_bounds = _ranges(parser)
                    case "memory":
                        memory = parser.parse_identifier_or_str_literal()
                    case "c0":
                        c0 = parser.parse_integer(allow_boolean=False, allow_negative=False)
                    case _:
                        parser.raise_error(
                            f"unknown key '{key}' in #ge.desc, expected origin, range, origin_range, memory or c0"
                        )
        return list(
            cls(
                storage,
                origin_format=origin,
                origin_shape=shape,
                range=bounds,
                origin_range=origin_bounds,
                memory=memory,
                c0=c0,
            ).parameters
        )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.format)
            if self.origin_format is not None or self.origin_shape is not None:
                printer.print_string(", origin =")
                if self.origin_format is not None:
                    printer.print_string(" ")
                    printer.print_identifier_or_string_literal(self.origin_format)
                if self.origin_shape is not None:
                    printer.print_string(f" {list(self.origin_shape)}")
            for key, bounds in (("range", self.range), ("origin_range", self.origin_range)):
                if bounds is not None:
                    pairs = [list(bounds[i : i + 2]) for i in range(0, len(bounds), 2)]
                    printer.print_string(f", {key} = {pairs}")
            if self.memory is not None:
                printer.print_string(", memory = ")
                printer.print_identifier_or_string_literal(self.memory)
            if self.c0 is not None:
                printer.print_string(f", c0 = {self.c0}")
