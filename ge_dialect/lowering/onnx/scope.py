"""The values of one graph while it is built: by name, with constants made when first used and outer values captured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import onnx
from xdsl.dialects.builtin import FileLineColLoc, NameLoc, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64, string, string_attr
from ge_dialect.dialects.ge import AbsentOp, ConstantOp, DataOp
from ge_dialect.dialects.ge.weights import array_of, elements_type
from ge_dialect.lowering.onnx.constants import ExternalFiles, sparse_elements, tensor_elements
from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.names import Names, value_name
from ge_dialect.lowering.onnx.subgraphs import CAPTURED
from ge_dialect.lowering.onnx.value_types import UNKNOWN, type_from_onnx

LOCAL_CONSTANT_BYTES = 1024
"""A constant of an enclosing graph of at most this size is repeated in a sub-graph that uses it, so that the sub-graph
still sees shapes, axes and limits; a larger one is handed in like any other value."""


class Captures:
    """The values of the enclosing graph that the sub-graphs of one node use, in the order of first use.

    They become inputs of the node from number `first` on; all sub-graphs of the node share them.
    """

    def __init__(self, first: int, marked: bool) -> None:
        self.first = first
        self.marked = marked
        self.index: dict[str, int] = {}
        self.values: list[SSAValue] = []


class PendingConstant:
    """A constant that nothing has used yet. Its elements are made once, however many graphs use it."""

    __slots__ = ("_elements", "_make", "node_name")

    def __init__(self, node_name: str, make: Callable[[], Attribute]) -> None:
        self.node_name = node_name
        self._make = make
        self._elements: Attribute | None = None

    def renamed(self, node_name: str) -> PendingConstant:
        """The same constant for another graph, where its node has another name."""
        return PendingConstant(node_name, lambda: self.elements)

    @property
    def elements(self) -> Attribute:
        """The attribute that holds the elements. Raises OnnxImportError when they are damaged or missing."""
        if self._elements is None:
            self._elements = self._make()
        return self._elements


class Scope:
    """One graph under construction. `outer` and `captures` belong together: None for the main graph."""

    def __init__(
        self,
        file: FileLineColLoc,
        files: ExternalFiles,
        outer: Scope | None = None,
        captures: Captures | None = None,
        reserved: Iterable[str] = (),
    ) -> None:
        self.file = file
        self.files = files
        self.outer = outer
        self.captures = captures
        self.names = Names(reserved)
        self.values: dict[str, SSAValue] = {}
        self.constants: dict[str, PendingConstant] = {}
        self.types: dict[str, onnx.TypeProto] = {}
        self.inputs: list[Operation] = []
        self.ops: list[Operation] = []
        self._absent: AbsentOp | None = None
        self._shared: dict[tuple[str, bytes], SSAValue] = {}

    # --- building -------------------------------------------------------------------------------------------------

    def place(self, name: str) -> NameLoc:
        """The location of a node."""
        return NameLoc(StringAttr(name), self.file)

    def type_of(self, name: str) -> Attribute:
        """The type that the model declares or onnx infers for a value of this graph."""
        proto = self.types.get(name)
        return UNKNOWN if proto is None else type_from_onnx(proto)

    def add_initializer(self, tensor: onnx.TensorProto) -> None:
        """Know a constant by its name."""
        name = tensor.name
        make = partial(tensor_elements, tensor, self.files)
        self.add_constant(name, PendingConstant(self.names.given(name), make))

    def add_sparse_initializer(self, sparse: onnx.SparseTensorProto) -> None:
        """Know a sparse constant by its name, as the dense one that it stands for."""
        name = sparse.values.name
        make = partial(sparse_elements, sparse, self.files)
        self.add_constant(name, PendingConstant(self.names.given(name), make))

    def add_constant(self, name: str, constant: PendingConstant) -> None:
        """Know a constant by its name. Raises OnnxImportError for a name that is taken."""
        if name in self.constants or name in self.values:
            raise OnnxImportError(f'value "{name}" is made twice')
        self.constants[name] = constant

    def define(self, name: str, value: SSAValue) -> None:
        """Know a value by its name."""
        self.values[name] = value
        value.name_hint = value_name(name)

    def absent(self) -> SSAValue:
        """The value of an unwired slot."""
        if self._absent is None:
            self._absent = AbsentOp()
            self._absent.output.name_hint = "none"
        return self._absent.output

    def finished_ops(self) -> list[Operation]:
        """The ops of the graph in order: its inputs, the absent value, the rest."""
        return [*self.inputs, *((self._absent,) if self._absent else ()), *self.ops]

    def new_constant(self, name: str, elements: Attribute) -> SSAValue:
        """A constant of this graph."""
        kind = elements_type(elements)
        assert kind is not None
        op = ConstantOp.create(
            result_types=(kind,),
            properties={"value": elements},
            attributes={"ge.name": string_attr(name)},
            location=self.place(name),
        )
        self.ops.append(op)
        return op.results[0]

    def shared_constant(self, role: str, elements: Attribute, array: np.ndarray) -> SSAValue:
        """The one constant of this graph that plays `role` with these elements."""
        key = (role, array.tobytes())
        value = self._shared.get(key)
        if value is None:
            name = self.names.made(f"Const_{role}")
            self._shared[key] = value = self.new_constant(name, elements)
            value.name_hint = value_name(name)
        return value

    # --- finding --------------------------------------------------------------------------------------------------

    def value(self, name: str) -> SSAValue:
        """The value called `name`: of this graph, a constant made now, or one of an enclosing graph, captured.

        Raises OnnxImportError for a name that nothing makes.
        """
        found = self.values.get(name)
        if found is not None:
            return found
        constant = self.constants.get(name)
        if constant is None and self.outer is not None and self.captures is not None:
            outer = self.outer.small_constant(name)
            if outer is None:
                return self._capture(name, self.outer, self.captures)
            constant = outer.renamed(self.names.given(outer.node_name))
            self.constants[name] = constant
        if constant is None:
            raise OnnxImportError(f'value "{name}" is used but nothing makes it')
        value = self.new_constant(constant.node_name, constant.elements)
        self.define(name, value)
        return value

    def constant(self, name: str) -> np.ndarray | None:
        """The elements of a constant of this graph or an enclosing one, None for a name that is no constant's."""
        scope: Scope | None = self
        while scope is not None:
            if (found := scope.constants.get(name)) is not None:
                return array_of(found.elements, name)
            if name in scope.values:
                return None
            scope = scope.outer
        return None

    def known_type(self, name: str) -> Attribute | None:
        """The type of a value of this graph or an enclosing one, without capturing it."""
        scope: Scope | None = self
        while scope is not None:
            if (value := scope.values.get(name)) is not None:
                return value.type
            if (constant := scope.constants.get(name)) is not None:
                return elements_type(constant.elements)
            scope = scope.outer
        return None

    def small_constant(self, name: str) -> PendingConstant | None:
        """The constant called `name` of this graph or an enclosing one when it is small enough to be repeated."""
        scope: Scope | None = self
        while scope is not None:
            if (found := scope.constants.get(name)) is not None:
                array = array_of(found.elements, name)
                return found if array.nbytes <= LOCAL_CONSTANT_BYTES else None
            if name in scope.values:
                return None
            scope = scope.outer
        return None

    def _capture(self, name: str, outer: Scope, captures: Captures) -> SSAValue:
        index = captures.index.get(name)
        if index is None:
            value = outer.value(name)
            index = captures.index[name] = captures.first + len(captures.values)
            captures.values.append(value)
        kind = captures.values[index - captures.first].type
        node_name = self.names.given(name)
        attributes: dict[str, Attribute] = {
            "ge.name": string_attr(node_name),
            "ge.parent_node_index": i64(index),
        }
        if captures.marked:
            attributes["ge.formal"] = string(CAPTURED)
        op = DataOp.create(
            result_types=(kind,),
            properties={"index": i64(len(self.inputs))},
            attributes=attributes,
            location=self.place(node_name),
        )
        self.inputs.append(op)
        self.define(name, op.results[0])
        return op.results[0]
