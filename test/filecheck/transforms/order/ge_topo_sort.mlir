// RUN: ge-opt %s --split-input-file --disable-verify -p ge-topo-sort | ge-opt --split-input-file | filecheck %s

// Tests that a node moves behind what it reads, and that among ready nodes the first in the block comes first.
// CHECK-LABEL: ge.graph @sorted
"ge.graph"() <{sym_name = "sorted"}> ({
  // CHECK-NEXT: ge.name = "b"
  // CHECK-NEXT: ge.name = "d"
  // CHECK-NEXT: ge.name = "a"
  // CHECK-NEXT: ge.name = "e"
  // CHECK-NEXT: ge.name = "c"
  %a = "ge.op"(%d) <{type = "A"}> {ge.name = "a"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "ge.op"() <{type = "B"}> {ge.name = "b"} : () -> tensor<2xf32>
  %c = "ge.op"(%a, %e) <{type = "C"}> {ge.name = "c"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = "ge.op"() <{type = "D"}> {ge.name = "d"} : () -> tensor<2xf32>
  %e = "ge.op"(%d) <{type = "E"}> {ge.name = "e"} : (tensor<2xf32>) -> tensor<2xf32>
}) : () -> ()

// -----

// Tests that control edges order as well.
// CHECK-LABEL: ge.graph @control
"ge.graph"() <{sym_name = "control"}> ({
  // CHECK-NEXT: ge.name = "b"
  // CHECK-NEXT: ge.name = "a"
  %a = "ge.op"(%c) <{type = "A"}> {ge.name = "a"} : (!ge.control) -> tensor<2xf32>
  %b, %c = "ge.op"() <{type = "B"}> {ge.name = "b"} : () -> (tensor<2xf32>, !ge.control)
}) : () -> ()

// -----

// Tests that a sorted graph is left as it is, though another order would do as well.
// CHECK-LABEL: ge.graph @untouched
ge.graph @untouched {
  // CHECK-NEXT: ge.name = "z"
  %z = ge.op "Z" {ge.name = "z"} : tensor<2xf32>
  // CHECK-NEXT: ge.name = "y"
  %y = ge.op "Y" (%z) {ge.name = "y"} : tensor<2xf32>
  // CHECK-NEXT: ge.name = "x"
  %x = ge.op "X" {ge.name = "x"} : tensor<2xf32>
}
