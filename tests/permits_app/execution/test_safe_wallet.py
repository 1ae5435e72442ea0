"""A Safe whose only owner is the golem's key: a plan is one transaction of it, simulated as it is signed."""

from __future__ import annotations

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from permits_app.actions.halt import halt_golem
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.custody.signing_route import carries_its_batch
from permits_app.errors import SignerUnavailable
from permits_app.execution.revocation import revoke_standing
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SigningKey
from permits_app.models.wallet import WalletKind
from permits_app.permits.plan_store import decode_calls
from permits_app.policy_cage.safe_batches import MULTI_SEND, build_safe_call, consent_of
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION
from tests.live_golem import FUNDS, LiveGolem
from tests.permits_app.caged_golem import USD, Safe
from tests.proof.caged.engines import CHAIN_ID, make_account
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core import clock
from tools_app.toolkit.plan import Call

ADD_OWNER = "function addOwnerWithThreshold(address owner, uint256 threshold)"


class SafeGolem:
    """A live golem that acts with a Safe, which its key owns."""

    def __init__(self, live: LiveGolem) -> None:
        self.live = live
        self.key = SigningKey.objects.get(golem=live.golem)
        self.safe = Safe(live)
        # Make the golem's key the only owner: the test's owner hands it over.
        swap = "function swapOwner(address previous, address old, address fresh)"
        data = encode_call(swap, "0x" + "00" * 19 + "01", self.safe.owners[0].address, self.key.address)
        self.safe.owner_call(self.safe.address, data)
        live.world.fund(self.safe.address, 0, FUNDS)
        choice = WalletChoice(kind=WalletKind.GNOSIS_SAFE, address=self.safe.address, key=self.key.address)
        choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        live.golem.refresh_from_db()

    def open_key(self) -> LocalAccount:
        """The key itself, which as an owner may do what it likes."""
        found: LocalAccount = Account.from_key(open_keystore().read_key(self.key.address).reveal())
        return found

    def balance(self, symbol: str) -> int:
        token = self.live.world.tokens[symbol].address
        answer = self.live.world.rpc.read(token, "balanceOf(address)", self.safe.address, returns="(uint256)")
        return int(answer[0] if isinstance(answer, list | tuple) else answer)


@pytest.fixture
def owned(live_golem: LiveGolem) -> SafeGolem:
    return SafeGolem(live_golem)


def test_a_plan_of_two_calls_is_one_transaction_of_the_safe(owned: SafeGolem) -> None:
    before = {symbol: owned.balance(symbol) for symbol in ("USDC", "WETH")}
    answer = owned.live.preview()
    predicted = {each["symbol"]: int(each["raw"]) for each in answer["expected_outcome"]["balance_deltas"]}
    done = owned.live.commit(answer["permit_id"])
    assert done["status"] == "COMMITTED", done
    moved = {symbol: owned.balance(symbol) - before[symbol] for symbol in before}
    assert {symbol: predicted[symbol] for symbol in moved} == moved
    assert moved["USDC"] == -500 * USD
    [row] = OutboundTransaction.objects.filter(permit_id=answer["permit_id"])
    assert (row.sender, row.to) == (owned.key.address, owned.safe.address)
    outcome = OutcomeRecord.objects.get(permit_id=answer["permit_id"])
    assert outcome.is_verified, outcome.findings


def test_the_bytes_hold_no_signature_to_steal_and_only_calls(owned: SafeGolem) -> None:
    permit = owned.live.permit(owned.live.preview()["permit_id"])
    assert carries_its_batch(permit)
    data = bytes.fromhex(permit.calls[0]["data"][2:])
    decoded = decode_input(EXEC_TRANSACTION, data)
    assert decoded is not None
    to, value, inner, operation, *zeros, consent = decoded
    assert to == owned.live.world.contracts["safe_multi_send_call_only"]
    assert (value, operation) == (0, 1)
    assert set(zeros) == {0, "0x" + "00" * 20}
    assert bytes(consent) == bytes(12) + bytes.fromhex(owned.key.address[2:]) + bytes(32) + b"\x01"
    batch = decode_input(MULTI_SEND, bytes(inner))
    assert batch is not None
    at, seen = 0, []
    packed = bytes(batch[0])
    while at < len(packed):
        assert packed[at] == 0, "a call, never a delegatecall"
        length = int.from_bytes(packed[at + 53 : at + 85], "big")
        seen.append((packed[at + 1 : at + 21].hex(), packed[at + 85 : at + 85 + length]))
        at += 85 + length
    assert seen == [(call.to[2:].lower(), call.data) for call in decode_calls(permit.batch)]


def test_one_call_goes_without_multi_send(owned: SafeGolem) -> None:
    call = Call(to=owned.safe.address, data=b"\x01\x02\x03\x04", value=5, label="one")
    sent = build_safe_call([call], safe=owned.safe.address, signatures=consent_of(owned.key.address), multi_send="")
    decoded = decode_input(EXEC_TRANSACTION, sent.data)
    assert decoded is not None and decoded[:4] == (owned.safe.address, 5, b"\x01\x02\x03\x04", 0)
    with pytest.raises(SignerUnavailable, match="cannot batch"):
        build_safe_call([call, call], safe=owned.safe.address, signatures=consent_of(owned.key.address), multi_send="")


def test_a_safe_that_takes_a_second_owner_in_is_asked_for_both_from_then_on(owned: SafeGolem) -> None:
    # A plan is previewed while the golem's key owns the Safe alone; then, as an owner may, it takes a second one in.
    early = owned.live.preview()
    engine, second = owned.safe.engine, make_account("second owner")
    data = encode_call(ADD_OWNER, second.address, 2)
    call = build_safe_call(
        [Call(owned.safe.address, data, 0, "")],
        safe=owned.safe.address,
        signatures=consent_of(owned.key.address),
        multi_send="",
    )
    key = owned.open_key()
    engine._next = max(engine._next, engine._head_time() + 1)
    engine.give_coins(key.address, 10**21)
    assert engine.send(key, call.to, call.data).succeeded
    done = owned.live.commit(early["permit_id"])
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "POLICY_CHANGED"), done["problem"]
    assert not OutboundTransaction.objects.filter(permit_id=early["permit_id"]).exists()
    assert owned.live.preview()["owners"] == {"needed": 2, "signed": 1}


def test_a_halt_takes_allowances_back_through_the_safe(owned: SafeGolem) -> None:
    world = owned.live.world
    router, usdc = world.contracts["uniswap_v3_swap_router_02"], world.tokens["USDC"].address
    approve = encode_call("function approve(address spender, uint256 amount)", router, 77 * USD)
    call = build_safe_call(
        [Call(usdc, approve, 0, "")], safe=owned.safe.address, signatures=consent_of(owned.key.address), multi_send=""
    )
    key = owned.open_key()
    engine = owned.safe.engine
    engine.give_coins(key.address, 10**21)
    engine._next = max(engine._next, engine._head_time() + 1)
    assert engine.send(key, call.to, call.data).succeeded
    assert allowance(owned, usdc, router) == 77 * USD
    halt_golem(golem=owned.live.golem, reason="drill", actor="system:test", now=clock.now())
    owned.live.golem.refresh_from_db()
    revoke_standing(
        golem=owned.live.golem,
        epoch=1,
        chain_id=CHAIN_ID,
        pairs=[(usdc, router)],
        actor="system:test",
        now=clock.now(),
    )
    assert allowance(owned, usdc, router) == 0
    permit = ActionPermit.objects.get(golem=owned.live.golem, tool_name="emergency_halt")
    assert permit.account == owned.safe.address and permit.status == "COMMITTED"


def allowance(owned: SafeGolem, token: str, spender: str) -> int:
    answer = owned.live.world.rpc.read(
        token, "allowance(address,address)", owned.safe.address, spender, returns="(uint256)"
    )
    return int(answer[0] if isinstance(answer, list | tuple) else answer)
