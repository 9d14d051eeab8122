// SplitD -> Relu -> ConcatD in the plain and the blocked format.
// RUN: ge-opt %s --split-input-file -p ge-mark-phony,ge-concat-no-task,ge-pack-no-task,ge-split-no-task | filecheck %s

// Tests that cutting and joining cost nothing (nd): split and concat make no task, what is between them does.
// CHECK-LABEL: ge.graph @pipeline_nd
ge.graph @pipeline_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<6x64xf16>
  // CHECK: ge.name = "s", ge.no_task, ge.no_padding_continuous_output, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %s0, %s1, %s2 = ge.split (%x) split_dim 0 num_split 3 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>, tensor<2x64xf16>
  // CHECK: ge.name = "r0", ge.res_attrs = [{concat_reusable = false}]
  %r0 = ge.op "Relu" (%s0) attrs {imply_type = 1} {ge.name = "r0"} : tensor<2x64xf16>
  // CHECK: ge.name = "r1", ge.res_attrs = [{concat_reusable = false}]
  %r1 = ge.op "Relu" (%s1) attrs {imply_type = 1} {ge.name = "r1"} : tensor<2x64xf16>
  // CHECK: ge.name = "r2", ge.res_attrs = [{concat_reusable = false}]
  %r2 = ge.op "Relu" (%s2) attrs {imply_type = 1} {ge.name = "r2"} : tensor<2x64xf16>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r0, %r1, %r2) concat_dim 0 {ge.name = "c"} : tensor<6x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that cutting and joining cost nothing (nchw): split and concat make no task, what is between them does.
// CHECK-LABEL: ge.graph @pipeline_nchw
ge.graph @pipeline_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x48x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "s", ge.no_task, ge.no_padding_continuous_output, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %s0, %s1, %s2 = ge.split (%x) split_dim 1 num_split 3 {ge.name = "s"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>, tensor<1x16x4x4xf16, #ge.desc<NCHW>>, tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "r0", ge.res_attrs = [{concat_reusable = false}]
  %r0 = ge.op "Relu" (%s0) attrs {imply_type = 1} {ge.name = "r0"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "r1", ge.res_attrs = [{concat_reusable = false}]
  %r1 = ge.op "Relu" (%s1) attrs {imply_type = 1} {ge.name = "r1"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "r2", ge.res_attrs = [{concat_reusable = false}]
  %r2 = ge.op "Relu" (%s2) attrs {imply_type = 1} {ge.name = "r2"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r0, %r1, %r2) concat_dim 1 {ge.name = "c"} : tensor<1x48x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that cutting and joining cost nothing (nc1hwc0): split and concat make no task, what is between them does.
// CHECK-LABEL: ge.graph @pipeline_nc1hwc0
ge.graph @pipeline_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x3x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 48, 4, 4]>>
  // CHECK: ge.name = "s", ge.no_task, ge.no_padding_continuous_output, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %s0, %s1, %s2 = ge.split (%x) split_dim 1 num_split 3 {ge.name = "s"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>, tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>, tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: ge.name = "r0", ge.res_attrs = [{concat_reusable = false}]
  %r0 = ge.op "Relu" (%s0) attrs {imply_type = 1} {ge.name = "r0"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: ge.name = "r1", ge.res_attrs = [{concat_reusable = false}]
  %r1 = ge.op "Relu" (%s1) attrs {imply_type = 1} {ge.name = "r1"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: ge.name = "r2", ge.res_attrs = [{concat_reusable = false}]
  %r2 = ge.op "Relu" (%s2) attrs {imply_type = 1} {ge.name = "r2"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r0, %r1, %r2) concat_dim 1 {ge.name = "c"} : tensor<1x3x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 48, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that a split is refused by a concat that reads it directly: never both ends of an edge.
// CHECK-LABEL: ge.graph @split_concat
ge.graph @split_concat {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: {ge.name = "s", ge.res_attrs = [{concat_reusable = false}, {concat_reusable = false}]}
  %s0, %s1 = ge.split (%x) split_dim 0 num_split 2 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%s0, %s1) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}
