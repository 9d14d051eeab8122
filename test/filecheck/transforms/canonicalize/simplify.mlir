// RUN: ge-opt %s --split-input-file -p ge-canonicalize | filecheck %s

// Tests that nodes that pass on their input are left out.
// CHECK-LABEL: ge.graph @forward
ge.graph @forward {
  // CHECK: [[X:%.+]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>
  %s = ge.constant value dense<[2, 3]> : tensor<2xi64> {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Identity" (%x) {ge.name = "a"} : tensor<2x3xf32>
  %b = ge.op "Reshape" (%a, %s) {ge.name = "b"} : tensor<2x3xf32>
  %c = ge.op "Expand" (%b, %s) {ge.name = "c"} : tensor<2x3xf32>
  %d = ge.op "Cast" (%c) attrs {dst_type = 0} {ge.name = "d"} : tensor<2x3xf32>
  %e = ge.op "TransposeD" (%d) attrs {perm = array<i64: 0, 1>} {ge.name = "e"} : tensor<2x3xf32>
  %f = ge.concat (%e) concat_dim 1 N 1 {ge.name = "f"} : tensor<2x3xf32>
  // CHECK-NEXT: ge.op "Relu" ([[X]])
  %r = ge.op "Relu" (%f) {ge.name = "r"} : tensor<2x3xf32>
  ge.net_output (%r) {ge.name = "out"}
}

// -----

// Tests that nodes of equal types that do change something stay: a real transpose, a slice that may run backwards.
// CHECK-LABEL: ge.graph @not_forward
ge.graph @not_forward {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3x3xf32>
  %k = ge.data index 1 {ge.name = "k"} : tensor<1xi64>
  // CHECK: ge.op "TransposeD"
  %t = ge.op "TransposeD" (%x) attrs {perm = array<i64: 1, 0>} {ge.name = "t"} : tensor<3x3xf32>
  // CHECK: ge.op "StridedSliceV2"
  %s = ge.op "StridedSliceV2" (%t, %k, %k, %k, %k) {ge.name = "s"} : tensor<3x3xf32>
  ge.net_output (%s) {ge.name = "out"}
}

// -----

// Tests that Dropout is left out at inference, and not in training or when its mask is read.
// CHECK-LABEL: ge.graph @dropout
ge.graph @dropout {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3xf32>
  %no = ge.absent
  %yes = ge.constant value dense<true> : tensor<i1> {ge.name = "yes"} : tensor<i1>
  // CHECK-NOT: ge.name = "a"
  %a, %am = ge.op "Dropout" (%x, %no, %no) source "ai.onnx::Dropout@13" {ge.name = "a"} : tensor<3xf32>, none
  // CHECK: ge.name = "b"
  %b, %bm = ge.op "Dropout" (%a) source "ai.onnx::Dropout@13" {ge.name = "b"} : tensor<3xf32>, tensor<3xi1>
  // CHECK: ge.name = "c"
  %c, %cm = ge.op "Dropout" (%b, %no, %yes) source "ai.onnx::Dropout@13" {ge.name = "c"} : tensor<3xf32>, none
  ge.net_output (%c, %bm) {ge.name = "out"}
}

// -----

// Tests that equal nodes are merged whatever they are called, and nodes with other attributes or another stream not.
// CHECK-LABEL: ge.graph @merge
ge.graph @merge {
  // CHECK: [[X:%.+]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x2xf32>
  // CHECK-NEXT: [[A:%.+]] = ge.op "SoftmaxV2" {{.*}}ge.name = "a"
  %a = ge.op "SoftmaxV2" (%x) attrs {axes = array<i64: 1>} {ge.name = "a"} : tensor<2x2xf32>
  %b = ge.op "SoftmaxV2" (%x) attrs {axes = array<i64: 1>} {ge.name = "b"} : tensor<2x2xf32>
  // CHECK-NEXT: [[C:%.+]] = ge.op "SoftmaxV2" {{.*}}ge.name = "c"
  %c = ge.op "SoftmaxV2" (%x) attrs {axes = array<i64: 0>} {ge.name = "c"} : tensor<2x2xf32>
  // CHECK-NEXT: [[D:%.+]] = ge.op "SoftmaxV2" {{.*}}ge.name = "d"
  %d = ge.op "SoftmaxV2" (%x) attrs {axes = array<i64: 1>} {ge.name = "d", ge.stream = 1 : i64} : tensor<2x2xf32>
  // CHECK-NEXT: ge.net_output ([[A]], [[A]], [[C]], [[D]])
  ge.net_output (%a, %b, %c, %d) {ge.name = "out"}
}

// -----

// Tests that equal constants are one, and that constants of another type are not.
// CHECK-LABEL: ge.graph @constants
ge.graph @constants {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xi32>
  // CHECK: [[A:%.+]] = ge.constant {{.*}}ge.name = "a"
  %a = ge.constant value dense<[1, 2]> : tensor<2xi32> {ge.name = "a"} : tensor<2xi32>
  %b = ge.constant value dense<[1, 2]> : tensor<2xi32> {ge.name = "b"} : tensor<2xi32>
  // CHECK-NEXT: [[C:%.+]] = ge.constant {{.*}}ge.name = "c"
  %c = ge.constant value dense<[1, 2]> : tensor<2xui32> {ge.name = "c"} : tensor<2xui32>
  // CHECK-NEXT: ge.op "Foo" ({{%.+}}, [[A]], [[A]], [[C]])
  %y = ge.op "Foo" (%x, %a, %b, %c) {ge.name = "y"} : tensor<2xi32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests that dead nodes go, chains of them too, but not inputs, nodes that nobody described, collectives and sends.
// CHECK-LABEL: ge.graph @dead
ge.graph @dead {
  // CHECK: ge.name = "x"
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "unused"
  %unused = ge.data index 1 {ge.name = "unused"} : tensor<2xf32>
  // CHECK-NOT: "Relu"
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2xf32>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<2xf32>
  // CHECK: ge.op "Mystery"
  %m = ge.op "Mystery" (%x) {ge.name = "m"} : tensor<2xf32>
  // CHECK: ge.op "HcomAllReduce"
  %h, %hc = ge.op "HcomAllReduce" (%x) attrs {group = "world"} {ge.name = "h"} : tensor<2xf32>, !ge.control
  // CHECK: ge.send
  ge.send (%hc) event_id 0 {ge.name = "s"}
  // CHECK: ge.variable
  %v = ge.variable {ge.name = "v"} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}
