// RUN: ge-opt %s -p ge-cluster-engines --split-input-file --verify-diagnostics | filecheck %s

// Tests that a node needs an engine.
// CHECK: ge_cluster_engines_errors.mlir:7:3: error: node "a" of type Relu has no engine: run ge-assign-engines
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2xf32>
}

// -----

// Tests that the engine must be one that somebody configured.
// CHECK: error: node "a" of type Relu has unknown engine 'Quantum'
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "Quantum"} : tensor<2xf32>
}
