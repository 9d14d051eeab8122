// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s

// Tests that a carried value that keeps its type has it in the body and behind the loop, and that a constant trip count
// is the length of what is collected.
// CHECK-LABEL: ge.graph @keeps
// CHECK: %r, %s = ge.op "Loop" {{.*}} : tensor<2xf32>, tensor<4x2xf32>
// CHECK: ge.graph @body
// CHECK: %v = ge.data {{.*}} : tensor<2xf32>
// CHECK: ge.op "Exp" (%v) {{.*}} : tensor<2xf32>
ge.graph @keeps {
  %v = ge.data index 0 {ge.name = "v"} : tensor<2xf32>
  %m = ge.constant value dense<4> : tensor<i64> {ge.name = "m"} : tensor<i64>
  %none = ge.absent
  %r, %s = ge.op "Loop" (%m, %none, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<*xf32>, tensor<*xf32>
  ge.net_output (%r, %s) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<*xi1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<*xf32>
  %n = ge.op "Exp" (%v) {ge.name = "n"} : tensor<*xf32>
  ge.net_output (%go, %n, %n) {ge.name = "out"}
}

// -----

// Tests that a carried value that grows keeps nothing, though its first type is known.
// CHECK-LABEL: ge.graph @grows
// CHECK: ge.op "Loop" {{.*}} : tensor<*xf32>
// CHECK: ge.graph @body
// CHECK: %v = ge.data {{.*}} : tensor<*xf32>
ge.graph @grows {
  %v = ge.data index 0 {ge.name = "v"} : tensor<2xf32>
  %m = ge.constant value dense<4> : tensor<i64> {ge.name = "m"} : tensor<i64>
  %none = ge.absent
  %r = ge.op "Loop" (%m, %none, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<*xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<*xi1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<*xf32>
  %n = ge.concat "ConcatD" (%v, %v) concat_dim 0 N 2 {ge.name = "n"} : tensor<*xf32>
  ge.net_output (%go, %n) {ge.name = "out"}
}

// -----

// Tests that a loop that may end early says nothing about the length of what it collects, but about its slices.
// CHECK-LABEL: ge.graph @early
// CHECK: %r, %s = ge.op "Loop" {{.*}} : tensor<2xf32>, tensor<?x2xf32>
ge.graph @early {
  %v = ge.data index 0 {ge.name = "v"} : tensor<2xf32>
  %c = ge.data index 1 {ge.name = "c"} : tensor<i1>
  %m = ge.constant value dense<4> : tensor<i64> {ge.name = "m"} : tensor<i64>
  %r, %s = ge.op "Loop" (%m, %c, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<*xf32>, tensor<*xf32>
  ge.net_output (%r, %s) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<*xi1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<*xf32>
  %n = ge.op "Exp" (%v) {ge.name = "n"} : tensor<*xf32>
  ge.net_output (%go, %n, %n) {ge.name = "out"}
}

// -----

// Tests a Scan in a Loop: the slice has the type of the input without its axis, the outputs get the length as axis.
// CHECK-LABEL: ge.graph @nested
// CHECK: ge.op "Loop" {{.*}} : tensor<2x5xf32>
// CHECK: ge.graph @inner
// CHECK: ge.data {{.*}} : tensor<2xf32>
// CHECK: ge.graph @body
// CHECK: ge.op "Scan" {{.*}} : tensor<2x5xf32>
ge.graph @nested {
  %v = ge.data index 0 {ge.name = "v"} : tensor<2x5xf32>
  %m = ge.data index 1 {ge.name = "m"} : tensor<i64>
  %none = ge.absent
  %r = ge.op "Loop" (%m, %none, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<*xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @inner {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<*xf32>
  %y = ge.op "Exp" (%x) {ge.name = "y"} : tensor<*xf32>
  ge.net_output (%y) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<*xf32>
  %n = ge.op "Scan" (%v) source "ai.onnx::Scan@16" attrs {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_output_axes = array<i64: 1>} subgraphs [@inner] {ge.name = "scan"} : tensor<*xf32>
  ge.net_output (%go, %n) {ge.name = "out"}
}
