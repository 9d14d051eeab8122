// RUN: ge-opt %s -p ge-plan-memory | filecheck %s
// RUN: ge-opt %s -p ge-plan-memory --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Tests that a graph of unknown shape is left alone, with a remark.
// REMARK: missed: not planned
// CHECK: ge.graph @unknown {
ge.graph @unknown {
  // CHECK-NOT: ge.offsets
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "out"}
}
