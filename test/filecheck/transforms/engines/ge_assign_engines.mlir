// RUN: ge-opt %s --split-input-file -p ge-assign-engines | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines{engine-type="VectorCore"}' | filecheck %s --check-prefix=VECTOR

// Tests the engines of the kinds of nodes: inputs and constants GE local, NetOutput and Identity RTS, collectives HCCL,
// unknown types AI Core; with VectorCore, the vector engine in AI Core's place.
// CHECK-LABEL: ge.graph @kinds
// VECTOR-LABEL: ge.graph @kinds
ge.graph @kinds {
  // CHECK: ge.data {{.*}}ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"}
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.constant {{.*}}ge.engine = "DNN_VM_GE_LOCAL"
  %k = ge.constant value dense<2> : tensor<1xi64> {ge.name = "k"} : tensor<1xi64>
  // CHECK: "Reshape" {{.*}}ge.engine = "DNN_VM_GE_LOCAL"
  %r = ge.op "Reshape" (%x, %k) {ge.name = "r"} : tensor<2xf32>
  // CHECK: "Frobnicate" {{.*}}ge.engine = "AIcoreEngine", ge.kernel_lib = "AIcoreEngine"}
  // VECTOR: "Frobnicate" {{.*}}ge.engine = "VectorEngine", ge.kernel_lib = "VectorEngine"}
  %f = ge.op "Frobnicate" (%r) {ge.name = "f"} : tensor<2xf32>
  // CHECK: "HcomAllReduce" {{.*}}ge.engine = "DNN_HCCL", ge.kernel_lib = "ops_kernel_info_hccl"}
  %h = ge.op "HcomAllReduce" (%f) {ge.name = "h"} : tensor<2xf32>
  // CHECK: "Identity" {{.*}}ge.engine = "DNN_VM_RTS", ge.kernel_lib = "DNN_VM_RTS_OP_STORE"}
  %i = ge.op "Identity" (%h) {ge.name = "i"} : tensor<2xf32>
  // CHECK: "Unique" {{.*}}ge.engine = "DNN_VM_AICPU_ASCEND", ge.kernel_lib = "aicpu_ascend_kernel"}
  %u = ge.op "Unique" (%i) {ge.name = "u"} : tensor<?xf32>
  // CHECK: ge.net_output {{.*}}ge.engine = "DNN_VM_RTS"
  ge.net_output (%u) {ge.name = "out"}
}

// -----

// Tests that an ONNX operator is known by its name, and one of another domain only shares a name with GE's.
// CHECK-LABEL: ge.graph @domains
ge.graph @domains {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: "Flatten" {{.*}}ge.engine = "DNN_VM_GE_LOCAL"
  %f = ge.op "Flatten" (%x) source "ai.onnx::Flatten@13" {ge.name = "f"} : tensor<2x1xf32>
  // CHECK: "Merge" {{.*}}ge.engine = "AIcoreEngine"
  %m = ge.op "Merge" (%f) source "my.domain::Merge@1" {ge.name = "m"} : tensor<2x1xf32>
  // CHECK: "HcomAllGather" {{.*}}ge.engine = "DNN_HCCL"
  %h = ge.op "HcomAllGather" (%m) source "npu::HcomAllGather@1" {ge.name = "h"} : tensor<4x1xf32>
}

// -----

// Tests that what a node says about its engine is kept: the engine itself, the attribute pair, the specified pair.
// CHECK-LABEL: ge.graph @said
ge.graph @said {
  // CHECK: ge.engine = "E1", ge.kernel_lib = "K1"}
  %a = ge.op "A" attrs {_lxfusion_engine_name = "E2", _lxfusion_op_kernel_lib_name = "K2"} {ge.name = "a", ge.engine = "E1", ge.kernel_lib = "K1"} : tensor<2xf32>
  // CHECK: ge.engine = "E2", ge.kernel_lib = "K2"}
  %b = ge.op "A" attrs {_lxfusion_engine_name = "E2", _lxfusion_op_kernel_lib_name = "K2"} {ge.name = "b"} : tensor<2xf32>
  // One of the two is not enough.
  // CHECK: ge.engine = "AIcoreEngine"
  %c = ge.op "A" attrs {_lxfusion_engine_name = "E2"} {ge.name = "c"} : tensor<2xf32>
  // CHECK: ge.engine = "E3", ge.kernel_lib = "K3"}
  %d = ge.op "A" attrs {_specified_engine_name = "E3", _specified_kernel_lib_name = "K3"} {ge.name = "d"} : tensor<2xf32>
}
