"""Each name of wallets, session keys, runways and the sleepwalkers' market answers as specified, or why not.

What a name was specified to take and to return stands here; what differs has its reason beside it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final, get_type_hints

import pytest

from tools_app.toolkit.enums import CapabilityTier
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

_RULES: Final = "what a role may call is its owners' to say (decision 0463)"
_ONE: Final = "a golem looks, draws and gives up for itself: `golem_id`, which may be left out"
_STYLE: Final = "one way to name it in every folder"
_IS_READ: Final = True
NAMES: Final[dict[str, tuple[bool, str, str]]] = {
    "wallet_provision": (False, "provider label", "address provider chain_id account_type"),
    "wallet_fund": (False, "source token amount chain_id", "tx_hash amount_funded token source"),
    "wallet_get_delegation": (_IS_READ, "contract chain_id", "delegated delegate_address permissions expires_at"),
    "wallet_detect_account_type": (_IS_READ, "address chain_id", "address account_type has_code code_size"),
    "wallet_get_supported_chains": (_IS_READ, "", "chains"),
    "session_provision_key": (False, "expires_in label", "key_id public_key expires_at permissions"),
    "session_get_keys": (_IS_READ, "", "keys total"),
    "session_revoke_key": (False, "reason", "revoked_count revoked_keys"),
    "wallet_provision_session_key": (False, "label", "permissions"),
    "wallet_revoke_session_key": (False, "reason", "revoked_count"),
    "wallet_list_session_keys": (_IS_READ, "", "keys"),
    "wallet_migrate": (False, "tokens", "tx_hashes total_migrated"),
    "metamask_request_runway": (
        False,
        "daily_cap_usdc duration_days",
        "permission_id stored_in_grimoire daily_cap expires_at",
    ),
    "metamask_redeem_runway": (False, "golem_id", "redeemed remaining phase"),
    "metamask_revoke_permissions": (False, "reason", "revoked_count session_account_invalidated"),
    "metamask_check_permission_health": (
        _IS_READ,
        "golem_id",
        "health remaining_today days_remaining last_redemption_at total_remaining",
    ),
    "bootstrap_setup_wallet": (False, "", ""),
    "publish_artifact": (False, "", ""),
    "query_sleepwalker_catalog": (_IS_READ, "", ""),
}
"""The nineteen names of the issue: whether it only reads, what it takes, and what it returns, as it was specified."""
OTHERWISE: Final[dict[str, dict[str, str]]] = {
    "wallet_provision": {"chain_id": "a golem has its wallet on its home chain and on those that its owner allows"},
    "wallet_get_delegation": {"method": "an account that delegated lets the contract's code do everything"},
    "session_provision_key": {"permissions": _RULES},
    "session_revoke_key": {"key_ids": "one key a request, because owners sign each: `key_id`"},
    "wallet_provision_session_key": {
        "permissions": _RULES,
        "expiry": f"`expires_in`; {_STYLE}",
        "keyId, publicKey, expiresAt": f"`key_id`, `public_key`, `expires_at`; {_STYLE}",
    },
    "wallet_revoke_session_key": {"keyIds": f"`key_id`; {_STYLE}", "revokedCount": f"`revoked_count`; {_STYLE}"},
    "wallet_migrate": {
        "destinationWallet, chain, gasReserveEth, minBalanceUsd": (
            f"`recipient`, `chain_id`, `gas_reserve`, `min_balance_usd`; {_STYLE}"
        ),
        "sourceWallet": "a golem moves what its own account holds",
        "includeNfts": "an NFT is a position, which is left by its own exit (decision 0431)",
        "includeTokens": "`tokens` names them, and `include_coin` is for the coin",
        "dryRun": "its preview is the dry run",
        "txHashes, totalMigrated": f"`tx_hashes`, `total_migrated`; {_STYLE}",
    },
    "metamask_request_runway": {"golems": _ONE},
    "metamask_revoke_permissions": {"golems": _ONE},
}
KEY_LINE: Final = "key_id label created_at expires_at permissions usage_count last_used"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_name_answers_with_what_it_was_specified_to_take_and_to_return(name: str) -> None:
    is_read, taken, returned = NAMES[name]
    tool: Any = REGISTRY.get(name)
    assert name in (tool.name, *tool.aliases)
    assert isinstance(tool, ReadTool) is is_read and (tool.capability is CapabilityTier.READ) is is_read
    model = tool.params_model.model_fields
    assert set(taken.split()) <= set(model)
    if taken and name in (tool.name, *OTHERWISE):
        specified = {each for words in OTHERWISE.get(name, {}) for each in words.split(", ")}
        needed = {each for each, field in model.items() if field.is_required()}
        assert needed <= set(taken.split()) | {"recipient"}, (needed, specified)
    assert set(returned.split()) <= {each.name for each in fields(find_answer(tool))}
    assert tool.snippet


def find_answer(tool: Any) -> Any:
    """The class of what it returns."""
    told = getattr(tool, "report", None) or tool.handler
    return get_type_hints(told)["return"]


def test_a_session_key_is_told_with_what_was_specified_of_each() -> None:
    [line] = find_answer(REGISTRY.get("session_get_keys")).__dataclass_fields__["keys"].type.split("[")[1:]
    assert line.startswith("SessionKeyLine")
    from permits_app.tools.session_key_lines import SessionKeyLine

    assert set(KEY_LINE.split()) <= {each.name for each in fields(SessionKeyLine)}


def test_what_differs_from_the_specification_is_no_parameter_of_the_tool_after_all() -> None:
    for name, reasons in OTHERWISE.items():
        model = set(REGISTRY.get(name).params_model.model_fields)
        for words, why in reasons.items():
            assert not set(words.split(", ")) & model and why, (name, words)
