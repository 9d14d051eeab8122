// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt < %s | filecheck %s
// RUN: ge-opt - < %s | filecheck %s
// RUN: ge-opt %s -p 'builtin.module(cse,dce)' --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=PIPELINE
// RUN: ge-opt %s --print-debuginfo | filecheck %s --check-prefix=PLACE
// RUN: ge-opt %s --verify-roundtrip --print-op-generic | filecheck %s --check-prefix=GENERIC

// PIPELINE: builtin.module(cse,dce)

// CHECK-LABEL: func.func @doubles
// PLACE-LABEL: func.func @doubles
// GENERIC: "func.func"()
func.func @doubles(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: [[SUM:%.+]] = arith.addf %a, %a
  // PLACE: ge_opt_text.mlir":[[# @LINE + 1]]:3)
  %sum = arith.addf %a, %a : tensor<4xf32>
  // CHECK-NEXT: func.return [[SUM]]
  // GENERIC: "func.return"
  func.return %sum : tensor<4xf32>
}
