"""Where a node came from: the operator of another format that it stands for, unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import text_of

_TEXT = re.compile(r"(?P<domain>[^:@\s]+)::(?P<op>[^:@\s]+)@(?P<version>[0-9]+)")


@dataclass(frozen=True, slots=True)
class SourceOp:
    """One version of an operator: `domain::op@version`.

    `version` is the opset in which this definition of the operator appeared (ONNX: `since_version`). ONNX's default
    domain, empty in its files, is spelled `ai.onnx`.
    """

    domain: str
    op: str
    version: int

    @classmethod
    def parse(cls, text: str) -> SourceOp:
        """Read `ai.onnx::Softmax@11`. Raises ValueError for anything else."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"not an operator of the form domain::op@version: {text!r}")
        return cls(match["domain"], match["op"], int(match["version"]))

    def __str__(self) -> str:
        return f"{self.domain or 'ai.onnx'}::{self.op}@{self.version}"


def verify_source(op: Operation) -> None:
    """Raise VerifyException when the property `source` of `op` names no operator."""
    text = text_of(op.properties.get("source"))
    if text is None:
        return
    try:
        SourceOp.parse(text)
    except ValueError as error:
        raise VerifyException(f"'{op.name}' source: {error}") from None
