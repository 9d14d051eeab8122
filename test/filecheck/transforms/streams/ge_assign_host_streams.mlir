// RUN: ge-opt %s -p ge-assign-host-streams{dynamic=true} --split-input-file | filecheck %s
// RUN: ge-opt %s -p 'ge-assign-host-streams{mode="LoadBalance:4"},ge-assign-streams{mode=multi},ge-insert-events' --split-input-file --remarks=host-streams 2>%t.err | filecheck %s --check-prefix=ONE
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: not ge-opt %s -p 'ge-assign-host-streams{mode="LoadBalance:65"}' --split-input-file 2>&1 | filecheck %s --check-prefix=BAD

// BAD: error: {{.*}}LoadBalance:65': the number of streams is from 1 to 64
// REMARK: remark: [ge-assign-host-streams] missed: the host drives this model on one stream (no dynamic-streams); mode LoadBalance:4 is for known shapes
// REMARK-NOT: ge-assign-host-streams

// Tests that a model of unknown shape has the streams and events of GE's dynamic allocation when it is asked for, in the
// graphs of its branches too, and else one stream, which passes for task lists leave alone.
// CHECK-LABEL: @dynamic
// CHECK-SAME: ge.unknown_shape = true, ge.stream_num = 2 : i64, ge.event_num = 1 : i64, ge.host_streams = true
// CHECK: "GetNext"{{.*}}_send_event_ids = array<i64: 0>{{.*}}ge.stream = 1 : i64
// CHECK: "Relu"{{.*}}_recv_event_ids = array<i64: 0>{{.*}}ge.stream = 0 : i64
// CHECK-LABEL: ge.graph @below
// CHECK-SAME: ge.unknown_shape = true
// ONE-LABEL: @dynamic
// ONE-NOT: event_ids
// ONE-NOT: ge.send_events
// ONE: "GetNext"{{.*}}ge.stream = 0 : i64
// ONE: "Relu"{{.*}}ge.stream = 0 : i64
// ONE-LABEL: ge.graph @below
ge.graph @dynamic {
  %c = ge.data index 0 {ge.name = "c", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<i1>
  %a = ge.op "GetNext" () {ge.name = "a", ge.engine = "DNN_VM_AICPU"} : tensor<?xf32>
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<?xf32>
  %d = ge.op "PartitionedCall" (%b) subgraphs [@below] {ge.name = "d", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<?xf32>
  ge.net_output (%d) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
ge.graph @below {
  %x = ge.data index 0 {ge.name = "bx", ge.engine = "DNN_VM_GE_LOCAL", ge.parent_node_index = 0 : i64} : tensor<?xf32>
  %e = ge.op "Exp" (%x) {ge.name = "e", ge.engine = "AIcoreEngine"} : tensor<?xf32>
  ge.net_output (%e) {ge.name = "bout", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that a model of known shape is left to ge-assign-streams.
// CHECK-LABEL: @known
// CHECK-NOT: ge.stream
// ONE-LABEL: @known
// ONE-NOT: ge.host_streams
ge.graph @known {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
