// RUN: ge-opt %s -p ge-stream-dynamic-refresh | filecheck %s

// Tests that engines are numbered by strength and labels behind them, that an engine without nodes loses its number,
// and that inputs, outputs, constants and owners of graphs go to the main stream.
// CHECK: ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 3 : i64}
ge.graph @main attributes {ge.unknown_shape, ge.engine_streams = {DNN_VM_AICPU = 0 : i64, DSAEngine = 1 : i64, AIcoreEngine = 2 : i64}, ge.label_streams = {l = 3 : i64}} {
  // CHECK: {ge.name = "x", ge.stream = 0 : i64}
  %x = ge.data index 0 {ge.name = "x", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "cpu", ge.stream = 1 : i64}
  %cpu = ge.op "GetNext" () {ge.name = "cpu", ge.stream = 0 : i64, ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "core", ge.stream = 0 : i64}
  %core = ge.op "Relu" (%cpu) {ge.name = "core", ge.stream = 2 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "label", ge.stream = 2 : i64}
  %label = ge.op "Relu" (%cpu) {ge.name = "label", ge.stream = 3 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "view", ge.stream = 0 : i64}
  %view = ge.op "View" (%cpu) {ge.name = "view"} : tensor<2xf32>
  // CHECK: {ge.name = "if", ge.stream = 0 : i64}
  %if = ge.op "Owner" (%cpu) subgraphs [@gone] {ge.name = "if", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "const", ge.stream = 0 : i64}
  %const = ge.op "Made" (%cpu) attrs {_is_potential_const = true} {ge.name = "const", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "out", ge.stream = 0 : i64}
  ge.net_output (%label) {ge.name = "out", ge.stream = 3 : i64}
}
