// Every chunk of a split file is on its own; places count lines of the whole file.
// RUN: ge-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: not ge-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=STOP
// RUN: ge-opt %s --split-input-file --parsing-diagnostics 2>&1 | filecheck %s --check-prefix=PARSING

// CHECK: "test.op"() {first}
"test.op"() {first} : () -> ()

// -----
// CHECK: {{//}} -----
// CHECK-NEXT: {{.*}}ge_opt_split.mlir:[[# @LINE + 1]]:15: error: Operation test.unknown is not registered
"test.unknown"() : () -> ()
// PARSING: ge_opt_split.mlir:[[# @LINE - 1]]:

// -----
// CHECK-NEXT: {{//}} -----
// CHECK: "test.op"() {third}
"test.op"() {third} : () -> ()
// STOP: error:
// STOP-NOT: third
