// RUN: ge-opt %s -p ge-stream-attached --split-input-file --verify-diagnostics | filecheck %s

// Tests the three forms: a group shares by key, main streams keep the list forms apart, reuse can be forced; the named
// group comes first, the ids begin behind the main streams.
// CHECK: ge.graph @main attributes {ge.stream_num = 7 : i64, ge.main_stream_num = 2 : i64, ge.attached_stream_num = 5 : i64}
ge.graph @main attributes {ge.stream_num = 2 : i64, ge.main_stream_num = 2 : i64} {
  // CHECK: attrs {group = "g", _attached_stream_id = 2 : i64} {ge.name = "a"
  %a = ge.op "Mc2" () attrs {group = "g", _attached_stream_info = {_attached_stream_policy = "group", _attached_stream_key = "k"}} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: attrs {group = "g", _attached_stream_id = 2 : i64} {ge.name = "b"
  %b = ge.op "Mc2" () attrs {group = "g", _attached_stream_info = {_attached_stream_policy = "group", _attached_stream_key = "k"}} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: _attached_stream_id = 3 : i64} {ge.name = "c"
  %c = ge.op "Mc2" () attrs {_attached_stream_info = [{_attached_stream_key = "k"}]} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: _attached_stream_id = 4 : i64} {ge.name = "d"
  %d = ge.op "Mc2" () attrs {_attached_stream_info = [{_attached_stream_key = "k"}]} {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: _attached_resource_id = 6 : i64, _attached_resource_is_valid = true}, {_attached_resource_name = "t"}]} {ge.name = "e"
  %e = ge.op "Mc2" () attrs {_attached_stream_info_list = [{_attached_resource_name = "s", _attached_resource_reuse_key = "z", _attached_resource_required_flag = true}, {_attached_resource_name = "t"}]} {ge.name = "e", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: _attached_resource_id = 5 : i64, _attached_resource_is_valid = true}]} {ge.name = "f"
  %f = ge.op "Mc2" () attrs {_attached_stream_info_list = [{_attached_resource_name = "s", _attached_resource_reuse_key = "r", _attached_resource_required_flag = true, _attached_resource_force_reuse = true}]} {ge.name = "f", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: _attached_resource_id = 5 : i64, _attached_resource_is_valid = true}]} {ge.name = "h"
  %h = ge.op "Mc2" () attrs {_attached_stream_info_list = [{_attached_resource_name = "s", _attached_resource_reuse_key = "r", _attached_resource_required_flag = true, _attached_resource_force_reuse = true}]} {ge.name = "h", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK-NOT: _attached_resource_id
  %i = ge.op "Mc2" () attrs {_disable_attached_resource = true, _attached_stream_info_list = [{_attached_resource_name = "s", _attached_resource_required_flag = true}]} {ge.name = "i", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that the only policy is that of groups.
// CHECK: error: node "a" has _attached_stream_policy 'all', the only one there is is 'group'
ge.graph @main attributes {ge.stream_num = 1 : i64, ge.main_stream_num = 1 : i64} {
  %a = ge.op "Mc2" () attrs {group = "g", _attached_stream_info = {_attached_stream_policy = "all", _attached_stream_key = "k"}} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
}

// -----

// Tests that a group needs its name.
// CHECK: error: node "a" has _attached_stream_policy 'group' and no attribute 'group'
ge.graph @main attributes {ge.stream_num = 1 : i64, ge.main_stream_num = 1 : i64} {
  %a = ge.op "Mc2" () attrs {_attached_stream_info = {_attached_stream_policy = "group", _attached_stream_key = "k"}} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
}

// -----

// Tests that main streams come first.
// CHECK: error: node "a" asks for an attached stream before main streams are assigned
ge.graph @main {
  %a = ge.op "Mc2" () attrs {_attached_stream_info = [{_attached_stream_key = "k"}]} {ge.name = "a"} : tensor<2xf32>
}
