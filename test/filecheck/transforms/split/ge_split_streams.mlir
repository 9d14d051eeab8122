// RUN: ge-opt %s -p "ge-split-streams{max_tasks=29}" | filecheck %s
// RUN: ge-opt %s -p "ge-split-streams{max_tasks=29},ge-insert-sync-nodes,ge-verify-sync,ge-default-streams" | filecheck %s --check-prefix=NODES
// RUN: ge-opt %s -p "ge-split-streams{max_tasks=29 unlimited_depth=true}" | filecheck %s --check-prefix=UNLIMITED

// Tests that two entries a stream fit beside the 27 in reserve, that a wait counts two, that the node which would be one
// too many begins the next piece, and that an event that comes after those there are joins the pieces. The label set
// stays with what stands before it, though the piece is full.
// CHECK: ge.graph @main attributes {ge.stream_num = 4 : i64, ge.event_num = 3 : i64, ge.split_streams = "2:0,3:0"}
// UNLIMITED: ge.graph @main attributes {ge.stream_num = 2 : i64, ge.event_num = 1 : i64}
ge.graph @main attributes {ge.stream_num = 2 : i64, ge.event_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "send", ge.stream = 1 : i64}
  ge.send event_id 0 {ge.name = "send", ge.stream = 1 : i64}
  // CHECK: ge.name = "recv", ge.stream = 0 : i64, ge.send_events = array<i64: 1>}
  // NODES: ge.name = "recv"
  // NODES-NEXT: ge.send {{.*}}event_id 1 {ge.name = "main_Send_1", ge.stream = 0 : i64}
  %r = ge.recv event_id 0 {ge.name = "recv", ge.stream = 0 : i64} : !ge.control
  // CHECK: ge.name = "b", ge.stream = 2 : i64, ge.recv_events = array<i64: 1>, ge.starts_streams = array<i64: 2>}
  // NODES-NEXT: ge.recv event_id 1 {ge.name = "main_Recv_1", ge.stream = 2 : i64}
  %b = ge.op "MemcpyAsync" (%x, %r) attrs {_node_sqe_num = 1 : i64} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 2 : i64}
  %c = ge.op "MemcpyAsync" (%b) attrs {_node_sqe_num = 1 : i64} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "label", ge.stream = 2 : i64, ge.send_events = array<i64: 2>}
  ge.label_set label_index 0 {ge.name = "label", ge.stream = 0 : i64}
  // CHECK: ge.name = "d", ge.stream = 3 : i64, ge.recv_events = array<i64: 2>, ge.starts_streams = array<i64: 3>}
  %d = ge.op "MemcpyAsync" (%c) attrs {_node_sqe_num = 1 : i64} {ge.name = "d", ge.stream = 0 : i64} : tensor<2xf32>
}
