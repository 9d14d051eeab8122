// RUN: ge-opt %s -p ge-activate-streams | filecheck %s

// Tests that a label's streams go to the node that lists the label, once each and ascending, that the head of a
// sub-graph starts the other streams of its unlabelled nodes, and that each node keeps its logical stream.
// CHECK: ge.graph @main attributes {ge.stream_num = 6 : i64, ge.specific_streams = array<i64: 1, 2, 5>}
ge.graph @main attributes {ge.stream_num = 6 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.stream_active active_stream_list [1, 2] attrs {_active_label_list = ["then"]}
  // CHECK-SAME: ge.name = "start", ge.stream = 0 : i64, ge.logic_stream = 0 : i64
  ge.stream_active attrs {_active_label_list = ["then"]} {ge.name = "start", ge.stream = 0 : i64}
  %a = ge.op "Relu" (%x) attrs {_stream_label = "then"} {ge.name = "a", ge.stream = 2 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%x) attrs {_stream_label = "then"} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "case", ge.stream = 0 : i64, ge.logic_stream = 0 : i64}
  %c = ge.op "Case" (%a) subgraphs [@body] {ge.name = "case", ge.stream = 0 : i64} : tensor<2xf32>
}

// CHECK: ge.graph @body
ge.graph @body {
  // CHECK: ge.stream_active active_stream_list [5] attrs {subgraph_first_active = true} {ge.name = "head", ge.stream = 4
  ge.stream_active attrs {subgraph_first_active = true} {ge.name = "head", ge.stream = 4 : i64}
  %x = ge.data {ge.name = "bx", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "ba", ge.stream = 5 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%a) {ge.name = "bb", ge.stream = 4 : i64} : tensor<2xf32>
  // Tests that a labelled node's stream is left to its label.
  %c = ge.op "Relu" (%a) attrs {_stream_label = "other"} {ge.name = "bc", ge.stream = 3 : i64} : tensor<2xf32>
}
