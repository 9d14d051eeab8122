// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-color-events | filecheck %s

// Tests that an id is used again behind its wait (c to d takes over from a to b), but not where the second wait could
// come first: stream 0 comes to its wait for b right behind a's record. The event to e is open meanwhile.
// CHECK: ge.event_num = 3 : i64
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0, 1>}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.send_events = array<i64: 2>, ge.recv_events = array<i64: 0>}
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 0 : i64, ge.send_events = array<i64: 0>, ge.recv_events = array<i64: 2>}
  %c = ge.op "Relu" (%b) {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>}
  %d = ge.op "Relu" (%c) {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e", ge.stream = 2 : i64, ge.recv_events = array<i64: 1>}
  %e = ge.op "Relu" (%a) {ge.name = "e", ge.stream = 2 : i64} : tensor<2xf32>
}
