// REQUIRES: mlir-opt
// RUN: ge-opt %s --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | ge-opt | filecheck %s

// Tests that MLIR's own tool reads the generic form and that what it prints is the same graph to us.

// CHECK-LABEL: ge.graph @main {
ge.graph @main {
  // CHECK-NEXT: %{{.*}} = ge.data index 0 {ge.name = "x"} : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8], range = {{\[\[}}1, 1]], memory = L1>>
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8], range = [[1, 1]], memory = L1>>
  // CHECK-NEXT: %{{.*}} = ge.absent
  %none = ge.absent
  // CHECK-NEXT: %{{.*}} = ge.constant value #ge.strings<["a", "\C3\A4"] : tensor<2x!ge.string>>
  %s = ge.constant value #ge.strings<["a", "\C3\A4"] : tensor<2x!ge.string>> : tensor<2x!ge.string>
  // CHECK-NEXT: %{{.*}} = ge.constant value dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %w = ge.constant value dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  // CHECK-NEXT: %[[A:.*]], %[[CTL:.*]] = ge.op "Clip" (%{{.*}}, %{{.*}}) source "ai.onnx::Clip@13" attrs {k = array<i64: 1, 2>} {ge.name = "\E5\B7\AB"} : tensor<*xf16>, !ge.control
  %a, %ctl = ge.op "Clip" (%x, %none) source "ai.onnx::Clip@13" attrs {k = array<i64: 1, 2>} {ge.name = "\E5\B7\AB"} : tensor<*xf16>, !ge.control
  // CHECK-NEXT: ge.op "Seq" (%[[A]], %[[CTL]]) subgraphs [@sub] : !ge.sequence<tensor<?xf8E4M3FN>>
  %q = ge.op "Seq" (%a, %ctl) subgraphs [@sub] : !ge.sequence<tensor<?xf8E4M3FN>>
}
// CHECK: ge.graph @sub {
ge.graph @sub {
}
