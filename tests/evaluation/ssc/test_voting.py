"""Algorithm 1: the majority wins, ties go to the first form seen, and invalid samples never win."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from scenecypher.evaluation.ssc.forms import vote_on_forms

FORMS = st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=9)


@settings(max_examples=60)
@given(FORMS)
def test_the_winner_is_the_most_frequent_form_the_first_seen_of_equals(forms: list[str | None]) -> None:
    found = vote_on_forms(forms)
    votes = Counter(form for form in forms if form is not None)
    assert found.forms == len(votes)
    if not votes:
        assert found.winner is None
        return
    assert found.winner is not None
    winning = forms[found.winner]
    assert winning is not None
    assert found.winner == forms.index(winning), "the first raw sample behind the winner"
    assert found.votes == votes[winning] == max(votes.values())
    rivals = [form for form in votes if votes[form] == found.votes]
    assert winning == min(rivals, key=forms.index)


@settings(max_examples=60)
@given(FORMS, st.integers(0, 4))
def test_invalid_samples_change_nothing_but_their_count(forms: list[str | None], more: int) -> None:
    with_more = vote_on_forms([*forms, *[None] * more])
    assert (with_more.winner, with_more.votes) == (vote_on_forms(forms).winner, vote_on_forms(forms).votes)


@given(st.sampled_from(["x", "y", ""]))
def test_one_valid_sample_wins(sample: str) -> None:
    found = vote_on_forms([sample or None])
    assert found.winner == (0 if sample else None)
