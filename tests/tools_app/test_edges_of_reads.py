"""How much of nodes, contracts and strangers is read, up to the number and not beyond it."""

from __future__ import annotations

import base64
import json
import socket
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.factories.golems import make_golem, make_owner
from tools_app.chain import networks
from tools_app.chain.abi import event_topic
from tools_app.chain.blocks import fetch_logs
from tools_app.chain.http_pool import HttpFailure, _Connection
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.node_errors import BlockUnavailable, LogRangeTooWide
from tools_app.chain.reader import PinnedReader
from tools_app.chain.running_code import read_running_code
from tools_app.chain.tokens import TokenNotFound, TokenRegistry
from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams
from tools_app.core.recursion_limit import deep_calls
from tools_app.core.taint import DataSink, Secret, clean_for
from tools_app.models import KnownPosition, StreamSubscription
from tools_app.portfolio.position_search import TOO_LONG, TOO_MANY, list_gaps, look_further
from tools_app.portfolio.remembered_positions import list_hints, remember_positions
from tools_app.portfolio.standing_rights import find_standing_rights
from tools_app.protocols.erc8004.discovery import find_registrations
from tools_app.protocols.erc8004.endpoint_domains import DomainProof, check_domains
from tools_app.protocols.erc8004.reads import IDENTITY, REPUTATION, VALIDATION, read_validations, read_voices
from tools_app.protocols.erc8004.registration_file import AgentFile, FileSource, read_file
from tools_app.simulation.before_after_reads import Conversation
from tools_app.standards import erc8004
from tools_app.standards.token_logs import TRANSFER_BATCH, read_transfers
from tools_app.subsystems.data.pool_tools import _scan_created
from tools_app.subsystems.stream.serve_subscriptions import _record_failure
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.markets import CreatedPool
from tools_app.toolkit.positions import PositionRef, PositionsUnreadable, drive
from tools_app.toolkit.views import LogEntry

T = datetime(2026, 11, 26, tzinfo=UTC)
ME = "0x" + "1" * 40


# ---- nodes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "is_read"), [(1 << 16, True), ((1 << 16) + 1, False)])
def test_the_head_of_an_answer_has_sixty_four_kilobytes_before_its_end_is_there(length: int, is_read: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = _Connection(ours)
        start = b"HTTP/1.1 200 OK\r\nA: "
        connection._read += start + b"a" * (length - len(start))
        theirs.sendall(b"\r\n\r\n")
        if is_read:
            assert connection._read_head(Deadline.after_ms(5_000))[0] == 200
            return
        with pytest.raises(HttpFailure, match="endless head"):
            connection._read_head(Deadline.after_ms(5_000))


@pytest.mark.parametrize(("length", "is_read"), [(1_024, True), (1_025, False)])
def test_a_line_between_chunks_has_a_kilobyte(length: int, is_read: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = _Connection(ours)
        connection._read += b"a" * length
        theirs.sendall(b"\r\n")
        if is_read:
            assert len(connection._read_line(Deadline.after_ms(5_000))) == length
            return
        with pytest.raises(HttpFailure, match="endless line"):
            connection._read_line(Deadline.after_ms(5_000))


@pytest.mark.parametrize(("count", "is_read"), [(50_000, True), (50_001, False)])
def test_a_search_finds_fifty_thousand_logs_at_most(count: int, is_read: bool) -> None:
    log = {
        "address": ME,
        "topics": [],
        "data": "0x",
        "blockNumber": "0x1",
        "transactionHash": "0x1",
        "logIndex": "0x1",
    }
    reply: Any = SimpleNamespace(error=None, unwrap=lambda: [log] * count)
    query: Any = SimpleNamespace(from_block=1, to_block=1, addresses=(), topics=())
    if is_read:
        assert len(fetch_logs(lambda _: [reply], [query], max_range=10)[0]) == 50_000
        return
    with pytest.raises(LogRangeTooWide, match="50000"):
        fetch_logs(lambda _: [reply], [query], max_range=10)


@pytest.mark.parametrize(("length", "error"), [(20, TokenNotFound), (21, InvalidParams)])
def test_what_begins_like_an_address_is_a_symbol_up_to_twenty_letters(length: int, error: type[Exception]) -> None:
    reader: Any = SimpleNamespace(_registry=TokenRegistry(KNOWN_NETWORKS[1], ()))
    with pytest.raises(error):
        PinnedReader.token(reader, "0x" + "a" * (length - 2))


@pytest.mark.parametrize(("decimals", "is_token"), [(36, True), (37, False)])
def test_an_unlisted_token_has_thirty_six_decimals_at_most(decimals: int, is_token: bool) -> None:
    registry = TokenRegistry(KNOWN_NETWORKS[1], ())
    if is_token:
        assert registry.describe(ME, symbol=b"A", name=b"A", decimals=decimals).decimals == 36
        return
    with pytest.raises(TokenNotFound):
        registry.describe(ME, symbol=b"A", name=b"A", decimals=decimals)


@pytest.mark.parametrize(("count", "is_followed"), [(256, True), (257, False)])
def test_code_is_followed_through_256_contracts(count: int, is_followed: bool) -> None:
    chain: Any = SimpleNamespace(
        preload=lambda **_: None, code=lambda _: b"\x60\x00", slot=lambda *_: 0, call_many=lambda _: []
    )
    addresses = [f"0x{0x10000 + number:040x}" for number in range(count)]
    if is_followed:
        assert len(read_running_code(chain, addresses).roots) == 256
        return
    with pytest.raises(ValueError, match="more than 256"):
        read_running_code(chain, addresses)


# ---- positions and rights --------------------------------------------------------------------------------------------


def ask_in(batches: int) -> Any:
    for _ in range(batches):
        yield []
    return "told"


@pytest.mark.parametrize(("batches", "is_told"), [(8, True), (9, False)])
def test_a_protocol_tells_its_positions_in_eight_batches_wherever_it_is_asked(batches: int, is_told: bool) -> None:
    conversation: Any = Conversation(ask_in(batches))

    def talk() -> Any:
        conversation.go_on()
        while conversation.told is None:
            conversation.go_on([])
        return conversation.told

    for each in (talk, lambda: drive(ask_in(batches), lambda _: [])):
        if is_told:
            assert each() == "told"
            continue
        with pytest.raises(PositionsUnreadable, match="8 batches"):
            each()


@pytest.mark.django_db
def test_two_hundred_positions_of_an_account_are_looked_for_besides_its_own_and_more_is_told() -> None:
    def remember(number: int, kind: str = "market", *, is_own: bool = False) -> KnownPosition:
        seen = T + timedelta(seconds=number)
        ref = PositionRef("morpho", kind, 1, str(number))
        return KnownPosition(chain_id=1, account=ME, ref=str(ref), first_seen=seen, last_seen=seen, is_own=is_own)

    KnownPosition.objects.bulk_create([remember(number) for number in range(200)])
    assert list_gaps(chain_id=1, account=ME) == () and len(list_hints(chain_id=1, account=ME)) == 200
    remember(200).save()
    assert "TOO_MANY_POSITIONS: 201 at morpho" in list_gaps(chain_id=1, account=ME)[0]
    hints = list_hints(chain_id=1, account=ME)
    assert len(hints) == 200 and hints[0].id == "0" and "200" not in {each.id for each in hints}
    # Its own come first, whenever they were opened, and another kind is pushed out by none of these.
    KnownPosition.objects.bulk_create([remember(201, is_own=True), remember(202, "vault")])
    hints = list_hints(chain_id=1, account=ME)
    assert hints[0].id == "201" and hints[-1].id == "202" and len(hints) == 202


@pytest.mark.django_db
def test_what_the_golem_opened_stays_its_own_whoever_sees_it_again() -> None:
    ref = PositionRef("morpho", "market", 1, "0x01")
    remember_positions(account=ME, refs=[ref], now=T)
    assert not KnownPosition.objects.get().is_own
    remember_positions(account=ME, refs=[ref], now=T, is_own=True)
    remember_positions(account=ME, refs=[ref], now=T + timedelta(hours=1))
    assert KnownPosition.objects.get().is_own


def look(*, looks: int, found: int = 0) -> Any:
    chain: Any = SimpleNamespace(
        chain_id=1,
        block=SimpleNamespace(number=10**8),
        logs=lambda **_: [],
        logs_many=lambda *_, **__: [],
        preload_logs=lambda *_: None,
        preload=lambda **_: None,
    )
    row: Any = SimpleNamespace(
        account=ME, lowest=10**7, highest=10**8, ended="", looks=looks, found=found, save=lambda: None
    )
    look_further(row, chain, now=T)
    return row


@pytest.mark.parametrize(("before", "ended"), [(2_495, ""), (2_496, TOO_LONG)])
def test_an_account_is_searched_for_in_2500_ranges_of_blocks(before: int, ended: str) -> None:
    row = look(looks=before)
    assert (row.looks, row.ended) == (before + 4, ended)


@pytest.mark.parametrize(("found", "ended"), [(200, ""), (201, TOO_MANY)])
def test_a_search_that_found_more_than_two_hundred_is_over(found: int, ended: str) -> None:
    assert look(looks=0, found=found).ended == ended


def test_rights_are_searched_for_in_fifty_ranges_of_blocks() -> None:
    head = 10**8
    chain: Any = SimpleNamespace(
        chain_id=1,
        block=SimpleNamespace(number=head),
        code=lambda _: b"",
        preload=lambda **_: None,
        preload_logs=lambda _: None,
    )
    found = find_standing_rights(chain=chain, account=ME)
    assert found.since_block == head - 50 * KNOWN_NETWORKS[1].max_log_range + 1


def batch_log(pairs: int, *, beside: int = 0) -> LogEntry:
    """A log of so many kinds of tokens that moved at once, and bytes that nothing points to."""
    words = [64, 64 + 32 * (pairs + 1), pairs, *range(pairs), pairs, *range(pairs)]
    who = "0x" + ME[2:].rjust(64, "0")
    data = "0x" + "".join(f"{word:064x}" for word in words) + "00" * beside
    return LogEntry(ME, (event_topic(TRANSFER_BATCH), who, who, who), data, 1, "0x1", 0)


@pytest.mark.parametrize(("pairs", "beside", "moved"), [(1_022, 0, 1_022), (1_022, 1, 0), (1_023, 0, 0)])
def test_a_batch_of_tokens_is_read_up_to_sixty_four_kilobytes(pairs: int, beside: int, moved: int) -> None:
    assert len(read_transfers(batch_log(pairs, beside=beside))) == moved


def test_a_search_for_new_pools_keeps_the_forty_newest() -> None:
    kept: dict[str, Any] = {}
    ctx: Any = SimpleNamespace(checkpoint=SimpleNamespace(left={}, keep=lambda **told: kept.update(told)))
    reader: Any = SimpleNamespace(
        chain_id=1,
        block=SimpleNamespace(number=10, timestamp=10**6),
        first_block_since=lambda _: SimpleNamespace(number=1),
    )
    made = [CreatedPool("0xP", "v3", "0xA", "0xB", 500, number, "0x1") for number in range(41)]
    markets: Any = SimpleNamespace(created=lambda *_, **__: made)
    count, latest = _scan_created(ctx, reader, markets, 1)
    assert count == kept["count"] == 41
    assert [each.block_number for each in latest] == list(range(1, 41))


# ---- agents and their registries -------------------------------------------------------------------------------------


def as_uri(document: dict[str, Any], *, size: int | None = None) -> str:
    text = json.dumps(document)
    if size is not None:
        text = json.dumps({**document, "a": "x" * (size - len(json.dumps({**document, "a": ""})))})
    return "data:application/json;base64," + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(("size", "source"), [(16_384, FileSource.ON_CHAIN), (16_385, FileSource.MALFORMED)])
def test_a_strangers_file_has_sixteen_kilobytes_at_most(size: int, source: FileSource) -> None:
    assert read_file(as_uri({"name": "n"}, size=size)).source is source


def test_sixteen_services_and_kinds_of_trust_of_an_agent_are_read() -> None:
    document = {"services": [{"name": f"s{n}"} for n in range(17)], "supportedTrust": [f"t{n}" for n in range(17)]}
    found = read_file(as_uri(document))
    assert [each.name for each in found.services] == [f"s{n}" for n in range(16)]
    assert found.trusts == tuple(f"t{n}" for n in range(16))


def test_two_domains_of_an_agent_are_asked() -> None:
    endpoints = [f"https://127.0.0.1:{port}/a" for port in (1, 2, 3)]
    named: Any = SimpleNamespace(in_full="eip155:1:0x1:1", number=1)
    proofs = check_domains(endpoints, named=named, uri="", file=AgentFile(FileSource.NONE), seconds=1)
    assert list(proofs.values()) == [DomainProof.REFUSED, DomainProof.REFUSED, DomainProof.NOT_ASKED]


@pytest.mark.parametrize(("count", "seen", "next_block"), [(100, 100, None), (101, 100, 1)])
def test_a_call_looks_at_a_hundred_registrations(
    count: int, seen: int, next_block: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(networks._configured, 1, KNOWN_NETWORKS[1])
    topic = event_topic(erc8004.REGISTERED)

    def word(number: int) -> str:
        return f"0x{number:064x}"

    data = "0x" + f"{32:064x}" + f"{0:064x}"
    logs = [LogEntry(ME, (topic, word(n), word(1)), data, n, "0x1", 0) for n in range(1, count + 1)]
    reader: Any = SimpleNamespace(
        chain_id=1, block=SimpleNamespace(number=count, timestamp=1), network=KNOWN_NETWORKS[1], logs=lambda **_: logs
    )
    found = find_registrations(reader, {IDENTITY: ME})
    assert len(found.numbers) == seen and found.next_block == next_block


class Registry:
    """Clients that each said so much, and hashes of questions; what was asked is kept."""

    def __init__(self, *, clients: int, said: int) -> None:
        self.clients, self.said = [f"0x{number:040x}" for number in range(clients)], said
        self.asked: list[tuple[Any, ...]] = []

    def call_many(self, reads: Any) -> list[ReadOutcome]:
        return [self._answer(each) for each in reads]

    def call(self, *_: Any) -> tuple[Any, ...]:
        return ([bytes([number]) * 32 for number in range(51)],)

    def _answer(self, read: Any) -> ReadOutcome:
        if read.signature == erc8004.GET_CLIENTS:
            return ReadOutcome(True, (self.clients,))
        if read.signature == erc8004.LAST_INDEX:
            return ReadOutcome(True, (self.said,))
        self.asked.append(read.args)
        return ReadOutcome(False, (), "not told")


@pytest.mark.parametrize(
    ("agents", "clients", "said", "asked"), [(1, 101, 1, 100), (1, 1, 401, 400), (2, 1, 201, 400), (1, 3, 200, 399)]
)
def test_a_hundred_clients_and_four_hundred_words_are_read_at_once(
    agents: int, clients: int, said: int, asked: int
) -> None:
    registry: Any = Registry(clients=clients, said=said)
    voices = read_voices(registry, {REPUTATION: ME}, range(agents))
    assert len(registry.asked) == asked
    assert not voices[0].is_whole


def test_the_fifty_newest_questions_to_validators_are_read() -> None:
    registry: Any = Registry(clients=0, said=0)
    assert read_validations(registry, {VALIDATION: ME}, 1) == ()
    assert [each[0][0] for each in registry.asked] == list(range(50, 0, -1))


# ---- what is known of texts ------------------------------------------------------------------------------------------


def test_a_secret_of_eight_letters_is_found_in_texts_and_a_shorter_one_would_be_a_word() -> None:
    Secret("qzxvkjw")
    Secret("qzxvkjwh")
    assert "qzxvkjw" in clean_for(DataSink.EVENTS, "a qzxvkjw b")
    assert "qzxvkjwh" not in clean_for(DataSink.EVENTS, "a qzxvkjwh b")


def test_deep_calls_may_go_as_deep_as_the_machine_that_runs_contracts_asks_for() -> None:
    before = sys.getrecursionlimit()
    with deep_calls():
        assert sys.getrecursionlimit() == max(before, 12_288)
    assert before < 12_288


# ---- subscriptions ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("failures", "is_open"), [(198, True), (199, False)])
def test_a_subscription_is_given_up_after_two_hundred_failures(failures: int, is_open: bool) -> None:
    golem = make_golem(owner=make_owner(name="following"))
    row = StreamSubscription.objects.create(
        subscription_id=golem.pk,
        golem_id=golem.pk,
        kind="trades",
        chain_id=1,
        params_hash="0x1",
        interval_ms=1_000,
        created_at=T,
        expires_at=T + timedelta(days=1),
        next_poll_at=T,
        failures=failures,
    )
    _record_failure(row, BlockUnavailable("away"), T)
    row.refresh_from_db()
    assert row.failures == failures + 1 and (row.ended_at is None) is is_open
