// RUN: ge-opt %s -p ge-cluster-engines --split-input-file | filecheck %s
// RUN: ge-opt %s -p "ge-cluster-engines{topo-sorting-mode=3}" --split-input-file | filecheck %s --check-prefix=LIST

// Tests that nodes of one engine along edges are one sub-graph, inputs belong to none, and a node that depends on the
// same sub-graph in two ways begins a new one.
// CHECK: ge.graph @main attributes {ge.structure = {{[0-9]+}} : i64}
ge.graph @main {
  // CHECK: ge.data {{.*}}{ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} :
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL", ge.stream = 4 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.cluster = 0 : i64
  // LIST: ge.name = "a"{{.*}}ge.cluster = 0 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.cluster = 0 : i64
  // LIST: ge.name = "b"{{.*}}ge.cluster = 0 : i64
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "h"{{.*}}ge.cluster = 1 : i64
  // LIST: ge.name = "h"{{.*}}ge.cluster = 1 : i64
  %h = ge.op "HcomAllReduce" (%b) {ge.name = "h", ge.engine = "DNN_HCCL"} : tensor<2xf32>
  // CHECK: ge.name = "c"{{.*}}ge.cluster = 2 : i64
  // LIST: ge.name = "c"{{.*}}ge.cluster = 2 : i64
  %c = ge.op "Add" (%a, %h) {ge.name = "c", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // Tests that the custom engine counts as AI Core.
  // CHECK: ge.name = "d"{{.*}}ge.cluster = 0 : i64
  // LIST: ge.name = "d"{{.*}}ge.cluster = 2 : i64
  %d = ge.op "Mine" (%a) {ge.name = "d", ge.engine = "DNN_VM_CUSTOM"} : tensor<2xf32>
  // Tests that labels keep nodes apart, and that a node joins several sub-graphs.
  // CHECK: ge.name = "e"{{.*}}ge.cluster = 3 : i64
  // LIST: ge.name = "e"{{.*}}ge.cluster = 3 : i64
  %e = ge.op "Relu" (%d) attrs {_stream_label = "l"} {ge.name = "e", ge.engine = "AIcoreEngine"} : tensor<2xf32>
}

// -----

// Tests that a node joins the sub-graphs of both its sources, and that members that do not stand in order of the block
// have a place.
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.cluster = 0 : i64, ge.cluster_place = 0 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.cluster = 0 : i64, ge.cluster_place = 2 : i64
  %b = ge.op "Relu" (%x) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "c"{{.*}}ge.cluster = 0 : i64, ge.cluster_place = 1 : i64
  %c = ge.op "Add" (%a, %b) {ge.name = "c", ge.engine = "AIcoreEngine"} : tensor<2xf32>
}

// -----

// Tests that a user label joins engines.
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.cluster = 0 : i64
  %a = ge.op "Relu" (%x) attrs {_user_stream_label = "u", _stream_label = "u"} {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  // CHECK: ge.name = "h"{{.*}}ge.cluster = 0 : i64
  %h = ge.op "HcomAllReduce" (%a) attrs {_user_stream_label = "u", _stream_label = "u"} {ge.name = "h", ge.engine = "DNN_HCCL"} : tensor<2xf32>
}
