"""The operators that ONNX and GE both have, a family a file; `ge_dialect.lowering.onnx.op_table` is the whole table."""
