// RUN: ge-opt %s --split-input-file -p "ge-activate-streams,ge-split-streams{max_tasks=29},ge-update-active-streams" | filecheck %s

// Tests that the node which starts stream 1 starts its piece too, and that a label that has two streams now gets a
// StreamActive at its switch.
// CHECK: ge.stream_num = 4 : i64, ge.specific_streams = array<i64: 1, 2, 3>, ge.event_num = 1 : i64, ge.split_streams = "2:1"
ge.graph @main attributes {ge.stream_num = 2 : i64} {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  // CHECK: ge.stream_active active_stream_list [1, 2] attrs {_active_label_list = ["L"]}
  ge.stream_active attrs {_active_label_list = ["L"]} {ge.name = "start", ge.stream = 0 : i64}
  // CHECK: ge.stream_switch {{.*}}active_stream_list [3]
  // CHECK-NEXT: ge.stream_active {{.*}}active_stream_list [1, 2] {{.*}}ge.name = "s_StreamActive_0", ge.stream = 3 : i64}
  %s = ge.stream_switch (%p, %p) switch_condition 0 attrs {_active_label_list = ["L"]} {ge.name = "s", ge.stream = 0 : i64} : !ge.control
  %a = ge.op "MemcpyAsync" (%p, %s) attrs {_node_sqe_num = 1 : i64, _stream_label = "L"} {ge.name = "a", ge.stream = 1 : i64} : tensor<1xi32>
  %b = ge.op "MemcpyAsync" (%a) attrs {_node_sqe_num = 1 : i64, _stream_label = "L"} {ge.name = "b", ge.stream = 1 : i64} : tensor<1xi32>
  // CHECK: ge.name = "c", ge.stream = 2 : i64
  %c = ge.op "MemcpyAsync" (%b) attrs {_node_sqe_num = 1 : i64, _stream_label = "L"} {ge.name = "c", ge.stream = 1 : i64} : tensor<1xi32>
}

// -----

// Tests that the head of a sub-graph starts a piece of its own stream's neighbour that begins in the sub-graph.
// CHECK: ge.graph @outer
ge.graph @outer attributes {ge.stream_num = 3 : i64} {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  %c = ge.op "Case" (%p) subgraphs [@body] {ge.name = "case", ge.stream = 0 : i64} : tensor<1xi32>
}

ge.graph @body {
  // CHECK: ge.stream_active active_stream_list [2, 3] attrs {subgraph_first_active = true}
  ge.stream_active attrs {subgraph_first_active = true} {ge.name = "head", ge.stream = 1 : i64}
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<1xi32>
  %a = ge.op "MemcpyAsync" (%x) attrs {_node_sqe_num = 2 : i64} {ge.name = "a", ge.stream = 2 : i64} : tensor<1xi32>
  // CHECK: ge.name = "b", ge.stream = 3 : i64
  %b = ge.op "MemcpyAsync" (%a) attrs {_node_sqe_num = 1 : i64} {ge.name = "b", ge.stream = 2 : i64} : tensor<1xi32>
}
