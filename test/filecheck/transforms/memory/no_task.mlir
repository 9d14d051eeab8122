// Tests that a concat without task is refused: its operands have to lie inside its output.
// RUN: not ge-opt %s -p 'ge-plan-memory{mode=first-fit}' 2>&1 | filecheck %s

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: no_task.mlir:[[# @LINE + 1]]:3: error: node "c" of type ConcatD makes no task
  %c = ge.concat (%x, %x) concat_dim 0 N 2 {ge.name = "c", ge.no_task} : tensor<128xf32>
  ge.net_output (%c) {ge.name = "out"}
}
