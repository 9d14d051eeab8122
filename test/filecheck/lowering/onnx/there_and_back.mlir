// Text to an ONNX model and back: twins, an operator that only ONNX has, an unwired slot, a sub-graph, a symbolic dimension.
// RUN: ge-translate --export-onnx %s -o %t.onnx
// RUN: ge-opt %t.onnx | filecheck %s
// RUN: ge-opt %t.onnx --dim n=3 | filecheck %s --check-prefix=FIXED
// RUN: not ge-opt %t.onnx --dim m=3 2>&1 | filecheck %s --check-prefix=DIM

// CHECK: builtin.module attributes {ge.ir_version = 10 : i64, ge.opset_imports = {ai.onnx = 21 : i64}
// CHECK: ge.graph @main {
// CHECK-NEXT: %x = ge.data index 0 {ge.name = "x", ge.dim_names = ["n", ""]} : tensor<?x4xf32>
// CHECK-NEXT: %flag = ge.data index 1 {ge.name = "flag"} : tensor<i1>
// CHECK-NEXT: %none = ge.absent
// CHECK-NEXT: %a = ge.op "TransposeD" (%x) attrs {perm = array<i64: 1, 0>} {ge.name = "a"} : tensor<4x?xf32>
// CHECK-NEXT: %limit = ge.constant value dense<6.000000e+00> : tensor<f32> {ge.name = "limit"}
// CHECK-NEXT: %b = ge.op "Clip" (%a, %none, %limit) source "ai.onnx::Clip@13" {ge.name = "b"} : tensor<4x?xf32>
// CHECK-NEXT: %y = ge.op "If" (%flag, %b) subgraphs [@main_c_then_branch, @main_c_else_branch] {ge.name = "c"} : tensor<4x?xf32>
// CHECK-NEXT: ge.net_output (%y) {ge.name = "NetOutput", ge.output_names = ["y"]}
// CHECK: ge.graph @main_c_then_branch {
// CHECK-NEXT: %b = ge.data index 0 {ge.name = "b", ge.parent_node_index = 1 : i64} : tensor<4x?xf32>
// CHECK-NEXT: ge.op "Neg" (%b) {ge.name = "d"} : tensor<4x?xf32>

// FIXED: %x = ge.data index 0 {ge.name = "x", ge.dim_names = ["n", ""]} : tensor<3x4xf32>
// FIXED: ge.op "If" {{.*}} : tensor<4x3xf32>

// DIM: {{.*}}.onnx: error: there is no symbolic dimension "m"; the model has: n

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x", ge.dim_names = ["n", ""]} : tensor<?x4xf32>
  %flag = ge.data index 1 {ge.name = "flag"} : tensor<i1>
  %none = ge.absent
  %limit = ge.constant value dense<6.0> : tensor<f32> {ge.name = "limit"} : tensor<f32>
  %a = ge.op "TransposeD" (%x) attrs {perm = array<i64: 1, 0>} {ge.name = "a"} : tensor<4x?xf32>
  %b = ge.op "Clip" (%a, %none, %limit) source "ai.onnx::Clip@13" {ge.name = "b"} : tensor<4x?xf32>
  %c = ge.op "If" (%flag, %b) subgraphs [@yes, @no] {ge.name = "c"} : tensor<4x?xf32>
  ge.net_output (%c) {ge.name = "out", ge.output_names = ["y"]}
}
ge.graph @yes {
  %b = ge.data index 0 {ge.name = "b", ge.parent_node_index = 1 : i64} : tensor<4x?xf32>
  %d = ge.op "Neg" (%b) {ge.name = "d"} : tensor<4x?xf32>
  ge.net_output (%d) {ge.name = "out"}
}
ge.graph @no {
  %b = ge.data index 0 {ge.name = "b", ge.parent_node_index = 1 : i64} : tensor<4x?xf32>
  ge.net_output (%b) {ge.name = "out"}
}
