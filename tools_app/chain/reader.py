"""PinnedReader: every read of one context at one block, in as few round trips as it takes.

The block is named by hash, so a reorganisation shows as an error and not as a mixture of two states. It implements
`ChainReader` of `toolkit/context.py`; it cannot send, because its pool refuses every method that is not a read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, checksum, decode_output, encode_call
from tools_app.chain.blocks import header_request, parse_block
from tools_app.chain.contract_facts import FACTS
from tools_app.chain.deployments import Deployment, Feed
from tools_app.chain.expected_reads import ExpectedReads
from tools_app.chain.feeds import (
    DEFAULT_MAX_AGE_SECONDS,
    PriceUnavailable,
    feed_calls,
    is_dated_after,
    judge_price,
    judge_sequencer,
    sequencer_call,
)
from tools_app.chain.gas import fee_requests, parse_fees
from tools_app.chain.multicall import (
    Raw,
    ReadKey,
    aggregate_request,
    call_request,
    read_aggregate,
    read_reply,
    split_chunks,
)
from tools_app.chain.networks import MULTICALL3, Network
from tools_app.chain.node_errors import ContractOutputUnexpected, RpcLagging
from tools_app.chain.past_reads import PastReads, make_log_query
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_bytes, parse_quantity
from tools_app.chain.rpc_pool import RpcPool
from tools_app.chain.tokens import TokenNotFound, TokenRegistry
from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import AbiValue, AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.params import check_address
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE, BlockRef, FeedPrice, FeeQuote, LogEntry, LogQuery, TokenMeta

MULTICALL_FROM: Final = 24
"""From how many reads on one aggregated call goes out instead of a batch, because public nodes count requests.

A private node does not count and answers a batch faster, so it gets batches of any size.
"""
_MOST_READINGS: Final = 4
_WHOLE: Final = 10**18
# As in `toolkit/params.py`: there are symbols that begin with 0x.
_LONGEST_SYMBOL: Final = 20
_SYMBOL: Final = "function symbol() view returns (string)"
_NAME: Final = "function name() view returns (string)"
_DECIMALS: Final = "function decimals() view returns (uint8)"


class PinnedReader:
    """Reads of one chain at one block; belongs to one context and one thread."""

    def __init__(
        self,
        *,
        network: Network,
        pool: RpcPool,
        deployment: Deployment,
        registry: TokenRegistry,
        deadline: Deadline,
        now: datetime,
        block: BlockRef | None = None,
        max_price_age_seconds: int = DEFAULT_MAX_AGE_SECONDS,
        max_head_age_seconds: int | None = None,
        multicall_from: int | None = None,
    ) -> None:
        self.network = network
        self.deployment = deployment
        self._pool = pool
        self._registry = registry
        self._deadline = deadline
        self._now = now
        self._block = block
        self._max_price_age_seconds = max_price_age_seconds
        self._max_head_age_seconds = max_head_age_seconds
        self._multicall_from = multicall_from or MULTICALL_FROM
        self._answers: dict[ReadKey, Raw] = {}
        self._facts: dict[tuple[str, str], Any] = {}  # Any: a fact of any kind
        self._prices: dict[str, FeedPrice] = {}
        self._fees: FeeQuote | None = None
        self._expected = ExpectedReads()
        self._past = PastReads(block_seconds=network.block_seconds)

    @property
    def chain_id(self) -> int:
        return self.network.chain_id

    @property
    def block(self) -> BlockRef:
        """The block every read sees; found on first use. Raises RpcUnavailable, RpcLagging."""
        if self._block is None:
            block = parse_block(self._pool.latest_block(deadline=self._deadline))
            age = int(self._now.timestamp()) - block.timestamp
            if self._max_head_age_seconds is not None and age > self._max_head_age_seconds:
                raise RpcLagging(
                    f"The newest block of {self.network.name} is {age} s old",
                    age_seconds=age,
                    max_age_seconds=self._max_head_age_seconds,
                )
            self._block = block
        return self._block

    # ---- contract reads -----------------------------------------------------------------------------------------

    def call(self, to: str, signature: str, *args: object) -> AbiValues:
        """One read. Raises CallReverted, ContractOutputUnexpected, RpcUnavailable, RpcTimeout."""
        data, error = self._eth_calls([(to, encode_call(signature, *args))])[0]
        if error is not None:
            raise error
        try:
            return decode_output(signature, data)
        except AbiDecodeError:
            raise ContractOutputUnexpected(
                f"{to} {_describe_output(data)} where {signature!r} was asked", address=to
            ) from None

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        """Many reads in one round trip; a revert, or bytes of another shape, is an outcome with its reason."""
        raws = self._eth_calls([(call.to, encode_call(call.signature, *call.args)) for call in calls])
        outcomes: list[ReadOutcome] = []
        for call, (data, error) in zip(calls, raws, strict=True):
            if error is not None:
                outcomes.append(ReadOutcome(ok=False, values=(), revert_reason=error.detail))
                continue
            try:
                outcomes.append(ReadOutcome(ok=True, values=decode_output(call.signature, data)))
            except AbiDecodeError:
                reason = f"{call.to} {_describe_output(data)}"
                outcomes.append(ReadOutcome(ok=False, values=(), revert_reason=reason, is_absent=not data))
        return outcomes

    def forget_reads(self) -> None:
        """Let go of what contracts answered, so that it is asked anew at the same block."""
        self._answers.clear()

    def preload(
        self,
        *,
        calls: Sequence[ReadCall] = (),
        prices_of: Sequence[TokenMeta] = (),
        contracts: Sequence[str] = (),
        slots: Sequence[tuple[str, int]] = (),
        accounts: Sequence[str] = (),
        nonces: Sequence[str] = (),
    ) -> None:
        """Ask for all of these in one round trip; what was read before is not asked again. Raises the node errors."""
        reads = self._list_unread(calls, prices_of)
        codes = [each for each in dict.fromkeys(map(checksum, contracts)) if self._fact("code", each) is None]
        coins = [each for each in dict.fromkeys(accounts) if ("coin", each) not in self._facts]
        words = [each for each in dict.fromkeys(slots) if self._fact(_slot_kind(each[1]), each[0]) is None]
        counts = [each for each in dict.fromkeys(nonces) if ("nonce", each) not in self._facts]
        if not (reads or codes or coins or words or counts):
            return
        at = self._at()
        others = [
            *(RpcRequest("eth_getCode", (each, at)) for each in codes),
            *(RpcRequest("eth_getBalance", (each, at)) for each in coins),
            *(RpcRequest("eth_getStorageAt", (address, f"0x{number:064x}", at)) for address, number in words),
            *(RpcRequest("eth_getTransactionCount", (each, at)) for each in counts),
        ]
        replies = iter(self._ask(reads, others))
        for each in codes:
            self._remember("code", each, parse_bytes(next(replies).unwrap()))
        for each in coins:
            self._facts["coin", each] = parse_quantity(next(replies).unwrap())
        for address, number in words:
            self._remember(_slot_kind(number), address, int.from_bytes(parse_bytes(next(replies).unwrap()), "big"))
        for each in counts:
            self._facts["nonce", each] = parse_quantity(next(replies).unwrap())

    def expect(
        self,
        *,
        calls: Sequence[ReadCall] = (),
        prices_of: Sequence[TokenMeta] = (),
        accounts: Sequence[str] = (),
        fees: bool = False,
        since: int | None = None,
        alone: Sequence[ReadCall] = (),
    ) -> None:
        """Say what will be asked for later: it travels with the next round trip. What fails in it fails when asked.

        `alone` are calls that no aggregate takes in, because what they tell of gas depends on what ran before them.
        `since` begins the search for the first block since then, which takes a step with each round trip of reads.
        """
        if since is not None:
            self._past.begin_search(timestamp=since, head=self.block)
        self._expected.add(
            calls=self._list_unread(calls, prices_of),
            coins=[each for each in accounts if ("coin", each) not in self._facts],
            fees=fees and self._fees is None,
            alone=self._list_unread(alone, ()),
        )

    def _list_unread(self, calls: Sequence[ReadCall], prices_of: Sequence[TokenMeta]) -> list[ReadKey]:
        feeds = [self._find_feed(token) for token in prices_of if token.address not in self._prices]
        wanted = [*calls, *(call for feed in feeds if feed is not None for call in feed_calls(feed))]
        if feeds and self.deployment.sequencer_feed:
            wanted.append(sequencer_call(self.deployment.sequencer_feed))
        keys = [(call.to.lower(), encode_call(call.signature, *call.args)) for call in wanted]
        return [key for key in dict.fromkeys(keys) if key not in self._answers]

    # ---- blocks, logs, accounts -----------------------------------------------------------------------------------

    def logs(
        self, *, address: str | Sequence[str] | None, topics: Sequence[AbiValue], from_block: int, to_block: int
    ) -> list[LogEntry]:
        """Logs of the blocks up to the pinned one, inclusive, in chain order. Raises LogRangeTooWide."""
        end = min(to_block, self.block.number)
        query = make_log_query(address=address, topics=topics, from_block=from_block, to_block=end)
        return self._past.find_logs(self._send, [query], max_range=self.network.max_log_range)[0]

    def preload_logs(self, queries: Sequence[LogQuery]) -> None:
        """Ask for the logs of all of these in one round trip."""
        self._past.find_logs(self._send, queries, max_range=self.network.max_log_range)

    def block_at(self, number: int) -> BlockRef:
        """The block of that number. Raises BlockUnavailable."""
        if number == self.block.number:
            return self.block
        return parse_block(self._send([header_request(number)])[0].unwrap())

    def blocks_at(self, numbers: Sequence[int]) -> list[BlockRef]:
        """The blocks of those numbers, in their order, in one round trip. Raises BlockUnavailable."""
        others = [number for number in dict.fromkeys(numbers) if number != self.block.number]
        replies = self._send([header_request(number) for number in others]) if others else []
        found = {number: parse_block(reply.unwrap()) for number, reply in zip(others, replies, strict=True)}
        return [found.get(number, self.block) for number in numbers]

    def first_block_since(self, timestamp: int) -> BlockRef:
        """The first block at or after `timestamp` seconds. Raises BlockUnavailable when there is none yet."""
        return self._past.find_block(self._send, timestamp=timestamp, head=self.block)

    def native_balance(self, account: str) -> int:
        """Wei held by `account`."""
        if ("coin", account) not in self._facts:
            reply = self._send([RpcRequest("eth_getBalance", (account, self._at()))])[0]
            self._facts["coin", account] = parse_quantity(reply.unwrap())
        return int(self._facts["coin", account])

    def code(self, address: str) -> bytes:
        """Runtime code; empty for an account without any."""
        found = self._fact("code", checksum(address))
        if found is None:
            found = parse_bytes(self._send([RpcRequest("eth_getCode", (address, self._at()))])[0].unwrap())
            self._remember("code", checksum(address), found)
        return bytes(found)

    def slot(self, address: str, number: int) -> int:
        """The word a contract keeps in slot `number`; zero where it keeps nothing."""
        self.preload(slots=[(address, number)])
        return int(self._fact(_slot_kind(number), address))

    def mined_nonce(self, account: str) -> int:
        """How many transactions of `account` are mined up to the pinned block."""
        self.preload(nonces=[account])
        return int(self._facts["nonce", account])

    def pending_nonce(self, account: str) -> int:
        """The next nonce the node would accept, pending transactions counted; the one read that is not pinned."""
        return parse_quantity(self._send([RpcRequest("eth_getTransactionCount", (account, "pending"))])[0].unwrap())

    def fees(self) -> FeeQuote:
        """What the next block costs: median priority fee of recent blocks, cap of twice the base fee plus it."""
        if self._fees is None:
            self._fees = parse_fees([reply.unwrap() for reply in self._send(fee_requests(self.block.number))])
        return self._fees

    # ---- tokens and prices ----------------------------------------------------------------------------------------

    def token(self, ref: str) -> TokenMeta:
        """A token by address, registered symbol, or NATIVE. Raises TokenNotFound, InvalidParams."""
        if not (ref.lower().startswith("0x") and len(ref) > _LONGEST_SYMBOL):
            return self._registry.by_symbol(ref)
        try:
            address = check_address(ref)
        except ValueError as error:
            raise InvalidParams(f"token: {error}", fields={"token": str(error)}) from None
        return self._registry.by_address(address) or self._foreign_token(address)

    def registered_tokens(self) -> tuple[TokenMeta, ...]:
        """Every token of the registry, without the chain's own coin."""
        return self._registry.tokens

    def native(self) -> TokenMeta:
        """The chain's own coin, under the address NATIVE."""
        return self._registry.native

    def wrapped_native(self) -> TokenMeta:
        """The registered token that wraps the coin. Raises TokenNotFound."""
        address = self.deployment.wrapped_native
        token = self._registry.by_address(address) if address else None
        if token is None:
            raise TokenNotFound(f"No wrapped coin is registered on {self.network.name}", chain_id=self.chain_id)
        return token

    def price(self, token: TokenMeta) -> FeedPrice:
        """USD price at the pinned block. Raises PriceUnavailable, PriceStale, SequencerDown."""
        if token.address not in self._prices:
            feed = self._find_feed(token)
            if feed is None:
                self._prices[token.address] = self._price_claim(token)
                return self._prices[token.address]
            self._check_sequencer()
            round_data, decimals = self._read_feed(feed)
            self._prices[token.address] = judge_price(
                token=token,
                feed=feed,
                round_data=round_data,
                decimals=decimals,
                block_time=self.block.timestamp,
                max_age=self._max_price_age_seconds,
            )
        return self._prices[token.address]

    # ---- below ----------------------------------------------------------------------------------------------------

    def _check_sequencer(self) -> None:
        feed = self.deployment.sequencer_feed
        if feed and not self._prices:
            [round_data] = self.call_many([sequencer_call(feed)])
            judge_sequencer(feed=feed, round_data=round_data, block_time=self.block.timestamp)

    def _price_claim(self, token: TokenMeta) -> FeedPrice:
        """The price of a protocol's own token: that of its asset, at the rate that the protocol tells, rounded up."""
        claim, named = SHELF.price_claim(self.chain_id, token.address), token.symbol or token.address
        if claim is None:
            raise PriceUnavailable(f"No price feed is known for {named}", token=token.address, symbol=token.symbol)
        of_asset = self.price(self.token(claim.asset))
        rate = claim.rate(self.call_many(claim.reads))
        if rate is None:
            raise PriceUnavailable(
                f"The oracle of {named} tells no price now",
                token=token.address,
                symbol=token.symbol,
                feed=of_asset.feed,
            )
        answer = -(-of_asset.answer * rate // _WHOLE)
        return replace(of_asset, answer=answer or 1)

    def _read_feed(self, feed: Feed) -> tuple[ReadOutcome, ReadOutcome]:
        """The feed's round and decimals. A local node that mines while it answers for its newest block may answer with
        the next one's state; a round younger than the block shows it, and the next answer is the block's own.
        """
        calls = feed_calls(feed)
        for _ in range(_MOST_READINGS):
            round_data, decimals = self.call_many(calls)
            if not is_dated_after(round_data, self.block.timestamp):
                break
            self._answers.pop((calls[0].to.lower(), encode_call(calls[0].signature)))
        return round_data, decimals

    def _find_feed(self, token: TokenMeta) -> Feed | None:
        feed = self.deployment.feeds.get(token.address)
        if feed is None and token.address == self.deployment.wrapped_native:
            feed = self.deployment.feeds.get(NATIVE)
        return feed

    def _foreign_token(self, address: str) -> TokenMeta:
        found = self._fact("token", address)
        if found is None:
            reads = [(address, encode_call(signature)) for signature in (_DECIMALS, _SYMBOL, _NAME)]
            (decimals_data, decimals_error), symbol, name = self._eth_calls(reads)
            has_decimals = decimals_error is None and len(decimals_data) >= 32
            found = self._registry.describe(
                address,
                symbol=symbol[0] if symbol[1] is None else None,
                name=name[0] if name[1] is None else None,
                decimals=int.from_bytes(decimals_data[:32], "big") if has_decimals else None,
            )
            self._remember("token", address, found)
        token: TokenMeta = found
        return token

    def _eth_calls(self, calls: Sequence[ReadKey]) -> list[Raw]:
        """Raw answers in order; equal reads of this context are asked once. Raises errors that are not reverts."""
        keys = [(to.lower(), data) for to, data in calls]
        missing = list(dict.fromkeys(key for key in keys if key not in self._answers))
        if missing:
            self._ask(missing)
        return [self._answers[key] for key in keys]

    def _ask(self, keys: Sequence[ReadKey], others: Sequence[RpcRequest] = ()) -> list[RpcReply]:
        """Read all of `keys` into the answers, many as one aggregate, with `others` in the same round trip; theirs."""
        chunks: list[Sequence[ReadKey]] = []
        if keys and len(keys) + len(self._expected) >= self._multicall_from and self._has_multicall():
            chunks = split_chunks(list(dict.fromkeys((*keys, *self._expected.take_calls()))))
            requests = [aggregate_request(chunk, self._at()) for chunk in chunks]
        else:
            requests = [call_request(key, self._at()) for key in keys]
        replies = self._send_with_expected([*requests, *others])
        alone: list[ReadKey] = []
        for chunk, reply in zip(chunks, replies, strict=False):
            answers, unanswered = read_aggregate(chunk, reply)
            self._answers |= answers
            alone += unanswered
        if alone:
            self._ask_one_by_one(alone)
        if not chunks:
            for key, reply in zip(keys, replies, strict=False):
                self._answers[key] = read_reply(reply)
        return replies[len(requests) :]

    def _ask_one_by_one(self, keys: Sequence[ReadKey]) -> None:
        at = self._at()
        for key, reply in zip(keys, self._send_with_expected([call_request(key, at) for key in keys]), strict=True):
            self._answers[key] = read_reply(reply)

    def _send_with_expected(self, requests: list[RpcRequest]) -> list[RpcReply]:
        headers = self._past.next_requests()
        if not (self._expected or headers):
            return self._send(requests)
        expected, self._expected = self._expected, ExpectedReads()
        others = expected.requests(at=self._at(), block_number=self.block.number)
        replies = self._send([*requests, *headers, *others])
        first_other = len(requests) + len(headers)
        self._past.take(replies[len(requests) : first_other])
        found = expected.read(replies[first_other:])
        self._answers |= found.calls
        self._facts |= {("coin", account): wei for account, wei in found.coins.items()}
        self._fees = self._fees or found.fees
        return replies[: len(requests)]

    def _has_multicall(self) -> bool:
        """Whether the chain aggregates reads. A private one is not asked: its own list tells."""
        if self.deployment.contracts.get("multicall3") == MULTICALL3:
            return True
        return not self.network.is_dev and bool(self.code(MULTICALL3))

    def _send(self, requests: Sequence[RpcRequest]) -> list[RpcReply]:
        return self._pool.send(requests, deadline=self._deadline)

    def _at(self) -> dict[str, str]:
        return {"blockHash": self.block.hash}

    def _fact(self, kind: str, address: str) -> Any:  # Any: a fact of any kind
        found = self._facts.get((kind, address))
        if found is None and not self.network.is_dev:
            found = FACTS.get(self.chain_id, self.block.hash, kind, address)
        return found

    def _remember(self, kind: str, address: str, fact: object) -> None:
        self._facts[kind, address] = fact
        # A private chain's state can be set without a block, so its hash does not name one state.
        if not self.network.is_dev:
            FACTS.put(self.chain_id, self.block.hash, kind, address, fact)


def _slot_kind(number: int) -> str:
    return f"slot {number:#x}"


def _describe_output(data: bytes) -> str:
    return f"answered {len(data)} bytes of another shape" if data else "answered nothing; there may be no such contract"
