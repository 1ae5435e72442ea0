"""What a golem publishes over its own episodes, and who finds it: under the rules that a sleepwalker is held to."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from archetypes_app.models import Artifact, Golem
from archetypes_app.publishing import MOST_ARTIFACTS_AN_HOUR, PublishingPaused, price_of
from golem_project.heartbeat.duties.sleepwalker import check_artifact
from memory_app.models import Episode
from tests.memory_app.calls import read, write
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db
SAYS = {"domain": "mev", "subject": "uniswap", "statement": "fills are within 10 bps of their simulation"}


def make_episodes(golem: Golem, count: int) -> list[str]:
    said = [f"swap number {uuid4()} was filled as simulated at pool {number}" for number in range(count)]
    return [str(remember(golem, text).pk) for text in said]


def publish(golem: Golem, bears_out: list[str], **more: Any) -> dict[str, Any]:
    return write(golem, "memory_publish_artifact", bears_out=bears_out, **{**SAYS, **more})


def test_what_episodes_bear_out_is_published_with_a_confidence_that_follows_from_them() -> None:
    golem = make_golem()
    ids = make_episodes(golem, 10)
    told = publish(golem, ids[:9], against=ids[9:])
    row = Artifact.objects.get()
    assert (row.support, row.total, row.confidence_percent) == (9, 10, 83) == (9, 10, told["confidence_percent"])
    assert row.price_micro_usd == price_of(83)
    assert {str(each) for each in row.episode_sources} == set(ids)
    assert AuditEntry.objects.filter(event="ArtifactPublished", actor=f"golem:{golem.pk}").count() == 1
    assert OutboxEvent.objects.filter(type="grimoire:artifact").count() == 1
    assert check_artifact(row) is True
    Episode.objects.filter(pk=ids[0]).delete()
    assert check_artifact(row) is None


@pytest.mark.parametrize("how", ["too few", "of another golem", "twice", "mostly against", "unsure"])
def test_what_is_not_borne_out_is_published_by_nobody(how: str) -> None:
    golem, other = make_golem(), make_golem("Other")
    ids, more = make_episodes(golem, 7), {}
    if how == "too few":
        ids = ids[:4]
    elif how == "of another golem":
        ids[3] = make_episodes(other, 1)[0]
    elif how == "twice":
        more["against"] = ids[:1]
    elif how == "mostly against":
        ids, more["against"] = ids[:2], ids[2:]
    else:
        ids, more["against"] = ids[:4], ids[4:]
    with pytest.raises(InvalidParams) as refused:
        publish(golem, ids, **more)
    assert refused.value.data["fields"]
    assert not Artifact.objects.exists()


def test_a_hundred_publications_in_an_hour_are_the_most() -> None:
    golem = make_golem()
    ids = make_episodes(golem, 5)
    first = publish(golem, ids)
    row = Artifact.objects.get(pk=first["artifact_id"])
    Artifact.objects.bulk_create(
        Artifact(
            **{
                field.name: getattr(row, field.name)
                for field in Artifact._meta.concrete_fields
                if field.name not in ("id", "pk")
            },
            id=uuid4(),
        )
        for _ in range(MOST_ARTIFACTS_AN_HOUR - 1)
    )
    with pytest.raises(PublishingPaused):
        publish(golem, ids)
    assert Artifact.objects.count() == MOST_ARTIFACTS_AN_HOUR


def test_the_catalogue_shows_what_golems_of_one_owner_published_and_nobody_elses(django_user_model: Any) -> None:
    golem, sister, stranger = make_golem(), make_golem("Sister"), make_golem("Stranger")
    Golem.objects.filter(pk=stranger.pk).update(owner=django_user_model.objects.create(username="somebody-else"))
    for each in (golem, sister, stranger):
        publish(each, make_episodes(each, 8), subject=each.name)
    told = read(golem, "memory_get_sleepwalker_catalog")
    assert told["total"] == 2
    assert {row["golem"]: row["is_own"] for row in told["artifacts"]} == {golem.name: True, sister.name: False}
    assert all(row["untrusted"] and row["rule"] for row in told["artifacts"])
    assert read(golem, "memory_get_sleepwalker_catalog", domain="governance")["total"] == 0
    assert read(golem, "memory_get_sleepwalker_catalog", min_confidence=95)["total"] == 0
    assert len(read(golem, "memory_get_sleepwalker_catalog", limit=1)["artifacts"]) == 1
    assert NOW.isoformat() in {row["published_at"] for row in told["artifacts"]}


def test_what_is_offered_tells_no_statement_and_one_publication_is_told_by_its_golem_alone() -> None:
    golem, sister = make_golem(), make_golem("Sister")
    told = publish(golem, make_episodes(golem, 8))
    publish(sister, make_episodes(sister, 8), domain="governance")
    offers = read(golem, "memory_get_sleepwalker_offers")
    assert offers["total"] == 1 and SAYS["statement"] not in str(offers)
    [offer] = offers["offers"]
    assert (offer["artifact_id"], offer["subject"], offer["untrusted"]) == (told["artifact_id"], "uniswap", True)
    assert offer["price_usd"] == told["price_usd"]
    assert read(golem, "memory_get_sleepwalker_offers", domain="governance")["total"] == 0
    assert len(read(sister, "memory_get_sleepwalker_offers", limit=1)["offers"]) == 1
    whole = read(golem, "memory_get_sleepwalker_artifact", artifact_id=told["artifact_id"])
    assert whole["statement"] == SAYS["statement"] and whole["rule"]
    for whose, wanted in ((sister, told["artifact_id"]), (golem, str(uuid4()))):
        with pytest.raises(InvalidParams):
            read(whose, "memory_get_sleepwalker_artifact", artifact_id=wanted)


def test_sixty_percent_are_sure_enough_to_be_published() -> None:
    golem = make_golem()
    ids = make_episodes(golem, 8)
    assert publish(golem, ids[:5], against=ids[5:])["confidence_percent"] == 60
    with pytest.raises(InvalidParams):
        publish(golem, ids[:4], against=ids[4:7])
