#!/bin/sh
# What `make demo` runs: a real model from ONNX to a task list, then run on the emulator and compared with onnxruntime.
# usage: docs/demo.sh VENV_BIN BUILD_FOLDER
set -eu
bin=$1
build=$2

# The text direction classifier of PaddleOCR (trained weights, from test/models.txt); without it a SqueezeNet that the
# onnx package ships, whose weights are all alike, so that its check says little.
packages=$("$bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
classifier=$packages/rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx
if [ -f "$classifier" ]; then
  set -- "$classifier" --dim x:0=1 --dim x:2=48 --dim x:3=192
else
  set -- "$packages/onnx/backend/test/data/light/light_squeezenet.onnx"
fi

model=$1
shift
options=${*:+ $*}

echo "# ge-opt $(basename "$model")$options -p ge-pipeline      the head of the task list, then the first tasks"
"$bin/ge-opt" "$model" "$@" -p ge-pipeline -o "$build/demo.mlir"
head -n 6 "$build/demo.mlir" | cut -c 1-150
echo "    ..."
grep -m 8 'ge_task.kernel "' "$build/demo.mlir" | cut -c 1-150
echo
echo "# ge-run $(basename "$model")$options --check"
"$bin/ge-run" "$model" "$@" --check
