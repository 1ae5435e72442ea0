"""What somebody who may only look reads on the pages of a golem's policy: figures as people say them."""

from __future__ import annotations

from archetypes_app.models import Golem
from archetypes_app.roles import Role
from tests.admin.members import golem as golem
from tests.admin.members import log_in, make_member
from tests.admin.rows import page


def test_a_viewer_reads_limits_and_cage_in_dollars_and_percent(golem: Golem) -> None:
    viewer = make_member(golem, Role.VIEWER, name="vera")
    for model, row, figure, words in (
        ("permits_app.spendinglimits", golem.spending_limits, "$10,000.00", "Per transaction"),
        ("permits_app.policycage", golem.policy_cage, "25.00%", "One venue position"),
    ):
        told = log_in(viewer).get(page(model, "change", row.pk)).content.decode()
        assert figure in told and words in told, model
        assert "micro usd" not in told.lower() and "10000000000" not in told and " bps" not in told.lower()
        assert 'name="_save"' not in told
