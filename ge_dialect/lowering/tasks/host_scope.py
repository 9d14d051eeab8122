"""Building the steps of a host program: values with their placements, regions, conversions between host and device."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from xdsl.dialects.builtin import NoneType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge_dialect.analysis.task_count import task_error
from ge_dialect.dialects.attrs import string_attr
from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.types import OptionalType
from ge_dialect.dialects.ge.weights import elements_attr, elements_type
from ge_dialect.dialects.ge_task import (
    AbsentOp,
    D2hOp,
    EnsureDeviceOp,
    EnsureHostOp,
    H2dOp,
    HostCallOp,
    HostConstOp,
    PlacedTensorType,
    Placement,
    RecordOp,
    SyncOp,
    WaitOp,
)
from ge_dialect.lowering.tasks.host_frees import with_frees
from ge_dialect.lowering.tasks.host_types import host_type, is_host_only, is_tensor


@dataclass(eq=False, slots=True)
class HostValue:
    """A value of a host program: its type in dialect `ge`, where it is first, and that place's SSA value.

    A constant has no place of its own: it is loaded wherever it is asked for. `launch` is the step that computes the
    value on a stream, which must be waited for before the value can be copied to the host.
    """

    kind: Attribute
    placement: Placement | None
    ssa: SSAValue | None
    constant: Attribute | None = None
    launch: Operation | None = None
    stream: int = 0
    scope: Scope | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """The steps of one region, in order. `repeats` marks regions of loops, out of which conversions are taken.

    `ordered`: copies to the device, each with a stream that waits for it. `owned`: the values of the region that have
    storage, with the stream in whose order it goes back.
    """

    parent: Scope | None = None
    repeats: bool = False
    ops: list[Operation] = field(default_factory=list[Operation])
    copies: dict[tuple[HostValue, Placement], SSAValue] = field(
        default_factory=dict[tuple[HostValue, Placement], SSAValue]
    )
    synced: set[Operation] = field(default_factory=set[Operation])
    ordered: set[tuple[SSAValue, int]] = field(default_factory=set[tuple[SSAValue, int]])
    owned: dict[SSAValue, int | None] = field(default_factory=dict[SSAValue, "int | None"])

    def chain(self) -> Iterator[Scope]:
        """The scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


class HostBuilder:
    """Appends steps to the innermost open region; values of outer regions are visible in inner ones.

    `prelude` holds what happens once, when the program is loaded: constants, variables; then the program's inputs.
    `events` is the next free event.
    """

    def __init__(self, events: int = 0) -> None:
        self.events = events
        self._copied_on: dict[SSAValue, int] = {}
        self.prelude: list[Operation] = []
        self.scope = Scope()
        self._root = self.scope
        self._constants: dict[tuple[Attribute, Attribute, Placement], SSAValue] = {}
        self._absent: SSAValue | None = None

    # --- regions ------------------------------------------------------------------------------------------------

    @contextmanager
    def region(self, *, repeats: bool) -> Generator[Scope]:
        """Steps appended inside go to the region."""
        outer = self.scope
        self.scope = Scope(outer, repeats)
        try:
            yield self.scope
        finally:
            self.scope = outer

    @contextmanager
    def inside(self, scope: Scope) -> Generator[None]:
        """Go on with a region that was closed."""
        outer, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outer

    @staticmethod
    def finish(scope: Scope, block: Block | None = None) -> Region:
        """The region of a scope, once its last step is there."""
        made = Block() if block is None else block
        arguments = [x for x in made.args if isinstance(x.type, PlacedTensorType)]
        scope.owned.update(dict.fromkeys(arguments))
        made.add_ops(with_frees(scope.ops, scope.owned, arguments))
        return Region(made)

    def own(self, value: SSAValue, stream: int | None) -> None:
        """A value of the open region has storage, which ends with it; on the device in the order of `stream`."""
        self.scope.owned[value] = stream

    def owns(self, value: SSAValue) -> bool:
        """Whether the program gives the value its storage; inputs, constants and variables have their own."""
        return any(value in scope.owned for scope in self.scope.chain())

    def append(self, op: Operation) -> Operation:
        """Append a step."""
        self.scope.ops.append(op)
        return op

    # --- values -------------------------------------------------------------------------------------------------

    def value(
        self,
        kind: Attribute,
        ssa: SSAValue,
        launch: Operation | None = None,
        stream: int = 0,
    ) -> HostValue:
        """A value that a step or a block argument of the open region gives."""
        placed = ssa.type
        placement = placed.placement.data if isinstance(placed, PlacedTensorType) else None
        return HostValue(kind, placement, ssa, None, launch, stream, self.scope)

    def constant(self, value: Attribute, kind: Attribute | None = None) -> HostValue:
        """A constant of dialect `ge`."""
        found = elements_type(value) if kind is None else kind
        assert found is not None, "a constant without a type"
        return HostValue(found, None, None, value)

    def number(self, value: int | Sequence[int]) -> HostValue:
        """An int64 constant: a scalar, or a list of numbers."""
        return self.constant(elements_attr(np.array(value, np.int64)))

    def absent(self) -> HostValue:
        """What stands in a slot that is not wired."""
        if self._absent is None:
            op = AbsentOp.make()
            self.prelude.append(op)
            self._absent = op.results[0]
        return HostValue(NoneType(), None, self._absent, scope=self._root)

    def get(self, value: HostValue, placement: Placement, stream: int = 0) -> SSAValue:
        """The SSA value of a tensor in a placement (`any`: wherever it is); steps that bring it there are appended.

        A conversion is made once a region and kept, whoever reads the copy. To the device it goes on `stream`, that of
        the reader that needs it first; others wait for it. Inside loops it is taken out to where the value is the same
        in every turn.
        """
        if value.constant is not None:
            return self._load(value, Placement.DEVICE if placement is Placement.ANY else placement)
        assert value.ssa is not None
        if value.placement is None or placement in (Placement.ANY, value.placement):
            return value.ssa
        for scope in self.scope.chain():
            found = scope.copies.get((value, placement))
            if found is not None:
                self._wait_for_copy(found, stream)
                return found
        target = self.scope
        while target is not value.scope and target.repeats and target.parent is not None:
            target = target.parent
        with self.inside(target):
            copy = self._convert(value, value.ssa, placement, stream)
        target.copies[(value, placement)] = copy
        self._wait_for_copy(copy, stream)
        return copy

    def _wait_for_copy(self, copy: SSAValue, stream: int) -> None:
        """Let a stream wait for a copy that another one makes: no event between nodes covers it, as it is made for
        its first reader, behind the node that gives the value."""
        made_on = self._copied_on.get(copy, stream)
        if made_on == stream or any((copy, stream) in each.ordered for each in self.scope.chain()):
            return
        self.scope.ordered.add((copy, stream))
        self.append(RecordOp.make(self.events, stream=made_on))
        self.append(WaitOp.make(self.events, stream=stream))
        self.events += 1

    def _load(self, value: HostValue, placement: Placement) -> SSAValue:
        assert value.constant is not None
        kind = host_type(value.kind, placement)
        key = (value.constant, kind, placement)
        found = self._constants.get(key)
        if found is None:
            op = HostConstOp.make(kind, value.constant)
            self.prelude.append(op)
            found = op.results[0]
            self._constants[key] = found
        return found

    def _convert(
        self, value: HostValue, ssa: SSAValue, placement: Placement, stream: int
    ) -> SSAValue:
        if value.placement is Placement.ANY:
            move = EnsureHostOp if placement is Placement.HOST else EnsureDeviceOp
            made: Operation = move.make(ssa)
            on = 0
        elif placement is Placement.DEVICE:
            made = H2dOp.make(ssa, stream=stream)
            on = stream
        else:
            self._sync(value)
            made = D2hOp.make(ssa, stream=value.stream)
            on = value.stream
        result = self.append(made).results[0]
        if placement is Placement.DEVICE:
            self._copied_on[result] = on
        self.own(result, on)
        return result

    def _sync(self, value: HostValue) -> None:
        """Wait for the stream that computes the value, once a step that issues work."""
        launch = value.launch
        if launch is not None:
            if any(launch in scope.synced for scope in self.scope.chain()):
                return
            self.scope.synced.add(launch)
        self.append(SyncOp.make(stream=value.stream))

    def as_type(
        self, op: Operation, value: HostValue, kind: Attribute, placement: Placement
    ) -> SSAValue:
        """The value where one of type `kind` is expected: in that placement, wrapped when that is an optional."""
        if is_tensor(value.kind) and isinstance(kind, OptionalType):
            made = HostCallOp.make(
                "Optional",
                [self.get(value, Placement.HOST)],
                [host_type(kind, Placement.HOST)],
                source="ai.onnx::Optional@15",
                attributes={"ge.name": string_attr(node_name(op))},
            )
            return self.append(made).results[0]
        if is_tensor(value.kind) != is_tensor(kind):
            self.refuse(op, f"expects a value of type {kind}, got {value.kind}")
        return self.get(value, Placement.HOST if is_host_only(kind) else placement)

    @staticmethod
    def refuse(op: Operation, problem: str) -> NoReturn:
        """Raise TaskGenerationError about a node."""
        raise task_error(op, problem)
