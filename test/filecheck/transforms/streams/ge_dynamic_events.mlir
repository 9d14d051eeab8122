// RUN: ge-opt %s -p ge-dynamic-events --split-input-file --verify-diagnostics | filecheck %s

// Tests that edges between streams have events, that a second wait for the same node and an earlier send to the same
// one are dropped, and that numbers go by the names of the senders.
// CHECK: ge.graph @main attributes {ge.unknown_shape, ge.event_num = 2 : i64}
ge.graph @main attributes {ge.unknown_shape} {
  // CHECK: attrs {_send_event_ids = array<i64: 1>} {ge.name = "z"
  %z = ge.op "GetNext" () {ge.name = "z", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: attrs {_recv_event_ids = array<i64: 1>} {ge.name = "a"
  %a = ge.op "Relu" (%z) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: attrs {_send_event_ids = array<i64: 0>} {ge.name = "b"
  %b = ge.op "Relu" (%z) {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: attrs {_recv_event_ids = array<i64: 0>} {ge.name = "c"
  %c = ge.op "HcomAllReduce" (%a, %b) {ge.name = "c", ge.stream = 2 : i64} : tensor<2xf32>
}

// -----

// Tests that every node on an edge between streams has a stream.
// CHECK: error: node "b" has no stream
ge.graph @main attributes {ge.unknown_shape} {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<2xf32>
}
