"""Events on random graphs: enough, not one too many, and as few ids as there can be."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.analysis.sync_check import unordered_pairs
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import DataOp, GraphOp, OpOp, RecvOp, SendOp
from ge_dialect.dialects.ge.access import add_control_edge, get_int, graphs, node_name
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.program import context, make_passes
from ge_dialect.runtime.checker import check
from ge_dialect.transforms.sync.activation import Labels
from ge_dialect.transforms.sync.clocks import passed
from ge_dialect.transforms.sync.coloring import color_events
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.insertion import insert_events
from ge_dialect.transforms.sync.minimization import minimize_events, senders_in_graph
from ge_dialect.transforms.sync.model import SyncModel

INSERT = "ge-insert-events"
REFERENCE = "ge-insert-events,ge-optimize-events"
MINIMAL = f"{REFERENCE},ge-minimize-events"

Run = Callable[[str, ModuleOp], None]
RandomModel = Callable[[random.Random], ModuleOp]
_KIND = TensorType(f32, [2])


def events_of(module: ModuleOp) -> int:
    return get_int(graphs(module)[0], "ge.event_num", 0) or 0


def without_event(module: ModuleOp, event: int) -> ModuleOp:
    """The model without the Send and the Recv of one event."""
    made = module.clone()
    for op in list(graphs(made)[0].block.ops):
        if isinstance(op, SendOp | RecvOp) and op.event_id is not None:
            if op.event_id.value.data != event:
                continue
            for use in [use for result in op.results for use in result.uses]:
                reader = use.operation
                reader.operands = [x for x in reader.operands if x.owner is not op]
            op.detach()
            op.erase()
    return made


def check_necessity(seeds: range, run: Run, random_model: RandomModel) -> tuple[int, int]:
    """Events of the minimal sets, and how many of them cannot be taken away."""
    total = necessary = 0
    for seed in seeds:
        module = random_model(random.Random(seed))
        run(f"{MINIMAL},ge-insert-sync-nodes", module)
        assert unordered_pairs(module) == []
        for event in range(events_of(module)):
            total += 1
            necessary += bool(unordered_pairs(without_event(module, event)))
    return total, necessary


def test_each_event_of_the_minimal_set_is_necessary(run: Run, random_model: RandomModel) -> None:
    total, necessary = check_necessity(range(60), run, random_model)
    assert total > 400
    assert necessary == total


@pytest.mark.slow
def test_a_thousand_graphs(run: Run, random_model: RandomModel) -> None:
    total, necessary = check_necessity(range(1000, 2000), run, random_model)
    assert necessary == total


def small_model(rng: random.Random) -> ModuleOp:
    """3 to 7 nodes on 2 to 4 streams with data and control edges, all of them tasks."""
    graph = GraphOp("main")
    data = DataOp.make(
        (),
        [_KIND],
        {"index": i64(0)},
        {"ge.name": string("x"), "ge.engine": string("DNN_VM_GE_LOCAL")},
    )
    graph.block.add_op(data)
    ops: list[OpOp] = []
    streams = rng.randint(2, 4)
    for number in range(rng.randint(3, 7)):
        sources = [rng.choice(ops).results[0] for _ in range(rng.randint(0, 3)) if ops]
        op = OpOp.make(
            sources or [data.results[0]],
            [_KIND],
            {"type": string("Opaque")},
            {
                "ge.name": string(f"n{number}"),
                "ge.engine": string("AIcoreEngine"),
                "ge.stream": i64(rng.randrange(streams)),
            },
        )
        graph.block.add_op(op)
        if ops and rng.random() < 0.3:
            add_control_edge(rng.choice(ops), op)
        ops.append(op)
    graph.attributes["ge.stream_num"] = i64(streams)
    return ModuleOp([graph])


def test_a_thousand_small_graphs() -> None:
    """Every dependency and every reuse of memory is ordered, and without any single event of the least set not.

    Memory is planned for every fourth graph.
    """
    memory, tasks = make_passes("ge-plan-memory"), make_passes("convert-ge-to-ge-task")
    sync = make_passes(f"{MINIMAL},ge-insert-sync-nodes")
    total = 0
    for seed in range(1000):
        module = small_model(random.Random(seed))
        for each in (*(memory if seed % 4 == 0 else ()), *sync):
            each.apply(context(), module)
        assert unordered_pairs(module) == []
        for event in range(events_of(module)):
            total += 1
            assert unordered_pairs(without_event(module, event)), (seed, event)
        if seed % 4 == 0:
            tasks[0].apply(context(), module)
            model = next(op for op in module.body.block.ops if isinstance(op, ModelOp))
            assert check(model) == []
    assert total > 1500


def test_clocks_and_rows_of_bits_find_the_same_set(random_model: RandomModel) -> None:
    for seed in range(120):
        found: list[list[list[int]]] = []
        for clock_streams in (64, 0):
            module = random_model(random.Random(seed))
            model = SyncModel.of(module)
            assert model is not None
            events = Events.read(model)
            insert_events(model, Labels.of(model), events)
            minimize_events(model, [events], clock_streams)
            found.append([ids for _, ids in sorted_by_place(model, events)])
        assert found[0] == found[1]


def sorted_by_place(model: SyncModel, events: Events) -> list[tuple[int, list[int]]]:
    return sorted((model.place[op], ids) for op, ids in events.recv.items())


def test_the_certificate_says_what_happens_without_each_event(
    run: Run, random_model: RandomModel
) -> None:
    covered = 0
    for seed in range(60):
        module = random_model(random.Random(seed))
        run(INSERT, module)
        with collect_remarks() as heard:
            run("ge-minimize-events", module)
        said = [
            x.args
            for x in heard.remarks
            if x.pass_name == "ge-minimize-events" and "kept" in x.args
        ]
        kept = {(x["sender"], x["receiver"]) for x in said if x["kept"]}
        covered += sum(not x["kept"] for x in said)
        run("ge-insert-sync-nodes", module)
        count = events_of(module)
        assert len(kept) == count
        for event in range(count):
            broken = unordered_pairs(without_event(module, event))
            named = {(node_name(x.first), node_name(x.second)) for x in broken}
            # An event may stand for edges that lead on from its receiver; its own pair is always among them when it is
            # an edge of the graph, as every noted event is here.
            assert named & kept
        evidence_holds(module, [x for x in said if x["kept"]])
    assert covered > 300


def evidence_holds(module: ModuleOp, kept: list[Mapping[str, object]]) -> None:
    """What is named as known stands in front of the sender on its stream."""
    place = {node_name(op): index for index, op in enumerate(graphs(module)[0].block.ops)}
    stream = {node_name(op): get_int(op, "ge.stream") for op in graphs(module)[0].block.ops}
    for each in kept:
        sender, known = str(each["sender"]), each["known"]
        assert stream[sender] == each["sender_stream"]
        if known is not None:
            assert stream[str(known)] == stream[sender]
            assert place[str(known)] < place[sender]


def test_the_minimal_set_is_unique_and_no_larger(run: Run, random_model: RandomModel) -> None:
    smaller = 0
    for seed in range(60):
        plain, reference = (random_model(random.Random(seed)) for _ in range(2))
        run(f"{INSERT},ge-minimize-events", plain)
        run(REFERENCE, reference)
        before = events_of(reference)
        run("ge-minimize-events", reference)
        assert str(plain) == str(reference)
        assert events_of(reference) <= before
        smaller += events_of(reference) < before
    assert smaller > 10


@pytest.mark.parametrize("passes", [INSERT, REFERENCE])
def test_events_of_the_reference_are_enough(
    passes: str, run: Run, random_model: RandomModel
) -> None:
    for seed in range(60):
        module = random_model(random.Random(seed))
        run(f"{passes},ge-insert-sync-nodes,ge-verify-sync", module)


def fewest_chains(over: list[list[int]]) -> int:
    """Events less a maximum matching, found path by path (Kuhn); `over[e]` may follow e."""
    before: dict[int, int] = {}

    def place(event: int, seen: set[int]) -> bool:
        for following in over[event]:
            if following not in seen:
                seen.add(following)
                if following not in before or place(before[following], seen):
                    before[following] = event
                    return True
        return False

    return len(over) - sum(place(event, set()) for event in range(len(over)))


def test_colored_ids_are_as_few_as_possible(run: Run, random_model: RandomModel) -> None:
    saved = 0
    for seed in range(80):
        module = random_model(random.Random(seed))
        run(MINIMAL, module)
        model = SyncModel.of(module)
        assert model is not None
        events = Events.read(model)
        clocks = passed(model.direct_nodes(model.root), senders_in_graph(model, [events]))
        senders, receivers = events.senders(), events.receivers()
        over = [
            [
                later
                for later, sender in sorted(senders.items())
                if all(
                    clock[clocks.row[receivers[event]]] >= clocks.position[receivers[event]]
                    for clock in (clocks.done(sender), clocks.reached(receivers[later]))
                )
            ]
            for event in range(events.count)
        ]
        greedy = color_events(model, events, limit=0)
        exact = color_events(model, events)
        assert greedy is not None
        assert exact is not None
        assert exact.exact
        assert len(exact.chains) == fewest_chains(over) <= len(greedy.chains)
        saved += len(exact.chains) < len(greedy.chains)
        run("ge-color-events", module)
        assert events_of(module) == len(exact.chains)
        run("ge-insert-sync-nodes,ge-verify-sync", module)
        for order in range(20):
            play(module, random.Random(order))
    assert saved > 0


def play(module: ModuleOp, rng: random.Random) -> None:
    """Run the queues of a graph in a random order; fails on a deadlock, on a record of an event that is recorded and
    on a node that runs before what it reads."""
    queues: dict[int, list[Operation]] = {}
    for op in graphs(module)[0].block.ops:
        stream = get_int(op, "ge.stream")
        if stream is not None:
            queues.setdefault(stream, []).append(op)
    recorded: set[int] = set()
    done: set[Operation] = set()

    def can_run(op: Operation) -> bool:
        return not isinstance(op, RecvOp) or number(op) in recorded

    def number(op: SendOp | RecvOp) -> int:
        assert op.event_id is not None
        return op.event_id.value.data

    while any(queues.values()):
        ready = [queue for queue in queues.values() if queue and can_run(queue[0])]
        assert ready, "deadlock"
        op = rng.choice(ready).pop(0)
        if isinstance(op, RecvOp):
            recorded.remove(number(op))
        elif isinstance(op, SendOp):
            assert number(op) not in recorded
            recorded.add(number(op))
        else:
            sources = {x.owner for x in op.operands if not isinstance(x.owner, RecvOp | DataOp)}
            assert sources <= done
        done.add(op)
