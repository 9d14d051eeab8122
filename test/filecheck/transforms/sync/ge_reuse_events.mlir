// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-reuse-events | filecheck %s
// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,"ge-reuse-events{threshold=1}" | filecheck %s --check-prefix=MULTI

// Tests that the branches of a gear share ids 0 and 1 and that the event outside has the next. Above the threshold
// the node "u" puts its event to "v" on the id that it asks for, here one of its own.
// CHECK: ge.event_num = 3 : i64
// MULTI: ge.event_num = 3 : i64
ge.graph @main attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %g = ge.op "Case" (%x) attrs {_batch_num = 2 : i64} subgraphs [@small, @large] {ge.name = "case", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "u", ge.stream = 0 : i64, ge.send_events = array<i64: 2>}
  // MULTI: ge.name = "u", ge.stream = 0 : i64, ge.send_events = array<i64: 2>}
  %u = ge.op "Relu" (%x) attrs {_event_multiplexing = ["SendTo;v;0"]} {ge.name = "u", ge.stream = 0 : i64} : tensor<2xf32>
  %v = ge.op "Relu" (%u) {ge.name = "v", ge.stream = 1 : i64} : tensor<2xf32>
}

ge.graph @small {
  %x = ge.data {ge.name = "sx", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "sa", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "Relu" (%x) {ge.name = "sa", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "sb", ge.stream = 1 : i64, ge.send_events = array<i64: 1>, ge.recv_events = array<i64: 0>}
  %b = ge.op "Relu" (%a) {ge.name = "sb", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "sc", ge.stream = 0 : i64, ge.recv_events = array<i64: 1>}
  %c = ge.op "Relu" (%b) {ge.name = "sc", ge.stream = 0 : i64} : tensor<2xf32>
}

ge.graph @large {
  %x = ge.data {ge.name = "lx", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "la", ge.stream = 1 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "Relu" (%x) {ge.name = "la", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "lb", ge.stream = 0 : i64, ge.recv_events = array<i64: 0>}
  %b = ge.op "Relu" (%a) {ge.name = "lb", ge.stream = 0 : i64} : tensor<2xf32>
}
