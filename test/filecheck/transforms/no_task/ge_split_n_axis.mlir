// Each check of the first rule of ge-split-no-task: a node that it refuses, with its remark, and one that it lets pass.
// Types are made up where a check asks for what operators never give, hence --semantics=off.
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=off -p 'ge-split-no-task{rules=n-axis}' | filecheck %s

// Tests that a split whose axis is an input is left alone.
// CHECK-LABEL: ge.graph @type_missed
ge.graph @type_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_type: type Split}}
  %s, %t = ge.split "Split" (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that SplitVD is split.
// CHECK-LABEL: ge.graph @type_passed
ge.graph @type_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split "SplitVD" (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that an axis which is not outermost rules the node out.
// CHECK-LABEL: ge.graph @dim_missed
ge.graph @dim_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x128xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_dim_not_zero: origin axis 1 of rank 2}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a matrix in FRACTAL_NZ is cut along its last axis.
// CHECK-LABEL: ge.graph @dim_passed
ge.graph @dim_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 64]>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim -1 {ge.name = "s"} : tensor<2x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 32]>>, tensor<2x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 32]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 32]>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 32]>>
}

// -----

// Tests that an unknown dimension rules the node out.
// CHECK-LABEL: ge.graph @shape_missed
ge.graph @shape_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_unknown_shape: input 0 has storage shape [?, 64]}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that an empty output does not.
// CHECK-LABEL: ge.graph @shape_passed
ge.graph @shape_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split "SplitVD" (%x) split_dim 0 size_splits [0, 2] {ge.name = "s"} : tensor<0x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<0x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a constant input rules the node out.
// CHECK-LABEL: ge.graph @constant_missed
ge.graph @constant_missed {
  %x = ge.constant value dense<1.0> : tensor<4x64xf16> {ge.name = "k"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_input_constant: input 0: made by "k" of type Const}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a graph input does not.
// CHECK-LABEL: ge.graph @constant_passed
ge.graph @constant_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a graph input behind a Reshape rules the node out.
// CHECK-LABEL: ge.graph @reshaped_missed
ge.graph @reshaped_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %r = ge.op "Reshape" (%x) {ge.name = "r"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_input_transdata_reshape_of_data: input 0: made by "r" of type Reshape}}
  %s, %t = ge.split (%r) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a Reshape of something else does not.
// CHECK-LABEL: ge.graph @reshaped_passed
ge.graph @reshaped_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%r) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that an input made by a node without task rules the node out.
// CHECK-LABEL: ge.graph @virtual_input_missed
ge.graph @virtual_input_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.no_task} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_input_no_task: input 0: made by "a"}}
  %s, %t = ge.split (%a) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that only the direct producer counts.
// CHECK-LABEL: ge.graph @virtual_input_passed
ge.graph @virtual_input_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.no_task} : tensor<4x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%r) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a producer with outputs to be zeroed rules the node out.
// CHECK-LABEL: ge.graph @atomic_input_missed
ge.graph @atomic_input_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) attrs {atomic_output_index = array<i64: 0>} {ge.name = "a"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_input_atomic: input 0: made by "a"}}
  %s, %t = ge.split (%a) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that one without does not.
// CHECK-LABEL: ge.graph @atomic_input_passed
ge.graph @atomic_input_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%a) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a collective as a reader rules the node out.
// CHECK-LABEL: ge.graph @collective_missed
ge.graph @collective_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_type: output 1 is read by "v" of type HcomAllReduce}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "HcomAllReduce" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that collectives of other types do not.
// CHECK-LABEL: ge.graph @collective_passed
ge.graph @collective_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "HcomAllToAllV" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a reader without task rules the node out: never both ends of an edge.
// CHECK-LABEL: ge.graph @virtual_reader_missed
ge.graph @virtual_reader_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_no_task: output 0 is read by "u"}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u", ge.no_task} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a node without task behind the reader does not.
// CHECK-LABEL: ge.graph @virtual_reader_passed
ge.graph @virtual_reader_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
  %c = ge.concat (%u, %v) concat_dim 0 {ge.name = "c", ge.no_task} : tensor<4x64xf16>
}

// -----

// Tests that a reader on another engine rules the node out.
// CHECK-LABEL: ge.graph @engine_missed
ge.graph @engine_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_not_aicore: output 1 is read by "v"}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) {ge.name = "v", ge.engine = "aicpu_tf_engine"} : tensor<2x64xf16>
}

// -----

// Tests that the assigned engine counts where the source says nothing.
// CHECK-LABEL: ge.graph @engine_passed
ge.graph @engine_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) {ge.name = "v", ge.engine = "AIcoreEngine"} : tensor<2x64xf16>
}

// -----

// Tests that a reader of a virtual fusion rules the node out.
// CHECK-LABEL: ge.graph @fused_reader_missed
ge.graph @fused_reader_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_fusion_virtual_op: output 0}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {fusion_virtual_op = "f", imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that an empty name of one does not.
// CHECK-LABEL: ge.graph @fused_reader_passed
ge.graph @fused_reader_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {fusion_virtual_op = "", imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a reader which wants its inputs end to end rules the node out.
// CHECK-LABEL: ge.graph @continuous_reader_missed
ge.graph @continuous_reader_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_continuous_input: output 0}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {continuous_input = true, imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that one which gives its outputs end to end does not.
// CHECK-LABEL: ge.graph @continuous_reader_passed
ge.graph @continuous_reader_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {continuous_output = true, imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a reader with outputs to be zeroed rules the node out.
// CHECK-LABEL: ge.graph @atomic_reader_missed
ge.graph @atomic_reader_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_consumer_atomic: output 1}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {atomic_output_index = array<i64: 0>, imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that an empty list of them does not.
// CHECK-LABEL: ge.graph @atomic_reader_passed
ge.graph @atomic_reader_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {atomic_output_index = array<i64>, imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that a split which asks for L1 is left alone.
// CHECK-LABEL: ge.graph @memory_type_missed
ge.graph @memory_type_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_memory_type: asks for L1}}
  %s, %t = ge.split (%x) split_dim 0 attrs {_output_memory_type = ["HBM", "L1"]} {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that UB, which concats are refused for, does not count here.
// CHECK-LABEL: ge.graph @memory_type_passed
ge.graph @memory_type_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 attrs {_output_memory_type = ["HBM", "UB"]} {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that nodes of a graph of unknown shape are left alone.
// CHECK-LABEL: ge.graph @dynamic_missed
ge.graph @dynamic_missed attributes {ge.unknown_shape} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_dynamic_graph: graph @dynamic_missed is of unknown shape}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that nodes of a graph of known shape are not.
// CHECK-LABEL: ge.graph @dynamic_passed
ge.graph @dynamic_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that the graph conditions of the concat hold here too.
// CHECK-LABEL: ge.graph @scene_missed
ge.graph @scene_missed attributes {ge.memory_discontiguous_allocation} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": memory_discontiguous}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that the graph may say that it is not in single-operator mode.
// CHECK-LABEL: ge.graph @scene_passed
ge.graph @scene_passed attributes {ge.single_op_scene = false} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}
