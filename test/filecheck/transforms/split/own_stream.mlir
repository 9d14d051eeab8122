// RUN: not ge-opt %s -p "ge-activate-streams,ge-split-streams,ge-update-active-streams" 2>&1 | filecheck %s
// RUN: ge-opt %s -p "ge-activate-streams,ge-split-streams" | filecheck %s --check-prefix=BEFORE

// Tests that a node which starts its own stream is refused where no stream had to be split too.
// CHECK: own_stream.mlir:9:3: error: node "start" starts stream 0, on which it is itself
// BEFORE: ge.stream_active active_stream_list [0]
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  // The label is that of the node itself.
  ge.stream_active attrs {_active_label_list = ["L"], _stream_label = "L"} {ge.name = "start", ge.stream = 0 : i64}
}
