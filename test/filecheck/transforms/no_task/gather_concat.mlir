// AllGather -> ConcatD and AllGather -> Reshape -> ConcatD in the plain and the blocked format.
// RUN: ge-opt %s --split-input-file --semantics=off -p ge-concat-no-task | filecheck %s

// Tests two gathered tensors joined along the gathered axis (nd): the concat makes no task, both outputs are locked.
// CHECK-LABEL: ge.graph @gather_concat_nd
ge.graph @gather_concat_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x64xf16>
  // CHECK: ge.name = "a", ge.res_attrs = [{concat_reusable = false}]
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x64xf16>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x64xf16>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<32x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests a Reshape in between (nd): it is the direct producer, so it is locked and the gathering node is not.
// CHECK-LABEL: ge.graph @gather_reshape_concat_nd
ge.graph @gather_reshape_concat_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x64xf16>
  // CHECK: {ge.name = "a"}
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x64xf16>
  // CHECK: ge.name = "r", ge.res_attrs = [{concat_reusable = false}]
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<16x64xf16>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x64xf16>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<32x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests two gathered tensors joined along the gathered axis (nchw): the concat makes no task, both outputs are locked.
// CHECK-LABEL: ge.graph @gather_concat_nchw
ge.graph @gather_concat_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "a", ge.res_attrs = [{concat_reusable = false}]
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<8x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<8x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests a Reshape in between (nchw): it is the direct producer, so it is locked and the gathering node is not.
// CHECK-LABEL: ge.graph @gather_reshape_concat_nchw
ge.graph @gather_reshape_concat_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: {ge.name = "a"}
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<8x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "r", ge.res_attrs = [{concat_reusable = false}]
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<8x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<8x16x4x4xf16, #ge.desc<NCHW>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests two gathered tensors joined along the gathered axis (nc1hwc0): the concat makes no task, both outputs are locked.
// CHECK-LABEL: ge.graph @gather_concat_nc1hwc0
ge.graph @gather_concat_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: ge.name = "a", ge.res_attrs = [{concat_reusable = false}]
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<8x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [8, 16, 4, 4]>>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<8x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [8, 16, 4, 4]>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests a Reshape in between (nc1hwc0): it is the direct producer, so it is locked and the gathering node is not.
// CHECK-LABEL: ge.graph @gather_reshape_concat_nc1hwc0
ge.graph @gather_reshape_concat_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  // CHECK: {ge.name = "a"}
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<8x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [8, 16, 4, 4]>>
  // CHECK: ge.name = "r", ge.res_attrs = [{concat_reusable = false}]
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<8x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [8, 16, 4, 4]>>
  // CHECK: ge.name = "b", ge.res_attrs = [{concat_reusable = false}]
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<8x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [8, 16, 4, 4]>>
  // CHECK: ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}
