// Each check of ge-concat-no-task: a node that it refuses, with its remark, and one that it lets pass.
// Types are made up where a check asks for what operators never give, hence --semantics=off.
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=off -p ge-concat-no-task | filecheck %s

// Tests that a graph in single-operator mode is left alone, and that its first node that says so counts.
// CHECK-LABEL: ge.graph @single_op_scene_missed
ge.graph @single_op_scene_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {_single_op_scene = true} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": single_op_scene}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that what the graph says about single-operator mode goes before what a node says.
// CHECK-LABEL: ge.graph @single_op_scene_passed
ge.graph @single_op_scene_passed attributes {ge.single_op_scene = false} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {_single_op_scene = true} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that a graph whose memory is not one pool is left alone.
// CHECK-LABEL: ge.graph @memory_discontiguous_missed
ge.graph @memory_discontiguous_missed attributes {ge.memory_discontiguous_allocation} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": memory_discontiguous}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that a graph whose memory is one pool is looked at.
// CHECK-LABEL: ge.graph @memory_discontiguous_passed
ge.graph @memory_discontiguous_passed attributes {ge.memory_discontiguous_allocation = false} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that an unknown dimension in any descriptor of the node rules it out.
// CHECK-LABEL: ge.graph @unknown_shape_op_missed
ge.graph @unknown_shape_op_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": unknown_shape_op: output 0 has storage shape [?, 64]}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<?x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that only storage shapes are looked at for unknown dimensions.
// CHECK-LABEL: ge.graph @unknown_shape_op_passed
ge.graph @unknown_shape_op_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16, #ge.desc<ND, origin = ND [-1, 64]>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that nodes of a graph of unknown shape are left alone.
// CHECK-LABEL: ge.graph @unknown_owner_graph_missed
ge.graph @unknown_owner_graph_missed attributes {ge.dynamic_shape_partitioned} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": unknown_owner_graph: graph @unknown_owner_graph_missed is of unknown shape}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that only the own graph counts: a graph of known shape in a model whose root is of unknown shape.
ge.graph @root attributes {ge.unknown_shape} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %y = ge.op "PartitionedCall" (%x) subgraphs [@unknown_owner_graph_passed] {ge.name = "call"} : tensor<4x64xf16>
}
// CHECK-LABEL: ge.graph @unknown_owner_graph_passed
ge.graph @unknown_owner_graph_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that an input without origin dimensions rules the node out.
// CHECK-LABEL: ge.graph @scalar_input_missed
ge.graph @scalar_input_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<f16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<f16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<f16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": scalar_input: input 0: origin rank 0}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<2xf16>
}

// -----

// Tests that a vector is no scalar.
// CHECK-LABEL: ge.graph @scalar_input_passed
ge.graph @scalar_input_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<16xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<16xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<16xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<32xf16>
}

// -----

// Tests that several inputs must be multiples of 32 bytes: the second has 30.
// CHECK-LABEL: ge.graph @alignment_missed
ge.graph @alignment_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3x5xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<16x5xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<3x5xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": tensor_not_32b_aligned: input 1: 30 bytes}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<19x5xf16>
}

// -----

// Tests that a single input may have any size.
// CHECK-LABEL: ge.graph @alignment_passed
ge.graph @alignment_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3x5xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<3x5xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a) concat_dim 0 {ge.name = "c"} : tensor<3x5xf16>
}

// -----

// Tests that the same output twice rules the node out, also seen through a Reshape.
// CHECK-LABEL: ge.graph @same_source_missed
ge.graph @same_source_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": same_source_anchor: input 1: comes from "a":0, as does input 0}}
  %c = ge.concat (%a, %r) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that two outputs of one node are two sources.
// CHECK-LABEL: ge.graph @same_source_passed
ge.graph @same_source_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a, %b = ge.op "Two" (%x) {ge.name = "two"} : tensor<2x64xf16>, tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that an input which is a graph input, seen through a Reshape, rules the node out.
// CHECK-LABEL: ge.graph @producer_type_missed
ge.graph @producer_type_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %r = ge.op "Reshape" (%x) {ge.name = "r"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": invalid_producer_type: input 1: made by "x" of type Data}}
  %c = ge.concat (%a, %r) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a Cast, which is no reference, may stand behind a graph input.
// CHECK-LABEL: ge.graph @producer_type_passed
ge.graph @producer_type_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %r = ge.op "Cast" (%x) {ge.name = "r"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %r) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that an output of a node that owns sub-graphs rules the node out.
// CHECK-LABEL: ge.graph @producer_subgraph_missed
ge.graph @producer_subgraph_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "PartitionedCall" (%x) subgraphs [@inner] {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_has_subgraph: input 0: made by "a":0, which owns 1 sub-graphs}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a node of the same type without sub-graphs does not.
// CHECK-LABEL: ge.graph @producer_subgraph_passed
ge.graph @producer_subgraph_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "PartitionedCall" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that an output which another concat has taken rules the node out.
// CHECK-LABEL: ge.graph @locked_missed
ge.graph @locked_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  %d = ge.op "Relu" (%x) {ge.name = "d"} : tensor<2x64xf16>
  // expected-remark @+1 {{makes no task}}
  %first = ge.concat (%a, %b) concat_dim 0 {ge.name = "first"} : tensor<4x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_output_locked: input 0: "b":0 is locked}}
  %c = ge.concat (%b, %d) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that the lock of packs does not count for concats.
// CHECK-LABEL: ge.graph @locked_passed
ge.graph @locked_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.res_attrs = [{pack_reusable = false}]} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that an input which is also an output of the graph rules the node out.
// CHECK-LABEL: ge.graph @netoutput_missed
ge.graph @netoutput_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_feeds_netoutput: input 0: "a":0 has 2 readers}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c, %a) {ge.name = "out"}
}

// -----

// Tests that readers are not followed: an input that reaches the output through a Reshape does not.
// CHECK-LABEL: ge.graph @netoutput_passed
ge.graph @netoutput_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  ge.net_output (%c, %r) {ge.name = "out"}
}

// -----

// Tests that a direct producer which lays out memory itself rules the node out.
// CHECK-LABEL: ge.graph @continuous_missed
ge.graph @continuous_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {continuous_output = true} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_attr:continuous_or_reference: input 0: "a" has continuous_output}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a Reshape hides the attributes of the node behind it.
// CHECK-LABEL: ge.graph @continuous_passed
ge.graph @continuous_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {continuous_output = true} {ge.name = "a"} : tensor<2x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a concat fed by a marked concat is ruled out.
// CHECK-LABEL: ge.graph @virtual_producer_missed
ge.graph @virtual_producer_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  %d = ge.op "Relu" (%x) {ge.name = "d"} : tensor<4x64xf16>
  // expected-remark @+1 {{makes no task}}
  %first = ge.concat (%a, %b) concat_dim 0 {ge.name = "first"} : tensor<4x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_attr:virtual: input 0: "first" has _no_task}}
  %c = ge.concat (%first, %d) concat_dim 0 {ge.name = "c"} : tensor<8x64xf16>
}

// -----

// Tests that continuous outputs without padding alone do not rule it out.
// CHECK-LABEL: ge.graph @virtual_producer_passed
ge.graph @virtual_producer_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {_no_padding_continuous_output = true} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a producer with outputs to be zeroed rules the node out.
// CHECK-LABEL: ge.graph @atomic_missed
ge.graph @atomic_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {atomic_output_index = array<i64: 0>} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_attr:atomic_output: input 0: "a" has atomic_output_index [0]}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that an empty list of such outputs does not.
// CHECK-LABEL: ge.graph @atomic_passed
ge.graph @atomic_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) attrs {atomic_output_index = array<i64>} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that all inputs must be in the same kind of memory.
// CHECK-LABEL: ge.graph @memory_type_missed
ge.graph @memory_type_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) attrs {_output_memory_type = ["L1"]} {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": input_memory_type_mismatch: input 1: in L1, the first in HBM}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that DDR (0x4) counts as ordinary memory.
// CHECK-LABEL: ge.graph @memory_type_passed
ge.graph @memory_type_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) attrs {_output_memory_type = array<i64: 4>} {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a negative axis is resolved with the rank once and must then be in range.
// CHECK-LABEL: ge.graph @out_of_range_missed
ge.graph @out_of_range_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": dim_out_of_range: input 0: axis -3 of origin rank 2}}
  %c = ge.concat (%a, %b) concat_dim -5 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a negative axis is resolved with the rank.
// CHECK-LABEL: ge.graph @out_of_range_passed
ge.graph @out_of_range_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim -2 {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that ND cannot be reasoned about in NC1HWC0.
// CHECK-LABEL: ge.graph @align_shape_missed
ge.graph @align_shape_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x1x1x64x16xf16, #ge.desc<NC1HWC0, origin = ND [2, 64]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x1x1x64x16xf16, #ge.desc<NC1HWC0, origin = ND [2, 64]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": align_shape_unsupported: input 0: ND [2, 64] stored as NC1HWC0}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<2x1x1x64x16xf16, #ge.desc<NC1HWC0, origin = ND [2, 64]>>
}

// -----

// Tests that ND can in FRACTAL_NZ: the last axis is outermost there.
// CHECK-LABEL: ge.graph @align_shape_passed
ge.graph @align_shape_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 64]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 64]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<8x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 128]>>
}

// -----

// Tests that FRACTAL_Z_3D has no axis map.
// CHECK-LABEL: ge.graph @transfer_dims_missed
ge.graph @transfer_dims_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z_3D, origin = NCHW [16, 16, 2, 2]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z_3D, origin = NCHW [16, 16, 2, 2]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": transfer_dims_unsupported: input 0: NCHW [16, 16, 2, 2] stored as FRACTAL_Z_3D}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z_3D, origin = NCHW [16, 16, 2, 2]>>
}

// -----

// Tests that FRACTAL_Z has: its first axis begins with the channels.
// CHECK-LABEL: ge.graph @transfer_dims_passed
ge.graph @transfer_dims_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = NCHW [16, 16, 2, 2]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = NCHW [16, 16, 2, 2]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = NCHW [16, 16, 2, 2]>>
}

// -----

// Tests that an axis which the storage format does not have rules the node out.
// CHECK-LABEL: ge.graph @real_dim_missed
ge.graph @real_dim_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": real_dim_out_of_range: input 0: storage axis -1 of 5}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
}

// -----

// Tests that an axis which it has does not.
// CHECK-LABEL: ge.graph @real_dim_passed
ge.graph @real_dim_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 4 {ge.name = "c"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NDHWC [1, 2, 4, 4, 16]>>
}

// -----

// Tests that storage axes in front of the joined one must be 1.
// CHECK-LABEL: ge.graph @front_dims_missed
ge.graph @front_dims_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": front_dims_not_one: input 0: joins storage axis 1, in front of it is [2]}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<2x128xf16>
}

// -----

// Tests that they may be 1: the same axis behind an axis of length 1.
// CHECK-LABEL: ge.graph @front_dims_passed
ge.graph @front_dims_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<1x128xf16>
}

// -----

// Tests that origin axes merged into the same storage axis must be 1 as well: H in front of W.
// CHECK-LABEL: ge.graph @merged_front_missed
ge.graph @merged_front_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [2, 2, 3, 16]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [2, 2, 3, 16]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": front_dims_not_one: input 0: storage axis 0 merges origin axes [2, 0, 1]: axis 0 has length 2}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<4x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [2, 2, 3, 16]>>
}

// -----

// Tests that one block of channels counts as 1.
// CHECK-LABEL: ge.graph @merged_front_passed
ge.graph @merged_front_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [1, 2, 3, 16]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [1, 2, 3, 16]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<2x1x16x16xf16, #ge.desc<FRACTAL_Z, origin = HWCN [1, 2, 3, 16]>>
}

// -----

// Tests that the joined axis must be whole blocks of C0, the last input included.
// CHECK-LABEL: ge.graph @block_missed
ge.graph @block_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 31, 4, 4]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": concat_dim_not_aligned: input 1: axis 1 has length 31, blocks of 16}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
}

// -----

// Tests that whole blocks are joined.
// CHECK-LABEL: ge.graph @block_passed
ge.graph @block_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<1x4x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 64, 4, 4]>>
}

// -----

// Tests that a reader that lays out its inputs rules the node out, also behind a Reshape.
// CHECK-LABEL: ge.graph @consumer_missed
ge.graph @consumer_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": consumer_is_virtual: output 0 is read by "p" with _no_task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  %r = ge.op "Reshape" (%c) {ge.name = "r"} : tensor<4x64xf16>
  %p = ge.concat "PhonyConcat" (%r) attrs {_no_task = true} {ge.name = "p"} : tensor<4x64xf16>
}

// -----

// Tests that only one Reshape is looked through, and only its first reader counts.
// CHECK-LABEL: ge.graph @consumer_passed
ge.graph @consumer_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
  %r = ge.op "Reshape" (%c) {ge.name = "r"} : tensor<4x64xf16>
  %d = ge.op "Relu" (%r) {ge.name = "d"} : tensor<4x64xf16>
  %p = ge.concat "PhonyConcat" (%r) attrs {_no_task = true} {ge.name = "p"} : tensor<4x64xf16>
}

// -----

// Tests that a node which asks for on-chip memory is left alone.
// CHECK-LABEL: ge.graph @fused_memory_missed
ge.graph @fused_memory_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": lxfusion_memory: asks for UB}}
  %c = ge.concat (%a, %b) concat_dim 0 attrs {_input_memory_type = ["HBM", "UB"]} {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that one which asks for device memory is not.
// CHECK-LABEL: ge.graph @fused_memory_passed
ge.graph @fused_memory_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.concat (%a, %b) concat_dim 0 attrs {_input_memory_type = ["HBM", "HBM"], _output_memory_type = array<i64: 2>} {ge.name = "c"} : tensor<4x64xf16>
}

// -----

// Tests that a slice of a fusion, which only its name tells, is left alone.
// CHECK-LABEL: ge.graph @fused_name_missed
ge.graph @fused_name_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c_lxslice0"}
  // expected-remark @+1 {{missed: "c_lxslice0": lxfusion_op}}
  %c_lxslice0 = ge.concat (%a, %b) concat_dim 0 {ge.name = "c_lxslice0"} : tensor<4x64xf16>
}

// -----

// Tests that the letters must be small.
// CHECK-LABEL: ge.graph @fused_name_passed
ge.graph @fused_name_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c_LxSlice0"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c_LxSlice0 = ge.concat (%a, %b) concat_dim 0 {ge.name = "c_LxSlice0"} : tensor<4x64xf16>
}
