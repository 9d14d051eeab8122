// What the comments do not say, and what they say in vain, are both failures.
// RUN: not ge-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: ge_opt_expected_wrong.mlir:7:{{.*}}: error: unexpected error: {{.*}} is not registered
// CHECK: ge_opt_expected_wrong.mlir:7:1: error: expected error "other words" was not produced
// expected-error @+1 {{other words}}
"test.unknown"() : () -> ()

// -----

// CHECK: ge_opt_expected_wrong.mlir:12:1: error: expected error "nothing wrong here" was not produced
"test.op"() : () -> () // expected-error {{nothing wrong here}}
// CHECK: ge-opt: error: 3 diagnostics differ from the comments
