// RUN: ge-opt %s -p ge-cover-attached-streams --split-input-file --remarks 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err

// Tests that the output waits for the last node of an attached stream, and not for the first.
// CHECK-LABEL: @covered
// CHECK-SAME: ge.event_num = 1 : i64
ge.graph @covered attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64} : tensor
  // CHECK: ge.name = "b"{{.*}}ge.attached_send_events = {"1" = array<i64: 0>}
  %a = ge.op "Mc2" (%x) attrs {_attached_stream_id = 1 : i64} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  %b = ge.op "Mc2" (%a) attrs {_attached_stream_id = 1 : i64} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.net_output {{.*}}ge.recv_events = array<i64: 0>
  ge.net_output (%b) {ge.name = "out", ge.stream = 0 : i64}
}

// -----

// Tests that a graph without output leaves the stream uncovered, and says so.
// REMARK: remark: [ge-cover-attached-streams] missed
// CHECK-LABEL: @open
// CHECK-NOT: ge.attached_send_events
ge.graph @open attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Mc2" (%x) attrs {_attached_stream_id = 1 : i64} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
}
