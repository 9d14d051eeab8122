// RUN: ge-opt %s -p 'ge-split-streams{max_tasks=33}' --split-input-file | filecheck %s

// Tests that what stands between labels goes to a new piece as a whole when it does not fit, the event before it, and
// that a stretch longer than a stream is not cut. (Six entries fit.)
// CHECK: ge.name = "a", {{.*}}ge.stream = 0 : i64{{.*}}ge.send_events = array<i64: 0>
// CHECK: ge.name = "head", {{.*}}ge.stream = 1 : i64{{.*}}ge.recv_events = array<i64: 0>
// CHECK: ge.name = "b", {{.*}}ge.stream = 1 : i64
// CHECK: ge.name = "c", {{.*}}ge.stream = 1 : i64
// CHECK: ge.name = "back", {{.*}}ge.stream = 1 : i64
// CHECK: ge.name = "d", {{.*}}ge.stream = 2 : i64
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4xf32>
  %a = ge.op "Relu" (%x) attrs {_node_sqe_num = 4 : i64} {ge.name = "a", ge.kernel_lib = "AIcoreEngine", ge.stream = 0 : i64} : tensor<4xf32>
  ge.label_set label_index 0 {ge.name = "head", ge.kernel_lib = "DNN_VM_RTS_OP_STORE", ge.stream = 0 : i64}
  %b = ge.op "Relu" (%x) attrs {_node_sqe_num = 4 : i64} {ge.name = "b", ge.kernel_lib = "AIcoreEngine", ge.stream = 0 : i64} : tensor<4xf32>
  %c = ge.op "Relu" (%x) attrs {_node_sqe_num = 4 : i64} {ge.name = "c", ge.kernel_lib = "AIcoreEngine", ge.stream = 0 : i64} : tensor<4xf32>
  ge.label_goto label_index 0 {ge.name = "back", ge.kernel_lib = "DNN_VM_RTS_OP_STORE", ge.stream = 0 : i64}
  %d = ge.op "Relu" (%x) attrs {_node_sqe_num = 4 : i64} {ge.name = "d", ge.kernel_lib = "AIcoreEngine", ge.stream = 0 : i64} : tensor<4xf32>
}
