// RUN: not ge-opt %s -p ge-assign-engines,ge-host-exec 2>&1 | filecheck %s --match-full-lines
// RUN: not ge-opt %s -p 'ge-host-exec{level="O4"}' 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not ge-opt %s -p 'ge-host-exec{pass-switch="maybe"}' 2>&1 | filecheck %s --check-prefix=SWITCH
// RUN: not ge-opt %s -p 'ge-host-exec{kernels="Add|-Mul"}' 2>&1 | filecheck %s --check-prefix=KERNELS
// RUN: not ge-opt %s -p 'ge-host-exec{kernels="-Frobnicate"}' 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not ge-opt %s -p 'ge-host-exec{max-elements=-1}' 2>&1 | filecheck %s --check-prefix=ELEMENTS
// RUN: not ge-opt %s -p 'ge-host-fusion{max-growth=-1}' 2>&1 | filecheck %s --check-prefix=GROWTH

// ELEMENTS: error: max-elements is a number of elements, not -1
// GROWTH: error: max-growth is not below 0, got -1
// LEVEL: error: no optimisation level 'O4', expected one of O0, O1, O2, O3
// SWITCH: error: the pass switch is 'on', 'off' or empty, not 'maybe'
// KERNELS: error: host kernels are named either all plainly (these alone) or all with + or - (changes)
// ABSENT: error: the host CPU has no kernel for Frobnicate that could be left out

// Tests the one line about an If that lacks a graph.
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  // CHECK: {{.*}}ge_host_exec_errors.mlir:[[# @LINE + 1]]:3: error: node "if" of type If lacks graph @else
  %y = ge.op "If" (%s, %s) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xi64>
}
ge.graph @then {
}
