"""The delegation graph and the profile matrix: what they draw, what they refuse, and what they keep from others."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.admin.draw_delegation_graph import BOX_HEIGHT, draw_graph
from archetypes_app.empty_categories import list_stocked
from archetypes_app.models import Archetype, ToolProfile
from tests import factories
from tests.admin.rows import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    sync_builtins()
    browser = Client()
    browser.force_login(factories.make_owner())
    return browser


def _names() -> frozenset[str]:
    return frozenset(Archetype.objects.values_list("name", flat=True))


def test_every_archetype_and_every_delegation_is_drawn_once(client: Client) -> None:
    picture = draw_graph(visible=_names())
    edges = sum(archetype.delegates_to.count() for archetype in Archetype.objects.all())
    assert {box.name for box in picture.boxes} == _names()
    assert len(picture.lines) == edges
    assert len({(box.left, box.top) for box in picture.boxes}) == len(picture.boxes)


def test_no_two_boxes_overlap_and_all_lie_on_the_picture(client: Client) -> None:
    picture = draw_graph(visible=_names())
    for box in picture.boxes:
        assert 0 <= box.left <= picture.width - 190
        assert 0 <= box.top <= picture.height - 30
    tops: dict[int, list[int]] = {}
    for box in picture.boxes:
        tops.setdefault(box.left, []).append(box.top)
    assert all(
        b - a >= 30 for column in tops.values() for a, b in zip(sorted(column), sorted(column)[1:], strict=False)
    )


def test_the_longest_chain_is_drawn_as_such(client: Client) -> None:
    picture = draw_graph(visible=_names())
    assert len(picture.longest) >= 3
    assert sum(line.kind == "longest" for line in picture.lines) == len(picture.longest) - 1


def test_a_proposed_edge_that_breaks_a_rule_is_red_and_says_why(client: Client) -> None:
    query = {"from": "safety-guardian", "to": "trade-executor"}
    answer = client.get(page("archetypes_app.archetype", "graph"), query)
    picture: Any = answer.context["picture"]
    assert picture.refusals
    assert [line.kind for line in picture.lines].count("bad") == 1
    assert "Refused:" in answer.content.decode()
    assert not Archetype.objects.get(name="safety-guardian").delegates_to.exists()


def test_a_proposed_edge_that_breaks_none_is_green(client: Client) -> None:
    query = {"from": "golem-instance", "to": "pool-researcher"}
    picture: Any = client.get(page("archetypes_app.archetype", "graph"), query).context["picture"]
    assert picture.refusals == ()
    assert [line.kind for line in picture.lines].count("good") == 1


def test_a_proposed_edge_from_or_to_what_is_not_shown_is_not_drawn(client: Client) -> None:
    plain = len(draw_graph(visible=_names()).lines)
    for proposal in (("golem-instance", "nobody"), ("nobody", "golem-instance")):
        assert len(draw_graph(visible=_names(), proposal=proposal).lines) == plain
    seen = _names() - {"pool-researcher"}
    assert "good" not in {
        each.kind for each in draw_graph(visible=seen, proposal=("golem-instance", "pool-researcher")).lines
    }


def test_anothers_private_archetype_is_neither_drawn_nor_named_nor_tried(client: Client) -> None:
    private = factories.make_archetype(name="kind-of-ben", owner=factories.make_owner(name="ben"))
    url = page("archetypes_app.archetype", "graph")
    answer = client.get(url, {"from": "golem-instance", "to": private.name, "of": private.name})
    assert answer.context["picture"].proposal is None
    assert private.name not in answer.content.decode()


def test_the_matrix_shows_each_profile_with_its_categories(client: Client) -> None:
    private = factories.make_profile(name="private-to-ben", owner=factories.make_owner(name="ben"))
    answer = client.get(page("archetypes_app.toolprofile", "matrix"))
    rows = {
        row["profile"].name: {cell["category"] for cell in row["cells"] if cell["is_held"]}
        for row in answer.context["rows"]
    }
    assert rows["trader"] == {"data", "trading", "safety", "streaming"}
    assert answer.context["categories"] == [category.value.replace("_", " ") for category in list_stocked()]
    assert private.name not in rows
    assert set(rows) == set(ToolProfile.objects.filter(is_builtin=True).values_list("name", flat=True))


def test_every_line_runs_between_the_middles_of_its_two_boxes(client: Client) -> None:
    picture = draw_graph(visible=_names())
    middles = {box.name: box.top + BOX_HEIGHT // 2 for box in picture.boxes}
    assert picture.lines
    for line in picture.lines:
        source, _, target = line.title.partition(" asks ")
        numbers = line.path.split()
        assert (int(numbers[1]), int(numbers[-1])) == (middles[source], middles[target])
