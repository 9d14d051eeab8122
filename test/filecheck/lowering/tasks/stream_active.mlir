// RUN: ge-opt %s -p convert-ge-to-ge-task | filecheck %s

// Tests that a StreamActive makes one task a stream, and that the head of a branch says so in each of them.
// CHECK: ge_task.model @main
ge.graph @main attributes {ge.stream_num = 4 : i64} {
  // CHECK: ge_task.stream_active 1 stream 0 {{.*}}payload {_switch_branch_node_label = "b"} {ge.name = "b"}
  // CHECK-NEXT: ge_task.stream_active 2 stream 0 {{.*}}payload {_switch_branch_node_label = "b"} {ge.name = "b"}
  ge.stream_active active_stream_list [1, 2] attrs {_switch_branch_node_label = "b"} {ge.name = "b", ge.stream = 0 : i64}
  // CHECK-NEXT: ge_task.stream_active 3 stream 0
  // CHECK-NOT: payload
  ge.stream_active active_stream_list [3] {ge.name = "c", ge.stream = 0 : i64}
}
