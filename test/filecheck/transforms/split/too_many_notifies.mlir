// RUN: not ge-opt %s -p ge-default-streams 2>&1 | filecheck %s

// CHECK: error: the model needs 1025 notifies, there are 1024
ge.graph @main attributes {ge.notify_num = 1025 : i64} {
}
