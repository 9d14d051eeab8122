// Tests that a concat whose operand would have to lie at two places is refused.
// RUN: not ge-opt %s -p ge-plan-memory 2>&1 | filecheck %s

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  %a = ge.op "Foo" (%x) {ge.name = "a"} : tensor<64xf32>
  // CHECK: no_task.mlir:[[# @LINE + 1]]:3: error: node "c" of type ConcatD wants "a":0
  %c = ge.concat (%a, %a) concat_dim 0 N 2 {ge.name = "c", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<128xf32>
  ge.net_output (%c) {ge.name = "out"}
}
