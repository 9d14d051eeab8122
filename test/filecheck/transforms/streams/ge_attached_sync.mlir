// RUN: ge-opt %s -p ge-attached-sync --split-input-file --verify-diagnostics | filecheck %s

// Tests that events and notifies go on from the counters, are shared by key, and that an element without key shares
// with nobody.
// CHECK: ge.graph @main attributes {ge.event_num = 7 : i64, ge.notify_num = 5 : i64, ge.notify_types = array<i64: 0, 1, 1, 0, 0>}
ge.graph @main attributes {ge.event_num = 4 : i64, ge.notify_num = 1 : i64} {
  // CHECK: attrs {event_id = array<i64: 4, 5>} {ge.name = "a"}
  %a = ge.op "Mc2" () attrs {_attached_sync_res_info = [{_attached_sync_res_type = "event"}, {_attached_sync_res_type = "event", _attached_sync_res_key = "k"}, {_attached_sync_res_type = "lock"}]} {ge.name = "a"} : tensor<2xf32>
  // CHECK: attrs {event_id = array<i64: 5>} {ge.name = "b"}
  %b = ge.op "Mc2" () attrs {_attached_sync_res_info = [{_attached_sync_res_type = "event", _attached_sync_res_key = "k"}]} {ge.name = "b"} : tensor<2xf32>
  // CHECK: attrs {group = "g", notify_id = array<i64: 1, 2>} {ge.name = "c"}
  %c = ge.op "Mc2" () attrs {group = "g", _attached_notify_info = {_attached_notify_policy = "group", _attached_notify_key = "n", _attached_notify_num = 2, _attached_notify_type = 1}} {ge.name = "c"} : tensor<2xf32>
  // CHECK: _attached_resource_reuse_key = "sx", _attached_resource_id = 4 : i64, _attached_resource_is_valid = true}
  // CHECK-SAME: _attached_resource_reuse_key = "sd_attr_0", _attached_resource_id = 6 : i64
  // CHECK-SAME: ge.name = "d"
  %d = ge.op "Mc2" () attrs {_attached_sync_res_info_list = [{_attached_resource_name = "s", _attached_resource_type = 1, _attached_resource_required_flag = true, _attached_resource_reuse_key = "x"}, {_attached_resource_name = "s", _attached_resource_type = 0, _attached_resource_required_flag = true}]} {ge.name = "d"} : tensor<2xf32>
  // CHECK: _attached_resource_reuse_key = "se_attr_1", _attached_resource_id = 3 : i64
  %e = ge.op "Mc2" () attrs {_attached_sync_res_info_list = [{_attached_resource_name = "s", _attached_resource_type = 1, _attached_resource_required_flag = true}]} {ge.name = "e"} : tensor<2xf32>
}

// -----

// Tests that notifies of one key are of one type.
// CHECK: error: node "b" shares notifies 'n' with a node whose notifies are of type 0
ge.graph @main {
  %a = ge.op "Mc2" () attrs {group = "g", _attached_notify_info = {_attached_notify_policy = "group", _attached_notify_key = "n"}} {ge.name = "a"} : tensor<2xf32>
  %b = ge.op "Mc2" () attrs {group = "g", _attached_notify_info = {_attached_notify_policy = "group", _attached_notify_key = "n", _attached_notify_type = 1}} {ge.name = "b"} : tensor<2xf32>
}
