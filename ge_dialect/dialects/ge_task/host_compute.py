"""Steps that compute: kernels on a stream, host kernels, embedded models, shape functions, tiling.

`launch`, `host_call` and `execute` come in two forms, told apart by having results:

* *Destination*: `outs`, no results. Shapes, tiling and storage come from steps of their own (`infer_shape`,
  `tiling`, `alloc`), whose values `outs`, `workspace` and `tiling` name; the step only launches. Lowering emits this
  form for whatever has a size before it is computed.
* *Self-allocating*: results, no `outs`. The step stands for all of spec/host_execution.md 10.2 (10.3 on the host):
  infer shapes, tile, allocate workspaces and outputs, launch. Each result is new storage, or the storage of an input
  where the node's type says so (Reshape and its like). It is left for values that only the kernel can size: texts,
  sequences, optionals, maps, and results that nothing bounds (type 4 in `kernels/shapes/unknown_types.py`).

A node without outputs has neither.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    BytesAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import (
    parse_defined_operand,
    parse_operand_list,
    parse_string,
    print_operand_list,
)
from ge_dialect.dialects.attrs import segments, string
from ge_dialect.dialects.ge.source import verify_source
from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    PropertyValue,
    as_properties,
    parse_clauses,
    print_clauses,
)
from ge_dialect.dialects.ge_task.host_step import (
    HOST_VALUE,
    NODE_INPUT,
    STREAM,
    HostStepOp,
    parse_result_types,
    placement_of,
    print_result_types,
)
from ge_dialect.dialects.ge_task.types import (
    PlacedTensorType,
    Placement,
    ShapeType,
    TilingType,
)

_OP_INDEX = Clause("op", "op_index", Form.INT)
_NODE_CLAUSES = (
    _OP_INDEX,
    Clause("engine", "engine", Form.STRING),
    Clause("source", "source", Form.STRING),
    Clause("attrs", "attrs", Form.DICT),
)


class NodeStepOp(HostStepOp, ABC):
    """A step for a node: type, attributes, source as in `ge.op`, id `op_index`, input slots `ins`."""

    CLAUSES: ClassVar[tuple[Clause, ...]] = _NODE_CLAUSES

    type = prop_def(StringAttr | BytesAttr)
    op_index = opt_prop_def(IntegerAttr[I64])
    engine = opt_prop_def(StringAttr | BytesAttr)
    source = opt_prop_def(StringAttr | BytesAttr)
    attrs = opt_prop_def(DictionaryAttr)

    def verify_(self) -> None:
        """The rules of its kind, and a source that names an operator."""
        super().verify_()
        verify_source(self)


class ShapeFunctionOp(NodeStepOp, ABC):
    """A step that works on shapes: an operand that is a tensor gives its shape and, when on the host, its values."""

    ins = var_operand_def(NODE_INPUT)

    @classmethod
    def make(
        cls,
        type: str,
        ins: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The step for a node of type `type`; `properties`: op_index, engine, source, attrs."""
        return cls.create(
            operands=ins,
            result_types=result_types,
            properties={"type": string(type), **as_properties(properties)},
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"type": parse_string(parser)}
        ins = parse_operand_list(parser)
        result_types = parse_result_types(parser)
        parse_clauses(parser, cls.CLAUSES, properties)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=ins, result_types=result_types, properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.type)
        print_operand_list(printer, tuple(self.operands))
        print_result_types(printer, [result.type for result in self.results])
        print_clauses(printer, self.CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class InferShapeOp(ShapeFunctionOp):
    """Runs the shape function of the node: one shape an output.

    `bound`: only the kernel will know the shapes; these are the largest that they can be.

    Text: `%s = ge_task.infer_shape "MatMul"(%x, %w) -> (!ge_task.shape<2>) op 3`.
    """

    name = "ge_task.infer_shape"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (*_NODE_CLAUSES, Clause("bound", "bound", Form.FLAG))
    bound = opt_prop_def(UnitAttr)
    shapes = var_result_def(ShapeType)


_MAY_BE_EMPTY = Clause("may_be_empty", "may_be_empty", Form.FLAG)


@irdl_op_definition
class TilingOp(NodeStepOp):
    """Tiles the node: the tiling, then the size in bytes of each workspace as a shape of rank 1.

    `outs` are the shapes of the outputs. `may_be_empty`: nothing is tiled when all of them turn out to be empty.

    Text: `%t, %w = ge_task.tiling "MatMul"(%x, %w) outs (%s) -> (!ge_task.tiling, !ge_task.shape<1>)`.
    """

    name = "ge_task.tiling"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (*_NODE_CLAUSES, _MAY_BE_EMPTY)
    ins = var_operand_def(NODE_INPUT)
    outs = var_operand_def(ShapeType)
    may_be_empty = opt_prop_def(UnitAttr)
    found = var_result_def(TilingType | ShapeType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        type: str,
        ins: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        outs: Sequence[SSAValue] = (),
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The tiling of a node of type `type`; `properties`: op_index, engine, source, attrs, may_be_empty."""
        return cls.create(
            operands=(*ins, *outs),
            result_types=result_types,
            properties={
                "operandSegmentSizes": segments(len(ins), len(outs)),
                "type": string(type),
                **as_properties(properties),
            },
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"type": parse_string(parser)}
        ins = parse_operand_list(parser)
        outs = parse_operand_list(parser) if parser.parse_optional_keyword("outs") else []
        properties["operandSegmentSizes"] = segments(len(ins), len(outs))
        result_types = parse_result_types(parser)
        parse_clauses(parser, cls.CLAUSES, properties)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=[*ins, *outs],
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.type)
        print_operand_list(printer, self.ins)
        if self.outs:
            printer.print_string(" outs ")
            print_operand_list(printer, self.outs)
        print_result_types(printer, [result.type for result in self.results])
        print_clauses(printer, self.CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)

    def verify_step(self) -> None:
        types = [result.type for result in self.results]
        wanted = [TilingType(), *(ShapeType(1) for _ in types[1:])]
        if types != wanted:
            raise VerifyException(
                f"'{self.name}' results should be a tiling and a shape of rank 1 for each workspace"
            )


class DestinationStepOp(HostStepOp, ABC):
    """A step in one of the two forms of this module: `head(ins) outs (...) -> (types) clauses`."""

    CLAUSES: ClassVar[tuple[Clause, ...]] = ()

    ins = var_operand_def(HOST_VALUE)
    outs = var_operand_def(HOST_VALUE)
    values = var_result_def(HOST_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        cls._parse_head(parser, properties)
        operands = parse_operand_list(parser)
        sizes = [len(operands)]
        outs = parse_operand_list(parser) if parser.parse_optional_keyword("outs") else []
        operands += outs
        sizes.append(len(outs))
        cls._parse_extra(parser, operands, sizes)
        properties["operandSegmentSizes"] = segments(*sizes)
        result_types = parse_result_types(parser)
        parse_clauses(parser, cls.CLAUSES, properties)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self._print_head(printer)
        print_operand_list(printer, self.ins)
        if self.outs:
            printer.print_string(" outs ")
            print_operand_list(printer, self.outs)
        self._print_extra(printer)
        print_result_types(printer, [result.type for result in self.results])
        print_clauses(printer, self.CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def _parse_head(cls, parser: Parser, properties: dict[str, Attribute]) -> None:
        properties["type"] = parse_string(parser)

    def _print_head(self, printer: Printer) -> None:
        printer.print_attribute(self.properties["type"])

    @classmethod
    def _parse_extra(cls, parser: Parser, operands: list[SSAValue], sizes: list[int]) -> None:
        """Parse further groups of operands."""

    def _print_extra(self, printer: Printer) -> None:
        """Print further groups of operands."""

    def verify_step(self) -> None:
        if self.outs and self.results:
            raise VerifyException(
                f"'{self.name}' has both destinations and results; results mean that the step allocates"
            )


@irdl_op_definition
class LaunchOp(DestinationStepOp, NodeStepOp):
    """Issues the node's kernel on `stream` and goes on without waiting. Its tensors are not in host memory.

    `values`: copies on the host of inputs whose elements the node's shape function or tiling reads; the kernel does
    not see them (spec/host_execution.md 10.2 step 1). `may_be_empty`: nothing is launched when all destinations turn
    out to be empty.

    Text: `%y = ge_task.launch "MatMul"(%x, %w) -> (device tensor<?x4xf32>) stream 0 op 3`, or
    `ge_task.launch "MatMul"(%x, %w) outs (%y) workspace (%s) tiling %t stream 0 op 3`, or
    `%y = ge_task.launch "Expand"(%x, %s) values (%h) -> (device tensor<?x4xf32>) stream 0 op 3`.
    """

    name = "ge_task.launch"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM, *_NODE_CLAUSES, _MAY_BE_EMPTY)

    stream = prop_def(IntegerAttr[I64])
    may_be_empty = opt_prop_def(UnitAttr)
    # xDSL puts the operands of the class itself in front of inherited ones, so the first two groups are named again.
    ins = var_operand_def(HOST_VALUE)
    outs = var_operand_def(HOST_VALUE)
    workspaces = var_operand_def(PlacedTensorType)
    tiling = opt_operand_def(TilingType)
    shape_values = var_operand_def(HOST_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        type: str,
        ins: Sequence[SSAValue],
        result_types: Sequence[Attribute] = (),
        *,
        stream: int,
        outs: Sequence[SSAValue] = (),
        workspaces: Sequence[SSAValue] = (),
        tiling: SSAValue | None = None,
        shape_values: Sequence[SSAValue] = (),
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The launch of a node of type `type`; `properties`: op_index, engine, source, attrs."""
        tiled = () if tiling is None else (tiling,)
        groups = (ins, outs, workspaces, tiled, shape_values)
        return cls.create(
            operands=[value for group in groups for value in group],
            result_types=result_types,
            properties={
                "operandSegmentSizes": segments(*(len(group) for group in groups)),
                "type": string(type),
                **as_properties({**properties, "stream": stream}),
            },
            attributes=attributes or {},
        )

    @classmethod
    def _parse_extra(cls, parser: Parser, operands: list[SSAValue], sizes: list[int]) -> None:
        spaces = parse_operand_list(parser) if parser.parse_optional_keyword("workspace") else []
        tiled = parser.parse_optional_keyword("tiling") is not None
        operands += spaces
        if tiled:
            operands.append(parse_defined_operand(parser))
        values = parse_operand_list(parser) if parser.parse_optional_keyword("values") else []
        operands += values
        sizes += [len(spaces), int(tiled), len(values)]

    def _print_extra(self, printer: Printer) -> None:
        if self.workspaces:
            printer.print_string(" workspace ")
            print_operand_list(printer, self.workspaces)
        if self.tiling is not None:
            printer.print_string(" tiling ")
            printer.print_operand(self.tiling)
        if self.shape_values:
            printer.print_string(" values ")
            print_operand_list(printer, self.shape_values)

    def verify_step(self) -> None:
        super().verify_step()
        if self.results and (self.workspaces or self.tiling is not None):
            raise VerifyException(
                f"'{self.name}' with results tiles and allocates by itself, it takes no workspace and no tiling"
            )
        for what, values in (
            ("input", self.ins),
            ("destination", self.outs),
            ("workspace", self.workspaces),
            ("result", self.results),
        ):
            for i, value in enumerate(values):
                if placement_of(value.type) is Placement.HOST:
                    raise VerifyException(
                        f"'{self.name}' {what} {i} is in host memory, a kernel needs device memory"
                    )
        for i, value in enumerate(self.shape_values):
            if placement_of(value.type) is Placement.DEVICE:
                raise VerifyException(
                    f"'{self.name}' value {i} is in device memory, the host reads it"
                )


@irdl_op_definition
class HostCallOp(DestinationStepOp, NodeStepOp):
    """Calls the node's host kernel and waits for it; reads tensors on the host, sequences, optionals, maps.

    Nodes that look at shapes only (Shape, Size, Rank) may have an input on the device: its bytes are not touched.
    """

    name = "ge_task.host_call"
    CLAUSES: ClassVar[tuple[Clause, ...]] = _NODE_CLAUSES

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        type: str,
        ins: Sequence[SSAValue],
        result_types: Sequence[Attribute] = (),
        *,
        outs: Sequence[SSAValue] = (),
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The call for a node of type `type`; `properties`: op_index, engine, source, attrs."""
        return cls.create(
            operands=(*ins, *outs),
            result_types=result_types,
            properties={
                "operandSegmentSizes": segments(len(ins), len(outs)),
                "type": string(type),
                **as_properties(properties),
            },
            attributes=attributes or {},
        )


@irdl_op_definition
class ExecuteOp(DestinationStepOp):
    """Runs the task list `model` once: operand i is its input i, result or destination k its output k.

    The host refreshes addresses, issues one "execute model" on `stream` and goes on.
    Text: `%y = ge_task.execute @cluster0(%x) -> (device tensor<2x4xf32>) stream 0 op 7`.
    """

    name = "ge_task.execute"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (STREAM, _OP_INDEX)

    model = prop_def(SymbolRefAttr)
    stream = prop_def(IntegerAttr[I64])
    op_index = opt_prop_def(IntegerAttr[I64])
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        model: str,
        ins: Sequence[SSAValue],
        result_types: Sequence[Attribute] = (),
        *,
        stream: int,
        outs: Sequence[SSAValue] = (),
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """One run of the task list called `model`."""
        return cls.create(
            operands=(*ins, *outs),
            result_types=result_types,
            properties={
                "operandSegmentSizes": segments(len(ins), len(outs)),
                "model": SymbolRefAttr(model),
                **as_properties({"stream": stream, "op_index": op_index}),
            },
            attributes=attributes or {},
        )

    @classmethod
    def _parse_head(cls, parser: Parser, properties: dict[str, Attribute]) -> None:
        properties["model"] = SymbolRefAttr(parser.parse_symbol_name())

    def _print_head(self, printer: Printer) -> None:
        printer.print_attribute(self.model)


HOST_COMPUTE_OPS = (InferShapeOp, TilingOp, LaunchOp, HostCallOp, ExecuteOp)
