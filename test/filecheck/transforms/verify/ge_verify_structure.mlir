// RUN: ge-opt %s --disable-verify -p 'ge-verify{level=structure}' --split-input-file --verify-diagnostics

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>
  // expected-error@+1 {{"x": second node named "x" in graph @main; the first is at}}
  %y = ge.data index 1 {ge.name = "x"} : tensor<2x3xf32>
}

// -----

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>
  // expected-error@+1 {{"y": second graph input with index 0 in graph @main; the first is at}}
  %y = ge.data index 0 {ge.name = "y"} : tensor<2x3xf32>
}

// -----

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>
  ge.net_output (%x) {ge.name = "o"}
  // expected-error@+1 {{"p": second NetOutput in graph @main}}
  ge.net_output (%x) {ge.name = "p"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"x": unknown attribute ge.steam; did you mean ge.stream?}}
  %x = ge.data index 0 {ge.name = "x", ge.steam = 0 : i64} : tensor<2x3xf32>
}

// -----

ge.graph @main {
  // expected-error@+1 {{"x": attribute ge.stream is "0", expected integer (i64)}}
  %x = ge.data index 0 {ge.name = "x", ge.stream = "0"} : tensor<2x3xf32>
}

// -----

ge.graph @main {
  // expected-error@+1 {{"x": Data has 1 data results, but 2 entries in ge.res_attrs}}
  %x = ge.data index 0 {ge.name = "x", ge.res_attrs = [{}, {}]} : tensor<2x3xf32>
}

// -----

ge.graph @main {
  // expected-error@+1 {{operand 0 of NetOutput comes from "x", which stands behind it: the block is not in topological order}}
  "ge.net_output"(%x) : (tensor<2x3xf32>) -> ()
  %x = "ge.data"() {ge.name = "x"} : () -> tensor<2x3xf32>
}

// -----

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<f32>
  %i = ge.op "U" (%x) subgraphs [@s] {ge.name = "i"} : tensor<f32>
  // expected-error@+1 {{"j": graph @s belongs to "i" already; every sub-graph has one caller}}
  %j = ge.op "U" (%x) subgraphs [@s] {ge.name = "j"} : tensor<f32>
}
ge.graph @s {
}

// -----

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<f32>
  %i = ge.op "U" (%x) subgraphs [@s] {ge.name = "i"} : tensor<f32>
}
ge.graph @s {
  // expected-error@+1 {{"p": ge.parent_node_index 1 is out of range: "i" has 1 inputs}}
  %p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 1 : i64} : tensor<f32>
}
