"""States of a cage that were kept before its contract told all it tells today."""

from __future__ import annotations

import pytest

from permits_app.policy_cage.state import CageState, PendingChange, SessionState

CAGE = "0x" + "11" * 20
RULE = (1, "0x" + "22" * 32)


def keep() -> dict[str, object]:
    state = CageState(cage=CAGE, account=CAGE, base_asset=CAGE, rules={RULE: 2**255})
    state.pending[RULE] = PendingChange(7, 5, 1_800_000_000, 3)
    state.sessions[0] = SessionState(CAGE, 1_800_000_000, 4, 10**12)
    return state.as_dict()


def test_a_state_without_bundles_roles_and_noted_prices_is_read_as_of_a_contract_that_has_none() -> None:
    later = {name: value for name, value in keep().items() if name not in ("roles", "purses", "settled_at")}
    state = CageState.from_dict({**later, "pending": [[*RULE, "7", "5", 1_800_000_000]]})
    assert state.pending == {RULE: PendingChange(7, 5, 1_800_000_000, 0)}
    assert (state.rules, state.settled_at, state.purses) == ({RULE: 2**255}, 0, {})
    assert state.sessions == {0: SessionState(CAGE, 1_800_000_000, 4, 10**12)}


def test_a_state_that_lacks_what_every_contract_tells_is_not_read() -> None:
    halved = {name: value for name, value in keep().items() if name != "is_halted"}
    with pytest.raises(ValueError, match="is_halted"):
        CageState.from_dict(halved)
