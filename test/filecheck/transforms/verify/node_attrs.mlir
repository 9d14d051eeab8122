// RUN: ge-opt %s --disable-verify -p 'ge-verify{level=structure}' --split-input-file --verify-diagnostics

// Tests that GE's attributes which decide about streams and events have the type that the passes read.
ge.graph @main {
  // expected-error@+1 {{"a": attribute NewStreamId of A is [1 : i64], expected an integer}}
  ge.op "A" () attrs {NewStreamId = [1]} {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": attribute _attached_stream_id of A is []}}
  ge.op "A" () attrs {_attached_stream_id = []} {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": attribute _attached_stream_info of A is [1 : i64]}}
  ge.op "A" () attrs {_attached_stream_info = [1]} {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{expected a list of dictionaries of a resource}}
  ge.op "A" () attrs {_attached_stream_info_list = [{_attached_resource_id = "x"}]} {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": attribute _stream_label of A is}}
  ge.op "A" () attrs {_stream_label = ["l"]} {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{expected numbers by stream}}
  ge.op "A" () {ge.name = "a", ge.attached_recv_events = {a = array<i64: 0>}}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": attribute ge.stream is -2 : i64, expected -1 (none) to 2147483647}}
  ge.op "A" () {ge.name = "a", ge.stream = -2 : i64}
}

// -----

// All of them as they should be.
ge.graph @main {
  ge.op "A" () attrs {NewStreamId = 1 : i64, _attached_stream_id = 2 : i64, _stream_label = "l", _active_label_list = ["l"], _attached_stream_info = [{_attached_stream_key = "k"}], _attached_stream_info_list = [{_attached_resource_id = 3 : i64}]} {ge.name = "a", ge.stream = -1 : i64, ge.attached_recv_events = {"1" = array<i64: 0>}}
}
