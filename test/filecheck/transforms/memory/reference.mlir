// RUN: ge-opt %s --split-input-file -p 'ge-plan-memory{mode=reference check=true}' | filecheck %s

// Tests a run without padding: 240 bytes each, the second input right behind the first, the concat on the first. The run
// feeds the model output, so all of it is zero copy.
// CHECK-LABEL: ge.graph @run
// CHECK-SAME: ge.zero_copy_size = 512 : i64, ge.peak_bytes = 0 : i64
ge.graph @run {
  // CHECK: ge.name = "a", ge.offsets = array<i64: 0>
  %a = ge.op "Foo" {ge.name = "a"} : tensor<60xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 240>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<60xf32>
  // CHECK: ge.name = "c", {{.*}}ge.offsets = array<i64: 0>
  %c = ge.concat "PhonyConcat" (%a, %b) {ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<120xf32>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that the run begins with its first input: g is made last but takes no memory that died after d began.
// CHECK-LABEL: ge.graph @cascade
ge.graph @cascade {
  // CHECK: ge.name = "a", ge.offsets = array<i64: 0>
  %a = ge.op "Foo" {ge.name = "a"} : tensor<480xf32>
  // CHECK: ge.name = "d", ge.offsets = array<i64: 2688>
  %d = ge.op "Foo" (%a) {ge.name = "d"} : tensor<160xf32>
  // CHECK: ge.name = "e", ge.offsets = array<i64: 3328>
  %e = ge.op "Foo" (%a) {ge.name = "e"} : tensor<160xf32>
  // CHECK: ge.name = "h", {{.*}}ge.offsets = array<i64: 2688>
  %h = ge.concat "PhonyConcat" (%d, %e) {ge.name = "h", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<320xf32>
  // CHECK: ge.name = "g", ge.offsets = array<i64: 2048>
  %g = ge.op "Foo" {ge.name = "g"} : tensor<160xf32>
  // CHECK: ge.name = "j", {{.*}}ge.offsets = array<i64: 2048>
  %j = ge.concat "PhonyConcat" (%g, %h) {ge.name = "j", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<480xf32>
  %k = ge.op "Foo" (%j) {ge.name = "k"} : tensor<60xf32>
  ge.net_output (%k) {ge.name = "out"}
}

// -----

// Tests that a model input may be cut by a split without task: the pieces are places in it.
// CHECK-LABEL: ge.graph @split
ge.graph @split {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 512>
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x60xf32>
  // CHECK: ge.name = "s", {{.*}}ge.offsets = array<i64: 512, 752>
  %s, %t = ge.split "PhonySplit" (%x) {ge.name = "s", ge.no_task, ge.no_padding_continuous_output, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<1x60xf32>, tensor<1x60xf32>
  %y = ge.op "Foo" (%s, %t) {ge.name = "y"} : tensor<60xf32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests padded runs: whole blocks side by side, inputs behind everything else.
// CHECK-LABEL: ge.graph @padded
ge.graph @padded {
  // CHECK: ge.name = "a", ge.offsets = array<i64: 1024>
  %a = ge.op "Foo" {ge.name = "a"} : tensor<60xf32>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<60xf32>
  // CHECK: ge.name = "h", ge.offsets = array<i64: 0, 512>
  %h, %i = ge.op "Hcom" (%a, %b) attrs {continuous_input = true, continuous_output = true} {ge.name = "h"} : tensor<60xf32>, tensor<60xf32>
  %k = ge.op "Foo" (%h, %i) {ge.name = "k"} : tensor<60xf32>
  ge.net_output (%k) {ge.name = "out"}
}

// -----

// Tests reuse across streams: c on stream 1 takes the bytes of a on stream 0 only since m, later than a's last reader r,
// is waited for before it.
// CHECK-LABEL: ge.graph @streams
ge.graph @streams {
  %x = ge.data index 0 {ge.name = "x"} : tensor<60xf32>
  // CHECK: ge.name = "a", {{.*}}ge.offsets = array<i64: 0>
  %a = ge.op "Foo" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<600xf32>
  %r = ge.op "Foo" (%a) {ge.name = "r", ge.stream = 0 : i64} : tensor<60xf32>
  %m = ge.op "Foo" (%r) {ge.name = "m", ge.stream = 0 : i64} : tensor<60xf32>
  %z = ge.op "Foo" (%r) {ge.name = "z", ge.stream = 1 : i64} : tensor<60xf32>
  %w = ge.op "Foo" (%m, %z) {ge.name = "w", ge.stream = 1 : i64} : tensor<60xf32>
  // CHECK: ge.name = "c", {{.*}}ge.offsets = array<i64: 0>
  %c = ge.op "Foo" (%w) {ge.name = "c", ge.stream = 1 : i64} : tensor<600xf32>
  %n = ge.op "Foo" (%m) {ge.name = "n", ge.stream = 0 : i64} : tensor<60xf32>
  %y = ge.op "Foo" (%c, %n) {ge.name = "y", ge.stream = 0 : i64} : tensor<60xf32>
  ge.net_output (%y) {ge.name = "out", ge.stream = 0 : i64}
}
