// RUN: ge-opt %s -p convert-ge-to-ge-task | filecheck %s

// Tests that the copy of a StreamMerge tells where all inputs lie: it copies input 0 alone.
// CHECK: ge_task.model @main
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 1024>} : tensor<4xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 0>} : tensor<4xf32>
  %b = ge.op "Abs" (%x) {ge.name = "b", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 512>} : tensor<4xf32>
  // CHECK: ge_task.memcpy_async(%a) -> (%m) count 16 type "StreamMerge" stream 0 op 3 payload {input_i = array<i64: 0, 512>} {ge.name = "m"}
  %m = ge.op "StreamMerge" (%a, %b) {ge.name = "m", ge.stream = 0 : i64, ge.offsets = array<i64: 2048>} : tensor<4xf32>
  // CHECK: ge_task.memcpy_async(%a) -> (%n) count 16 type "StreamMerge" stream 0 op 4 {ge.name = "n"}
  %n = ge.op "StreamMerge" (%a) {ge.name = "n", ge.stream = 0 : i64, ge.offsets = array<i64: 2560>} : tensor<4xf32>
  ge.net_output (%m) {ge.name = "out", ge.stream = 0 : i64}
}
