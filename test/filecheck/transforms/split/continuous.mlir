// RUN: ge-opt %s --split-input-file -p "ge-split-streams{max_tasks=30}" | filecheck %s
// RUN: not ge-opt %s --split-input-file -p "ge-split-streams{max_tasks=29}" 2>&1 | filecheck %s --check-prefix=FULL

// Tests that b, c and d, which belong together, move to the next piece together when d does not fit.
// CHECK: ge.split_streams = "1:0"
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "MemcpyAsync" (%x) attrs {_node_sqe_num = 1 : i64} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>}
  %b = ge.op "MemcpyAsync" (%a) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 1 : i64}
  %c = ge.op "MemcpyAsync" (%b) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 1 : i64, ge.starts_streams = array<i64: 1>}
  %d = ge.op "MemcpyAsync" (%c) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "d", ge.stream = 0 : i64} : tensor<2xf32>
}

// -----

// Tests that nodes which fill a stream from its start cannot be kept together.
ge.graph @full attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %b = ge.op "MemcpyAsync" (%x) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  %c = ge.op "MemcpyAsync" (%b) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // FULL: error: node "d" cannot be split from the nodes of _continuous_stream_label 'k', which fill its stream
  %d = ge.op "MemcpyAsync" (%c) attrs {_node_sqe_num = 1 : i64, _continuous_stream_label = "k"} {ge.name = "d", ge.stream = 0 : i64} : tensor<2xf32>
}
