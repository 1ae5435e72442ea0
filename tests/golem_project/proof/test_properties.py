"""The proof of properties runs them by the profile that draws examples by chance, and tells what fails."""

from __future__ import annotations

from hypothesis import settings

from tests.proof.properties import try_properties


def test_properties_are_tried_with_a_seed_and_a_path_without_any_is_a_finding() -> None:
    assert try_properties(seed=7, paths=["tests/memory_app/test_decay.py"]) == []
    assert try_properties(seed=7, paths=["tests/architecture/test_hook_order.py"]) == ["pytest ended with 5"]


def test_the_build_machine_draws_the_same_and_the_proof_draws_by_chance() -> None:
    assert settings.get_profile("random").derandomize is False
    assert settings.get_profile("random").max_examples == 10 * settings.get_profile("suite").max_examples
