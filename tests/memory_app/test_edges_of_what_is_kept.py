"""How much memory looks at and keeps, and how long it waits, at the number and beside it."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory_app import retrieval
from memory_app.actions import snapshot_heuristics as snapshots
from memory_app.actions.consolidate import consolidate, list_golems_to_consolidate
from memory_app.actions.forget import archive_doubted_insights
from memory_app.actions.import_grimoire import import_grimoire
from memory_app.actions.store_episode import _Content, _find_near
from memory_app.actions.store_strategy import store_strategy
from memory_app.archive_file import check_archive, write_archive
from memory_app.candidate_query import EpisodeScope, find_candidates, size_up
from memory_app.dreams import counterfactuals
from memory_app.dreams.counterfactuals import Imagined
from memory_app.dreams.integration import Dreamt, form_hypotheses
from memory_app.dreams.run_dream import _begin, _surprises
from memory_app.dreams.tagged_episodes import list_tagged
from memory_app.errors import DirectiveTooLarge, GrimoireFileRefused
from memory_app.execution_statistics import compare_predictions, find_failure_patterns
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.heuristic_adjustment import _list_news, shift_cost
from memory_app.heuristic_text import _parse
from memory_app.insights import retrieve_insights
from memory_app.insights_for_situation import recall
from memory_app.memory_adjustments import _find_alike, _select_recent, _select_tunings
from memory_app.models import DreamJournal, Episode, EpisodeVector, Insight, Strategy
from memory_app.models.insight import Kind, Tunable
from memory_app.models.provenance import Trust
from memory_app.near_duplicates import make_near_keys
from memory_app.provenance import Provenance
from memory_app.reflection import reflect
from memory_app.strategy_files import _read
from tests import factories
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.errors import InvalidParams

TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)


def add(golem: Any, count: int = 1, **given: Any) -> list[Episode]:
    """Verified episodes of permits, alike, each a microsecond older than the one before."""
    plain: dict[str, Any] = {
        "golem": golem,
        "chain_id": 31337,
        "tool_name": "uniswap_execute_swap",
        "action_type": "swap",
        "venue": "uniswap",
        "tokens": ["USDC", "WETH"],
        "summary": "swapped",
        "stability_days": 7,
        "last_accessed_at": NOW,
        "occurred_at": NOW,
        "recorded_by": "system:test",
        "search_text": "swap uniswap",
        "reflection": {"verdict": "as_predicted"},
    }
    return Episode.objects.bulk_create(
        Episode(
            **{
                "permit_id": uuid.uuid4(),
                "content_hash": "0x" + uuid.uuid4().hex * 2,
                **plain,
                **given,
                "occurred_at": given.get("occurred_at", NOW) - number * TICK,
            }
        )
        for number in range(count)
    )


# ---- cycles ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "counts"), [(30 * DAY - TICK, True), (30 * DAY, False)])
def test_what_is_consolidated_and_dreamt_of_happened_within_thirty_days(age: timedelta, counts: bool) -> None:
    golem = make_golem()
    for _ in range(3):
        add(golem, occurred_at=NOW - age, prediction_error_bps=5)
    assert bool(list_golems_to_consolidate(now=NOW)) is counts
    assert _surprises(NOW).count() == (3 if counts else 0)


@pytest.mark.django_db
def test_a_cycle_reads_a_hundred_episodes_and_an_insight_names_a_hundred() -> None:
    golem = make_golem()
    add(golem, 101)
    assert consolidate(golem_id=golem.pk, now=NOW).episodes_processed == 100
    add(golem, 2, occurred_at=NOW + 1 * DAY)
    done = consolidate(golem_id=golem.pk, now=NOW + 1 * DAY)
    assert (done.episodes_processed, done.insights_reinforced) == (3, 1)
    assert len(Insight.objects.get(golem=golem, kind=Kind.INSIGHT).episode_ids) == 100


@pytest.mark.django_db
@pytest.mark.parametrize(("since", "is_again"), [(7 * DAY, False), (7 * DAY + TICK, True)])
def test_an_episode_is_dreamt_of_again_after_a_week(since: timedelta, is_again: bool) -> None:
    add(make_golem(), dreamt_at=NOW - since, prediction_error_bps=5)
    assert _surprises(NOW).exists() is is_again


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("since", "state"), [(timedelta(minutes=5), "RUNNING"), (timedelta(minutes=5) + TICK, "FAILED")]
)
def test_a_dream_that_runs_for_more_than_five_minutes_lost_its_worker(since: timedelta, state: str) -> None:
    golem = make_golem()
    add(golem, prediction_error_bps=5)
    dream = factories.make_dream(golem=golem)
    DreamJournal.objects.filter(pk=dream.pk).update(state="RUNNING", started_at=NOW - since, finished_at=None)
    _, surprises = _begin(golem.pk, NOW)
    dream.refresh_from_db()
    assert dream.state == state and bool(surprises) is (state == "FAILED")


@pytest.mark.django_db
def test_a_dream_replays_five_tags_and_ten_episodes_of_each() -> None:
    golem = make_golem()
    for number in range(6):
        add(golem, 11, dream_tag=f"tag {number}", occurred_at=NOW - number * DAY)
    tagged = list_tagged(golem_id=golem.pk, now=NOW, look_back=30 * DAY, again_after=7 * DAY)
    assert [(tag, len(found)) for tag, found in tagged] == [(f"tag {number}", 10) for number in range(5)]


@pytest.mark.django_db
@pytest.mark.parametrize(("since", "may"), [(timedelta(hours=4) - TICK, False), (timedelta(hours=4), True)])
def test_what_was_tuned_moves_again_after_four_hours(since: timedelta, may: bool) -> None:
    [episode] = add(make_golem())
    row: Any = SimpleNamespace(
        archived_at=None, is_pinned=False, is_quarantined=False, tuned_at=NOW - since, episode_ids=[]
    )
    assert _list_news(row, [episode.pk], NOW, is_back=False) == ([episode.pk] if may else [])


@pytest.mark.parametrize(("cases", "is_formed"), [(1, False), (2, True)])
def test_a_hypothesis_needs_two_like_episodes(cases: int, is_formed: bool) -> None:
    def dream() -> Dreamt:
        episode: Any = SimpleNamespace(
            pk=uuid.uuid4(), tool_name="t", chain_id=1, token_keys=[], params={"slippage_bps": 50, "route": "a"}
        )
        changes: list[dict[str, Any]] = [{}, {"slippage_bps": 25}, {"route": "b"}]
        return Dreamt(episode, tuple(Imagined(each, True, "", 0, {}, "", 1) for each in changes))

    found = form_hypotheses(dream() for _ in range(cases))
    assert [each.parameter for each in found] == (["slippage_bps", "route"] if is_formed else [])


# ---- how sure memory is ----------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("percent", "is_kept"), [(30, True), (29, False)])
def test_an_insight_is_archived_under_thirty_percent(percent: int, is_kept: bool) -> None:
    row = factories.make_insight(golem=make_golem())
    Insight.objects.filter(pk=row.pk).update(confidence_percent=percent)
    assert archive_doubted_insights(now=NOW) == (0 if is_kept else 1)


@pytest.mark.parametrize(("percent", "error"), [(40, GrimoireFileRefused), (41, InvalidParams), (-1, InvalidParams)])
@pytest.mark.django_db
def test_what_is_imported_is_believed_forty_percent_at_most(percent: int, error: type[Exception]) -> None:
    archive: Any = SimpleNamespace(path=Path("/nowhere"))
    with pytest.raises(error):
        import_grimoire(
            golem_id=uuid.uuid4(), archive=archive, now=NOW, actor="a", confidence_percent=percent, dry_run=True
        )


@pytest.mark.django_db
@pytest.mark.parametrize(("percent", "is_in_force"), [(49, False), (50, True)])
def test_a_heuristic_is_in_force_from_fifty_percent_on(percent: int, is_in_force: bool) -> None:
    golem = make_golem()
    Insight.objects.create(
        golem=golem,
        kind=Kind.HEURISTIC,
        parameter=Tunable.SLIPPAGE,
        factor_bps=9_000,
        tool_name="t",
        chain_id=31337,
        token_keys=["usdc"],
        episode_ids=[uuid.uuid4() for _ in range(5)],
        text="tighter",
        confidence_percent=percent,
        recorded_by="system:test",
        last_accessed_at=NOW,
        identity_hash="0x1",
    )
    assert _select_tunings(golem.pk, "t", ["usdc"], "", 31337).exists() is is_in_force


@pytest.mark.parametrize(
    ("cost", "wanted", "moved"), [(95, 10_000, 100), (99, 10_000, 100), (100, 10_000, 100), (90, 10_000, 99)]
)
def test_a_route_may_cost_one_percent_more_at_most(cost: int, wanted: int, moved: int) -> None:
    assert shift_cost(cost_bps=cost, wanted_bps=wanted) == moved


# ---- how much is read ------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_fifty_episodes_of_a_tool_are_looked_at_and_five_are_shown() -> None:
    golem = make_golem()
    add(golem, 51)
    assert len(_select_recent(golem.pk, "uniswap_execute_swap")) == 50
    shown, _ = _find_alike(golem.pk, "uniswap_execute_swap", {"token_in": "USDC", "chain_id": 31337}, NOW, None)
    assert len(shown) == 5


@pytest.mark.django_db
def test_twenty_four_words_of_a_question_are_looked_up() -> None:
    golem = make_golem()
    add(golem)
    words = [f"word{chr(97 + number)}{chr(97 + number)}" for number in range(25)]
    scope = EpisodeScope.of(golem.pk, select_episodes(golem_id=golem.pk, filters=EpisodeFilters()))
    assert len(size_up(scope, " ".join(words)).words) == 24


@pytest.mark.django_db
@pytest.mark.parametrize(("surer", "is_recalled"), [(199, True), (200, False)])
def test_the_two_hundred_surest_insights_are_weighed(surer: int, is_recalled: bool) -> None:
    golem = make_golem()

    def insight(number: int) -> Insight:
        return Insight(
            golem=golem,
            text="gas is cheap" if number else "ether rises before noon",
            confidence_percent=60 if number else 50,
            recorded_by="system:test",
            trust=Trust.VERIFIED,
            last_accessed_at=NOW,
            identity_hash=f"0x{number}",
        )

    Insight.objects.bulk_create(insight(number) for number in range(surer + 1))
    found = recall(golem_id=golem.pk, situation="ether noon", now=NOW)
    assert ("ether rises before noon" in [each.text for each in found]) is is_recalled


@pytest.mark.django_db
def test_two_thousand_executions_are_judged_and_twenty_patterns_told() -> None:
    golem = make_golem()
    made = factories.make_execution(golem=golem)

    def execution(number: int, **given: Any) -> Any:
        return type(made)(
            golem=golem,
            execution_id=uuid.uuid4().hex,
            kind="SWAP",
            recorded_by="system:test",
            recorded_at=NOW,
            settled_at=NOW - number * TICK,
            **given,
        )

    type(made).objects.bulk_create(
        execution(number, strategy_name="many", prediction_error_bps=5, realized_pnl_micro_usd=0)
        for number in range(2_001)
    )
    assert compare_predictions(golem_id=golem.pk, strategy_name="many", days=1, now=NOW).sample_count == 2_000
    type(made).objects.bulk_create(
        execution(number, strategy_name=f"s{number}", realized_pnl_micro_usd=-number) for number in range(1, 22)
    )
    told = find_failure_patterns(golem_id=golem.pk, strategy_name="", min_executions=1, threshold_micro_usd=0)
    assert [each.average_pnl_micro_usd for each in told] == [-number for number in range(21, 1, -1)]


@pytest.mark.django_db
@pytest.mark.parametrize(("better", "is_found"), [(49, True), (50, False)])
def test_fifty_insights_are_weighed_for_a_question(better: int, is_found: bool) -> None:
    golem = make_golem()

    def insight(number: int) -> Insight:
        return Insight(
            golem=golem,
            text="gas gas gas is cheap" if number else "of gas there is a word among many other words here",
            confidence_percent=10 if number else 100,
            recorded_by="system:test",
            trust=Trust.VERIFIED,
            last_accessed_at=NOW,
            identity_hash=f"0x{number}",
        )

    Insight.objects.bulk_create(insight(number) for number in range(better + 1))
    matching = Insight.objects.filter(golem=golem)
    hits = retrieve_insights(matching=matching, query="gas", query_vector=None, limit=49, now=NOW)
    assert (100 in [each.insight.confidence_percent for each in hits]) is is_found


@pytest.mark.django_db
@pytest.mark.parametrize(("limit", "wanted"), [(1, 50), (12, 50), (13, 52), (50, 200)])
def test_fifty_episodes_are_weighed_and_four_for_each_that_is_asked_for(
    limit: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def note(**given: Any) -> Any:
        asked.append(given["wanted"])
        return find_candidates(**given)

    monkeypatch.setattr(retrieval, "find_candidates", note)
    golem = make_golem()
    retrieval.retrieve_episodes(
        golem_id=golem.pk, query="gas", query_vector=None, filters=EpisodeFilters(), limit=limit, now=NOW
    )
    assert asked == [wanted]


@pytest.mark.django_db
@pytest.mark.parametrize(("nearer", "is_known"), [(4, True), (5, False)])
def test_what_means_the_same_is_looked_for_among_the_five_nearest(nearer: int, is_known: bool) -> None:
    golem = make_golem()

    def store(summary: str, cosine: float) -> Episode:
        [row] = add(golem, permit_id=None, near_keys=[0], token_keys=["usdc"], summary=summary)
        vector = [cosine, math.sqrt(1 - cosine**2), *[0.0] * 382]
        EpisodeVector.objects.create(episode=row, golem=golem, embedding=vector)
        return row

    for _ in range(nearer):
        store("something else altogether", 0.99)
    known = store("gas on the main chain is cheap at night", 0.95)
    content = _Content(
        "uniswap_execute_swap", "", "", 31337, ("USDC",), {}, {}, "on the main chain gas is low at night"
    )
    found = _find_near(golem.pk, content, [1], [1.0, *[0.0] * 383])
    assert (found == known) is is_known


def test_a_dream_ranks_eight_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[str] = []
    done = Imagined({}, True, "", 0, {}, "", 1)
    monkeypatch.setattr(counterfactuals, "_run", lambda *_: done)

    def rank(_episode: Any, _golem: Any, routes: list[str], _now: Any) -> list[str]:
        ranked.extend(routes)
        return routes

    monkeypatch.setattr(counterfactuals, "_rank_routes", rank)
    routes = [f"r{number}" for number in range(9)]
    episode: Any = SimpleNamespace(params={"route": "a"}, prediction={"details": {"other_routes": routes}})
    golem: Any = None
    assert len(list(counterfactuals.imagine(episode=episode, golem=golem, now=NOW))) == 2
    assert ranked == routes[:8]


def test_sixty_four_figures_of_an_outcome_are_compared() -> None:
    figures = {f"f{number:02}": str(number + 1) for number in range(65)}
    assert len(reflect(prediction=figures, outcome=figures).comparisons) == 64


# ---- how much is kept ------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_summary_has_two_thousand_letters_and_an_episode_sixteen_tokens() -> None:
    long = " ".join(f"word{number}" for number in range(1_000))
    episode = remember(make_golem(), long, tokens=[f"T{number}" for number in range(17)])
    assert (len(episode.summary), episode.summary) == (2_000, long[:2_000])
    assert list(episode.tokens) == [f"T{number}" for number in range(16)]


@pytest.mark.django_db
@pytest.mark.parametrize(("newer", "is_known"), [(49, True), (50, False)])
def test_what_was_said_before_is_looked_for_among_fifty_that_sound_like_it(newer: int, is_known: bool) -> None:
    golem = make_golem()
    said = "Gas on the main chain is cheapest before the markets of Europe open"
    keys = make_near_keys(said)
    alike: dict[str, Any] = {"permit_id": None, "near_keys": keys, "token_keys": ["usdc", "weth"]}
    add(golem, newer, **alike, summary="something else", occurred_at=NOW)
    [known] = add(golem, **alike, summary=said, occurred_at=NOW - DAY)
    assert (remember(golem, said + ".", use_model=False).pk == known.pk) is is_known


def test_texts_are_found_again_by_twelve_keys_of_three_least_hashes_each() -> None:
    # Rows keep these keys: other ones would find nothing of what was stored before.
    keys = make_near_keys("gas is cheap at night")
    assert len(keys) == 12
    assert keys[:2] == [8001578661675118251, 5755265217392394122] and keys[-1] == 8409959532558961726


@pytest.mark.django_db
@pytest.mark.parametrize(("letters", "is_taken"), [(0, False), (4_000, True), (4_001, False)])
def test_a_strategy_is_described_in_four_thousand_letters(letters: int, is_taken: bool) -> None:
    asked: dict[str, Any] = {
        "golem_id": make_golem().pk,
        "name": "range",
        "parameters": {},
        "description": "a" * letters,
        "provenance": Provenance(recorded_by="a"),
        "now": NOW,
    }
    if is_taken:
        assert store_strategy(**asked).version == 1
        return
    with pytest.raises(InvalidParams):
        store_strategy(**asked)


@pytest.mark.django_db
def test_a_golem_keeps_two_hundred_strategies() -> None:
    golem = make_golem()
    Strategy.objects.bulk_create(
        Strategy(golem=golem, name=f"s{n}", version=1, parameters={}, description="d", recorded_by="a", created_at=NOW)
        for n in range(199)
    )
    asked: dict[str, Any] = {"golem_id": golem.pk, "parameters": {}, "description": "d", "now": NOW}
    provenance = Provenance(recorded_by="a")
    assert store_strategy(name="last", provenance=provenance, **asked).version == 1
    with pytest.raises(DirectiveTooLarge, match="at most 200"):
        store_strategy(name="one-more", provenance=provenance, **asked)


@pytest.mark.parametrize(("size", "is_read"), [(262_144, True), (262_145, False)])
def test_a_line_of_an_archive_has_a_quarter_of_a_mebibyte(
    size: int, is_read: bool, settings: Any, tmp_path: Path
) -> None:
    settings.GOLEM_AUDIT_KEY_FILE = tmp_path / "audit.pem"

    def rows() -> Iterator[dict[str, Any]]:
        yield {"a": "x" * (size - len('{"a":""}\n'))}

    archive = write_archive(folder=tmp_path, stem="one", header={}, rows=rows())
    assert size in [len(line) for line in archive.path.read_bytes().splitlines(keepends=True)]
    if is_read:
        assert check_archive(archive.path).rows == 1
        return
    with pytest.raises(GrimoireFileRefused, match="too long"):
        check_archive(archive.path)


@pytest.mark.parametrize(("size", "is_read"), [(262_144, True), (262_145, False)])
def test_a_strategy_file_has_a_quarter_of_a_mebibyte(size: int, is_read: bool, tmp_path: Path) -> None:
    path = tmp_path / "PLAYBOOK.md"
    path.write_text("x" * size)
    if is_read:
        assert len(_read(path) or "") == size
        return
    with pytest.raises(InvalidParams, match="larger than 262144"):
        _read(path)


@pytest.mark.parametrize(("count", "is_read"), [(500, True), (501, False)])
def test_a_text_of_heuristics_has_five_hundred(count: int, is_read: bool) -> None:
    row = (
        '[[heuristic]]\ntool_name = "t"\ntoken_keys = []\nparameter = "slippage_bps"\nfactor_bps = 9000\n'
        'confidence_percent = 60\ntext = "x"\nepisode_ids = []\ncategory = "slippage"\nidentity_hash = "0x1"\n'
    )
    row = row.replace('"slippage_bps"', f'"{Tunable.SLIPPAGE.value}"')
    if is_read:
        assert len(_parse(row * count)) == 500
        return
    with pytest.raises(InvalidParams, match="at most 500"):
        _parse(row * count)


@pytest.mark.parametrize(("letters", "is_kept"), [(1_000_000, True), (1_000_001, False)])
def test_heuristics_of_more_than_a_million_letters_are_not_snapshot(
    letters: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "list_heuristics", lambda **_: [])
    monkeypatch.setattr(snapshots, "render_heuristics", lambda _: "x" * letters)
    monkeypatch.setattr(snapshots, "write_directive", lambda **told: told["text"])
    told: Any = snapshots.snapshot_heuristics(golem_id=uuid.uuid4(), actor="a", reason="r", now=NOW)
    assert (told is not None) is is_kept
