// RUN: ge-opt %s --split-input-file -p 'ge-plan-memory{check=true}' | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-plan-memory{check=true}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Tests the default mode on a graph without streams: the concat without task is its inputs' bytes, and memory is given
// on. 64 floats are 256 bytes, stored as 288, one block of 512; the run of two is 512 bytes, stored as 544, two blocks. b
// is written over h, which thereby gets the place in the run.
// REMARK: remark: [ge-plan-memory] analysis: peak 1024 bytes, lower bound 1024 (max live), ratio 1.000, placed by size; without writing in place at least 1536
// CHECK-LABEL: ge.graph @run
// CHECK-SAME: ge.arenas = {hbm = 2560 : i64, weight = 0 : i64}
// CHECK-SAME: ge.zero_copy_size = 1536 : i64, ge.peak_bytes = 1024 : i64, ge.lower_bound_bytes = 1024 : i64
ge.graph @run {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 2048>
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "h", ge.offsets = array<i64: 256>
  %h = ge.op "Relu" (%x) {ge.name = "h"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets = array<i64: 0>
  %a = ge.op "Relu" (%h) {ge.name = "a"} : tensor<64xf32>
  // CHECK: ge.name = "b", {{.*}}ge.offsets = array<i64: 256>
  %b = ge.op "Neg" (%h) {ge.name = "b"} : tensor<64xf32>
  // CHECK: ge.name = "c", {{.*}}ge.offsets = array<i64: 0>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<128xf32>
  // CHECK: ge.name = "y", ge.offsets = array<i64: 1024>
  %y = ge.op "Abs" (%c) {ge.name = "y"} : tensor<128xf32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests that the second half of a run is free until it is written: t takes the bytes that b gets later.
// CHECK-LABEL: ge.graph @half
// CHECK-SAME: ge.peak_bytes = 5632 : i64, ge.lower_bound_bytes = 5632 : i64
ge.graph @half {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets = array<i64: 0>
  %a = ge.op "Foo" (%x) {ge.name = "a"} : tensor<640xf32>
  // CHECK: ge.name = "t", ge.offsets = array<i64: 2560>
  %t = ge.op "Foo" (%x) {ge.name = "t"} : tensor<500xf32>
  // CHECK: ge.name = "u", ge.offsets = array<i64: 5120>
  %u = ge.op "Foo" (%t) {ge.name = "u"} : tensor<64xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 2560>
  %b = ge.op "Foo" (%u) {ge.name = "b"} : tensor<576xf32>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<1216xf32>
  %y = ge.op "Foo" (%c) {ge.name = "y"} : tensor<64xf32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests writing in place: b on a, d on c as b is read again, e on b; not on a model input, not on what is read later, and
// not by an operator that is not in the table.
// REMARK: ratio 1.000, {{.*}} without writing in place at least
// CHECK-LABEL: ge.graph @in_place
ge.graph @in_place {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<64xf32>
  // CHECK: ge.name = "b", ge.res_attrs = [{reuse_input = 0 : i64, in_place}]
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<64xf32>
  // CHECK: ge.name = "c", ge.offsets
  %c = ge.op "Relu" (%b) {ge.name = "c"} : tensor<64xf32>
  // CHECK: ge.name = "d", ge.res_attrs = [{reuse_input = 1 : i64, in_place}]
  %d = ge.op "Add" (%b, %c) {ge.name = "d"} : tensor<64xf32>
  // CHECK: ge.name = "e", ge.res_attrs = [{reuse_input = 0 : i64, in_place}]
  %e = ge.op "Add" (%b, %d) {ge.name = "e"} : tensor<64xf32>
  // CHECK: ge.name = "f", ge.offsets
  %f = ge.op "Foo" (%e) {ge.name = "f"} : tensor<64xf32>
  ge.net_output (%f) {ge.name = "out"}
}

// -----

// Tests graphs with merges: streams may run never or again, so GE's assigner plans them and nothing is written in place.
// REMARK: placed by binary-block
// CHECK-LABEL: ge.graph @merge
ge.graph @merge {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  %a = ge.op "Foo" (%x) {ge.name = "a"} : tensor<64xf32>
  %b = ge.op "Foo" (%x) {ge.name = "b"} : tensor<64xf32>
  %m = ge.op "StreamMerge" (%a, %b) {ge.name = "m"} : tensor<64xf32>
  // CHECK: ge.name = "c", ge.offsets
  %c = ge.op "Relu" (%m) {ge.name = "c"} : tensor<64xf32>
  ge.net_output (%c) {ge.name = "out"}
}
