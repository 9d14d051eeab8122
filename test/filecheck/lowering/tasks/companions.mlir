// RUN: ge-opt %s --split-input-file -p convert-ge-to-ge-task | filecheck %s

// Tests the tasks beside an AI Core node's own kernel: one that zeroes its outputs first, inside the brackets, and the
// AI CPU variant of a partly supported node, behind them.
// CHECK: ge_task.model @main
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 1024>} : tensor<4xf32>
  // CHECK: ge_task.fusion_start stream 0 op 1
  // CHECK-NEXT: ge_task.kernel "MemSet"() -> (%b) engine "AIcoreEngine" kernel_type 2 stream 0 op 1 {ge.name = "a"}
  // CHECK-NEXT: ge_task.kernel "TopKD"(%x) -> (%a, %b) {{.*}}kernel_type 2 stream 0 op 1 {ge.name = "a"}
  // CHECK-NEXT: ge_task.fusion_end stream 0 op 1
  // CHECK-NEXT: ge_task.kernel "TopKD"(%x) -> (%a, %b) engine "DNN_VM_AICPU_ASCEND" {{.*}}kernel_type 6 stream 0 op 1 payload {partially_supported} {ge.name = "a"}
  %a, %b = ge.op "TopKD" (%x) attrs {need_gentask_atomic = true, atomic_output_index = [1], partially_supported = true} {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 0, 512>} : tensor<4xf32>, tensor<4xf32>
  ge.net_output (%a) {ge.name = "out", ge.stream = 0 : i64}
}

// -----

// Tests that neither is made where the node does not say so.
// CHECK: ge_task.model @main
// CHECK-NOT: MemSet
// CHECK-NOT: AICPU
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 1024>} : tensor<4xf32>
  %a = ge.op "Relu" (%x) attrs {need_gentask_atomic = false, atomic_output_index = [0], partially_supported = false} {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 0>} : tensor<4xf32>
  %b = ge.op "Relu" (%a) attrs {atomic_output_index = [0]} {ge.name = "b", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 512>} : tensor<4xf32>
  ge.net_output (%b) {ge.name = "out", ge.stream = 0 : i64}
}
