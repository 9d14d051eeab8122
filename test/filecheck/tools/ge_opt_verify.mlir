// Rules across operations are checked on the input and after every pass.
// RUN: ge-opt %s --split-input-file --verify-diagnostics -p cse --remarks 2>&1 | filecheck %s
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=remark --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=off --remarks 2>&1 | filecheck %s --check-prefix=OFF

// Structure: always an error.
"ge.graph"() <{sym_name = "names"}> ({
  %a = "ge.data"() <{index = 0 : i64}> {ge.name = "a"} : () -> tensor<2xf32>
  // CHECK: ge_opt_verify.mlir:[[# @LINE + 3]]:3: error: {{.*}}"a"
  // REMARK: ge_opt_verify.mlir:[[# @LINE + 2]]:3: error: {{.*}}"a"
  // OFF: ge_opt_verify.mlir:[[# @LINE + 1]]:3: error: {{.*}}"a"
  "ge.net_output"(%a) {ge.name = "a"} : (tensor<2xf32>) -> ()
}) : () -> ()

// -----

// Semantics: an error unless asked otherwise.
// CHECK-NOT: ge.graph @shapes
// REMARK: ge_opt_verify.mlir:[[# @LINE + 6]]:3: remark: [ge-verify] analysis: {{.*}}output 0 has type tensor<3xf32>
// REMARK: ge.graph @shapes
// OFF: ge.graph @shapes
"ge.graph"() <{sym_name = "shapes"}> ({
  %a = "ge.data"() <{index = 0 : i64}> {ge.name = "a"} : () -> tensor<2xf32>
  // CHECK: ge_opt_verify.mlir:[[# @LINE + 1]]:3: error: {{.*}}output 0 has type tensor<3xf32>
  %r = "ge.op"(%a) <{type = "Relu"}> {ge.name = "r"} : (tensor<2xf32>) -> tensor<3xf32>
  "ge.net_output"(%r) {ge.name = "out"} : (tensor<3xf32>) -> ()
}) : () -> ()
