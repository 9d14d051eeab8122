# lit's configuration: `lit test/filecheck`. lit defines `config` before it runs this file.
# ruff: noqa: F821
# pyright: reportUndefinedVariable=false

import os
import shutil
import sys

import lit.formats

config.name = "ge-dialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "..", "..", "build", "lit")

# The tools of the environment that runs lit come first, whether or not it is activated.
config.environment["PATH"] = os.pathsep.join(
    [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
)

# Tests look for faults behind every pass.
config.environment["GE_VERIFY_EACH"] = "1"

mlir_opt = (
    os.environ.get("XDSL_MLIR_OPT") or shutil.which("mlir-opt") or shutil.which("mlir-opt-22")
)
if mlir_opt:
    config.available_features.add("mlir-opt")
    config.environment["XDSL_MLIR_OPT"] = mlir_opt
    config.substitutions.append(("%mlir-opt", mlir_opt))

config.substitutions += [
    # Both forms of the text, read back, against the file's CHECK lines.
    (
        "GE_ROUNDTRIP",
        "ge-opt %s --split-input-file --weights=inline"
        " | ge-opt --split-input-file --print-op-generic --weights=inline"
        " | ge-opt --split-input-file | filecheck %s",
    ),
    (
        "GE_GENERIC",
        "ge-opt %s --split-input-file --print-op-generic | filecheck %s --check-prefix=CHECK-GENERIC",
    ),
]
