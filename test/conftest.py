"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("GE_VERIFY_EACH", "1")  # tests look for faults behind every pass

settings.register_profile("same-every-time", derandomize=True, database=None, deadline=None)
settings.load_profile("same-every-time")

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        default=str(ROOT / "test" / "conformance" / "cases"),
        metavar="DIR",
        help="folder of conformance cases (test/conformance)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cases(kinds=(), levels=()): run once for each conformance case of these kinds"
    )


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_models() -> Path:
    """The folder of shared ONNX models beside the checkout; skips where it is not laid out."""
    folder = ROOT.parent / "shared" / "models"
    if not folder.is_dir():
        pytest.skip(f"no shared models at {folder}")
    return folder
