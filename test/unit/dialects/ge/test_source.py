"""The text of a source operator."""

from __future__ import annotations

import pytest

from ge_dialect.dialects.ge.source import SourceOp


@pytest.mark.parametrize(
    "text", ["ai.onnx::Softmax@11", "com.microsoft::FusedConv@1", "ai.onnx.ml::ZipMap@1"]
)
def test_text_round_trips(text: str) -> None:
    assert str(SourceOp.parse(text)) == text


def test_parts() -> None:
    assert SourceOp.parse("ai.onnx::Softmax@11") == SourceOp("ai.onnx", "Softmax", 11)
    assert str(SourceOp("", "Softmax", 11)) == "ai.onnx::Softmax@11"


@pytest.mark.parametrize(
    "text", ["", "Softmax", "Softmax@11", "ai.onnx::Softmax", "a::b@x", "a::b@1 ", "a:b@1"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="domain::op@version"):
        SourceOp.parse(text)
