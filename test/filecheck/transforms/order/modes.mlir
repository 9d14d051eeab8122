// RUN: ge-opt %s --split-input-file -p 'ge-topo-sort{mode=bfs}' | filecheck %s --check-prefix BFS
// RUN: ge-opt %s --split-input-file -p 'ge-topo-sort{mode=dfs}' | filecheck %s --check-prefix DFS
// RUN: ge-opt %s --split-input-file -p 'ge-topo-sort{mode=rdfs}' | filecheck %s --check-prefix RDFS
// RUN: ge-opt %s --split-input-file -p ge-topo-sort | filecheck %s --check-prefix STABLE

// Tests the four orders on two branches that meet: breadth first goes in step, depth first takes the branch that it
// entered to its end, from the end it takes the inputs of the last node slot by slot.
// BFS-LABEL: ge.graph @branches
// BFS: "x"
// BFS: "k"
// BFS: "a1"
// BFS: "b1"
// BFS: "a2"
// BFS: "b2"
// BFS: "join"
// DFS-LABEL: ge.graph @branches
// DFS: "x"
// DFS: "a1"
// DFS: "a2"
// DFS: "b1"
// DFS: "b2"
// DFS: "k"
// DFS: "join"
// RDFS-LABEL: ge.graph @branches
// RDFS: "x"
// RDFS: "b1"
// RDFS: "b2"
// RDFS: "a1"
// RDFS: "a2"
// RDFS: "k"
// RDFS: "join"
// STABLE-LABEL: ge.graph @branches
// STABLE: "x"
// STABLE: "a1"
// STABLE: "b1"
// STABLE: "a2"
// STABLE: "b2"
// STABLE: "k"
// STABLE: "join"
ge.graph @branches {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  %a1 = ge.op "Exp" (%x) {ge.name = "a1"} : tensor<64xf32>
  %b1 = ge.op "Exp" (%x) {ge.name = "b1"} : tensor<64xf32>
  %a2 = ge.op "Exp" (%a1) {ge.name = "a2"} : tensor<64xf32>
  %b2 = ge.op "Exp" (%b1) {ge.name = "b2"} : tensor<64xf32>
  %k = ge.op "K" {ge.name = "k"} : tensor<64xf32>
  %j = ge.op "Join" (%b2, %a2, %k) {ge.name = "join"} : tensor<64xf32>
}

// -----

// Tests that a node that is written over by another one keeps its earlier and later readers on their sides of it, and
// that collectives keep their order, in every mode.
// BFS-LABEL: ge.graph @hazards
// BFS: "early"
// BFS: "write"
// BFS: "late"
// DFS-LABEL: ge.graph @hazards
// DFS: "early"
// DFS: "write"
// DFS: "late"
// DFS: "first"
// DFS: "second"
// RDFS-LABEL: ge.graph @hazards
// RDFS: "early"
// RDFS: "write"
// RDFS: "late"
// RDFS: "first"
// RDFS: "second"
ge.graph @hazards {
  %v = ge.op "V" {ge.name = "v"} : tensor<64xf32>
  %early = ge.op "Read" (%v) {ge.name = "early"} : tensor<64xf32>
  %write = ge.op "Write" (%v) {ge.name = "write", ge.res_attrs = [{reuse_input = 0 : i64}]} : tensor<64xf32>
  %late = ge.op "Read" (%v) {ge.name = "late"} : tensor<64xf32>
  %first = ge.op "HcomAllReduce" (%late) {ge.name = "first"} : tensor<64xf32>
  %second = ge.op "HcomAllReduce" (%early) {ge.name = "second"} : tensor<64xf32>
  ge.net_output (%second, %first, %write) {ge.name = "out"}
}
