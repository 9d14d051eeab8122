// RUN: ge-opt %s --split-input-file -p ge-insert-events,ge-optimize-events | filecheck %s

// Tests that a stream waits for a node once, at its first reader, and that a node waits for a stream once, for the last
// node that it reads; the implied way from a to d over stream 1 is not looked for.
// CHECK: ge.event_num = 3 : i64
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 0 : i64, ge.send_events = array<i64: 1>}
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 1 : i64, ge.send_events = array<i64: 2>, ge.recv_events = array<i64: 0>}
  %c = ge.op "Relu" (%a) {ge.name = "c", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c2", ge.stream = 1 : i64}
  %c2 = ge.op "Relu" (%a) {ge.name = "c2", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 2 : i64, ge.recv_events = array<i64: 1, 2>}
  %d = ge.op "Concat3" (%a, %b, %c) {ge.name = "d", ge.stream = 2 : i64} : tensor<2xf32>
}

// -----

// Tests that numbers follow the names of the senders, not their order, and that a switch sends nothing.
// CHECK: ge.event_num = 2 : i64
ge.graph @names attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1xi32>
  // CHECK: ge.name = "z", ge.stream = 0 : i64, ge.send_events = array<i64: 1>}
  %z = ge.op "Relu" (%x) {ge.name = "z", ge.stream = 0 : i64} : tensor<1xi32>
  // CHECK: ge.name = "y", ge.stream = 1 : i64, ge.send_events = array<i64: 0>, ge.recv_events = array<i64: 1>}
  %y = ge.op "Relu" (%z) {ge.name = "y", ge.stream = 1 : i64} : tensor<1xi32>
  // CHECK: ge.name = "switch", ge.stream = 0 : i64, ge.recv_events = array<i64: 0>}
  %s = ge.stream_switch (%y, %z) active_stream_list [2] switch_condition 0 {ge.name = "switch", ge.stream = 0 : i64} : !ge.control
  // CHECK: ge.name = "taken", ge.stream = 2 : i64}
  %t = ge.op "Source" (%s) {ge.name = "taken", ge.stream = 2 : i64} : tensor<1xi32>
}

// -----

// Tests that an event is dropped when the receiver's stream is only started behind the sender: "go" starts stream 1 and
// stands behind "a" on stream 0, so b has nothing to wait for. The event of "side", on another stream, stays
// (as does the one that "go" waits for).
// CHECK: ge.event_num = 2 : i64
ge.graph @started attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  %p, %p_ctl = ge.op "Relu" (%a) {ge.name = "p", ge.stream = 0 : i64} : tensor<2xf32>, !ge.control
  // CHECK: ge.name = "side", ge.stream = 2 : i64, ge.send_events = array<i64: 1>}
  %s = ge.op "Relu" (%x) {ge.name = "side", ge.stream = 2 : i64} : tensor<2xf32>
  ge.stream_active (%p_ctl) attrs {_active_label_list = ["L"], _stream_label = "K"} {ge.name = "go", ge.stream = 3 : i64}
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 1>}
  %b = ge.op "Add" (%a, %s) attrs {_stream_label = "L"} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
}
