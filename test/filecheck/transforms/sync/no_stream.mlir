// RUN: not ge-opt %s -p ge-insert-events 2>&1 | filecheck %s

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: no_stream.mlir:7:{{.*}}: error: node "b" has no stream, but follows "a" on stream 0
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<2xf32>
}
