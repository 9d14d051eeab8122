// RUN: ge-opt %s -p "ge-mark-cv-parallel{auto=cv}" --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-mark-cv-parallel --split-input-file | filecheck %s --check-prefix=OFF
// OFF-NOT: _enable_cv_parallel

// Tests that vector work that the next cube node does not wait for is marked, and work in a row with both is not.
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %c1 = ge.op "Mc2" (%x) attrs {_cube_vector_core_type = "AI_CORE"} {ge.name = "c1"} : tensor<2xf32>
  // CHECK: attrs {_cube_vector_core_type = "AIV"} {ge.name = "row"}
  %row = ge.op "Relu" (%c1) attrs {_cube_vector_core_type = "AIV"} {ge.name = "row"} : tensor<2xf32>
  // CHECK: attrs {_cube_vector_core_type = "MIX_AIV", _enable_cv_parallel = true} {ge.name = "side"}
  %side = ge.op "Relu" (%c1) attrs {_cube_vector_core_type = "MIX_AIV"} {ge.name = "side"} : tensor<2xf32>
  // CHECK: attrs {_cube_vector_core_type = "MIX", _mix_is_aiv = false} {ge.name = "c2"}
  %c2 = ge.op "Mc2" (%row) attrs {_cube_vector_core_type = "MIX", _mix_is_aiv = false} {ge.name = "c2"} : tensor<2xf32>
  // Tests that what follows the last cube node is marked only when it does not wait for it.
  // CHECK: attrs {_cube_vector_core_type = "AIV"} {ge.name = "tail"}
  %tail = ge.op "Relu" (%c2) attrs {_cube_vector_core_type = "AIV"} {ge.name = "tail"} : tensor<2xf32>
  // CHECK: attrs {_cube_vector_core_type = "AIV", _enable_cv_parallel = true} {ge.name = "free"}
  %free = ge.op "Relu" (%side) attrs {_cube_vector_core_type = "AIV"} {ge.name = "free"} : tensor<2xf32>
}

// -----

// Tests that the mode of the graph wins over the option.
ge.graph @main attributes {ge.auto_multistream_mode = "LoadBalance:2"} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: attrs {_cube_vector_core_type = "AIV"} {ge.name = "v"}
  %v = ge.op "Relu" (%x) attrs {_cube_vector_core_type = "AIV"} {ge.name = "v"} : tensor<2xf32>
}
