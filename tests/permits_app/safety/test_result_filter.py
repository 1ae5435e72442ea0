"""What goes back: capped with a cursor, without secrets, without hidden characters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.actions.create_api_key import TOKEN_PREFIX
from permits_app.safety.hook import Allow
from permits_app.safety.hooks import result_filter
from permits_app.safety.hooks.result_filter import (
    MOST_CHARACTERS,
    ResultFilter,
    clean_text,
    filter_result,
)
from tests.permits_app.safety.calls import plain_call
from tools_app.core.taint import REMOVED, Secret, is_secret_key

TOKEN = TOKEN_PREFIX + "Zk3_x-9" * 6 + "A"


def length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def test_every_action_is_allowed() -> None:
    assert isinstance(ResultFilter().check(plain_call(None)), Allow)


@pytest.mark.parametrize(
    "key",
    [
        "private_key",
        "privateKey",
        "Private-Key",
        "mnemonic",
        "seed_phrase",
        "password",
        "keystore_json",
        "apiKey",
        "Authorization",
        "owner_private_key",
        "client_secret",
        "rpc_url",
        "raw_transaction",
        "accessToken",
    ],
)
def test_a_value_under_a_secret_name_is_removed_at_any_depth(key: str) -> None:
    assert is_secret_key(key)
    assert filter_result({"a": [{key: "canary"}]}) == {"a": [{key: REMOVED}]}


@pytest.mark.parametrize(
    "key",
    ["token", "token_in", "tokens", "key", "keys", "api_key_id", "plan_hash", "tx_hash", "secretary", "recipient"],
)
def test_ordinary_names_are_kept(key: str) -> None:
    assert filter_result({key: "0xabc"}) == {key: "0xabc"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"use {TOKEN} please", f"use {REMOVED} please"),
        ("https://user:hunter2@node.example/x", f"https://{REMOVED}@node.example/x"),
        ("wss://mainnet.example.io/v3/0123456789abcdef0123456789abcdef", f"wss://mainnet.example.io/v3/{REMOVED}"),
        ("https://x.example/?apikey=abcdef&b=1", f"https://x.example/?apikey={REMOVED}&b=1"),
        ("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {REMOVED}"),
        ("see https://docs.example/v3/swaps", "see https://docs.example/v3/swaps"),
        ("golem_project and golem_a1b2c3d4…", "golem_project and golem_a1b2c3d4…"),
    ],
)
def test_secrets_inside_text_are_removed_and_other_text_is_not(text: str, left: str) -> None:
    assert clean_text(text) == left


def test_hidden_characters_are_stripped_from_values_and_names() -> None:
    answer = filter_result({"na\u200bme": "US\u202eDC\x00\x1b[31m", "text": "two\nlines\tkept"})
    assert answer == {"name": "USDC[31m", "text": "two\nlines\tkept"}


def test_what_is_short_comes_back_as_it_is() -> None:
    value = {"a": 1, "b": None, "c": [True, "x", {"d": 2.5}]}
    assert filter_result(value) == value


_TEXTS = st.text(max_size=8) | st.sampled_from(
    [
        TOKEN,
        "Bearer abcdefghijklmnop1234",
        "https://user:hunter2@node.example/x",
        'say "no"',
        "two\nlines",
        "\u202e",
        "password: hunter22",
        "0x" + "5ec4e7" * 10 + "beef",
        "a known canary",
        "=",
        "0x" + "ab" * 32,
    ]
)
_NAMES = st.text(max_size=4) | st.sampled_from(["private_key", "seed", "token_in", TOKEN])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_an_answer_that_is_looked_through_at_once_is_as_clean_as_one_that_is_looked_through_piece_by_piece(
    value: Any,
) -> None:
    Secret("0x" + "5ec4e7" * 10 + "beef")
    Secret("a known canary")
    assert filter_result(value) == result_filter._clean(value)


@pytest.mark.parametrize("value", [{"note": "worth 5 \u20ac"}, ["a", {"b": None}], "plain", 7])
def test_a_clean_answer_goes_back_as_it_is_up_to_the_last_letter_that_fits(value: Any) -> None:
    assert filter_result(value) is value
    assert filter_result(value, most_characters=length(value)) is value


def test_an_answer_has_a_hundred_thousand_letters_of_json() -> None:
    longest, longer = ["x" * 99_996], ["x" * 99_997]
    assert length(longest) == 100_000
    assert filter_result(longest) is longest
    assert length(filter_result(longer)) < 100_000


def test_what_json_has_no_word_for_is_cleaned_all_the_same() -> None:
    assert filter_result({"note": Secret("an unheard of canary"), "left": 1}) == {"note": REMOVED, "left": 1}


def rows(count: int) -> list[dict[str, Any]]:
    return [{"index": index, "note": "x" * 90} for index in range(count)]


def test_a_long_list_is_paged_until_everything_was_shown_once() -> None:
    value = {"total": 3000, "rows": rows(3000), "few": [1, 2]}
    seen: list[int] = []
    cursor: str | None = None
    for _ in range(20):
        page = filter_result(value, cursor=cursor)
        assert length(page) <= MOST_CHARACTERS
        assert page["few"] == [1, 2]
        seen += [row["index"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None
    assert seen == list(range(3000))
    assert page["truncated"]["total"] == 3000


def test_a_bare_list_and_a_nested_one_are_paged_too() -> None:
    bare = filter_result(rows(3000))
    nested = filter_result({"data": {"rows": rows(3000)}})
    assert length(bare) <= MOST_CHARACTERS
    assert (bare["truncated"]["list"], bare["next_cursor"]) == ("items", str(len(bare["items"])))
    assert nested["truncated"]["list"] == "data.rows"
    assert length(nested) <= MOST_CHARACTERS


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    answer = filter_result({"page": "x" * 300_000, "name": "kept"})
    assert length(answer) <= MOST_CHARACTERS
    assert answer["name"] == "kept"
    assert answer["page"].endswith("[cut]")


@pytest.mark.parametrize(
    ("count", "length_before", "most", "left"),
    [(1, 9_000, 8_500, 8_000), (1, 9_000, 5_000, 4_000), (10, 300, 1_500, 125), (1, 9_000, 8_010, 8_000)],
)
def test_texts_are_halved_from_eight_thousand_characters_until_they_fit(
    count: int, length_before: int, most: int, left: int
) -> None:
    answer = filter_result({f"k{place}": "x" * length_before for place in range(count)}, most_characters=most)
    assert [len(text) for text in answer.values()] == [left] * count
    assert filter_result(answer, most_characters=length(answer)) == answer
    again = filter_result({f"k{place}": "x" * length_before for place in range(count)}, most_characters=length(answer))
    assert again == answer


def test_only_texts_beyond_the_cut_are_cut() -> None:
    answer = filter_result({"kept": "y" * 8_000, "cut": "x" * 8_001}, most_characters=16_020)
    assert answer["kept"] == "y" * 8_000
    assert len(answer["cut"]) == 8_000


def test_what_is_too_long_however_short_its_texts_says_only_that() -> None:
    answer = filter_result({f"k{place}": "x" * 200 for place in range(20)}, most_characters=2_000)
    assert answer == {"truncated": {"reason": "the answer is longer than 2000 characters; ask for less"}}


def test_a_cursor_that_is_no_number_starts_at_the_beginning() -> None:
    value = {"rows": rows(3000)}
    assert filter_result(value, cursor="'; drop")["rows"][0]["index"] == 0


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=300),
        lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=12), inner, max_size=6),
        max_leaves=60,
    )
)
def test_no_answer_is_longer_than_the_cap_and_filtering_twice_changes_nothing(value: Any) -> None:
    once = filter_result(value, most_characters=2_000)
    assert length(once) <= 2_000
    assert filter_result(once, most_characters=2_000) == once


@pytest.mark.parametrize("letter", ["x", "ü", "漢"])
@pytest.mark.parametrize(("most", "is_whole"), [(-1, False), (0, True), (1, True)])
def test_an_answer_is_whole_up_to_its_cap_in_characters(letter: str, most: int, is_whole: bool) -> None:
    value = {"text": letter * 1_000, "rows": [1, 2]}
    assert (filter_result(value, most_characters=length(value) + most) == value) is is_whole


@pytest.mark.parametrize(("count", "is_whole"), [(100_000, True), (100_001, False)])
def test_an_answer_has_a_hundred_thousand_characters_unless_told_otherwise(count: int, is_whole: bool) -> None:
    value = {"text": "x" * (count - length({"text": ""}))}
    assert (filter_result(value) == value) is is_whole


@pytest.mark.parametrize(("most", "is_cut"), [(-1, True), (0, False), (1, False)])
def test_a_last_page_is_whole_up_to_its_cap_and_cut_beyond_it(most: int, is_cut: bool) -> None:
    value = {"rows": [1, 2], "text": "x" * 9_000}
    whole = filter_result(value, cursor="1", most_characters=20_000)
    assert whole["rows"] == [2]
    page = filter_result(value, cursor="1", most_characters=length(whole) + most)
    assert (page != whole) is is_cut


@pytest.mark.parametrize("name", ["n", "n" * 400])
def test_a_page_is_nearly_full_and_never_overfull(name: str) -> None:
    value = {"note": "y" * 300, "data": {name: [7] * 5_000}}
    page = filter_result(value, most_characters=3_000)
    assert page["truncated"] == {
        "list": f"data.{name}",
        "shown": len(page["data"][name]),
        "from": 0,
        "total": 5_000,
    }
    assert 3_000 - 170 <= length(page) <= 3_000


@pytest.mark.parametrize("most", range(3_000, 3_004))
def test_a_page_takes_items_to_the_last_character_of_what_is_left_for_them(most: int) -> None:
    page = filter_result({"rows": [7] * 5_000}, most_characters=most)
    # An item and its comma are two characters; `{"rows":[]}` is eleven, the name four, the members added 160 at most.
    assert len(page["rows"]) == (most - 11 - 4 - 160) // 2


@pytest.mark.parametrize(("cursor", "start"), [("1", 1), ("9" * 9, 999_999_999)])
def test_a_cursor_is_a_number_of_at_most_nine_digits(cursor: str, start: int) -> None:
    assert filter_result({"rows": [1, 2, 3]}, cursor=cursor)["truncated"]["from"] == start
    assert filter_result({"rows": [1, 2, 3]}, cursor="9" * 10) == {"rows": [1, 2, 3]}


def test_a_list_of_one_is_no_list_to_page_and_a_list_of_two_is() -> None:
    alone = filter_result({"rows": ["x" * 3_000]}, most_characters=2_000)
    assert "next_cursor" not in alone and alone["rows"][0].endswith("[cut]")
    pair = filter_result({"rows": ["x" * 1_500, "y" * 1_500]}, most_characters=2_000)
    assert (pair["rows"], pair["next_cursor"]) == (["x" * 1_500], "1")


def test_a_bare_list_that_just_fits_once_it_is_clean_stays_a_list() -> None:
    clean = ["ab", "cd"]
    assert filter_result(["a\u202eb", "cd"], most_characters=length(clean)) == clean
