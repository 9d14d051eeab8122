// Tests the one line that says which node no engine takes, and why.
// RUN: not ge-opt %s -p 'ge-assign-engines{exclude="AiCore | Nobody"}' 2>&1 | filecheck %s --match-full-lines
// RUN: not ge-opt %s -p 'ge-assign-engines{host-exec=true}' 2>&1 | filecheck %s --check-prefix=HOST

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: {{.*}}no_engine.mlir:[[# @LINE + 2]]:3: error: no engine for node "r" of type Relu: every engine that knows the type is excluded or refuses the node: AIcoreEngine, VectorEngine
  // HOST: no engine for node "r" of type Relu: the host-execution flag is on and the host CPU does not know the type
  %r = ge.op "Relu" (%x) {ge.name = "r"} : tensor<2xf32>
}
