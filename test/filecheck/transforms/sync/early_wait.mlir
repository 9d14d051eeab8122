// RUN: not ge-opt %s -p ge-verify-sync 2>&1 | filecheck %s

// Tests that an id cannot be used again where the second wait may come before the first: stream 0 could take its own
// record of event 0 instead of b's.
ge.graph @main attributes {ge.stream_num = 2 : i64, ge.event_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a, %a_done = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>, !ge.control
  ge.send (%a_done) event_id 0 {ge.name = "send_0", ge.stream = 0 : i64}
  %r = ge.recv event_id 0 {ge.name = "recv_0", ge.stream = 1 : i64} : !ge.control
  %b, %b_done = ge.op "Relu" (%a, %r) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>, !ge.control
  ge.send (%b_done) event_id 0 {ge.name = "send_1", ge.stream = 1 : i64}
  // CHECK: early_wait.mlir:13:{{.*}}: error: "recv_1" (stream 0) may start before "recv_0" (stream 1) is done
  %s = ge.recv event_id 0 {ge.name = "recv_1", ge.stream = 0 : i64} : !ge.control
  %c = ge.op "Relu" (%b, %s) {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
}
