"""Every ONNX operator that has no kernel of ours, through the classes of `onnx.reference`.

An operator is an `OpRun` class, or it is defined by its schema as a function of other operators (with a fixed body,
or one built from the node and its input types), which onnx's evaluator interprets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.dtypes import dtype_of_numpy
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.errors import KernelInputError, UnsupportedOpError
from ge_dialect.kernels.kernel import Kernel
from ge_dialect.kernels.reference_inputs import PREPARE
from ge_dialect.kernels.spec import OpSpec, Value, is_array

_LOADERS = {
    "": "onnx.reference.ops",
    "ai.onnx.ml": "onnx.reference.ops.aionnxml",
    "ai.onnx.preview": "onnx.reference.ops.aionnx_preview",
    "ai.onnx.preview.training": "onnx.reference.ops.aionnx_preview_training",
}
"""Domain as onnx spells it -> the package with its `load_op`."""


def _domain(source: SourceOp) -> str:
    """The domain as onnx spells it."""
    return "" if source.domain == "ai.onnx" else source.domain


@cache
def _schema(source: SourceOp) -> Any:
    try:
        return defs.get_schema(source.op, source.version, _domain(source))
    except defs.SchemaError:
        raise UnsupportedOpError(
            f"no kernel for {source.op} (version {source.version}) of the domain {source.domain}"
        ) from None


def _modern(source: SourceOp, attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attributes as onnx's classes, which are written for the newest version, take them for an older one."""
    if source.op == "GridSample" and source.version < 20:
        mode = attrs.get("mode", "bilinear")
        mode = mode.decode() if isinstance(mode, bytes) else mode
        return {**attrs, "mode": {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)}
    if source.op == "RoiAlign" and source.version < 16:
        return {**attrs, "coordinate_transformation_mode": "output_half_pixel"}
    return attrs


def _attribute(schema: Any, name: str, value: Any) -> onnx.AttributeProto:
    """One attribute in onnx's form, of the type that the schema declares (a list may be empty)."""
    declared = schema.attributes.get(name)
    kind = None if declared is None else int(declared.type.value)
    if isinstance(value, np.ndarray):
        value = numpy_helper.from_array(cast("Any", value))
    elif kind == onnx.AttributeProto.INT:
        value = int(value)
    elif kind == onnx.AttributeProto.FLOAT:
        value = float(value)
    elif kind == onnx.AttributeProto.INTS:
        value = [int(item) for item in value]
    elif kind == onnx.AttributeProto.FLOATS:
        value = [float(item) for item in value]
    elif kind == onnx.AttributeProto.TYPE_PROTO and isinstance(value, bytes):
        value = onnx.TypeProto.FromString(value)
    return helper.make_attribute(name, value, attr_type=kind)


def _node(spec: OpSpec, schema: Any, inputs: Sequence[Value]) -> onnx.NodeProto:
    """The node with every attribute given: defaults are those of its own version, not of the newest."""
    source = cast("SourceOp", spec.source)
    names = ["" if value is None else f"x{index}" for index, value in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(
        source.op, names, [f"y{index}" for index in range(spec.n_outputs)], domain=_domain(source)
    )
    attrs = _modern(source, spec.attrs)
    for name, value in attrs.items():
        if value is not None:
            node.attribute.append(_attribute(schema, name, value))
    given = set(attrs)
    for name, declared in sorted(schema.attributes.items()):
        default = declared.default_value
        if name not in given and default.type != onnx.AttributeProto.UNDEFINED:
            node.attribute.append(default)
    return node


def _type_of(value: Value) -> onnx.TypeProto:
    if isinstance(value, list):
        items = cast("list[Value]", value)
        element = _type_of(items[0]) if items else helper.make_tensor_type_proto(1, None)
        return helper.make_sequence_type_proto(element)
    number = dtype_of_numpy(value.dtype).onnx
    return helper.make_tensor_type_proto(cast("int", number), value.shape)


def _has_function(schema: Any) -> bool:
    return bool(schema.has_function or schema.has_context_dependent_function)


def _function_body(
    schema: Any, node: onnx.NodeProto, inputs: Sequence[Value]
) -> onnx.FunctionProto:
    if schema.has_function:
        return schema.function_body
    types = [onnx.TypeProto() if value is None else _type_of(value) for value in inputs]
    body = schema.get_context_dependent_function(
        node.SerializeToString(), [item.SerializeToString() for item in types]
    )
    return onnx.FunctionProto.FromString(body)


def _load_class(source: SourceOp) -> type[OpRun] | None:
    """onnx's class for this version of the operator, or None when the schema's function must do."""
    domain = _domain(source)
    module = _LOADERS.get(domain)
    if module is None:
        return None
    load: Callable[..., Any] = import_module(module).load_op
    extra = {"evaluator_cls": ReferenceEvaluator} if domain == "" else {}
    try:
        found = load(domain, source.op, source.version, **extra)
    except (NotImplementedError, RuntimeError, ValueError):
        return None
    return found if isinstance(found, type) else None


def _plain(value: Value) -> Value:
    """A result in our form: arrays (strings as objects), lists, dicts."""
    if is_array(value):
        return value.astype(object) if value.dtype.kind in "US" else value
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Value]", value)]
    return value


def _silent(*_message: object) -> None:
    """onnx's classes want to report."""


def _run_class(
    cls: type[OpRun], spec: OpSpec, node: onnx.NodeProto, inputs: Sequence[Value]
) -> list[Value]:
    source = cast("SourceOp", spec.source)
    parameters: dict[str, Any] = {
        "log": _silent,
        # Bodies that a node of another domain holds are written in ONNX's own operators.
        "opsets": {"": defs.onnx_opset_version(), _domain(source): source.version},
        "verbose": 0,
        "new_ops": {},
        "existing_functions": {},
        "evaluator_cls": ReferenceEvaluator,
    }
    operator = cast("Any", cls(node, parameters))
    return list(operator.run(*inputs[: len(node.input)]))


def _run_function(
    body: onnx.FunctionProto, node: onnx.NodeProto, inputs: Sequence[Value]
) -> list[Value]:
    feeds = dict.fromkeys(body.input)
    feeds.update(zip(body.input, inputs, strict=False))
    attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    for name, value in attributes.items():
        if isinstance(value, bytes):
            attributes[name] = value.decode()
    evaluator = cast("Any", ReferenceEvaluator(body))
    return list(evaluator.run(None, feeds, attributes=attributes))


@cache
def reference_kernel(source: SourceOp) -> Kernel:
    """The kernel of an ONNX operator by onnx's own means. Raises UnsupportedOpError if onnx cannot compute it."""
    schema = _schema(source)
    cls = _load_class(source)
    if cls is None and not _has_function(schema):
        raise UnsupportedOpError(
            f"no kernel for {source.op} (version {source.version}) of the domain {source.domain}"
        )

    prepare = PREPARE.get(source.op) if _domain(source) == "" else None

    def run(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        if prepare is not None:
            inputs = prepare(spec, inputs)
        try:
            node = _node(spec, schema, inputs)
            if cls is not None:
                results = _run_class(cls, spec, node, inputs)
            else:
                results = _run_function(_function_body(schema, node, inputs), node, inputs)
        except ImportError as error:
            raise UnsupportedOpError(f"{source.op}: {error}") from error
        except GeError:
            raise
        except Exception as error:  # onnx's classes raise whatever comes, failed assertions too
            raise KernelInputError(f"{source.op}: {type(error).__name__}: {error}") from error
        return [_plain(value) for value in results]

    return Kernel(run)
