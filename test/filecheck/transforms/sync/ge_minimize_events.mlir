// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-minimize-events --remarks 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err

// Tests that d does not wait for a: c does, and d waits for c.
// REMARK: remark: [ge-minimize-events] passed: 1 events dropped, 2 left
// CHECK: ge.event_num = 2 : i64
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 1 : i64, ge.send_events = array<i64: 1>, ge.recv_events = array<i64: 0>}
  %c = ge.op "Relu" (%a) {ge.name = "c", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 2 : i64, ge.recv_events = array<i64: 1>}
  %d = ge.op "Add" (%a, %c) {ge.name = "d", ge.stream = 2 : i64} : tensor<2xf32>
}
