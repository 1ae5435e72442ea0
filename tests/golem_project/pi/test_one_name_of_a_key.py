"""What a key does is told under one name, whoever writes it down on the way."""

from __future__ import annotations

from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tools_app.core.models import AuditEntry


def test_a_preview_that_a_guardian_judges_names_its_key_as_every_other_entry_does(door: Door) -> None:
    """Liquidity is ELEVATED: the guardian is asked inside the preview."""
    permit = door.preview("uniswap_lp_add_liquidity")
    assert permit["http"] == 200 and permit["review"]["reviewer"] == "safety-guardian", permit
    door.commit(permit)
    entries = AuditEntry.objects.filter(golem_id=door.agent.golem.pk, actor__startswith="key:")
    told = dict(entries.values_list("event", "actor"))
    assert {"PermitCreated", "DelegationEnded"} <= set(told), told
    assert set(told.values()) == {f"key:{door.agent.key.key.prefix}"}
