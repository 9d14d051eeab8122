// RUN: ge-opt %s -p 'ge-plan-memory{check=true}' | filecheck %s

// Tests the default mode on a graph without streams: the concat without task is its inputs' bytes, and memory is given
// on. 64 floats are 256 bytes, stored as 288, one block of 512; the run of two is 512 bytes, stored as 544, two blocks.
// CHECK-LABEL: ge.graph @run
// CHECK-SAME: ge.arenas = {hbm = 3072 : i64, weight = 0 : i64}
// CHECK-SAME: ge.zero_copy_size = 1536 : i64, ge.peak_bytes = 1536 : i64, ge.lower_bound_bytes = 1536 : i64
ge.graph @run {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 2560>
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "h", ge.offsets = array<i64: 0>
  %h = ge.op "Relu" (%x) {ge.name = "h"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets = array<i64: 512>
  %a = ge.op "Relu" (%h) {ge.name = "a"} : tensor<64xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 768>
  %b = ge.op "Neg" (%h) {ge.name = "b"} : tensor<64xf32>
  // CHECK: ge.name = "c", {{.*}}ge.offsets = array<i64: 512>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<128xf32>
  // CHECK: ge.name = "y", ge.offsets = array<i64: 1536>
  %y = ge.op "Abs" (%c) {ge.name = "y"} : tensor<128xf32>
  ge.net_output (%y) {ge.name = "out"}
}
