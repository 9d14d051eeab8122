// RUN: ge-opt %s -p ge-default-streams --split-input-file --verify-diagnostics | filecheck %s

// Tests that more notifies than there are is an error at the node for which none is left: one between streams.
// CHECK: too_many_notifies.mlir:[[# @LINE + 4]]:3: error: the model needs 1025 notifies, there are 1024: none is left for node "s"
ge.graph @main attributes {ge.notify_num = 1025 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %r = ge.op "Relu" (%x) {ge.name = "r"} : tensor<2xf32>
  ge.send_notify notify_id 1024 {ge.name = "s"}
}

// -----

// Tests one that a node asks for itself.
// CHECK: too_many_notifies.mlir:[[# @LINE + 4]]:3: error: the model needs 1026 notifies, there are 1024: none is left for node "b"
ge.graph @main attributes {ge.notify_num = 1026 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Mc2" (%x) attrs {notify_id = array<i64: 3, 4>} {ge.name = "a"} : tensor<2xf32>
  %b = ge.op "Mc2" (%a) attrs {notify_id = array<i64: 1024, 1025>} {ge.name = "b"} : tensor<2xf32>
}

// -----

// Tests that a count of which no node says why is an error at the graph.
// CHECK: too_many_notifies.mlir:[[# @LINE + 1]]:1: error: the model needs 1025 notifies, there are 1024
ge.graph @main attributes {ge.notify_num = 1025 : i64} {
}
