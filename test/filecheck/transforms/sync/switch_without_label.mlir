// RUN: not ge-opt %s -p ge-activate-switches 2>&1 | filecheck %s

ge.graph @main {
  %p = ge.data index 0 {ge.name = "p"} : tensor<1xi32>
  // CHECK: switch_without_label.mlir:6:{{.*}}: error: node "s" is a StreamSwitch without _active_label_list
  ge.stream_switch (%p, %p) switch_condition 0 {ge.name = "s", ge.stream = 0 : i64}
}
