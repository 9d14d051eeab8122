// PhonyConcat and PhonySplit are marked without a check, and concats behind them see the marks.
// RUN: ge-opt %s --split-input-file --semantics=off -p ge-mark-phony,ge-concat-no-task | filecheck %s

// Tests the marks of both types; a concat fed by a PhonyConcat is refused.
// CHECK-LABEL: ge.graph @both
ge.graph @both {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x64xf16>
  // CHECK: ge.name = "s", ge.no_task, ge.no_padding_continuous_output, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %s0, %s1 = ge.split "PhonySplit" (%x) split_dim 0 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
  // CHECK: ge.name = "p", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64
  %p = ge.concat "PhonyConcat" (%s0, %s1) concat_dim 0 {ge.name = "p"} : tensor<4x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x64xf16>
  // CHECK: {ge.name = "c"}
  %c = ge.concat (%p, %a) concat_dim 0 {ge.name = "c"} : tensor<8x64xf16>
}

// -----

// Tests that a dimension index that the source gave stays.
// CHECK-LABEL: ge.graph @strided
ge.graph @strided {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x128xf16>
  // CHECK: ge.reuse_input_on_dim_index = 1 : i64
  %s0, %s1 = ge.split "PhonySplit" (%x) split_dim 1 {ge.name = "s", ge.reuse_input_on_dim_index = 1 : i64} : tensor<2x64xf16>, tensor<2x64xf16>
}

// -----

// Tests that the spelling of the marks in documents is understood and GE's is printed.
// CHECK-LABEL: ge.graph @spelling
ge.graph @spelling {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  // CHECK-NOT: _nopadding
  // CHECK: attrs {_no_padding_continuous_input = true} {ge.name = "a"}
  %a = ge.op "FusedConcat" (%x) attrs {_nopadding_continuous_input = true} {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
}
