"""Whatever of a protocol's contracts does not answer, nobody is told that nothing is held there.

Each protocol on the shelf is asked what an account has, of contracts that answer every question with nothing or with
one of everything; then each of those questions fails in its turn. What may fail without a word is written down here.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

import pytest

from tests.tools_app.made_answers import MadeContracts, name_of
from tools_app.standards.aave_like import positions as aave_like
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import Position, PositionRef, PositionsUnreadable, drive
from tools_app.toolkit.prefetch_memory import Recalled
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.wording.address_names import list_tokens

ME: Final = "0x" + "1" * 40
CHAINS: Final = (1, 8453)
NOTHING: Final = 0
ONE: Final = 1
ASKS_BY_HINT: Final = frozenset({"across", "pendle"})
"""They have no list of their own: what an account has there is asked by what is remembered of it."""
_FEED: Final = "a price; without it nothing is taken for whole"
_EXTRA: Final = "what is earned besides; what is held is told without it"
_LEAST: Final = "how much can be taken out at once; without it nothing can"
_KIND: Final = "whether it pays by requests, which most vaults do not know to answer"
_STILL: Final = "whether the token stands still for somebody, which most tokens do not know to answer"
_OLDER: Final = "older versions keep a number in the reserve"
_SOURCE: Final = "an oracle that does not say where a price is from is bound alone"
_SHUT: Final = "of a reserve that is shut all is locked, whatever it has"
_LIKE_AAVE: Final[Mapping[str, str]] = {
    "data_provider.getReserveData": _SHUT,
    "pool.getEModeCategoryCollateralBitmap": _OLDER,
    "oracle.getSourceOfAsset": _SOURCE,
}
MAY_FAIL: Final[Mapping[str, Mapping[str, str]]] = {
    "aave_v3": _LIKE_AAVE,
    "spark": _LIKE_AAVE,
    "compound_v3": {"rewards.getRewardOwed": _EXTRA},
    "moonwell": {"rewards.getOutstandingRewardsForUser": _EXTRA},
    "curve": {
        "gauge_3pool.claimable_tokens": _EXTRA,
        "convex_rewards_3pool.earned": _EXTRA,
        "convex_booster.poolInfo": "whether Convex still takes the pool in; without it nothing more goes there",
        "elsewhere.latestRoundData": _FEED,
        "elsewhere.decimals": _FEED,
    },
    "erc4626": {
        "susds.ssr": "whether it pays anything; without it it is told as it stands",
        "susds.maxRedeem": _LEAST,
        "susds.supportsInterface": _KIND,
        "vault.maxRedeem": _LEAST,
        "vault.supportsInterface": _KIND,
    },
    "yearn": {"yv_usdc.maxRedeem": _LEAST, "yv_usdc.supportsInterface": _KIND},
    "lido": {"queue.getWithdrawalRequests": "a list too long to be told: that there are others is"},
    "uniswap": {
        "elsewhere.latestRoundData": _FEED,
        "elsewhere.decimals": _FEED,
        "elsewhere.paused": _STILL,
        "elsewhere.isBlacklisted": _STILL,
        "elsewhere.isBlackListed": _STILL,
    },
}
"""Protocol -> which of its contracts, and which function -> why it may fail while the others are told."""


@pytest.fixture(autouse=True)
def _nothing_is_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(Recalled):
        def put(self, chain_id: int, contract: str, told: tuple[str, ...]) -> None:
            """Each reading is the first."""

    monkeypatch.setattr(aave_like, "RECALLED", Forgetful())


def get(name: str) -> ProtocolDef:
    found = SHELF.get(name)
    assert found is not None
    return found


def list_held(protocol: ProtocolDef, chain_id: int, contracts: MadeContracts) -> tuple[Position, ...]:
    assert protocol.positions is not None
    return drive(protocol.positions.list(chain_id, ME, ()), contracts.call_many)


def count_questions(protocol: ProtocolDef, chain_id: int, size: int) -> int:
    contracts = MadeContracts(size)
    try:
        list_held(protocol, chain_id, contracts)
    except PositionsUnreadable:
        # One of everything fits no state of it; what was asked until then is asked in any case.
        assert size == ONE
    return len(contracts.asked)


def name_question(protocol: ProtocolDef, chain_id: int, call: ReadCall) -> str:
    """The function, of which of its contracts where it is one that the protocol names."""
    known = {address: key for key, address in (protocol.deployments(chain_id) or {}).items()}
    return f"{known.get(call.to, 'elsewhere')}.{name_of(call)}"


HOLDING: Final = sorted(protocol.name for protocol in SHELF if protocol.positions is not None)


@pytest.mark.parametrize("name", HOLDING)
def test_a_question_that_fails_makes_what_is_held_unreadable_or_stands_here(name: str) -> None:
    protocol = get(name)
    quiet: set[str] = set()
    asked = 0
    for chain_id in filter(protocol.is_on, CHAINS):
        for size in (NOTHING, ONE):
            for failing in range(count_questions(protocol, chain_id, size)):
                contracts = MadeContracts(size, failing)
                asked += 1
                try:
                    list_held(protocol, chain_id, contracts)
                except PositionsUnreadable as refused:
                    assert refused.detail
                else:
                    quiet.add(name_question(protocol, chain_id, contracts.asked[failing]))
    assert quiet == set(MAY_FAIL.get(name, {}))
    assert (asked == 0) is (name in ASKS_BY_HINT or name == "uniswap_twamm")


@pytest.mark.parametrize("name", HOLDING)
def test_who_holds_nothing_is_told_nothing_unless_a_list_cannot_be_read(name: str) -> None:
    protocol = get(name)
    for chain_id in filter(protocol.is_on, CHAINS):
        assert list_held(protocol, chain_id, MadeContracts(NOTHING)) == ()


def test_every_protocol_that_holds_something_is_asked() -> None:
    elsewhere = {name for name in HOLDING if not any(map(get(name).is_on, CHAINS))}
    assert elsewhere == {"uniswap_twamm"}, "it stands on the local chain alone"
    assert set(MAY_FAIL) | ASKS_BY_HINT <= set(HOLDING)


ABSENT: Final = ("elsewhere.balanceOf", "v4_position_manager.balanceOf", "v4_position_manager.nextTokenId")
"""Of Uniswap: a pair that nobody made yet, and V4 on a chain that does not have it. They are no contracts."""


@pytest.mark.parametrize("function", ABSENT)
def test_what_is_no_contract_yet_holds_nothing_and_one_that_does_not_answer_is_unreadable(function: str) -> None:
    protocol = get("uniswap")
    assert protocol.positions is not None
    remembered = [PositionRef("uniswap", "nft", 1, "v4:7")]
    is_v4 = function in ABSENT[1:]
    for known in ((), remembered):
        contracts = MadeContracts(NOTHING)
        drive(protocol.positions.list(1, ME, known), contracts.call_many)
        names = [name_question(protocol, 1, each) for each in contracts.asked]
        places = {at for at, each in enumerate(names) if each in (ABSENT[1:] if is_v4 else (function,))}
        absent = MadeContracts(NOTHING, absent=frozenset(places))
        if known and is_v4:
            with pytest.raises(PositionsUnreadable, match="how many V4 positions"):
                drive(protocol.positions.list(1, ME, known), absent.call_many)
        else:
            assert drive(protocol.positions.list(1, ME, known), absent.call_many) == ()
        with pytest.raises(PositionsUnreadable, match="how many (V4 positions|shares of 0x)"):
            drive(protocol.positions.list(1, ME, known), MadeContracts(NOTHING, names.index(function)).call_many)


LENDING: Final = sorted(protocol.name for protocol in SHELF if protocol.lending is not None)


@pytest.mark.parametrize("name", LENDING)
def test_a_question_that_fails_never_changes_what_a_market_pays_or_costs(name: str) -> None:
    """Where the same is told without its answer, it was asked for nothing that is told."""
    protocol, changed, told_of = get(name), set(), 0
    assert protocol.lending is not None
    for chain_id in filter(protocol.is_on, CHAINS):
        assets = [token.address for token in list_tokens(chain_id) if token.symbol in ("USDC", "WETH")]
        for size, asset in product((NOTHING, ONE), assets):
            whole = MadeContracts(size)
            try:
                told = drive(protocol.lending.markets(chain_id, asset), whole.call_many)
            except PositionsUnreadable:
                told = None
            told_of += len(told or ())
            for failing in range(len(whole.asked)):
                contracts = MadeContracts(size, failing)
                try:
                    other = drive(protocol.lending.markets(chain_id, asset), contracts.call_many)
                except PositionsUnreadable:
                    continue
                if other != told:
                    changed.add(name_question(protocol, chain_id, contracts.asked[failing]))
    assert changed == set()
    # Those whose markets one of everything does not make are asked of a real chain elsewhere.
    assert bool(told_of) is (name not in ("maker", "morpho"))
