"""What tables of calls refuse by the bytes alone, whatever a plan says: for somebody else, at any price, unknown."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from tools_app.chain.abi import encode_call
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF

ME, SOMEBODY = "0x" + "11" * 20, "0x" + "22" * 20
CHAIN_ID: Final = 31_337


@dataclass
class Chain:
    """The local chain; each contract answers so many, to whatever it is asked."""

    chain_id: int = CHAIN_ID
    answers: dict[str, Any] = field(default_factory=lambda: defaultdict(lambda: (5, 5)))

    def call(self, to: str, signature: str, *args: Any) -> Any:
        return self.answers[signature]


def at(protocol: str, key: str) -> str:
    found = SHELF.get(protocol)
    assert found is not None
    address = found.address(CHAIN_ID, key)
    assert address is not None
    return address


def read(protocol: str, key: str, signature: str, *args: Any, chain: Chain | None = None) -> Effects:
    found, into = SHELF.get(protocol), Effects()
    assert found is not None and found.effects is not None
    call = Call(at(protocol, key), encode_call(signature, *args), 0, "a call")
    found.effects.read(call, earlier=(), account=ME, chain=chain or Chain(), into=into)  # type: ignore[arg-type]
    return into


CLAIM = "function claimReward(address,address[])"
REWARD = "function claim(address,address,bool)"
REMOVE = "function remove_liquidity(uint256,uint256[3])"
REMOVE_ONE = "function remove_liquidity_one_coin(uint256,int128,uint256)"
DUE = "function getOutstandingRewardsForUser(address,address) view returns ((address,uint256,uint256,uint256)[])"


@pytest.mark.parametrize(
    ("protocol", "key", "signature", "args", "says"),
    [
        ("moonwell", "comptroller", CLAIM, (SOMEBODY, ["market_usdc"]), "would be"),
        ("moonwell", "comptroller", CLAIM, (ME, []), "not a list of different ones"),
        ("moonwell", "comptroller", CLAIM, (ME, [SOMEBODY]), "no known market"),
        ("moonwell", "comptroller", "function enterMarkets(address[])", ([SOMEBODY],), "no known market"),
        ("compound_v3", "rewards", REWARD, ("comet_usdc", SOMEBODY, True), "would be"),
        ("compound_v3", "rewards", REWARD, ("comet_usdc", ME, False), "left out"),
        ("compound_v3", "rewards", REWARD, (SOMEBODY, ME, True), "no known market"),
        ("ethena", "susde", "function unstake(address)", (SOMEBODY,), "would be"),
        ("curve", "pool_3pool", "function add_liquidity(uint256[3],uint256)", ([5, 0, 0], 0), "at any price"),
        ("curve", "pool_3pool", REMOVE, (5, [0, 0, 0]), "at any price"),
        ("curve", "pool_3pool", REMOVE_ONE, (5, 1, 0), "at any price"),
        ("curve", "pool_3pool", REMOVE_ONE, (5, 3, 1), "no coin 3"),
        ("curve", "minter", "function mint(address)", (SOMEBODY,), "no known gauge"),
        ("curve", "convex_booster", "function deposit(uint256,uint256,bool)", (7, 5, True), "another pool"),
        ("curve", "convex_booster", "function deposit(uint256,uint256,bool)", (0, 5, False), "not be staked"),
        ("curve", "convex_rewards_3pool", "function withdrawAndUnwrap(uint256,bool)", (5, True), "claims everything"),
        ("curve", "convex_rewards_3pool", "function getReward(address,bool)", (SOMEBODY, False), "would be"),
        ("curve", "convex_rewards_3pool", "function getReward(address,bool)", (ME, True), "nobody named"),
    ],
)
def test_a_table_refuses_by_the_bytes(protocol: str, key: str, signature: str, args: Any, says: str) -> None:
    known = SHELF.get(protocol)
    assert known is not None
    keys = dict(known.deployments(CHAIN_ID) or {})
    placed = [[keys.get(one, one) for one in each] if isinstance(each, list) else keys.get(each, each) for each in args]
    with pytest.raises(UnknownCall, match=says):
        read(protocol, key, signature, *placed)


def test_what_is_claimed_for_the_account_is_read() -> None:
    """The same calls for the account itself are not refused."""
    token = "0x" + "33" * 20
    chain = Chain(answers={DUE: ([(token, 9, 0, 0)],)})
    into = read("moonwell", "comptroller", CLAIM, ME, [at("moonwell", "market_usdc")], chain=chain)
    assert into.receives == {token: 9} and into.recipients == [ME] and into.open_minimums == {token}
    assert read("ethena", "susde", "function unstake(address)", ME).changes[0].raw == -5
