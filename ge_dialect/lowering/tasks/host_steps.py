"""What one node becomes: the steps of a device node, of a host node and of a view (spec/host_execution.md 10.2, 10.3).

Shapes that the types tell need no step; `infer_shape` and `tiling` are there for the others. A node whose values have
no size before they are computed (texts, sequences, results that nothing bounds) is one step that allocates by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import DictionaryAttr, LocationAttr, NoneType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import UNIT, i64, segments, string, string_attr
from ge_dialect.dialects.ge.access import (
    data_results,
    dims_of,
    get_ints,
    node_name,
    output_desc,
    static_shape,
)
from ge_dialect.dialects.ge.element_types import dtype_of, ir_element_type
from ge_dialect.dialects.ge.types import StringType
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.dialects.ge_task import (
    AllocOp,
    FreeOp,
    HostCallOp,
    InferShapeOp,
    LaunchOp,
    ObjectType,
    PlacedTensorType,
    Placement,
    ReadShapeOp,
    ShapeType,
    SyncOp,
    TilingOp,
    TilingType,
    ViewOp,
)
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.kernels.shapes.facts import is_data_dependent, value_dependent_inputs
from ge_dialect.kernels.shapes.registry import find
from ge_dialect.kernels.shapes.unknown_types import bound_of
from ge_dialect.kernels.spec import OpSpec, spec_of
from ge_dialect.lowering.tasks.emit import node_properties
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue
from ge_dialect.lowering.tasks.host_types import as_tensor, host_type, open_dims

SHAPE_READERS = frozenset({"Shape", "ShapeN", "Size", "Rank", "GatherShapes"})
"""Types that look at the shape record of their inputs only (spec/host_execution.md 10.3): nothing is inferred for what
comes out of it."""

_BYTE = ir_element_type(dtype_by_name("UINT8"))
_TILING = TilingType()


@dataclass(slots=True)
class StepNode:
    """What the steps of one node carry: the node as kernels see it, its properties, its name and place."""

    spec: OpSpec
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    location: LocationAttr | None
    workspaces: Sequence[int] = ()
    may_be_empty: bool = False


def node_of(op: Operation, index: int, *, guarded: bool) -> StepNode:
    """The description of a node of `ge`, number `index` of its program. `guarded`: empty outputs save the launch."""
    properties = node_properties(op)
    properties["op_index"] = i64(index)
    name = op.attributes.get("ge.name")
    return StepNode(
        spec_of(op),
        properties,
        {} if name is None else {"ge.name": name},
        op.location,
        get_ints(op, "ge.workspace_bytes") or (),
        guarded and _may_be_empty(op),
    )


def made_node(
    op: Operation,
    kind: str,
    n_outputs: int,
    attrs: Mapping[str, Attribute] | None = None,
    source: str | None = None,
) -> StepNode:
    """The description of a node that the lowering of `op` needs and the graph does not have; it carries `op`'s name."""
    properties: dict[str, Attribute] = {"type": string(kind)}
    if attrs:
        properties["attrs"] = DictionaryAttr(dict(attrs))
    if source is not None:
        properties["source"] = string(source)
    spec = spec_of(InferShapeOp.create(properties=properties), n_outputs)
    return StepNode(spec, properties, {"ge.name": string_attr(node_name(op))}, op.location)


def _may_be_empty(op: Operation) -> bool:
    """Some output has an unknown rank, an unknown shape without a range, or a range that begins at 0 (spec 10.2)."""
    for index, result in enumerate(data_results(op)):
        if isinstance(result.type, NoneType) or static_shape(result.type) is not None:
            continue
        encoding = output_desc(op, index).encoding
        lower = () if encoding is None else (encoding.range or ())[::2]
        if not lower or min(lower) <= 0 or dims_of(result.type) is None:
            return True
    return False


# --- device ------------------------------------------------------------------------------------------------------


def launch_steps(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[HostValue],
    kinds: Sequence[Attribute],
    stream: int,
) -> tuple[Sequence[SSAValue], LaunchOp]:
    """Append the steps of a node on the device: the values of its outputs, and the step that issues it.

    Inputs whose elements the shape function reads are wanted on the host too (10.4), unless the types say all shapes;
    constants are there.
    """
    spec = node.spec
    if not all(_has_size(kind) for kind in kinds):
        return _self_allocating_launch(builder, node, ins, kinds, stream)
    if bound_of(spec) is not None:
        return _bounded_launch(builder, node, ins, kinds, stream)
    if is_data_dependent(spec):
        return _self_allocating_launch(builder, node, ins, kinds, stream)
    if _all_static([*kinds, *(x.kind for x in ins)]):
        operands = [builder.get(x, Placement.DEVICE, stream) for x in ins]
        outs = [_alloc(builder, kind, None, stream) for kind in kinds]
        return outs, _launch(builder, node, operands, outs, None, stream)
    if find(spec) is None:
        return _self_allocating_launch(builder, node, ins, kinds, stream)
    read = _values(builder, node, ins)
    operands = [builder.get(x, Placement.DEVICE, stream) for x in ins]
    seen = [read.get(k, operand) for k, operand in enumerate(operands)]
    shapes = _infer(builder, node, seen, kinds)
    tiling = _tiling(builder, node, seen, shapes, node.may_be_empty)
    outs = [_alloc(builder, kind, shape, stream) for kind, shape in zip(kinds, shapes, strict=True)]
    return outs, _launch(builder, node, operands, outs, tiling, stream, node.may_be_empty)


def _values(builder: HostBuilder, node: StepNode, ins: Sequence[HostValue]) -> dict[int, SSAValue]:
    """The inputs whose elements the shape function reads, on the host."""
    read = value_dependent_inputs(node.spec, len(ins))
    return {
        k: builder.get(ins[k], Placement.HOST)
        for k in read
        if not isinstance(ins[k].kind, NoneType)
    }


def _launch(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[SSAValue],
    outs: Sequence[SSAValue],
    tiling: SSAValue | None,
    stream: int,
    may_be_empty: bool = False,
) -> LaunchOp:
    spaces = [
        _alloc(builder, ranked_tensor(_BYTE, (size,)), None, stream, owned=False)
        for size in node.workspaces
    ]
    tiled = () if tiling is None else (tiling,)
    properties = {
        **node.properties,
        "stream": i64(stream),
        "operandSegmentSizes": segments(len(ins), len(outs), len(spaces), len(tiled), 0),
    }
    if may_be_empty:
        properties["may_be_empty"] = UNIT
    made = LaunchOp.create(
        operands=(*ins, *outs, *spaces, *tiled),
        properties=properties,
        attributes=node.attributes,
        location=node.location,
    )
    builder.append(made)
    for space in spaces:
        builder.append(FreeOp.make(space, stream=stream))
    return made


def _bounded_launch(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[HostValue],
    kinds: Sequence[Attribute],
    stream: int,
) -> tuple[Sequence[SSAValue], LaunchOp]:
    """Type 3: room for the largest results, and behind the launch the true shapes are read back (10.2 step 6)."""
    operands = [builder.get(x, Placement.DEVICE, stream) for x in ins]
    largest = [open_dims(kind) for kind in kinds]
    shapes = _infer(builder, node, operands, largest, bound=True)
    tiling = _tiling(builder, node, operands, shapes, False)
    outs = [
        _alloc(builder, kind, shape, stream) for kind, shape in zip(largest, shapes, strict=True)
    ]
    made = _launch(builder, node, operands, outs, tiling, stream)
    builder.append(SyncOp.make(stream=stream))
    builder.scope.synced.add(made)
    read = builder.append(ReadShapeOp.make(*outs, stream=stream))
    views = [
        _view(builder, node, kind, out, shape, stream)
        for kind, out, shape in zip(kinds, outs, read.results, strict=True)
    ]
    return views, made


def _self_allocating_launch(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[HostValue],
    kinds: Sequence[Attribute],
    stream: int,
) -> tuple[Sequence[SSAValue], LaunchOp]:
    """Type 4: only the kernel can say how much room its results take."""
    values = [ssa for k, ssa in _values(builder, node, ins).items() if ins[k].constant is None]
    operands = [builder.get(x, Placement.DEVICE, stream) for x in ins]
    made = LaunchOp.create(
        operands=(*operands, *values),
        result_types=[host_type(kind, Placement.DEVICE) for kind in kinds],
        properties={
            **node.properties,
            "stream": i64(stream),
            "operandSegmentSizes": segments(len(operands), 0, 0, 0, len(values)),
        },
        attributes=node.attributes,
        location=node.location,
    )
    builder.append(made)
    _own_all(builder, made.results, stream)
    return made.results, made


# --- host --------------------------------------------------------------------------------------------------------


def call_steps(
    builder: HostBuilder, node: StepNode, ins: Sequence[SSAValue], kinds: Sequence[Attribute]
) -> Sequence[SSAValue]:
    """Append the steps of a node on the host, whose inputs are there: the values of its outputs.

    The host allocates each output for itself and waits for the kernel. What only the kernel can size (texts, sequences,
    results that depend on data) it allocates too.
    """
    spec = node.spec
    static = _all_static(kinds) and (
        spec.type in SHAPE_READERS or _all_static([_kind(x.type) for x in ins])
    )
    if (
        not kinds
        or not all(_has_size(kind) for kind in kinds)
        or is_data_dependent(spec)
        or not (static or _inferable(spec, ins))
    ):
        made = HostCallOp.create(
            operands=ins,
            result_types=[host_type(kind, Placement.HOST) for kind in kinds],
            properties={**node.properties, "operandSegmentSizes": segments(len(ins), 0)},
            attributes=node.attributes,
            location=node.location,
        )
        builder.append(made)
        _own_all(builder, made.results, None)
        return made.results
    shapes = [None] * len(kinds) if static else _infer(builder, node, ins, kinds)
    outs = [_alloc(builder, kind, shape, None) for kind, shape in zip(kinds, shapes, strict=True)]
    builder.append(
        HostCallOp.create(
            operands=(*ins, *outs),
            properties={**node.properties, "operandSegmentSizes": segments(len(ins), len(outs))},
            attributes=node.attributes,
            location=node.location,
        )
    )
    return outs


def call(
    builder: HostBuilder,
    op: Operation,
    kind: str,
    ins: Sequence[SSAValue],
    kinds: Sequence[Attribute],
    attrs: Mapping[str, Attribute] | None = None,
    source: str | None = None,
) -> Sequence[SSAValue]:
    """A host call that the lowering of `op` needs and no node stands for."""
    return call_steps(builder, made_node(op, kind, len(kinds), attrs, source), ins, kinds)


def view_steps(
    builder: HostBuilder, node: StepNode, ins: Sequence[HostValue], kind: Attribute
) -> SSAValue | None:
    """Append the steps of a view: its value, which is where input 0 is. The other inputs are shapes, for the host.

    None when the node is no view of a tensor, or nothing but its kernel knows the shape.
    """
    static = _all_static([kind, ins[0].kind])
    if not (_has_size(kind) and _has_size(ins[0].kind)):
        return None
    if not static and find(node.spec) is None:
        return None
    place = Placement.HOST if ins[0].placement is None else ins[0].placement
    first = builder.get(ins[0], place)
    shape = None
    if not static:
        read = _values(builder, node, ins)
        seen = [
            first,
            *(read.get(k) or builder.get(ins[k], Placement.HOST) for k in range(1, len(ins))),
        ]
        (shape,) = _infer(builder, node, seen, [kind])
    return _view(builder, node, kind, first, shape, ins[0].stream)


def _view(
    builder: HostBuilder,
    node: StepNode,
    kind: Attribute,
    source: SSAValue,
    shape: SSAValue | None,
    stream: int,
) -> SSAValue:
    placed = source.type
    assert isinstance(placed, PlacedTensorType)
    made = ViewOp.create(
        operands=(source,) if shape is None else (source, shape),
        result_types=(host_type(kind, placed.placement.data),),
        attributes=node.attributes,
        location=node.location,
    )
    result = builder.append(made).results[0]
    if builder.owns(source):
        builder.own(result, stream)
    return result


# --- parts -------------------------------------------------------------------------------------------------------


def _infer(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[SSAValue],
    kinds: Sequence[Attribute],
    *,
    bound: bool = False,
) -> Sequence[SSAValue]:
    properties = {**node.properties, "bound": UNIT} if bound else node.properties
    made = InferShapeOp.create(
        operands=ins,
        result_types=[
            _shape_type(None if (dims := dims_of(k)) is None else len(dims)) for k in kinds
        ],
        properties=properties,
        attributes=node.attributes,
        location=node.location,
    )
    return builder.append(made).results


def _tiling(
    builder: HostBuilder,
    node: StepNode,
    ins: Sequence[SSAValue],
    shapes: Sequence[SSAValue],
    may_be_empty: bool,
) -> SSAValue:
    properties = {**node.properties, "operandSegmentSizes": segments(len(ins), len(shapes))}
    if may_be_empty:
        properties["may_be_empty"] = UNIT
    made = TilingOp.create(
        operands=(*ins, *shapes),
        result_types=(_TILING,),
        properties=properties,
        attributes=node.attributes,
        location=node.location,
    )
    return builder.append(made).results[0]


def _alloc(
    builder: HostBuilder,
    kind: Attribute,
    shape: SSAValue | None,
    stream: int | None,
    *,
    owned: bool = True,
) -> SSAValue:
    """Storage on the device for work on `stream`, on the host without one."""
    on_host = stream is None
    made = AllocOp.create(
        operands=() if shape is None else (shape,),
        result_types=(host_type(kind, Placement.HOST if on_host else Placement.DEVICE),),
        properties={} if on_host else {"stream": i64(stream)},
    )
    result = builder.append(made).results[0]
    if owned:
        builder.own(result, stream)
    return result


def _own_all(builder: HostBuilder, results: Sequence[SSAValue], stream: int | None) -> None:
    for result in results:
        if isinstance(result.type, PlacedTensorType):
            builder.own(result, stream)


@lru_cache(maxsize=64)
def _shape_type(rank: int | None) -> ShapeType:
    return ShapeType(rank)


def _inferable(spec: OpSpec, ins: Sequence[SSAValue]) -> bool:
    """Whether there is a shape function, and no sequence or map about which it would be told nothing."""
    return find(spec) is not None and not any(isinstance(x.type, ObjectType) for x in ins)


def _all_static(kinds: Sequence[Attribute]) -> bool:
    """Whether every value is a tensor of known shape, or absent: only then is a node one of known shape."""
    return all(isinstance(x, NoneType) or static_shape(x) is not None for x in kinds)


def _kind(placed: Attribute) -> Attribute:
    return placed.tensor if isinstance(placed, PlacedTensorType) else placed


def _has_size(kind: Attribute) -> bool:
    """Whether values of the type have as many bytes as shape and element type say."""
    tensor = as_tensor(kind)
    return tensor is not None and _is_number(tensor.element_type)


@lru_cache(maxsize=256)
def _is_number(element: Attribute) -> bool:
    if isinstance(element, StringType):
        return False
    try:
        return dtype_of(element).numpy is not None
    except KeyError:
        return False
