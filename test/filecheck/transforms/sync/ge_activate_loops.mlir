// RUN: ge-opt %s -p ge-activate-streams,ge-activate-loops | filecheck %s

// Tests that the end of the loop starts every stream that nothing else starts, and that the loop's switch waits for the
// last node of each of them that has no switch itself.
// CHECK: ge.graph @main attributes {ge.stream_num = 4 : i64, ge.specific_streams = array<i64: 3>, ge.event_num = 1 : i64}
ge.graph @main attributes {ge.stream_num = 4 : i64} {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  // CHECK: ge.name = "a", ge.stream = 1 : i64, ge.logic_stream = 1 : i64}
  %a = ge.op "Relu" (%p) {ge.name = "a", ge.stream = 1 : i64} : tensor<1xi32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64, ge.logic_stream = 1 : i64, ge.send_events = array<i64: 0>}
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<1xi32>
  // CHECK: ge.stream_switch {{.*}}ge.name = "s", {{.*}}ge.recv_events = array<i64: 0>}
  %s = ge.stream_switch (%p, %p) switch_condition 4 attrs {_active_label_list = ["again"]} {ge.name = "s", ge.stream = 2 : i64} : !ge.control
  // CHECK: ge.stream_active (%{{.*}}) active_stream_list [0, 1, 2] attrs {is_loop_active = true, _stream_label = "again"}
  ge.stream_active (%s) attrs {is_loop_active = true, _stream_label = "again"} {ge.name = "end", ge.stream = 3 : i64}
}
