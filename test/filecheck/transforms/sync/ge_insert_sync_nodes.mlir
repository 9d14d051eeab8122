// RUN: ge-opt %s -p ge-insert-sync-nodes | filecheck %s

// Tests the order around a node: receives in the order of the list right before it, sends right behind it, notifies
// last; and that the second use of an id has a name of its own.
// CHECK: ge.graph @main
ge.graph @main attributes {ge.event_num = 2 : i64, ge.notify_num = 1 : i64} {
  // CHECK-NEXT: %[[X:.*]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK-NEXT: %[[A:.*]], %[[DONE:.*]] = ge.op "Relu" (%[[X]]) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>, !ge.control
  // CHECK-NEXT: ge.send (%[[DONE]]) event_id 1 {ge.name = "main_Send_1", ge.stream = 0 : i64}
  // CHECK-NEXT: ge.send (%[[DONE]]) event_id 0 {ge.name = "main_Send_0", ge.stream = 0 : i64}
  // CHECK-NEXT: ge.send_notify (%[[DONE]]) notify_id 0 {ge.name = "main_Send_Notify_0", ge.stream = 0 : i64}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 1, 0>, ge.send_notifies = array<i64: 0>} : tensor<2xf32>
  // CHECK-NEXT: %[[R1:.*]] = ge.recv event_id 1 {ge.name = "main_Recv_1", ge.stream = 1 : i64} : !ge.control
  // CHECK-NEXT: %[[R0:.*]] = ge.recv event_id 0 {ge.name = "main_Recv_0", ge.stream = 1 : i64} : !ge.control
  // CHECK-NEXT: %[[RN:.*]] = ge.recv_notify notify_id 0 {ge.name = "main_Recv_Notify_0", ge.stream = 1 : i64} : !ge.control
  // CHECK-NEXT: %[[B:.*]], %[[NEXT:.*]] = ge.op "Relu" (%[[A]], %[[R1]], %[[R0]], %[[RN]]) {ge.name = "b", ge.stream = 1 : i64}
  // CHECK-NEXT: ge.send (%[[NEXT]]) event_id 0 {ge.name = "main_Send_0_Reuse_1", ge.stream = 1 : i64}
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 1, 0>, ge.recv_notifies = array<i64: 0>, ge.send_events = array<i64: 0>} : tensor<2xf32>
  // CHECK-NEXT: ge.recv event_id 0 {ge.name = "main_Recv_0_Reuse_1", ge.stream = 0 : i64}
  // CHECK-NEXT: ge.op "Relu"
  %c = ge.op "Relu" (%b) {ge.name = "c", ge.stream = 0 : i64, ge.recv_events = array<i64: 0>} : tensor<2xf32>
}
