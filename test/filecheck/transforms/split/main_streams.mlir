// RUN: ge-opt %s -p "ge-split-streams{single_stream=true}" | filecheck %s

// Tests that in single-stream mode main streams count, not those that a switch needed later.
// CHECK: ge.graph @main attributes {ge.main_stream_num = 1 : i64, ge.stream_num = 2 : i64}
ge.graph @main attributes {ge.main_stream_num = 1 : i64, ge.stream_num = 2 : i64} {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  ge.stream_active {ge.name = "for_the_switch", ge.stream = 1 : i64}
}
