// An error for texts, a remark for dumps; one line with the place. The driver checks too, unless told not to.
// RUN: not ge-opt %s --semantics=off -p ge-verify 2>&1 | filecheck %s --check-prefix=ERROR --match-full-lines
// RUN: ge-opt %s --semantics=off -p 'ge-verify{semantics=remark}' --remarks=. 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s --semantics=off -p 'ge-verify{level=structure}' | filecheck %s --check-prefix=SAME
// RUN: not ge-opt %s -p 'ge-verify{level=deep}' 2>&1 | filecheck %s --check-prefix=OPTION

// ERROR: {{.*}}ge_verify_semantics.mlir:14:3: error: "c": ConcatD input 1 has shape [2, 4], expected [?, 3] outside axis 0 as input 0
// REMARK: ge_verify_semantics.mlir:14:3: remark: [ge-verify] analysis: "c": ConcatD input 1 has shape [2, 4]
// REMARK-NEXT: ge_verify_semantics.mlir:15:3: remark: [ge-verify] analysis: "g": output 0 has type tensor<4x3xf32>, but HcomAllGather gives tensor<8x3xf32>
// OPTION: error: pass 'ge-verify'
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x4xf32>
  %c = ge.concat (%x, %y) concat_dim 0 {ge.name = "c"} : tensor<4x3xf32>
  %g = ge.op "HcomAllGather" (%x) attrs {rank_size = 4 : i64} {ge.name = "g"} : tensor<4x3xf32>
  // SAME: ge.net_output (%c, %g)
  ge.net_output (%c, %g) {ge.name = "out"}
}
