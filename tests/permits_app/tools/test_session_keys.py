"""session_provision_key, session_get_keys, session_revoke_key: asked by agents, signed by owners, held on chain."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account

from permits_app.approval_errors import CageNotMirrored, ChangeUnchanged
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.session_keys import follow_session
from permits_app.custody.signers.choose_signer import open_keystore
from permits_app.models import ActionPermit, ChangeRequest, SigningKey
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.contract import decode_cage_error, encode_execute
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.approvals.safes import OwnedSafe, make_relayer, owner_transaction
from tests.permits_app.tools.test_wallet import read
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.runner import check_params
from tools_app.standards import erc20
from tools_app.toolkit.registry import REGISTRY

USD = 10**6
_NO_SWAP = {"venue": "wallet", "token_in": None, "token_out": None, "amount": None}
THIEF = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def ask(live: LiveGolem, action_type: str, **wish: Any) -> ChangeRequest:
    permit = live.preview(action_type=action_type, **{**_NO_SWAP, **wish})
    assert (permit["status"], permit["missing"]) == ("AWAITING_APPROVAL", ["approval"]), permit
    return ChangeRequest.objects.get(permit_id=permit["permit_id"])


def sign(safe: OwnedSafe, request: ChangeRequest, by: Any) -> ChangeRequest:
    """An owner approves and signs; the wait is over, and the relayer sends it."""
    request = approve(request, by, signature=safe.sign(owner_transaction(request).safe_tx_hash, 1))
    carry_out(request, chain=safe.live.world)
    safe.sync()
    follow_session(golem_id=safe.live.golem.pk, now=clock.now())
    return ChangeRequest.objects.select_related("permit").get(pk=request.pk)


def permit_of(request: ChangeRequest) -> ActionPermit:
    """The permit that asked."""
    assert request.permit is not None
    return request.permit


def steal(safe: OwnedSafe, address: str) -> Any:
    """The key itself, as somebody who took the server has it, with coins for gas."""
    thief = Account.from_key(open_keystore().read_key(address).reveal())
    safe.engine.give_coins(thief.address, 10**21)
    return thief


def rob(safe: OwnedSafe, thief: Any) -> Any:
    """Every USDC of the Safe to the thief, by a raw transaction that no server judges."""
    safe.keep_up()
    call = erc20.transfer(token=_usdc(safe), recipient=THIEF, amount=1_000 * USD)
    return safe.engine.send(thief, safe.mirror.contract, encode_execute([call]))


def _usdc(safe: OwnedSafe) -> Any:
    from tests.tools_app.factories import make_context

    return make_context(safe.live.world, address=safe.address).chain().token("USDC")


def test_a_session_key_is_signed_by_owners_counted_on_chain_and_ended_by_owners(
    two_owners: tuple[LiveGolem, Any, Any], settings: Any
) -> None:
    live, _, other = two_owners
    safe = OwnedSafe(live)
    make_relayer(live, settings)
    request = ask(live, "provision_session_key", expires_in=3_600, operations=7, budget_usd="5000", label="work")
    assert safe.sync().session.key == ZERO_ADDRESS, "nothing acts before the owners signed"
    done = sign(safe, request, other)
    assert (done.state, permit_of(done).status) == ("EXECUTED", "COMMITTED"), done.problem
    told = permit_of(done).result["data"]
    named = safe.sync().session
    assert (named.key, named.operations_left, named.budget_left) == (told["key_id"], 7, 5_000 * USD)
    live.world.fund(named.key, 10**18)
    choice = WalletChoice(kind=WalletKind.POLICY_CAGE, address=safe.address)
    choose_wallet(golem=live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
    live.golem.refresh_from_db()
    swapped = live.commit(live.preview(amount=str(100 * USD))["permit_id"])
    assert swapped["status"] == "COMMITTED", swapped
    safe.sync()
    [line] = read(live, "session_get_keys")["keys"]
    assert (line["key_id"], line["usage_count"], line["operations_left"]) == (named.key, 1, 6)
    assert line["last_used"] is not None
    assert line["is_active"] and line["is_held_here"] and line["label"] == "work" and line["permissions"]
    thief, had = steal(safe, named.key), live.world.rpc.balance_of(live.world.tokens["USDC"].address, THIEF)
    robbed = rob(safe, thief)
    assert not robbed.succeeded and decode_cage_error(robbed.output).name == "CallNotAllowed", robbed
    ended = sign(safe, ask(live, "revoke_session_key", key_id=named.key, reason="lost"), other)
    assert (ended.state, permit_of(ended).result["data"]["revoked_keys"]) == ("EXECUTED", [named.key])
    assert safe.sync().session.key == ZERO_ADDRESS
    assert decode_cage_error(rob(safe, thief).output).name == "NotSessionKey"
    assert live.world.rpc.balance_of(live.world.tokens["USDC"].address, THIEF) == had
    assert read(live, "session_get_keys")["keys"] == []


def test_a_golem_without_a_cage_is_told_what_session_keys_need(live_golem: LiveGolem) -> None:
    told = read(live_golem, "session_get_keys")
    assert told["keys"] == [] and "no cage" in told["note"]
    for action in ("provision_session_key", "revoke_session_key"):
        with pytest.raises(CageNotMirrored) as refused:
            ask(live_golem, action)
        assert refused.value.recovery == "ASK_OWNER"
    assert not SigningKey.objects.filter(golem=live_golem.golem, state="STAGED").exists()


def test_what_the_contract_would_refuse_is_refused_before_owners_are_asked(
    two_owners: tuple[LiveGolem, Any, Any],
) -> None:
    live, _, _ = two_owners
    OwnedSafe(live)
    for wish in (
        {"budget_usd": "999999999"},
        {"key": THIEF},
        {"role": 3},
        {"role": 3, "key": THIEF},
    ):
        with pytest.raises(InvalidParams):
            ask(live, "provision_session_key", **wish)
    with pytest.raises(ChangeUnchanged):
        ask(live, "revoke_session_key")
    assert not ChangeRequest.objects.exists()


def test_a_session_lasts_thirty_days_at_most() -> None:
    tool = REGISTRY.get("session_provision_key")
    assert check_params(tool=tool, params={"expires_in": 2_592_000})
    with pytest.raises(InvalidParams):
        check_params(tool=tool, params={"expires_in": 2_592_001})


@pytest.mark.parametrize(
    ("older", "name"),
    [
        ("wallet_provision_session_key", "session_provision_key"),
        ("wallet_list_session_keys", "session_get_keys"),
        ("wallet_revoke_session_key", "session_revoke_key"),
    ],
)
def test_older_names_of_session_keys_are_answered(older: str, name: str) -> None:
    assert REGISTRY.get(older).name == name
