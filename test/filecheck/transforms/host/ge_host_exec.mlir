// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec | filecheck %s
// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-host-exec | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec{level="O1"}' | filecheck %s --check-prefix=OFF
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec{runtime-v2="0"}' | filecheck %s --check-prefix=OFF
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec{level="O1" runtime-v2="0" pass-switch="on"}' | filecheck %s

// OFF-NOT: HOST_CPU

// Tests the published fragment: both Gathers and the Concat move, Unsqueeze keeps its engine, Reshape of the large
// tensor is left alone. A second run changes nothing.
// CHECK-LABEL: ge.graph @fragment
ge.graph @fragment {
  // CHECK: ge.data {{.*}}ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?x?x64xf32>
  %i = ge.constant value dense<1> : tensor<i64> {ge.name = "i"} : tensor<i64>
  %z = ge.constant value dense<0> : tensor<i64> {ge.name = "z"} : tensor<i64>
  // CHECK: "Shape" {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<4xi64>
  // CHECK: "GatherV2" {{.*}}ge.name = "g0", ge.engine = "DNN_VM_HOST_CPU", ge.kernel_lib = "DNN_VM_HOST_CPU_OP_STORE", ge.small_shape_host_cpu}
  %g0 = ge.op "GatherV2" (%s, %i, %z) {ge.name = "g0"} : tensor<i64>
  // CHECK: "GatherV2" {{.*}}ge.name = "g1", ge.engine = "DNN_VM_HOST_CPU"
  %g1 = ge.op "GatherV2" (%s, %i, %z) {ge.name = "g1"} : tensor<i64>
  // CHECK: "Unsqueeze" {{.*}}ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %u0 = ge.op "Unsqueeze" (%g0) attrs {axes = [0]} {ge.name = "u0"} : tensor<1xi64>
  %u1 = ge.op "Unsqueeze" (%g1) attrs {axes = [0]} {ge.name = "u1"} : tensor<1xi64>
  // CHECK: ge.concat {{.*}}ge.engine = "DNN_VM_HOST_CPU", ge.kernel_lib = "DNN_VM_HOST_CPU_OP_STORE", ge.small_shape_host_cpu}
  %c = ge.concat (%u0, %u1) concat_dim 0 {ge.name = "c"} : tensor<2xi64>
  // CHECK: "Reshape" {{.*}}ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %r = ge.op "Reshape" (%x, %c) {ge.name = "r"} : tensor<?x?xf32>
  // CHECK: ge.net_output {{.*}}ge.engine = "DNN_VM_RTS"
  ge.net_output (%r) {ge.name = "out"}
}

// -----

// Tests that a graph input on the host starts a search, and is marked when nothing on the device reads it; and that the
// attribute pair of the source follows the move.
// CHECK-LABEL: ge.graph @inputs
ge.graph @inputs attributes {ge.unknown_shape} {
  // CHECK: ge.data index 0 attrs {_host_tensor = true} {{.*}}ge.host_tensor_as_model_input}
  %a = ge.data index 0 attrs {_host_tensor = true} {ge.name = "a"} : tensor<2xi64>
  // CHECK: ge.data index 1 attrs {_host_tensor = true} {ge.name = "b", ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %b = ge.data index 1 attrs {_host_tensor = true} {ge.name = "b"} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}attrs {_lxfusion_engine_name = "DNN_VM_HOST_CPU", _lxfusion_op_kernel_lib_name = "DNN_VM_HOST_CPU_OP_STORE"} {ge.name = "m", ge.engine = "DNN_VM_HOST_CPU"
  %m = ge.op "Mul" (%a, %b) attrs {_lxfusion_engine_name = "AIcoreEngine", _lxfusion_op_kernel_lib_name = "AIcoreEngine"} {ge.name = "m"} : tensor<2xi64>
  // CHECK: "Fetch" {{.*}}ge.engine = "AIcoreEngine"
  %n = ge.op "Fetch" (%b) {ge.name = "n"} : tensor<64xf32>
  ge.net_output (%m, %n) {ge.name = "out"}
}

// -----

// Tests that a graph of known shape is left alone.
// CHECK-LABEL: ge.graph @static
ge.graph @static {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xi64>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}ge.engine = "AIcoreEngine"
  %m = ge.op "Mul" (%s, %s) {ge.name = "m"} : tensor<2xi64>
}

// -----

// Tests the way into the graphs of an If: the branch of unknown shape is entered by the host value that it is fed, the
// other is left; what comes out of the If is on the device. The loop's body is entered by what it captures and counts,
// not by what it carries.
// CHECK-LABEL: ge.graph @branches
ge.graph @branches {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %p = ge.constant value dense<true> : tensor<i1> {ge.name = "p"} : tensor<i1>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %y = ge.op "If" (%p, %s) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}ge.name = "after", ge.engine = "AIcoreEngine"
  %z = ge.op "Mul" (%y, %s) {ge.name = "after"} : tensor<2xi64>
  %w = ge.op "Loop" (%s, %p, %s, %s) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<2xi64>
  ge.net_output (%z, %w) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @then
ge.graph @then attributes {ge.unknown_shape} {
  %a = ge.data index 0 {ge.name = "a", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}ge.engine = "DNN_VM_HOST_CPU"
  %m = ge.op "Mul" (%a, %a) {ge.name = "m"} : tensor<2xi64>
  ge.net_output (%m) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @else
ge.graph @else {
  %a = ge.data index 0 {ge.name = "a", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}ge.engine = "AIcoreEngine"
  %m = ge.op "Mul" (%a, %a) {ge.name = "m"} : tensor<2xi64>
  ge.net_output (%m) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @body
ge.graph @body attributes {ge.unknown_shape} {
  %i = ge.data index 0 {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data index 1 {ge.name = "go", ge.formal = "condition", ge.parent_node_index = 1 : i64} : tensor<i1>
  %v = ge.data index 2 {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<2xi64>
  %c = ge.data index 3 {ge.name = "c", ge.formal = "captured", ge.parent_node_index = 3 : i64} : tensor<2xi64>
  // CHECK: "Mul" {{.*}}ge.name = "counted", ge.engine = "DNN_VM_HOST_CPU"
  %m = ge.op "Mul" (%i, %c) {ge.name = "counted"} : tensor<2xi64>
  // CHECK: "Add" {{.*}}ge.name = "carried", ge.engine = "AIcoreEngine"
  %n = ge.op "Add" (%m, %v) {ge.name = "carried"} : tensor<2xi64>
  ge.net_output (%go, %n) {ge.name = "out"}
}
