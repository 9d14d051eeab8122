// Errors are one line with a place, exit code 1.
// RUN: not ge-opt %s 2>&1 | filecheck %s --check-prefix=PARSE --match-full-lines
// RUN: not ge-opt %s -p cannonicalize 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not ge-opt %s -p 'cse{n=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not ge-opt %s -p 'cse{' 2>&1 | filecheck %s --check-prefix=PIPELINE
// RUN: not ge-opt %s -p 'ge-assign-streams{mode=LoadBalance:4}' 2>&1 | filecheck %s --check-prefix=QUOTE
// RUN: not ge-opt %s.missing 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not ge-opt %s -t 'mlir{weights=none}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not ge-opt %s --print-ir-after=cs 2>&1 | filecheck %s --check-prefix=AFTER

// PASS: ge-opt: error: unknown pass 'cannonicalize'; did you mean 'canonicalize'
// OPTION: ge-opt: error: pass 'cse': there is no option 'n' (it has {{.*}})
// QUOTE: pass-pipeline:1:35: error: unexpected character; a value with others than {{.*}} in double quotes, as in mode="LoadBalance:4"
// PIPELINE: pass-pipeline:1:5: error: Expected argument name here
// MISSING: ge_opt_errors.mlir.missing: error: No such file or directory
// TARGET: ge-opt: error: target 'mlir': option 'weights' should be one of elide, inline, got 'none'
// AFTER: ge-opt: error: unknown pass 'cs'; did you mean 'cse'

func.func @f(%a: tensor<4xf32>) {
  // PARSE: {{.*}}ge_opt_errors.mlir:21:23: error: Unexpected character: {{[$]}}
  %b = arith.addf %a, $a : tensor<4xf32>
  func.return
}
