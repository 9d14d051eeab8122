// With `expected-...` comments, --verify-diagnostics checks them as mlir-opt does.
// RUN: ge-opt %s --split-input-file --verify-diagnostics | filecheck %s

// expected-error @+1 {{is not registered}}
"test.unknown"() : () -> ()

// -----

"test.unknown"() : () -> () // expected-error {{test.unknown}}

// -----

// CHECK: "test.op"() {good}
"test.op"() {good} : () -> ()
