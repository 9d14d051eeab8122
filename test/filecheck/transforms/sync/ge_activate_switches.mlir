// RUN: ge-opt %s -p ge-activate-streams,ge-activate-switches | filecheck %s

// Tests that a label of two streams gets a StreamActive on a stream of its own, behind which its nodes are hung, and
// that a switch with a label of one stream stays as it is.
// CHECK: ge.graph @main attributes {ge.stream_num = 4 : i64, ge.specific_streams = array<i64: 0, 1, 2, 3>}
ge.graph @main attributes {ge.stream_num = 3 : i64} {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  // CHECK: %[[S:.*]] = ge.stream_switch {{.*}}active_stream_list [3] switch_condition 0 attrs {_active_label_list = ["s_StreamActive_0"]}
  // CHECK-NEXT: %[[A:.*]] = ge.stream_active (%[[S]]) active_stream_list [1, 2] attrs {_switch_branch_node_label = "s_StreamActive_0", _stream_label = "s_StreamActive_0", _active_label_list = ["L"]} {ge.name = "s_StreamActive_0", ge.stream = 3 : i64}
  %s = ge.stream_switch (%p, %p) switch_condition 0 attrs {_active_label_list = ["L"]} {ge.name = "s", ge.stream = 0 : i64} : !ge.control
  // CHECK: ge.op "Source" (%[[A]]) {{.*}}ge.name = "a"
  %a = ge.op "Source" (%s) attrs {_stream_label = "L"} {ge.name = "a", ge.stream = 1 : i64} : tensor<1xi32>
  // CHECK: ge.op "Source" (%[[A]]) {{.*}}ge.name = "b"
  %b = ge.op "Source" (%s) attrs {_stream_label = "L"} {ge.name = "b", ge.stream = 2 : i64} : tensor<1xi32>
  // CHECK: ge.op "Source" (%[[S]]) {ge.name = "other"
  %c = ge.op "Source" (%s) {ge.name = "other", ge.stream = 0 : i64} : tensor<1xi32>
  // CHECK: ge.stream_switch {{.*}}active_stream_list [0] switch_condition 1 attrs {_active_label_list = ["one"]}
  %t = ge.stream_switch (%p, %p) switch_condition 1 attrs {_active_label_list = ["one"]} {ge.name = "t", ge.stream = 1 : i64} : !ge.control
  %d = ge.op "Source" (%t) attrs {_stream_label = "one"} {ge.name = "d", ge.stream = 0 : i64} : tensor<1xi32>
}
