// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-partition-dynamic | filecheck %s
// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-partition-dynamic,ge-partition-dynamic | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec,ge-partition-dynamic{min-nodes=6}' | filecheck %s --check-prefix=SIX
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec,ge-partition-dynamic{min-nodes=-1}' | filecheck %s --check-prefix=NONE
// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-partition-dynamic --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

// NONE-NOT: PartitionedCall
// SIX-NOT: PartitionedCall

// Tests two clusters around a node whose result size depends on data; a diamond through that node is not closed: "e" is
// known, but a path from the first cluster leads to it through the unknown node. Constants are repeated inside.
// CHECK-LABEL: ge.graph @main attributes {ge.dynamic_shape_partitioned}
// CHECK:       [[C:%.+]], [[K:%.+]] = ge.op "PartitionedCall" (%x) subgraphs [@main_known_0] {ge.name = "main_known_0", ge.engine = "DNN_VM_GE_LOCAL"
// CHECK-NEXT:  [[I:%.+]] = ge.op "NonZero" ([[C]])
// CHECK-NEXT:  [[R:%.+]] = ge.op "ReduceSumD" ([[I]])
// CHECK-NEXT:  [[N:%.+]] = ge.op "PartitionedCall" ([[R]], [[K]]) subgraphs [@main_known_1]
// CHECK-NEXT:  ge.net_output ([[N]], [[I]])
// CHECK-LABEL: ge.graph @main_known_0 attributes {ge.unknown_shape = false}
// CHECK-NEXT:  ge.data index 0 {ge.name = "main_known_0/input_0", {{.*}}ge.parent_node_index = 0 : i64} : tensor<4x4xf32>
// CHECK-NEXT:  ge.constant {{.*}}ge.name = "main_known_0/w"
// CHECK-NEXT:  ge.constant {{.*}}ge.name = "main_known_0/s"
// CHECK-NEXT:  "Mul"
// CHECK-NEXT:  "Exp"
// CHECK-NEXT:  [[C1:%.+]] = ge.op "Relu"
// CHECK-NEXT:  "Add"
// CHECK-NEXT:  "Neg"
// CHECK-NEXT:  [[K1:%.+]] = ge.op "Reshape"
// CHECK-NEXT:  ge.net_output ([[C1]], [[K1]]) {ge.name = "main_known_0/output"
// CHECK-LABEL: ge.graph @main_known_1 attributes {ge.unknown_shape = false}
// CHECK-NEXT:  ge.data index 0 {{.*}}tensor<2xi64>
// CHECK-NEXT:  ge.data index 1 {{.*}}tensor<16xf32>
// CHECK-NEXT:  "Cast"
// CHECK-NEXT:  ge.concat
// CHECK-NEXT:  "Abs"
// CHECK-NEXT:  "Neg"

// REMARK: passed: 5 nodes of known shape become @main_known_0
// REMARK: passed: 4 nodes of known shape become @main_known_1
// REMARK: missed: NonZero "i" is scheduled by the host: output 0 of NonZero has an unknown dimension
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x4xf32>
  %w = ge.constant value dense<2.0> : tensor<f32> {ge.name = "w"} : tensor<f32>
  %a = ge.op "Mul" (%x, %w) {ge.name = "a"} : tensor<4x4xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b"} : tensor<4x4xf32>
  %c = ge.op "Relu" (%a) {ge.name = "c"} : tensor<4x4xf32>
  %d = ge.op "Add" (%b, %c) {ge.name = "d"} : tensor<4x4xf32>
  %i = ge.op "NonZero" (%c) source "ai.onnx::NonZero@13" {ge.name = "i"} : tensor<2x?xi64>
  %r = ge.op "ReduceSumD" (%i) attrs {axes = [1], keep_dims = false} {ge.name = "r"} : tensor<2xi64>
  %e = ge.op "Cast" (%r) attrs {dst_type = 0 : i64} {ge.name = "e"} : tensor<2xf32>
  %f = ge.op "Neg" (%d) {ge.name = "f"} : tensor<4x4xf32>
  %s = ge.constant value dense<16> : tensor<1xi64> {ge.name = "s"} : tensor<1xi64>
  %k = ge.op "Reshape" (%f, %s) {ge.name = "k"} : tensor<16xf32>
  %l = ge.concat (%e, %k) concat_dim 0 {ge.name = "l"} : tensor<18xf32>
  %m = ge.op "Abs" (%l) {ge.name = "m"} : tensor<18xf32>
  %n = ge.op "Neg" (%m) {ge.name = "n"} : tensor<18xf32>
  ge.net_output (%n, %i) {ge.name = "out"}
}

// -----

// Tests that what the host computes stays out of clusters: nodes that were moved, and views of their results.
// REMARK: missed: GatherV2 "g" is scheduled by the host: it runs on the host CPU
// REMARK: missed: Unsqueeze "u" is scheduled by the host: it is a view of a value on the host
// CHECK-LABEL: ge.graph @host
// CHECK-NOT:   PartitionedCall
ge.graph @host {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x4xf32>
  %z = ge.constant value dense<0> : tensor<i64> {ge.name = "z"} : tensor<i64>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %g = ge.op "GatherV2" (%s, %z, %z) {ge.name = "g"} : tensor<i64>
  %u = ge.op "Unsqueeze" (%g) attrs {axes = [0]} {ge.name = "u"} : tensor<1xi64>
  %v = ge.op "Mul" (%u, %u) {ge.name = "v"} : tensor<1xi64>
  %t = ge.op "Add" (%v, %u) {ge.name = "t"} : tensor<1xi64>
  ge.net_output (%t) {ge.name = "out"}
}

// -----

// Tests that a static model is left alone.
// CHECK-LABEL: ge.graph @static {
// CHECK-NOT:   PartitionedCall
ge.graph @static {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4xf32>
  %a = ge.op "Exp" (%x) {ge.name = "a"} : tensor<4xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b"} : tensor<4xf32>
  %c = ge.op "Exp" (%b) {ge.name = "c"} : tensor<4xf32>
  %d = ge.op "Exp" (%c) {ge.name = "d"} : tensor<4xf32>
  ge.net_output (%d) {ge.name = "out"}
}
