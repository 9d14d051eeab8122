"""The task list of one known-shape model ("sunk": prepared once, run by the device alone)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge_task.buffer import BufferOp
from ge_dialect.dialects.ge_task.clauses import (
    MAX_STREAMS,
    Clause,
    Form,
    ints_of,
    parse_clauses,
    print_clauses,
)
from ge_dialect.dialects.ge_task.model_checks import verify_model
from ge_dialect.dialects.ge_task.task import TaskOp
from ge_dialect.dialects.ge_task.virtual import VirtualOp

_COUNT_CLAUSES = (
    Clause("streams", "stream_num", Form.INT),
    Clause("events", "event_num", Form.INT),
    Clause("notifies", "notify_num", Form.INT),
    Clause("labels", "label_num", Form.INT),
)
_REST_CLAUSES = (
    Clause("zero_copy", "zero_copy_size", Form.INT),
    Clause("huge_streams", "huge_streams", Form.INTS),
    Clause("notify_types", "notify_types", Form.INTS),
    Clause("header", "header", Form.DICT),
)


@irdl_op_definition
class ModelOp(IRDLOperation):
    """Header, then buffers, then the flat list of tasks in issue order; one block without terminator. Among the tasks
    stand the nodes that make none (`ge_task.virtual`).

    `arenas` gives the bytes of each memory space (`hbm` = the header's memory_size, `weight`, `var`, `p2p`,
    `session`, `host`, `host_svm`); a space that is not listed has none. `zero_copy_size` is the tail of `hbm` kept
    for model inputs and outputs. Ids that no task uses are no error. `header` holds the other header attributes of
    spec/tasks.md section 5 under their own names.

    Text: `ge_task.model @main streams 2 events 1 arenas {hbm = 1536} zero_copy 1536 { ... }`.
    """

    name = "ge_task.model"

    sym_name = prop_def(SymbolNameConstraint())
    stream_num = prop_def(IntegerAttr[I64])
    event_num = prop_def(IntegerAttr[I64])
    notify_num = prop_def(IntegerAttr[I64])
    label_num = prop_def(IntegerAttr[I64])
    arenas = prop_def(DictionaryAttr)
    zero_copy_size = prop_def(IntegerAttr[I64])
    huge_streams = opt_prop_def(DenseArrayBase[I64])
    notify_types = opt_prop_def(DenseArrayBase[I64])
    header = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    @classmethod
    def make(
        cls,
        name: str,
        ops: Sequence[Operation] = (),
        *,
        stream_num: int,
        event_num: int = 0,
        notify_num: int = 0,
        label_num: int = 0,
        arenas: Mapping[str, int] | None = None,
        zero_copy_size: int = 0,
        huge_streams: Sequence[int] | None = None,
        notify_types: Sequence[int] | None = None,
        header: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """A model around `ops` (buffers, then tasks); more can be added to `body.block`."""
        properties: dict[str, Attribute] = {
            "sym_name": string(name),
            "stream_num": i64(stream_num),
            "event_num": i64(event_num),
            "notify_num": i64(notify_num),
            "label_num": i64(label_num),
            "arenas": arenas_attr(arenas or {}),
            "zero_copy_size": i64(zero_copy_size),
        }
        if huge_streams is not None:
            properties["huge_streams"] = i64_array(huge_streams)
        if notify_types is not None:
            properties["notify_types"] = i64_array(notify_types)
        if header is not None:
            properties["header"] = DictionaryAttr(dict(header))
        return cls.create(
            properties=properties,
            attributes=attributes or {},
            regions=[Region(Block(ops))],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        parse_clauses(parser, _COUNT_CLAUSES, properties)
        sizes: dict[str, int] = {}
        if parser.parse_optional_keyword("arenas") is not None:
            entries = parser.parse_comma_separated_list(
                parser.Delimiter.BRACES, lambda: _parse_arena(parser)
            )
            sizes = dict(entries)
            if len(sizes) != len(entries):
                parser.raise_error("an arena is listed twice")
        properties["arenas"] = arenas_attr(sizes)
        parse_clauses(parser, _REST_CLAUSES, properties)
        for name in ("stream_num", "event_num", "notify_num", "label_num", "zero_copy_size"):
            properties.setdefault(name, i64(0))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.create(
            properties=properties,
            attributes=attributes.data if attributes is not None else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        shown: dict[str, Attribute] = {
            name: value
            for name, value in self.properties.items()
            if name == "stream_num" or not (isinstance(value, IntegerAttr) and value == i64(0))
        }
        print_clauses(printer, _COUNT_CLAUSES, shown)
        if self.arenas.data:
            printer.print_string(" arenas {")
            printer.print_list(self.arena_sizes().items(), lambda item: _print_arena(printer, item))
            printer.print_string("}")
        print_clauses(printer, _REST_CLAUSES, shown)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def arena_sizes(self) -> dict[str, int]:
        """Bytes of each memory space, in the order of the header."""
        return {
            space: size.value.data
            for space, size in self.arenas.data.items()
            if isinstance(size, IntegerAttr)
        }

    def tasks(self) -> list[TaskOp]:
        """The tasks in issue order."""
        return [op for op in self.body.block.ops if isinstance(op, TaskOp)]

    def virtuals(self) -> list[VirtualOp]:
        """The nodes without task, in issue order."""
        return [op for op in self.body.block.ops if isinstance(op, VirtualOp)]

    def buffers(self) -> list[BufferOp]:
        """The buffers in block order."""
        return [op for op in self.body.block.ops if isinstance(op, BufferOp)]

    def verify_(self) -> None:
        for name, value in self.properties.items():
            if isinstance(value, IntegerAttr) and value.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {value.value.data}")
        if self.stream_num.value.data > MAX_STREAMS:
            raise VerifyException(
                f"'{self.name}' stream_num {self.stream_num.value.data} is more than {MAX_STREAMS}"
            )
        self._verify_arenas()
        huge = () if self.huge_streams is None else ints_of(self.huge_streams)
        for stream in huge:
            if not 0 <= stream < self.stream_num.value.data:
                raise VerifyException(
                    f"'{self.name}' huge stream {stream} is out of range: stream_num is {self.stream_num.value.data}"
                )
        verify_model(self)

    def _verify_arenas(self) -> None:
        for space, size in self.arenas.data.items():
            if not isinstance(size, IntegerAttr) or size.value.data < 0:
                raise VerifyException(
                    f"'{self.name}' arena '{space}' should be a number of bytes, got {size}"
                )
        hbm = self.arena_sizes().get("hbm", 0)
        if self.zero_copy_size.value.data > hbm:
            raise VerifyException(
                f"'{self.name}' zero_copy_size {self.zero_copy_size.value.data} is more than "
                f"the {hbm} bytes of arena 'hbm'"
            )


def arenas_attr(sizes: Mapping[str, int]) -> DictionaryAttr:
    """The header's `arenas` of sizes in bytes."""
    return DictionaryAttr({space: i64(size) for space, size in sizes.items()})


def _parse_arena(parser: Parser) -> tuple[str, int]:
    space = parser.parse_identifier_or_str_literal()
    parser.parse_punctuation("=")
    return space, parser.parse_integer(allow_boolean=False)


def _print_arena(printer: Printer, arena: tuple[str, int]) -> None:
    printer.print_identifier_or_string_literal(arena[0])
    printer.print_string(f" = {arena[1]}")
