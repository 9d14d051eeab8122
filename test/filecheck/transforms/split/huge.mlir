// RUN: ge-opt %s -p "ge-split-streams{max_tasks=29 max_huge_tasks=30 single_stream=true}" | filecheck %s
// RUN: ge-opt %s -p "ge-split-streams{max_tasks=29 max_huge_tasks=0 single_stream=true}" | filecheck %s --check-prefix=NONE

// Tests that a single stream becomes huge before it is cut, and that it is cut where there are no huge streams.
// CHECK: ge.graph @main attributes {ge.stream_num = 1 : i64, ge.huge_streams = array<i64: 0>}
// NONE: ge.graph @main attributes {ge.stream_num = 2 : i64, ge.event_num = 1 : i64, ge.split_streams = "1:0"}
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "MemcpyAsync" (%x) attrs {_node_sqe_num = 1 : i64} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  %b = ge.op "MemcpyAsync" (%a) attrs {_node_sqe_num = 1 : i64} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  %c = ge.op "MemcpyAsync" (%b) attrs {_node_sqe_num = 1 : i64} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
}
