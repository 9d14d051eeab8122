// Tests that runs which cannot be had together are an error that names the node and the pass that helps.
// RUN: not ge-opt %s -p 'ge-plan-memory{mode=reference}' 2>&1 | filecheck %s
// RUN: ge-opt %s -p 'ge-insert-identity,ge-plan-memory{mode=reference check=true}' | filecheck %s --check-prefix=PLAN

// PLAN: ge.offsets
ge.graph @main {
  %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<8xf32>
  %p = ge.concat "PhonyConcat" (%a, %b) {ge.name = "p", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
  // CHECK: reference_errors.mlir:[[# @LINE + 1]]:3: error: node "q" of type PhonyConcat wants "a":0 32 bytes behind "b":0, but other nodes put it -32 bytes behind: run ge-insert-identity
  %q = ge.concat "PhonyConcat" (%b, %a) {ge.name = "q", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
  %y = ge.op "Foo" (%p, %q) {ge.name = "y"} : tensor<8xf32>
  ge.net_output (%y) {ge.name = "out"}
}
