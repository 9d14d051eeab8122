"""Damaged MLIR text: one line that says what is wrong, whatever tool reads it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from ge_dialect.tools import ge_opt, ge_run

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w%@!#^$][\w.$]*|-?\d+|\s+|.', re.DOTALL)
NUMBERS = ("0", "1", "-1", "7", str(1 << 40), str((1 << 63) - 1), str(-(1 << 63)), "9" * 30)
WORDS = (
    *NUMBERS,
    "tensor<2xf32>",
    "tensor<*xf32>",
    "%x",
    "@main",
    '""',
    "none",
    "f16",
    "{",
    "}",
    "<",
    ")",
    "é",
)
COMMANDS: tuple[tuple[Callable[[Sequence[str]], int], tuple[str, ...]], ...] = (
    (ge_opt.main, ()),
    (ge_opt.main, ("-p", "ge-pipeline")),
    (ge_opt.main, ("--verify-roundtrip",)),
    (ge_run.main, ()),
)  # fmt: skip


@cache
def texts(folder: Path) -> list[str]:
    """The parts of all lit tests, without comments."""
    found: list[str] = []
    for path in sorted(folder.rglob("*.mlir")):
        for part in path.read_text().split("// -----"):
            lines = [x for x in part.split("\n") if not x.strip().startswith("//")]
            if text := "\n".join(lines).strip():
                found.append(text)
    return found


def damaged(text: str, rng: random.Random) -> str:
    """`text` with a few tokens left out, doubled or replaced by other ones of their kind."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    numbers = [i for i in places if tokens[i].lstrip("-").isdecimal()] or places
    strings = [i for i in places if tokens[i][0] in '"%@'] or places
    for _ in range(rng.choice((1, 1, 2))):
        match rng.randrange(5):
            case 0:
                tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
            case 1:
                tokens[rng.choice(strings)] = tokens[rng.choice(strings)]
            case 2:
                tokens[rng.choice(places)] = ""
            case 3:
                tokens[rng.choice(places)] += " " + tokens[rng.choice(places)]
            case _:
                tokens[rng.choice(places)] = rng.choice(WORDS)
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(120))
def test_damaged_text(
    seed: int, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)
    path = tmp_path / "damaged.mlir"
    path.write_text(damaged(rng.choice(texts(repository / "test" / "filecheck")), rng))
    main, options = COMMANDS[seed % len(COMMANDS)]
    code = main([str(path), *options])
    errors = capsys.readouterr().err
    if code == 0:
        assert not errors
    else:
        assert re.fullmatch(r"[^\n]+: error: [^\n]+\n", errors)
