// RUN: ge-opt %s -p ge-assign-streams,ge-plan-memory,ge-sync-single-stream --split-input-file --remarks=sync-single-stream 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: ge-opt %s -p 'ge-pipeline{until=ge-sync-single-stream}' --split-input-file | filecheck %s

// Tests that on one main stream an attached stream waits for the value that it reads, and the output for the attached
// stream.
// REMARK: remark: [ge-sync-single-stream] passed: attached resources: the model is synchronised
// REMARK-NOT: ge-sync-single-stream
// CHECK-LABEL: @attached
// CHECK-SAME: ge.event_num = 2 : i64
ge.graph @attached {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = 0 : i64
  // CHECK-NEXT: ge.send {{.*}}event_id 0 {ge.name = "attached_Send_0", ge.stream = 0 : i64
  // CHECK-NEXT: ge.recv event_id 0 {ge.name = "attached_Recv_0", ge.stream = 1 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK-NEXT: ge.name = "b"{{.*}}ge.stream = 0 : i64
  // CHECK-NEXT: ge.send {{.*}}event_id 1 {ge.name = "attached_Send_1", ge.stream = 1 : i64
  // CHECK-NEXT: ge.recv event_id 1 {ge.name = "attached_Recv_1", ge.stream = 0 : i64
  %b = ge.op "Exp" (%a) attrs {_attached_stream_info = [{_attached_stream_key = "k", _attached_stream_depend_value_list = "0"}]}
      {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK-NEXT: ge.net_output
  ge.net_output (%b) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that nothing happens to a graph whose nodes ask for nothing.
// CHECK-LABEL: @plain
// CHECK-NOT: ge.send
ge.graph @plain {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests a queue that does not hold all tasks: the stream becomes a huge one, or is cut when there is none that is deep
// enough.
// RUN: ge-opt %s -p 'ge-assign-streams,ge-plan-memory,ge-sync-single-stream{max-tasks=29 max-huge-tasks=0}' --split-input-file | filecheck %s --check-prefix=CUT
// RUN: ge-opt %s -p 'ge-assign-streams,ge-plan-memory,ge-sync-single-stream{max-tasks=29}' --split-input-file | filecheck %s --check-prefix=HUGE
// CHECK-LABEL: @long
// CHECK-NOT: ge.huge_streams
// CHECK-NOT: ge.send
// CUT-LABEL: @long
// CUT: "Relu"{{.*}}ge.stream = 0 : i64
// CUT-NEXT: ge.send {{.*}}event_id 0 {{.*}}ge.stream = 0 : i64
// CUT-NEXT: ge.recv event_id 0 {{.*}}ge.stream = 1 : i64
// CUT-NEXT: "Exp"{{.*}}ge.stream = 1 : i64
// HUGE-LABEL: @long
// HUGE-SAME: ge.huge_streams = array<i64: 0>
// HUGE-NOT: ge.send
ge.graph @long {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%b) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
