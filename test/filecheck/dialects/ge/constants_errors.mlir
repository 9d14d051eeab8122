// RUN: ge-opt %s --split-input-file --parsing-diagnostics | filecheck %s

// Tests that elements without the keyword in front of them are told so.
// CHECK: constants_errors.mlir:6:25: error: expected 'value dense<...>': the keyword 'value' is missing
ge.graph @g {
  %c = ge.constant dense<1> : tensor<2xi64> {ge.name = "c"}
}

// -----

// CHECK: error: expected 'value dense_resource<...>': the keyword 'value' is missing
ge.graph @g {
  %c = ge.constant dense_resource<__elided__> : tensor<2xi64> {ge.name = "c"}
}
