// RUN: ge-opt %s --disable-verify --semantics=off -p ge-verify --split-input-file --verify-diagnostics

// Tests that labels and jumps go together over the graphs of a model, and what a table is indexed by.
ge.graph @main {
  ge.label_set label_index 0 {ge.name = "a"}
  // expected-error@+1 {{"b": label 0 is set twice}}
  ge.label_set label_index 0 {ge.name = "b"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": label -1 of LabelSet is not from 0 to 2147483647}}
  ge.label_set label_index -1 {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"a": label 9223372036854775807 of LabelSet is not from 0 to 2147483647}}
  ge.label_set label_index 9223372036854775807 {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"g": LabelGotoEx leads to label 3, which is set nowhere}}
  ge.label_goto label_index 3 {ge.name = "g"}
}

// -----

ge.graph @main {
  %i = ge.data index 0 {ge.name = "i"} : tensor<i32>
  // expected-error@+1 {{"s": LabelSwitchByIndex leads to label 1, which is set nowhere}}
  ge.label_switch (%i) label_list [0, 1] {ge.name = "s"}
  ge.label_set label_index 0 {ge.name = "a"}
}

// -----

ge.graph @main {
  // expected-error@+1 {{"s": LabelSwitchByIndex needs an index}}
  ge.label_switch () label_list [0] {ge.name = "s"}
  ge.label_set label_index 0 {ge.name = "a"}
}

// -----

ge.graph @main {
  %i = ge.data index 0 {ge.name = "i"} : tensor<2xi32>
  // expected-error@+1 {{"s": the index of LabelSwitchByIndex is tensor<2xi32>, expected one integer}}
  ge.label_switch (%i) label_list [0] {ge.name = "s"}
  ge.label_set label_index 0 {ge.name = "a"}
}

// -----

ge.graph @main {
  %i = ge.data index 0 {ge.name = "i"} : tensor<f32>
  // expected-error@+1 {{"s": the index of LabelSwitchByIndex is tensor<f32>, expected one integer}}
  ge.label_switch (%i) label_list [0] {ge.name = "s"}
  ge.label_set label_index 0 {ge.name = "a"}
}

// -----

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // expected-error@+1 {{"g": LabelGotoEx gives no values}}
  %y = ge.label_goto (%x) label_index 0 {ge.name = "g"} : tensor<2xf32>
  ge.label_set label_index 0 {ge.name = "a"}
}
