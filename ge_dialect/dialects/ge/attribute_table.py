"""Every discardable attribute `ge.*` that passes of this project write or importers keep.

One row an attribute: type, where it may stand, meaning, GE's own spelling and the pass or importer that writes it. The
generated docs/attributes.md, `ge-verify` and the dump import and export are driven by this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute


class Kind(Enum):
    """The types an attribute of the table can have."""

    INT = "integer (i64)"
    INTS = "integer list (array<i64>)"
    TEXT = "string"
    TEXTS = "list of strings"
    FLAG = "unit (or i1)"
    DICTS = "list of dictionaries"
    DICT = "dictionary"

    def accepts(self, attribute: Attribute) -> bool:
        """Whether `attribute` is of this type."""
        return isinstance(attribute, _CLASSES[self])


_CLASSES: MappingProxyType[Kind, tuple[type[Attribute], ...]] = MappingProxyType(
    {
        Kind.INT: (IntegerAttr,),
        Kind.INTS: (DenseArrayBase,),
        Kind.TEXT: (StringAttr, BytesAttr),
        Kind.TEXTS: (ArrayAttr,),
        Kind.FLAG: (UnitAttr, IntegerAttr),
        Kind.DICTS: (ArrayAttr,),
        Kind.DICT: (DictionaryAttr,),
    }
)


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """One attribute; `on` is "node", "graph" or "module", `ge_spelling` GE's name for it (None: ours alone)."""

    name: str
    kind: Kind
    on: str
    meaning: str
    ge_spelling: str | None
    written_by: str


_NODE, _GRAPH, _MODULE = "node", "graph", "module"

ATTRIBUTES: tuple[AttributeRow, ...] = (
    AttributeRow("ge.name", Kind.TEXT, _NODE, "Name of the node, unique in its graph.", "OpDef.name", "importers"),
    AttributeRow("ge.id", Kind.INT, _NODE, "Id that the source gave the node, where it differs from its place in the walk.", "OpDef.id", "importers"),
    AttributeRow("ge.arg_attrs", Kind.DICTS, _NODE, "One dictionary a data operand: what GE keeps per input slot.", "OpDef.input_desc", "importers, no-task passes"),
    AttributeRow("ge.res_attrs", Kind.DICTS, _NODE, "One dictionary a data result: what GE keeps per output slot.", "OpDef.output_desc", "importers, no-task passes"),
    AttributeRow("ge.consumers", Kind.TEXTS, _NODE, "Readers of the data outputs in the source's order, where that is not the graph's: `output:reader:input`, reader by name.", None, "importers"),
    AttributeRow("ge.parent_node_index", Kind.INT, _NODE, "Of a ge.data in a sub-graph: which input of the owning node it is.", "_parent_node_index", "importers, ge-partition-dynamic"),
    AttributeRow("ge.formal", Kind.TEXT, _NODE, "Of a ge.data in the body of a loop, scan or map: `iteration` or `condition` = the loop's own value; `argument` = a value that an operator makes for its body; `captured` = a value of an enclosing graph; none = an input that the owner feeds.", None, "ONNX import"),
    AttributeRow("ge.subgraph_names", Kind.TEXTS, _NODE, "The attributes that hold the node's sub-graphs, in slot order, where the operator does not imply them.", "subgraph_name", "ONNX import"),
    AttributeRow("ge.dim_names", Kind.TEXTS, _NODE, "Of a graph input: the names of its dimensions, \"\" for a nameless one.", None, "ONNX import"),
    AttributeRow("ge.output_names", Kind.TEXTS, _NODE, "Of ge.net_output: the model's names of the outputs.", "attr_model_out_nodes_name", "ONNX import"),
    AttributeRow("ge.engine", Kind.TEXT, _NODE, "Engine that runs the node (spec/engines.md 1).", "_lxfusion_engine_name", "ge-assign-engines"),
    AttributeRow("ge.kernel_lib", Kind.TEXT, _NODE, "Kernel lib that builds the node's tasks (spec/engines.md 1).", "_ge_attr_op_kernel_lib_name", "ge-assign-engines"),
    AttributeRow("ge.small_shape_host_cpu", Kind.FLAG, _NODE, "The node was moved from the device to the host CPU because its tensors are tiny (spec/host_execution.md 7).", "SmallShapeHostcpu", "ge-host-exec"),
    AttributeRow("ge.host_tensor_as_model_input", Kind.FLAG, _NODE, "Of a graph input: every reader is on the host, so what is fed stays there (spec/host_execution.md 8).", "_host_tensor_as_model_input", "ge-host-exec"),
    AttributeRow("ge.stream", Kind.INT, _NODE, "Stream that the node runs on; absent = none (-1).", "OpDef.stream_id", "ge-assign-streams"),
    AttributeRow("ge.cluster", Kind.INT, _NODE, "Engine sub-graph that the node belongs to, by rank, between the passes of ge-assign-streams.", None, "ge-cluster-engines"),
    AttributeRow("ge.cluster_place", Kind.INT, _NODE, "Place in the engine sub-graph, where it is not that of the block.", None, "ge-cluster-engines"),
    AttributeRow("ge.cluster_stream", Kind.INT, _NODE, "Stream of the node's engine sub-graph, between the passes of ge-assign-streams.", None, "ge-stream-label, ge-stream-independent, ge-stream-dependency, ge-stream-single"),
    AttributeRow("ge.logic_stream", Kind.INT, _NODE, "Stream that the node had before streams were split.", "_logic_stream_id", "ge-activate-streams"),
    AttributeRow("ge.logic_attached_streams", Kind.INTS, _NODE, "Attached streams that the node had before streams were split.", "_logic_attached_stream_ids", "ge-activate-streams"),
    AttributeRow("ge.send_events", Kind.INTS, _NODE, "Events that the node records on its stream when it is done.", "_send_event_ids", "ge-insert-events"),
    AttributeRow("ge.recv_events", Kind.INTS, _NODE, "Events that the node waits for on its stream.", "_recv_event_ids", "ge-insert-events"),
    AttributeRow("ge.send_notifies", Kind.INTS, _NODE, "Notifies that the node records on its stream when it is done.", None, "ge-insert-events"),
    AttributeRow("ge.recv_notifies", Kind.INTS, _NODE, "Notifies that the node waits for on its stream.", None, "ge-insert-events"),
    AttributeRow("ge.attached_send_events", Kind.DICT, _NODE, "Events that the node records on attached streams, by stream.", None, "ge-insert-attached-events"),
    AttributeRow("ge.attached_recv_events", Kind.DICT, _NODE, "Events that the node waits for on attached streams, by stream.", None, "ge-insert-attached-events"),
    AttributeRow("ge.starts_streams", Kind.INTS, _NODE, "Pieces of split streams that begin with the node.", None, "ge-split-streams"),
    AttributeRow("ge.no_task", Kind.FLAG, _NODE, "The node makes no task.", "_no_task", "no-task passes"),
    AttributeRow("ge.no_padding_continuous_input", Kind.FLAG, _NODE, "The inputs lie end to end in memory, without padding.", "_no_padding_continuous_input", "ge-mark-phony, ge-concat-no-task, ge-pack-no-task"),
    AttributeRow("ge.proven_run", Kind.FLAG, _NODE, "A plan has proven that the node's run of inputs fits in with all others: no copies are made for it. Model inputs and outputs in it are no memory of the caller.", None, "ge-concat-no-task, ge-pack-no-task"),
    AttributeRow("ge.no_padding_continuous_output", Kind.FLAG, _NODE, "The outputs lie end to end in memory, without padding.", "_no_padding_continuous_output", "ge-mark-phony, ge-split-no-task"),
    AttributeRow("ge.output_reuse_input", Kind.FLAG, _NODE, "The outputs lie on the memory of input 0.", "_output_reuse_input", "no-task passes"),
    AttributeRow("ge.reuse_input_on_dim_index", Kind.INT, _NODE, "The dimension whose stride separates inputs (outputs) that lie end to end.", "_reuse_input_on_dim_index", "no-task passes"),
    AttributeRow("ge.keep", Kind.FLAG, _NODE, "The node must stay, though it only copies.", None, "ge-insert-identity"),
    AttributeRow("ge.offsets", Kind.INTS, _NODE, "Byte offset of each data output in its memory space; -1 = no memory of its own.", "OpDef.output_i", "ge-plan-memory"),
    AttributeRow("ge.spaces", Kind.TEXTS, _NODE, "Memory space of each data output, where not all are `hbm`.", None, "ge-plan-memory"),
    AttributeRow("ge.workspace_offsets", Kind.INTS, _NODE, "Byte offset of each workspace.", "OpDef.workspace", "ge-plan-memory"),
    AttributeRow("ge.workspace_bytes", Kind.INTS, _NODE, "Bytes of each workspace.", "OpDef.workspace_bytes", "importers"),
    AttributeRow("ge.is_first_node", Kind.FLAG, _NODE, "First node of its segment (spec/tasks.md 1.2).", "is_first_node", "convert-ge-to-ge-task"),
    AttributeRow("ge.is_last_node", Kind.FLAG, _NODE, "Last node of its segment (spec/tasks.md 1.2).", "is_last_node", "convert-ge-to-ge-task"),
    AttributeRow("ge.arenas", Kind.DICT, _GRAPH, "Bytes of each memory space after planning.", "memory_size, weight_size, ...", "ge-plan-memory"),
    AttributeRow("ge.zero_copy_size", Kind.INT, _GRAPH, "Bytes at the end of the feature map that hold model inputs and outputs.", "zero_copy_memory_size", "ge-plan-memory"),
    AttributeRow("ge.peak_bytes", Kind.INT, _GRAPH, "Feature-map bytes the plan needs.", None, "ge-plan-memory"),
    AttributeRow("ge.lower_bound_bytes", Kind.INT, _GRAPH, "Bytes that no plan for this order, and the same writing in place, can do without.", None, "ge-plan-memory"),
    AttributeRow("ge.lower_bound_kind", Kind.TEXT, _GRAPH, "Why: `max live`, `antichain`, `max live in one order`, `given` or `search`.", None, "ge-plan-memory"),
    AttributeRow("ge.plain_bound_bytes", Kind.INT, _GRAPH, "Bytes that no plan for this order can do without when nothing is written in place.", None, "ge-plan-memory"),
    AttributeRow("ge.stream_num", Kind.INT, _GRAPH, "Number of streams.", "stream_num", "ge-assign-streams"),
    AttributeRow("ge.main_stream_num", Kind.INT, _GRAPH, "Number of main streams; the rest of `ge.stream_num` is attached or comes from splitting.", None, "ge-stream-refresh"),
    AttributeRow("ge.host_streams", Kind.FLAG, _GRAPH, "Streams and events are those of a program that the host drives: passes for task lists leave them alone.", None, "ge-assign-host-streams"),
    AttributeRow("ge.attached_stream_num", Kind.INT, _GRAPH, "Number of attached streams.", "_attached_stream_num", "ge-stream-attached"),
    AttributeRow("ge.notify_types", Kind.INTS, _GRAPH, "Type of each notify.", "notify_types", "ge-attached-sync"),
    AttributeRow("ge.next_stream", Kind.INT, _GRAPH, "Next free stream of the graph, between the passes of ge-assign-streams.", None, "passes of ge-assign-streams"),
    AttributeRow("ge.structure", Kind.INT, _GRAPH, "What nodes, order and edges come to, between the passes of ge-assign-streams, which must not change them.", None, "ge-cluster-engines"),
    AttributeRow("ge.engine_streams", Kind.DICT, _GRAPH, "Stream of each engine, before they are numbered.", None, "ge-stream-dynamic"),
    AttributeRow("ge.label_streams", Kind.DICT, _GRAPH, "Stream of each stream label, before they are numbered.", None, "ge-stream-dynamic"),
    AttributeRow("ge.custom_streams", Kind.TEXT, _GRAPH, "Streams that stream passes of users (and modes with new streams) took, as \"3,4\", numbered as before ge-stream-refresh.", "_custom_logical_stream_ids", "ge-stream-auto, ge-stream-schedule, ge-stream-max-concurrency, stream passes of users"),
    AttributeRow("ge.auto_multistream_mode", Kind.TEXT, _GRAPH, "Automatic multi-stream mode of the model; wins over the option.", "ge.autoMultistreamParallelMode", "importers"),
    AttributeRow("ge.engine_table", Kind.DICT, _MODULE, "Engines beside or instead of the built-in ones: name -> dictionary with `cost`, `scheduler_id` and the flags `independent`, `attach`, `skip_assign_stream`.", None, "users"),
    AttributeRow("ge.event_num", Kind.INT, _GRAPH, "Number of events.", "event_num", "importers, ge-insert-events"),
    AttributeRow("ge.notify_num", Kind.INT, _GRAPH, "Number of notifies.", "notify_num", "importers, ge-insert-events"),
    AttributeRow("ge.specific_streams", Kind.INTS, _GRAPH, "Streams that some node starts, apart from the end of a loop.", None, "ge-activate-streams"),
    AttributeRow("ge.split_streams", Kind.TEXT, _GRAPH, "Pieces of split streams: `piece:stream,...`.", "_split_logic_stream_2_origin_logic_stream", "ge-split-streams"),
    AttributeRow("ge.huge_streams", Kind.INTS, _GRAPH, "Streams that need the longer queue of a huge stream.", "huge_stream_list", "ge-split-streams"),
    AttributeRow("ge.unknown_shape", Kind.FLAG, _GRAPH, "Some shape of the graph is known at run time only: the host schedules it. False: all shapes are known.", "_graph_unknown_flag", "importers, ge-partition-dynamic"),
    AttributeRow("ge.single_op_scene", Kind.FLAG, _GRAPH, "The graph is one operator that runs alone.", "_single_op_scene", "importers"),
    AttributeRow("ge.memory_discontiguous_allocation", Kind.FLAG, _GRAPH, "Memory is not allocated as one pool.", "_memory_discontiguous_allocation", "importers"),
    AttributeRow("ge.dynamic_shape_partitioned", Kind.FLAG, _GRAPH, "The graph was cut into parts of known and of unknown shape.", "_dynamic_shape_partitioned", "importers, ge-partition-dynamic"),
    AttributeRow("ge.opset_imports", Kind.DICT, _MODULE, "Version of each operator set that the ONNX model imports.", None, "ONNX import"),
    AttributeRow("ge.producer", Kind.TEXT, _MODULE, "What made the model.", None, "ONNX import"),
    AttributeRow("ge.metadata", Kind.DICT, _MODULE, "The model's metadata properties.", None, "ONNX import"),
    AttributeRow("ge.ir_version", Kind.INT, _MODULE, "ONNX IR version of the model.", None, "ONNX import"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One key of the dictionaries in `ge.arg_attrs` (side "input") and `ge.res_attrs` (side "output")."""

    key: str
    side: str
    meaning: str
    ge_spelling: str | None


SLOT_ATTRIBUTES: tuple[SlotRow, ...] = (
    SlotRow("type", "input", "Type of the slot's own descriptor, where it is not the value's type.", None),
    SlotRow("desc", "both", "Descriptor of an unranked tensor, whose type cannot have one.", None),
    SlotRow("name", "both", "Name of the slot.", "OpDef.input_name"),
    SlotRow("size", "output", "Stored size in bytes, where the source gave one.", "TensorDescriptor.size"),
    SlotRow("reuse_input", "output", "Index of the input whose memory the output is.", "reuse_input_index"),
    SlotRow("in_place", "output", "`reuse_input` is a choice of `ge-plan-memory`, which makes it anew each time.", None),
    SlotRow("reshape_type_mask", "input", "Bit i: letter i of the origin format was inserted; the top byte is the number of letters.", "_reshape_type_mask"),
    SlotRow("concat_reusable", "output", "False: the output's place is given by a concat without a task.", "can_reused_for_concat_optimize"),
    SlotRow("pack_reusable", "output", "False: the output's place is given by a pack without a task.", "can_reused_for_pack_optimize"),
)  # fmt: skip

ATTRIBUTE_BY_NAME = MappingProxyType({row.name: row for row in ATTRIBUTES})
