// RUN: ge-opt %s -p 'ge-assign-streams{mode="schedule:2"}' --split-input-file --remarks=stream-schedule 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: ge-opt %s -p 'ge-assign-streams{mode="schedule:1"}' --split-input-file | filecheck %s --check-prefix=ONE
// ONE-LABEL: @branches
// ONE-NOT: ge.stream = 1
// ONE-LABEL: @chain

// Tests that two long branches run side by side, that the join goes on with the later one, and that a short third branch
// does not get a stream: N is 2.
// REMARK: ge_stream_schedule.mlir:[[# @LINE + 2]]:1: remark: [ge-stream-schedule] passed: 2 streams, 2 events: {{.*}} us, one stream {{.*}} us, lower bound {{.*}} us
// CHECK-LABEL: @branches
ge.graph @branches {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<16777216xf32>
  // CHECK: ge.name = "root"{{.*}}ge.stream = [[M:[01]]] : i64
  %r = ge.op "Relu" (%x) {ge.name = "root", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = [[M]] : i64
  %a = ge.op "Relu" (%r) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  // CHECK: ge.name = "b"{{.*}}ge.stream = 1 : i64
  %b = ge.op "Exp" (%r) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  // CHECK: ge.name = "join"
  %j = ge.op "Add" (%a, %b) {ge.name = "join", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  ge.net_output (%j) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that a chain stays on one stream, and so do branches that take less time than an event.
// REMARK: [ge-stream-schedule] passed: 1 streams, 0 events
// CHECK-LABEL: @chain
// CHECK-NOT: ge.stream = 1
ge.graph @chain {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  %r = ge.op "NoOp" (%a) {ge.name = "r", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %s = ge.op "NoOp" (%a) {ge.name = "s", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %b = ge.op "Add" (%r, %s) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%b) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that nodes with a label, and collectives that do not wait for each other, keep streams of their own.
// CHECK-LABEL: @own
ge.graph @own {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<16777216xf32>
  // CHECK: ge.name = "l"{{.*}}ge.stream = [[L:[0-9]]] : i64
  %l = ge.op "Relu" (%x) attrs {_stream_label = "l"} {ge.name = "l", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  // CHECK: ge.name = "c"{{.*}}ge.stream = [[C:[0-9]]] : i64
  %c = ge.op "HcomAllReduce" (%x) {ge.name = "c", ge.engine = "DNN_HCCL"} : tensor<16777216xf32>
  // CHECK: ge.name = "d"{{.*}}ge.stream = [[C]] : i64
  %d = ge.op "HcomAllReduce" (%x) {ge.name = "d", ge.engine = "DNN_HCCL"} : tensor<16777216xf32>
  // CHECK: ge.name = "m"{{.*}}ge.stream = [[L]] : i64
  %m = ge.op "Relu" (%l) attrs {_stream_label = "l"} {ge.name = "m", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  ge.net_output (%c, %d, %m) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
