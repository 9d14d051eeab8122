// RUN: ge-opt %s -p ge-insert-attached-events,ge-cover-attached-streams | filecheck %s
// RUN: ge-opt %s -p ge-insert-attached-events,ge-cover-attached-streams,ge-insert-sync-nodes | filecheck %s --check-prefix=NODES

// Tests that c's attached stream 3 waits for b, whose value it reads (b sends on its attached stream 2), and for the
// last node that updates the variable; and that the output waits for both attached streams.
// CHECK: ge.event_num = 4 : i64
ge.graph @main attributes {ge.stream_num = 4 : i64} {
  %v = ge.variable {ge.name = "v", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "assign", ge.stream = 0 : i64,{{.*}}ge.send_events = array<i64: 0>}
  // NODES: ge.name = "assign"
  // NODES-NEXT: ge.send {{.*}}event_id 0 {ge.name = "main_Send_0", ge.stream = 0 : i64}
  %w = ge.op "Assign" (%v) attrs {reference = true} {ge.name = "assign", ge.stream = 0 : i64,
      ge.arg_attrs = [{name = "ref"}], ge.res_attrs = [{name = "ref"}]} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.attached_send_events = {"2" = array<i64: 1, 2>}}
  // NODES: ge.name = "b"
  // NODES-NEXT: ge.send {{.*}}event_id 1 {ge.name = "main_Send_1", ge.stream = 2 : i64}
  // NODES-NEXT: ge.send {{.*}}event_id 2 {ge.name = "main_Send_2", ge.stream = 2 : i64}
  %b = ge.op "Relu" (%v) attrs {_attached_stream_id = 2 : i64} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK-NOT: _attached_stream_info
  // CHECK: ge.name = "c", ge.stream = 1 : i64, ge.attached_send_events = {"3" = array<i64: 3>}, ge.attached_recv_events = {"3" = array<i64: 0, 1>}}
  // NODES: ge.recv event_id 0 {ge.name = "main_Recv_0", ge.stream = 3 : i64}
  // NODES-NEXT: ge.recv event_id 1 {ge.name = "main_Recv_1", ge.stream = 3 : i64}
  // NODES-NEXT: ge.name = "c"
  %c = ge.op "Fused" (%b, %v) attrs {_attached_stream_id = 3 : i64,
      _attached_stream_info = [{_attached_stream_key = "k", _attached_stream_depend_value_list = "0,1"}]}
      {ge.name = "c", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.net_output (%{{.*}}) {ge.name = "out", ge.stream = 1 : i64, ge.recv_events = array<i64: 2, 3>}
  // NODES: ge.recv event_id 2 {ge.name = "main_Recv_2", ge.stream = 1 : i64}
  // NODES-NEXT: ge.recv event_id 3 {ge.name = "main_Recv_3", ge.stream = 1 : i64}
  // NODES-NEXT: ge.net_output
  ge.net_output (%c) {ge.name = "out", ge.stream = 1 : i64}
}
