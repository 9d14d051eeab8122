// RUN: ge-opt %s --split-input-file -p ge-insert-events | filecheck %s
// RUN: ge-opt %s --split-input-file -p "ge-insert-events{kind=notify}" | filecheck %s --check-prefix=NOTIFY

// Tests that every data and control edge between streams has an event of its own, that edges on one stream have none,
// and that what has no stream orders nothing.
// CHECK: ge.event_num = 3 : i64
// NOTIFY: ge.notify_num = 3 : i64
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0, 1, 2>}
  // NOTIFY: ge.name = "a", ge.stream = 0 : i64, ge.send_notifies = array<i64: 0, 1, 2>}
  %a, %a_ctl = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>, !ge.control
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 0, 1>}
  // NOTIFY: ge.name = "b", ge.stream = 1 : i64, ge.recv_notifies = array<i64: 0, 1>}
  %b = ge.op "Add" (%a, %a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 2 : i64, ge.recv_events = array<i64: 2>}
  %c = ge.op "Relu" (%x, %a_ctl) {ge.name = "c", ge.stream = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 1 : i64}
  %d = ge.op "Relu" (%b) {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests the borders of a sub-graph: a node without inputs waits for what feeds the owner, what follows the owner waits
// for the end of the sub-graph; and that Enter sends to nothing but activations.
// CHECK: ge.event_num = 2 : i64
ge.graph @borders attributes {ge.stream_num = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  %i = ge.op "Case" (%a) subgraphs [@branch] {ge.name = "case", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "after", ge.stream = 0 : i64, ge.recv_events = array<i64: 1>}
  %o = ge.op "Relu" (%i) {ge.name = "after", ge.stream = 0 : i64} : tensor<2xf32>
  %e = ge.op "Enter" (%x) {ge.name = "enter", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "loop", ge.stream = 2 : i64}
  %l = ge.op "Relu" (%e) {ge.name = "loop", ge.stream = 2 : i64} : tensor<2xf32>
}

ge.graph @branch {
  // CHECK: ge.name = "first", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>}
  %f = ge.op "Source" {ge.name = "first", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "last", ge.stream = 1 : i64, ge.send_events = array<i64: 1>}
  %l = ge.op "Relu" (%f) attrs {_subgraph_end_node = true} {ge.name = "last", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that the activation of a label orders what stands before it on its stream: b needs no event, c does.
// CHECK: ge.event_num = 1 : i64
ge.graph @activated attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  ge.stream_active attrs {_active_label_list = ["L"]} {ge.name = "start", ge.stream = 0 : i64}
  // CHECK: ge.name = "late", ge.stream = 0 : i64, ge.send_events = array<i64: 0>}
  %l = ge.op "Relu" (%x) {ge.name = "late", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64}
  %b = ge.op "Relu" (%a) attrs {_stream_label = "L"} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>}
  %c = ge.op "Relu" (%l) attrs {_stream_label = "L"} {ge.name = "c", ge.stream = 1 : i64} : tensor<2xf32>
}
