// RUN: ge-opt %s -p ge-assign-streams{mode=max-concurrency},ge-activate-streams,ge-insert-events,ge-minimize-events --split-input-file --remarks=max-concurrency 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err

// Tests that what may run side by side has streams of its own, that the edge from a to d, which c implies, is not
// counted, and that the events are reduced edges less those inside streams.
// REMARK: ge_stream_max_concurrency.mlir:[[# @LINE + 3]]:1: remark: [ge-stream-max-concurrency] passed: 2 streams; 5 of 6 edges order everything, 2 of them between streams
// CHECK-LABEL: @main
// CHECK-SAME: ge.event_num = 2 : i64
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = [[A:[01]]] : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.stream = [[A]] : i64
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "c"
  // CHECK-NOT: ge.stream = [[A]] : i64
  // CHECK: ge.name = "d"
  %c = ge.op "Exp" (%a) {ge.name = "c", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  %d = ge.op "AddN" (%a, %b, %c) {ge.name = "d", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%d) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that a graph below another one runs on the stream of its owner.
// CHECK-LABEL: @outer
ge.graph @outer {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "call"{{.*}}ge.stream = [[O:[0-9]]] : i64
  %p = ge.op "PartitionedCall" (%x) subgraphs [@inner] {ge.name = "call", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  ge.net_output (%a, %p) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
ge.graph @inner {
  %x = ge.data index 0 {ge.name = "y", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // CHECK: ge.name = "in_a"{{.*}}ge.stream = [[O]] : i64
  %a = ge.op "Relu" (%x) {ge.name = "in_a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "in_b"{{.*}}ge.stream = [[O]] : i64
  %b = ge.op "Exp" (%x) {ge.name = "in_b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%a, %b) {ge.name = "in_out", ge.engine = "DNN_VM_RTS"}
}
