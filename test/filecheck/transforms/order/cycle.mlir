// Tests that a cycle is an error that names its nodes, in the direction of the edges.
// RUN: not ge-opt %s --disable-verify -p ge-topo-sort 2>&1 | filecheck %s

"ge.graph"() <{sym_name = "cycle"}> ({
  %x = "ge.op"(%a) <{type = "X"}> {ge.name = "x"} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: error: cycle of nodes: "{{[abc]}}" -> "{{[abc]}}" -> "{{[abc]}}" -> "{{[abc]}}"
  %a = "ge.op"(%c) <{type = "A"}> {ge.name = "a"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "ge.op"(%a) <{type = "B"}> {ge.name = "b"} : (tensor<2xf32>) -> tensor<2xf32>
  %c = "ge.op"(%b) <{type = "C"}> {ge.name = "c"} : (tensor<2xf32>) -> tensor<2xf32>
}) : () -> ()
