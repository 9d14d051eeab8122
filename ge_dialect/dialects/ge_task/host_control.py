"""Structured control flow of a host program: if, case, while, and the lists that loops collect results in.

The regions see the values outside of them. Conditions are tensors of one element in host memory: a condition that a
kernel computes is synchronised and copied down by steps in front.

A loop of ONNX becomes a `while` that carries the iteration number, the condition and the loop's values; each scan
output is a list made in front of the loop, appended to in the body and stacked behind it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, SingleBlockImplicitTerminator, ensure_terminator
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import (
    parse_defined_operand,
    parse_operand_list,
    print_operand_list,
)
from ge_dialect.dialects.ge_task.clauses import Clause, Form
from ge_dialect.dialects.ge_task.host_step import (
    CARRIED,
    HostStepOp,
    PlainStepOp,
    parse_result_types,
    placement_of,
    print_result_types,
    verify_compatible,
)
from ge_dialect.dialects.ge_task.types import ListType, PlacedTensorType, Placement


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region with the values that it gives. Text: `ge_task.yield(%a, %b)`."""

    name = "ge_task.yield"
    values = var_operand_def(CARRIED)
    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(IfOp, CaseOp, WhileOp)))

    @classmethod
    def make(cls, values: Sequence[SSAValue] = ()) -> Self:
        """The end of a region that gives `values`."""
        return cls.create(operands=values)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values = parse_operand_list(parser)
        return cls.create(operands=values, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if self.operands:
            print_operand_list(printer, tuple(self.operands))
        printer.print_op_attributes(self.attributes)


def _yielded(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op
    return last.operands if isinstance(last, YieldOp) else ()


def _verify_condition(op: Operation, type: Attribute) -> None:
    if placement_of(type) is not Placement.HOST:
        raise VerifyException(
            f"'{op.name}' condition should be a tensor in host memory, got {type}"
        )
    if isinstance(type, PlacedTensorType) and isinstance(type.tensor, TensorType):
        known = [dim for dim in type.tensor.get_shape() if dim >= 0]
        if any(dim != 1 for dim in known):
            raise VerifyException(
                f"'{op.name}' condition should have one element, got {type.tensor}"
            )


def _region_of(ops: Region | Sequence[Operation]) -> Region:
    return ops if isinstance(ops, Region) else Region(Block(ops))


def _parse_body(parser: Parser) -> Region:
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return region


def _end_regions(op: Operation) -> None:
    """Give regions that were written without a yield an empty one."""
    for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
        ensure_terminator(op, trait)


class BranchOp(HostStepOp, ABC):
    """Runs one of its regions; the results are what that region yields."""

    def branches(self) -> Sequence[Region]:
        """The regions in order of their numbers."""
        return self.regions

    def verify_step(self) -> None:
        _verify_condition(self, self.operands[0].type)
        wanted = [result.type for result in self.results]
        for i, region in enumerate(self.regions):
            got = [value.type for value in _yielded(region)]
            verify_compatible(self.name, f"branch {i} yields", got, wanted)


@irdl_op_definition
class IfOp(BranchOp):
    """Runs the first region when the condition is not zero, else the second one.

    Text: `%r = ge_task.if %c -> (device tensor<?xf32>) { ... } else { ... }`.
    """

    name = "ge_task.if"
    condition = operand_def(PlacedTensorType)
    values = var_result_def(CARRIED)
    then_region = region_def("single_block")
    else_region = region_def("single_block")
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    @classmethod
    def make(
        cls,
        condition: SSAValue,
        result_types: Sequence[Attribute],
        then_region: Region | Sequence[Operation],
        else_region: Region | Sequence[Operation],
        *,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The choice between two regions, each ending in a `YieldOp`."""
        return cls.create(
            operands=(condition,),
            result_types=result_types,
            regions=[_region_of(then_region), _region_of(else_region)],
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parse_defined_operand(parser)
        result_types = parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions = [_parse_body(parser)]
        parser.parse_keyword("else")
        regions.append(_parse_body(parser))
        op = cls.create(
            operands=(condition,),
            result_types=result_types,
            regions=regions,
            attributes=attributes.data if attributes is not None else {},
        )
        _end_regions(op)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        print_result_types(printer, [result.type for result in self.results])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        for word, region in zip((" ", " else "), self.regions, strict=True):
            printer.print_string(word)
            printer.print_region(region)


@irdl_op_definition
class CaseOp(BranchOp):
    """Runs region number `index`; an index that no region has runs the last one, as in GE.

    Text: `%r = ge_task.case %i -> (device tensor<?xf32>) { ... } { ... } { ... }`.
    """

    name = "ge_task.case"
    index = operand_def(PlacedTensorType)
    values = var_result_def(CARRIED)
    cases = var_region_def("single_block")
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    @classmethod
    def make(
        cls,
        index: SSAValue,
        result_types: Sequence[Attribute],
        cases: Sequence[Region | Sequence[Operation]],
        *,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The choice between `cases`, each ending in a `YieldOp`."""
        return cls.create(
            operands=(index,),
            result_types=result_types,
            regions=[_region_of(case) for case in cases],
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = parse_defined_operand(parser)
        result_types = parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions = [_parse_body(parser)]
        while (region := parser.parse_optional_region()) is not None:
            if not region.blocks:
                region.add_block(Block())
            regions.append(region)
        op = cls.create(
            operands=(index,),
            result_types=result_types,
            regions=regions,
            attributes=attributes.data if attributes is not None else {},
        )
        _end_regions(op)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        print_result_types(printer, [result.type for result in self.results])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region)

    def verify_step(self) -> None:
        if not self.regions:
            raise VerifyException(f"'{self.name}' needs at least one region")
        super().verify_step()


@irdl_op_definition
class WhileOp(HostStepOp):
    """Runs `cond` on the carried values and, while it yields something not zero, `body`, which yields the next ones.

    Both regions have one argument a carried value, of the type of the result; the results are the values that `cond`
    saw last. Initial and yielded values may know more about dimensions than the carried type.

    Text: `%n, %v = ge_task.while(%n0, %v0) -> (host tensor<i64>, device tensor<?xf32>) cond (%i, %x) { ... } body
    (%j, %y) { ... }`.
    """

    name = "ge_task.while"
    init = var_operand_def(CARRIED)
    values = var_result_def(CARRIED)
    cond = region_def("single_block")
    body = region_def("single_block")
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    @classmethod
    def make(
        cls,
        init: Sequence[SSAValue],
        carried_types: Sequence[Attribute],
        cond: Region,
        body: Region,
        *,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The loop; both regions have arguments of `carried_types` and end in a `YieldOp`."""
        return cls.create(
            operands=init,
            result_types=carried_types,
            regions=[cond, body],
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        init = parse_operand_list(parser)
        types = parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions = [cls._parse_region(parser, word, types) for word in ("cond", "body")]
        op = cls.create(
            operands=init,
            result_types=types,
            regions=regions,
            attributes=attributes.data if attributes is not None else {},
        )
        _end_regions(op)
        return op

    @staticmethod
    def _parse_region(parser: Parser, word: str, types: Sequence[Attribute]) -> Region:
        parser.parse_keyword(word)
        names = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        if len(names) != len(types):
            parser.raise_error(f"expected {len(types)} arguments of '{word}', got {len(names)}")
        arguments = [name.resolve(type) for name, type in zip(names, types, strict=True)]
        region = parser.parse_region(arguments)
        if not region.blocks:
            region.add_block(Block(arg_types=types))
        return region

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, tuple(self.operands))
        print_result_types(printer, [result.type for result in self.results])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        for word, region in zip(("cond", "body"), self.regions, strict=True):
            printer.print_string(f" {word} (")
            printer.print_list(region.block.args, printer.print_ssa_value)
            printer.print_string(") ")
            printer.print_region(region, print_entry_block_args=False)

    def verify_step(self) -> None:
        types = [result.type for result in self.results]
        verify_compatible(self.name, "initial value", [v.type for v in self.operands], types)
        for word, region in zip(("cond", "body"), self.regions, strict=True):
            got = [argument.type for argument in region.block.args]
            if got != types:
                raise VerifyException(
                    f"'{self.name}' arguments of {word} should have the types of the results"
                )
        condition = _yielded(self.cond)
        if len(condition) != 1:
            raise VerifyException(
                f"'{self.name}' cond should yield the condition, got {len(condition)} values"
            )
        _verify_condition(self, condition[0].type)
        verify_compatible(self.name, "body yields", [v.type for v in _yielded(self.body)], types)


@irdl_op_definition
class ListNewOp(PlainStepOp):
    """An empty list. Text: `%l = ge_task.list_new : !ge_task.list<tensor<?xf32>>`."""

    name = "ge_task.list_new"
    HAS_OPERANDS: ClassVar[bool] = False
    result = result_def(ListType)

    @classmethod
    def make(cls, type: ListType) -> Self:
        """A list of the given type."""
        return cls.build_step((), type)


@irdl_op_definition
class ListAppendOp(PlainStepOp):
    """Adds a tensor at the end of a list, in place. Text: `ge_task.list_append(%l, %x)`."""

    name = "ge_task.list_append"
    HAS_RESULT: ClassVar[bool] = False
    list = operand_def(ListType)
    tensor = operand_def(PlacedTensorType)

    @classmethod
    def make(cls, list: SSAValue, tensor: SSAValue) -> Self:
        """`tensor` at the end of `list`."""
        return cls.build_step((list, tensor))

    def verify_step(self) -> None:
        list_type, type = self.list.type, self.tensor.type
        if isinstance(type, PlacedTensorType):
            verify_compatible(self.name, "element", [ListType(type.tensor)], [list_type])


@irdl_op_definition
class ListStackOp(PlainStepOp):
    """The tensors of a list as one tensor with a new dimension at `axis`, backwards with `reverse`.

    An empty list gives dimension 0 at `axis` and 0 for each dimension that the type does not know.
    Text: `%t = ge_task.list_stack(%l) axis 0 reverse : device tensor<?x4xf32>`.
    """

    name = "ge_task.list_stack"
    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        Clause("axis", "axis", Form.INT),
        Clause("reverse", "reverse", Form.FLAG),
    )
    list = operand_def(ListType)
    axis = prop_def(IntegerAttr[I64])
    reverse = opt_prop_def(UnitAttr)
    result = result_def(PlacedTensorType)

    @classmethod
    def make(
        cls,
        type: PlacedTensorType,
        list: SSAValue,
        *,
        axis: int = 0,
        reverse: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """What `list` holds, as one tensor of type `type`; `axis` >= 0."""
        return cls.build_step((list,), type, attributes, axis=axis, reverse=reverse)

    def verify_step(self) -> None:
        type = self.result.type
        if isinstance(type.tensor, TensorType):
            rank = type.tensor.get_num_dims()
            if self.axis.value.data >= rank:
                raise VerifyException(
                    f"'{self.name}' axis {self.axis.value.data} is out of range for rank {rank}"
                )


HOST_CONTROL_OPS = (IfOp, CaseOp, WhileOp, YieldOp, ListNewOp, ListAppendOp, ListStackOp)
