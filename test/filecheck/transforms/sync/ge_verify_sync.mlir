// RUN: ge-opt %s -p ge-insert-events,ge-insert-sync-nodes,ge-verify-sync --remarks 2>&1 >/dev/null | filecheck %s
// RUN: not ge-opt %s -p ge-verify-sync 2>&1 | filecheck %s --check-prefix=MISSING

// Tests that the events of every edge are proof enough, and that none is not.
// CHECK: remark: [ge-verify-sync] analysis: every dependency is ordered
ge.graph @main attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // MISSING: ge_verify_sync.mlir:10:{{.*}}: error: "b" (stream 1) may start before "a" (stream 0) is done
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
}
