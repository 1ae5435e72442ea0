"""Which protocols a cage begins without is worked out on what was read once, and what is left is as long as it says."""

from __future__ import annotations

from typing import Any

from golem_project.cage_set_up.deployment import (
    MOST_BYTES_OF_CREATION,
    build_deployment,
    choose_left_out,
    find_valuers,
)
from tests.live_golem import LiveGolem
from tests.permits_app.policy_cage.test_deploy_policy_cage import open_reader


def test_what_has_to_go_is_found_with_a_few_questions_and_is_as_long_as_it_says(
    live_golem: LiveGolem, django_assert_max_num_queries: Any
) -> None:
    options = {"high_water_mark_usd": "26000", "guardian": None, "account": live_golem.golem.address}
    chain = open_reader()
    with django_assert_max_num_queries(12):
        left = choose_left_out(live_golem.golem, chain, options)
    assert left

    def measure(without: list[str]) -> int:
        subjects = {subject: subject for subject in find_valuers(live_golem.golem, chain, (), left_out=())[1]}
        return len(build_deployment(live_golem.golem, chain, options, valuers=subjects, left_out=without))

    assert measure(left) <= MOST_BYTES_OF_CREATION < measure(left[:-1])
