// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-color-events | filecheck %s

// Tests that the events of a ping-pong share one id, and that one that is open meanwhile has another.
// CHECK: ge.event_num = 2 : i64
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0, 1>}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.send_events = array<i64: 0>, ge.recv_events = array<i64: 0>}
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 0 : i64, ge.send_events = array<i64: 0>, ge.recv_events = array<i64: 0>}
  %c = ge.op "Relu" (%b) {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>}
  %d = ge.op "Relu" (%c) {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e", ge.stream = 2 : i64, ge.recv_events = array<i64: 1>}
  %e = ge.op "Relu" (%a) {ge.name = "e", ge.stream = 2 : i64} : tensor<2xf32>
}
