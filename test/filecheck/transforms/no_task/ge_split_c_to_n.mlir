// The checks of the second rule of ge-split-no-task that the first lacks: a node that it refuses, and one that it lets pass.
// Types are made up where a check asks for what operators never give, hence --semantics=off.
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=off -p 'ge-split-no-task{rules=c-to-n}' | filecheck %s

// Tests that the second rule is about axis 1.
// CHECK-LABEL: ge.graph @dim_missed
ge.graph @dim_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x32x4x4xf16, #ge.desc<NCHW>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_dim_not_one: origin axis 0 of rank 4}}
  %s, %t = ge.split (%x) split_dim 0 {ge.name = "s"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>, tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
}

// -----

// Tests that a negative axis is resolved with the origin rank.
// CHECK-LABEL: ge.graph @dim_passed
ge.graph @dim_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim -3 {ge.name = "s"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>, tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
}

// -----

// Tests that the axis in front must have length 1.
// CHECK-LABEL: ge.graph @batch_missed
ge.graph @batch_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64x4x4xf16, #ge.desc<NCHW>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_n_not_one: output 0 has origin shape [2, 32, 4, 4]}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<2x32x4x4xf16, #ge.desc<NCHW>>, tensor<2x32x4x4xf16, #ge.desc<NCHW>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x32x4x4xf16, #ge.desc<NCHW>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x32x4x4xf16, #ge.desc<NCHW>>
}

// -----

// Tests that matrices are split, too.
// CHECK-LABEL: ge.graph @batch_passed
ge.graph @batch_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x128xf16>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x64xf16>, tensor<1x64xf16>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x64xf16>
}

// -----

// Tests that ND in FRACTAL_NZ needs origin rank 4.
// CHECK-LABEL: ge.graph @rank_missed
ge.graph @rank_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x1x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 32, 16]>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_nd_nz_rank_below_4: ND stored as FRACTAL_NZ, origin rank 3}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x1x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 16, 16]>>, tensor<1x1x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 16, 16]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that with rank 4 axis 1 is no part of the fractals.
// CHECK-LABEL: ge.graph @rank_passed
ge.graph @rank_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x4x1x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 4, 16, 16]>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x2x1x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 2, 16, 16]>>, tensor<1x2x1x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 2, 16, 16]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that outputs in NC1HWC0 must be whole blocks, by each output's element type.
// CHECK-LABEL: ge.graph @channels_missed
ge.graph @channels_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x3x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 48, 4, 4]>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_c_not_aligned: output 0 has 24 channels, FLOAT16 needs a multiple of 16}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 24, 4, 4]>>, tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 24, 4, 4]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that whole blocks are split.
// CHECK-LABEL: ge.graph @channels_passed
ge.graph @channels_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x4x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 64, 4, 4]>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>, tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
}

// -----

// Tests that other pairs of formats are refused.
// CHECK-LABEL: ge.graph @pair_missed
ge.graph @pair_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x4x4x64xf16, #ge.desc<NHWC, origin = NCHW [1, 64, 4, 4]>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_format_pair: NCHW stored as NHWC}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x4x4x32xf16, #ge.desc<NHWC, origin = NCHW [1, 32, 4, 4]>>, tensor<1x4x4x32xf16, #ge.desc<NHWC, origin = NCHW [1, 32, 4, 4]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that any format is good when it is the origin's.
// CHECK-LABEL: ge.graph @pair_passed
ge.graph @pair_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64x4x4xf16, #ge.desc<NHWC>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x32x4x4xf16, #ge.desc<NHWC>>, tensor<1x32x4x4xf16, #ge.desc<NHWC>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that float32 has no block size here.
// CHECK-LABEL: ge.graph @float_missed
ge.graph @float_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x4x4x4x16xf32, #ge.desc<NC1HWC0, origin = NCHW [1, 64, 4, 4]>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_c_not_aligned: output 0 has 32 channels, FLOAT has no block size}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x2x4x4x16xf32, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>, tensor<1x2x4x4x16xf32, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that int8 has 32.
// CHECK-LABEL: ge.graph @float_passed
ge.graph @float_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x2x4x4x32xi8, #ge.desc<NC1HWC0, origin = NCHW [1, 64, 4, 4]>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x1x4x4x32xi8, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>, tensor<1x1x4x4x32xi8, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<2x64xf16>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<2x64xf16>
}

// -----

// Tests that the other checks follow behind those of the formats.
// CHECK-LABEL: ge.graph @late_type_missed
ge.graph @late_type_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64x4x4xf16, #ge.desc<NCHW>>
  // CHECK: {ge.name = "s"}
  // expected-remark @+1 {{missed: "s": split_type: type SplitV}}
  %s, %t = ge.split "SplitV" (%x) split_dim 1 {ge.name = "s"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>, tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
}

// -----

// Tests that a node which passes all of them makes no task.
// CHECK-LABEL: ge.graph @late_type_passed
ge.graph @late_type_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "s"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %s, %t = ge.split (%x) split_dim 1 {ge.name = "s"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>, tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %u = ge.op "Relu" (%s) attrs {imply_type = 1} {ge.name = "u"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
  %v = ge.op "Relu" (%t) attrs {imply_type = 1} {ge.name = "v"} : tensor<1x32x4x4xf16, #ge.desc<NCHW>>
}
