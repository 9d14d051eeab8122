// mlir-opt reads the generic form that ge-opt writes, and ge-opt reads what mlir-opt writes.
// REQUIRES: mlir-opt
// RUN: ge-opt %s --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | ge-opt | filecheck %s

// CHECK: ge.graph @main
"ge.graph"() <{sym_name = "main"}> ({
  // CHECK: [[X:%.+]] = ge.data index 0 {ge.name = "x"} : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>
  %x = "ge.data"() <{index = 0 : i64}> {ge.name = "x"} : () -> tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>
  // CHECK: [[NONE:%.+]] = ge.absent
  %none = "ge.absent"() : () -> none
  // CHECK: {{%.+}}, [[TOKEN:%.+]] = ge.op "Clip" ([[X]], [[NONE]]) attrs {mode = "strict"} {ge.name = "c"}
  %c, %token = "ge.op"(%x, %none) <{type = "Clip", attrs = {mode = "strict"}}> {ge.name = "c"}
      : (tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>, none) -> (tensor<2xf16>, !ge.control)
  // CHECK: ge.send ([[TOKEN]])
  "ge.send"(%token) <{event_id = 3 : i64}> {ge.name = "s"} : (!ge.control) -> ()
}) : () -> ()
