"""Session keys by delegation, on the real enforcers: told with what is left, given up, and stolen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount
from web3 import HTTPProvider, Web3

from permits_app.approval_errors import ChangeUnchanged
from permits_app.custody.signers.choose_signer import open_keystore
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tests.permits_app.test_runway import Kept
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.protocols.metamask.owner_wallet import DAY, USD, OwnerWallet, at
from tools_app.core.errors import InvalidParams

pytestmark = pytest.mark.protocols("metamask")
THIEF = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
A_DAY = 25 * USD
SINGLE, BATCH = bytes(32), b"\x01" + bytes(31)
_ERC20 = [
    {
        "type": "function",
        "name": name,
        "stateMutability": "nonpayable",
        "inputs": [{"name": n, "type": t} for n, t in inputs],
        "outputs": [{"name": "", "type": "bool"}],
    }
    for name, inputs in (
        ("transfer", (("to", "address"), ("amount", "uint256"))),
        ("approve", (("spender", "address"), ("amount", "uint256"))),
        ("transferFrom", (("from", "address"), ("to", "address"), ("amount", "uint256"))),
    )
]
_MANAGER = [
    {
        "type": "function",
        "name": "redeemDelegations",
        "stateMutability": "nonpayable",
        "inputs": [{"name": n, "type": t} for n, t in (("a", "bytes[]"), ("b", "bytes32[]"), ("c", "bytes[]"))],
        "outputs": [],
    }
]


class StolenKey:
    """The golem's key, or another one, in a stranger's hands: plain web3, and no server that judges."""

    def __init__(self, kept: Kept, given: str, key: LocalAccount | None = None) -> None:
        self.world, self.given = kept.wallet.world, bytes.fromhex(given[2:])
        self.victim = kept.wallet.address
        self.web3 = Web3(HTTPProvider(self.world.rpc_url))
        self.key: LocalAccount = key or Account.from_key(open_keystore().read_key(kept.account).reveal())
        self.usdc, self.dai = (self.web3.eth.contract(self._find(each), abi=_ERC20) for each in ("USDC", "DAI"))
        self.manager = self.web3.eth.contract(Web3.to_checksum_address(at("manager")), abi=_MANAGER)

    def _find(self, symbol: str) -> Any:
        return Web3.to_checksum_address(self.world.tokens[symbol].address)

    def take(self, amount: int) -> bool:
        """Send so much USDC of the owner to the thief; whether it went."""
        return self.redeem(self.usdc.address, self.usdc.encode_abi("transfer", [THIEF, amount]))

    def redeem(self, to: str, data: str, *, wei: int = 0, mode: bytes = SINGLE, by: LocalAccount | None = None) -> bool:
        """Any call of the owner's account, in one signed transaction."""
        key = by or self.key
        packed = bytes.fromhex(to[2:]) + wei.to_bytes(32, "big") + bytes.fromhex(data[2:])
        if mode == BATCH:
            packed = self.web3.codec.encode(["(address,uint256,bytes)[]"], [[(to, wei, bytes.fromhex(data[2:]))]])
        call = self.manager.functions.redeemDelegations([self.given], [mode], [packed])
        asked: Any = {
            "from": key.address,
            "nonce": self.web3.eth.get_transaction_count(key.address),
            "gas": 900_000,
            "gasPrice": 2 * self.web3.eth.gas_price,
            "chainId": CHAIN_ID,
        }
        built: Any = call.build_transaction(asked)
        sent = self.web3.eth.send_raw_transaction(key.sign_transaction(built).raw_transaction)
        return bool(self.web3.eth.wait_for_transaction_receipt(sent)["status"])

    def pass_days(self, days: int) -> None:
        """The chain goes on."""
        self.world.rpc.call("evm_increaseTime", days * DAY)
        self.world.rpc.call("evm_mine")


@pytest.fixture
def kept(db: None, local_chain: World) -> Iterator[Kept]:
    yield Kept(make_live_golem(local_chain), OwnerWallet.open(local_chain))


def test_a_delegation_to_the_golems_key_is_told_with_what_it_may_and_how_often_it_was_used(kept: Kept) -> None:
    right = kept.keep(a_day=A_DAY)
    kept.live.commit(kept.draw(10 * USD)["permit_id"])
    told = read(kept.live, "session_get_keys")
    [line] = told["keys"]
    assert (told["total"], told["note"], line["key_id"]) == (1, "", right.reference)
    assert (line["enforced_by"], line["acts_for"], line["usage_count"]) == ("delegation", kept.wallet.address, 1)
    assert line["left"] == str(15 * USD) and line["is_active"] and line["expires_at"] == right.ends_at.isoformat()
    assert line["last_used"] is not None
    assert "at most 25 USDC" in line["permissions"][0] and "context" not in str(told)
    kept.wallet.raise_nonce()
    [line] = read(kept.live, "session_get_keys")["keys"]
    assert not line["is_active"] and "nonce" in line["reason"]


def test_who_asks_to_end_a_delegation_is_told_that_its_giver_alone_does_and_how(kept: Kept) -> None:
    right = kept.keep(a_day=A_DAY)
    nothing = {"venue": "wallet", "token_in": None, "token_out": None, "amount": None}
    with pytest.raises(InvalidParams) as refused:
        kept.live.preview(action_type="revoke_session_key", key_id="0x" + right.reference[2:].upper(), **nothing)
    assert kept.wallet.address in refused.value.detail and "wallet_revokeExecutionPermission" in refused.value.detail
    for wrong, error in (("0x" + "0" * 64, ChangeUnchanged), ("0x12", InvalidParams)):
        with pytest.raises(error):
            kept.live.preview(action_type="revoke_session_key", key_id=wrong, **nothing)


def test_a_stolen_key_takes_what_its_caveats_allow_and_no_more(kept: Kept) -> None:
    caveats = kept.wallet.runway(a_day=A_DAY, days=3)
    stolen, had = StolenKey(kept, kept.wallet.context(kept.account, caveats)), kept.wallet.balance()
    usdc, dai = stolen.usdc, stolen.dai
    assert not stolen.take(A_DAY + 1), "more than a day's amount"
    assert not stolen.redeem(usdc.address, usdc.encode_abi("approve", [THIEF, 1])), "an allowance for later"
    assert not stolen.redeem(usdc.address, usdc.encode_abi("transferFrom", [stolen.victim, THIEF, 1])), "another call"
    assert not stolen.redeem(dai.address, dai.encode_abi("transfer", [THIEF, 1])), "another token"
    assert not stolen.redeem(THIEF, "0x", wei=1), "coins"
    one = usdc.encode_abi("transfer", [THIEF, 1])
    assert not stolen.redeem(usdc.address, one, mode=BATCH), "several calls at once"
    stranger = stolen.world.new_account(10**18)
    assert not stolen.redeem(usdc.address, one, by=stranger), "another key"
    assert kept.wallet.balance() == had
    assert stolen.take(A_DAY) and not stolen.take(1), "a day's amount, once a day"
    stolen.pass_days(1)
    assert stolen.take(A_DAY) and not stolen.take(1)
    assert had - kept.wallet.balance() == 2 * A_DAY
    stolen.pass_days(2)
    assert not stolen.take(1), "after its end"
    assert had - kept.wallet.balance() == 2 * A_DAY


@pytest.mark.parametrize("how", ["disables it", "raises the nonce", "is no smart account any more"])
def test_a_stolen_key_takes_nothing_once_its_giver_took_the_delegation_back(kept: Kept, how: str) -> None:
    caveats = kept.wallet.runway(a_day=A_DAY)
    stolen, had = StolenKey(kept, kept.wallet.context(kept.account, caveats)), kept.wallet.balance()
    assert stolen.take(USD)
    if how == "disables it":
        kept.wallet.disable(kept.account, caveats)
    elif how == "raises the nonce":
        kept.wallet.raise_nonce()
    else:
        kept.wallet.run_code("0x" + "0" * 40)
    assert not stolen.take(USD)
    assert had - kept.wallet.balance() == USD
