// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-minimize-events --remarks 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: ge-opt %s -p ge-insert-events,ge-optimize-events,ge-minimize-events --remarks=json 2>&1 >%t.out | filecheck %s --check-prefix=JSON

// Tests that d does not wait for a: c does, and d waits for c.
// REMARK: remark: [ge-minimize-events] passed: 1 events dropped, 2 left
// REMARK: mlir:[[# @LINE + 11]]:3: remark: [ge-minimize-events] analysis: without the event from "a" (stream 0) to "c" (stream 1) the two are not ordered: of stream 0 none of its nodes is known to be done
// REMARK: mlir:[[# @LINE + 12]]:3: remark: [ge-minimize-events] analysis: "d" waits for "a" by its event from "c"
// REMARK: mlir:[[# @LINE + 11]]:3: remark: [ge-minimize-events] analysis: without the event from "c" (stream 1) to "d" (stream 2) the two are not ordered
// JSON: "args": {"kept": true, "known": null, "sender": "a", "sender_stream": 0, "receiver": "c", "receiver_stream": 1}
// JSON: "args": {"kept": false, "by": "event", "through": "c", "sender": "a", "sender_stream": 0, "receiver": "d", "receiver_stream": 2}
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
