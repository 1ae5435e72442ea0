"""US dollar prices from on-chain feeds, refused when they are old, incomplete or not positive.

Age is counted against the pinned block, so the same block always gives the same answer.
"""

from __future__ import annotations

from typing import Any, Final

from tools_app.chain.deployments import Feed
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.views import FeedPrice, TokenMeta

DEFAULT_MAX_AGE_SECONDS: Final = 3_600
SEQUENCER_GRACE_SECONDS: Final = 3_600
"""How long prices are not taken after a rollup's sequencer came back: people get as long to answer them."""
LATEST_ROUND: Final = (
    "function latestRoundData() view returns"
    " (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)"
)
ANSWER: Final = 1
"""The place of the price in what that answers."""
_DECIMALS: Final = "function decimals() view returns (uint8)"


class PriceUnavailable(GolemError, status=503, recovery=Recovery.ASK_OWNER, title="There is no price for that token"):
    """No feed is known for the token, or it gives no usable answer."""


class PriceStale(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The token's price is too old to rely on",
    cleared_by="the feed's next round",
):
    """The feed's last round is older than its bound. `data.age_seconds` and `data.max_age_seconds` say by how much."""


class SequencerDown(
    PriceUnavailable,
    recovery=Recovery.WAIT,
    title="The chain's prices cannot be relied on since its sequencer stopped",
    cleared_by="an hour after the chain's sequencer is up again",
):
    """A rollup's sequencer is down, or was until a moment ago: prices stood still while people could not act."""


def sequencer_call(feed: str) -> ReadCall:
    """The read that tells since when a rollup's sequencer has been up."""
    return ReadCall(feed, LATEST_ROUND)


def judge_sequencer(*, feed: str, round_data: ReadOutcome, block_time: int) -> None:
    """Passes when the sequencer has been up for `SEQUENCER_GRACE_SECONDS` at a block of `block_time`.

    The feed answers 0 for up and 1 for down, and `startedAt` is when that began. Source: docs.chain.link, "L2 Sequencer
    Uptime Feeds". Raises SequencerDown, also where the feed gives no answer.
    """
    if not round_data.ok:
        raise SequencerDown(f"The sequencer's feed does not answer: {round_data.revert_reason}", feed=feed)
    _, answer, since, _, _ = round_data.values
    if answer != 0 or not 0 < since <= block_time:
        raise SequencerDown("The chain's sequencer is down, so that its prices stand still", feed=feed)
    up = block_time - since
    if up < SEQUENCER_GRACE_SECONDS:
        raise SequencerDown(
            f"The chain's sequencer has been up again for {up} s; prices count after {SEQUENCER_GRACE_SECONDS} s",
            feed=feed,
            retry_after_seconds=SEQUENCER_GRACE_SECONDS - up,
        )


def feed_calls(feed: Feed) -> tuple[ReadCall, ReadCall]:
    """The two reads a price is made of."""
    return ReadCall(feed.address, LATEST_ROUND), ReadCall(feed.address, _DECIMALS)


def is_dated_after(round_data: ReadOutcome, block_time: int) -> bool:
    """Whether a feed's answer cannot be of the block it was asked at: its round is younger than the block."""
    return round_data.ok and round_data.values[3] > block_time


def judge_price(
    *, token: TokenMeta, feed: Feed, round_data: ReadOutcome, decimals: ReadOutcome, block_time: int, max_age: int
) -> FeedPrice:
    """A price fit for use at a block of `block_time`. Raises PriceUnavailable, PriceStale."""
    named: dict[str, Any] = {  # Any: data of the error
        "token": token.address,
        "symbol": token.symbol,
        "feed": feed.address,
    }
    if not round_data.ok or not decimals.ok:
        reason = round_data.revert_reason or decimals.revert_reason
        raise PriceUnavailable(f"The feed of {token.symbol} does not answer: {reason}", **named)
    round_id, answer, _, updated_at, answered_in_round = round_data.values
    if answer <= 0:
        raise PriceUnavailable(f"The feed of {token.symbol} answers {answer}", **named)
    if updated_at == 0 or answered_in_round < round_id:
        raise PriceUnavailable(f"The feed of {token.symbol} has not finished its round", **named)
    age = block_time - updated_at
    if age < 0:
        raise PriceUnavailable(f"The feed of {token.symbol} is dated {-age} s after the block", **named)
    bound = feed.max_age_seconds if feed.max_age_seconds is not None else max_age
    if age > bound:
        raise PriceStale(
            f"The price of {token.symbol} is {age} s old; at most {bound} s is accepted",
            age_seconds=age,
            max_age_seconds=bound,
            **named,
        )
    return FeedPrice(
        feed=feed.address,
        answer=answer,
        decimals=decimals.values[0],
        round_id=round_id,
        updated_at=updated_at,
        age_seconds=age,
    )
