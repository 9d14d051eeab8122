// RUN: ge-opt %s --split-input-file -p ge-canonicalize | filecheck %s

// Tests that a shape computation on a static input disappears and the types behind it become static.
// CHECK-LABEL: ge.graph @flatten_by_shape
ge.graph @flatten_by_shape {
  // CHECK: [[X:%.+]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3x4xf32>
  %zero = ge.constant value dense<0> : tensor<i64> {ge.name = "zero"} : tensor<i64>
  %rest = ge.constant value dense<-1> : tensor<1xi64> {ge.name = "rest"} : tensor<1xi64>
  %s = ge.op "Shape" (%x) attrs {dtype = 9} {ge.name = "s"} : tensor<3xi64>
  %b = ge.op "GatherV2" (%s, %zero, %zero) {ge.name = "b"} : tensor<i64>
  %u = ge.op "Unsqueeze" (%b) attrs {axes = array<i64: 0>} {ge.name = "u"} : tensor<1xi64>
  // CHECK: [[T:%.+]] = ge.constant value dense<[2, -1]> : tensor<2xi64> {ge.name = "t"}
  %t = ge.concat (%u, %rest) concat_dim 0 N 2 {ge.name = "t"} : tensor<2xi64>
  // CHECK-NEXT: [[Y:%.+]] = ge.op "Reshape" ([[X]], [[T]]) {ge.name = "y"} : tensor<2x12xf32>
  %y = ge.op "Reshape" (%x, %t) {ge.name = "y"} : tensor<?x?xf32>
  // CHECK-NEXT: ge.op "Relu" ([[Y]]) {ge.name = "z"} : tensor<2x12xf32>
  %z = ge.op "Relu" (%y) {ge.name = "z"} : tensor<*xf32>
  ge.net_output (%z) {ge.name = "out"}
}

// -----

// Tests that what is known of a dynamic tensor is kept and added to, and that its Shape stays.
// CHECK-LABEL: ge.graph @dynamic
ge.graph @dynamic {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x4xf32>
  // CHECK: ge.op "Shape"
  %s = ge.op "Shape" (%x) attrs {dtype = 9} {ge.name = "s"} : tensor<?xi64>
  // CHECK-NEXT: ge.op "TransposeD" {{.*}} : tensor<4x?xf32>
  %t = ge.op "TransposeD" (%x) attrs {perm = array<i64: 1, 0>} {ge.name = "t"} : tensor<?x?xf32>
  ge.net_output (%s, %t) {ge.name = "out"}
}

// -----

// Tests that a graph of a branch learns the types of its inputs and small constants, and the node those of its results.
// CHECK-LABEL: ge.graph @branch
ge.graph @branch {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2x3xf32>
  %s = ge.constant value dense<6> : tensor<1xi64> {ge.name = "s"} : tensor<1xi64>
  // CHECK: ge.op "If" {{.*}} : tensor<6xf32>, tensor<?xf32>
  %y, %z = ge.op "If" (%c, %x, %s) subgraphs [@then, @else] {ge.name = "y"} : tensor<*xf32>, tensor<*xf32>
  ge.net_output (%y, %z) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @then
ge.graph @then {
  // CHECK: ge.data {{.*}} : tensor<2x3xf32>
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<*xf32>
  %s = ge.data index 1 {ge.name = "s", ge.parent_node_index = 2 : i64} : tensor<1xi64>
  // CHECK: ge.constant value dense<6> : tensor<1xi64> {ge.name = "s/s"}
  // CHECK: ge.op "Reshape" {{.*}} : tensor<6xf32>
  %y = ge.op "Reshape" (%x, %s) {ge.name = "y"} : tensor<?xf32>
  ge.net_output (%y, %y) {ge.name = "out"}
}
ge.graph @else {
  %k = ge.constant value dense<1.0> : tensor<6xf32> {ge.name = "k"} : tensor<6xf32>
  %l = ge.constant value dense<1.0> : tensor<5xf32> {ge.name = "l"} : tensor<5xf32>
  ge.net_output (%k, %l) {ge.name = "out"}
}

// -----

// Tests that a loop's carried value keeps its type (it may change from round to round), while a value from around the
// loop takes over what is known outside.
// CHECK-LABEL: ge.graph @loop
ge.graph @loop {
  %n = ge.data index 0 {ge.name = "n"} : tensor<i64>
  %c = ge.data index 1 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 2 {ge.name = "x"} : tensor<2xf32>
  %y = ge.op "Loop" (%n, %c, %x, %x) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "y"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @body
ge.graph @body {
  %i = ge.data index 0 {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %c = ge.data index 1 {ge.name = "c", ge.formal = "condition"} : tensor<i1>
  // CHECK: ge.name = "v"{{.*}} : tensor<?xf32>
  %v = ge.data index 2 {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<?xf32>
  // CHECK: ge.name = "w"{{.*}} : tensor<2xf32>
  %w = ge.data index 3 {ge.name = "w", ge.parent_node_index = 3 : i64, ge.formal = "captured"} : tensor<?xf32>
  %j = ge.concat (%v, %w) concat_dim 0 N 2 {ge.name = "j"} : tensor<?xf32>
  ge.net_output (%c, %j) {ge.name = "out"}
}
