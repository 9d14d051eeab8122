"""What cases of streams.json expect of a run and of the model afterwards, whatever level they drive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stream_case_graphs import Json, stream_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.attached import attached_ids
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.streams.errors import StreamError


def caught(action: Callable[[], object]) -> GeError | None:
    """Do it; the error that it ends with."""
    try:
        action()
    except GeError as error:
        return error
    return None


def run(module: ModuleOp, passes: Iterable[ModulePass]) -> GeError | None:
    """Run the passes; the error that one of them ends with."""

    def apply() -> None:
        for module_pass in passes:
            module_pass.apply(Context(), module)

    return caught(apply)


def check_status(expect: Json, error: GeError | None) -> bool:
    """Whether the run went well, after comparing with what is expected of its status."""
    status = expect.get("status", "SUCCESS")
    if status == "SUCCESS":
        assert error is None, error
        return True
    assert error is not None
    assert str(error)
    own = error.status if isinstance(error, StreamError) else "FAILED"
    # Whatever a build fails with is FAILED where the session, or the step around, reports it.
    assert status in (own, "not SUCCESS", "FAILED")
    if "error_code" in expect:
        assert isinstance(error, StreamError)
        assert error.code == expect["error_code"]
    if "message_contains" in expect:
        assert expect["message_contains"] in error.message
    places = [error.message.index(name) for name in expect.get("error_names_in_order", ())]
    assert places == sorted(places)
    return False


def check_streams(expect: Json, found: Mapping[str, Any]) -> None:
    """Streams and their equality, node by node."""
    for name, stream in expect.get("node_streams", {}).items():
        assert stream_of(found[name]) == stream, name
    for one, other in expect.get("equal_nodes", ()):
        assert stream_of(found[one]) == stream_of(found[other])
    for one, other in expect.get("different_nodes", ()):
        assert stream_of(found[one]) != stream_of(found[other])


def attached_of(op: Operation) -> list[int]:
    """The ids of the attached streams, -1 where there is none."""
    return attached_ids(op)


def check_attached(expect: Json, found: Mapping[str, Any]) -> None:
    """Attached streams, node by node."""
    for name, ids in expect.get("attached", {}).items():
        assert attached_of(found[name]) == ids, name
    for one, other in expect.get("attached_equal", ()):
        assert attached_of(found[one]) == attached_of(found[other]) != []
    for one, other in expect.get("attached_different", ()):
        assert attached_of(found[one]) != attached_of(found[other])
    for name, count in expect.get("attached_count", {}).items():
        assert len(attached_of(found[name])) == count


def check_counters(expect: Json, module: ModuleOp, found: Mapping[str, Operation]) -> None:
    """The numbers of streams after the logical phase."""
    root = graphs(module)[0]
    for key, name in (
        ("total_stream_num", "ge.stream_num"),
        ("next_stream", "ge.stream_num"),
        ("main_stream_num", "ge.main_stream_num"),
    ):
        if key in expect:
            assert get_int(root, name) == expect[key], key
    if "max_stream_id" in expect:
        assert max(stream_of(op) for op in found.values()) == expect["max_stream_id"]


def check_logical(expect: Json, module: ModuleOp, found: Mapping[str, Operation]) -> None:
    """All that can be expected after the logical phase."""
    check_streams(expect, found)
    check_attached(expect, found)
    check_counters(expect, module, found)
