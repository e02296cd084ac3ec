"""Rules that are left out one at a time."""

from __future__ import annotations

from functools import partial

from benchmarks.ablation import find_rules
from openbook.questions import lists_asked, names
from openbook.questions.question import read_question


def test_a_pattern_is_left_out_where_each_module_refers_to_it_and_put_back() -> None:
    rule = next(each for each in find_rules(["questions"], "patterns") if each.name == "questions.names.ONE_WORD")

    assert {module.__name__ for module, _ in rule.places} >= {"openbook.questions.names", "openbook.questions.question"}
    with rule.replaced(rule.no):
        assert not read_question("moor").is_symbol
    assert read_question("moor").is_symbol


def test_a_function_that_other_modules_call_says_no() -> None:
    rules = {each.name: each for each in find_rules(["questions"], "functions")}

    with rules["questions.lists_asked.list_of"].replaced(rules["questions.lists_asked.list_of"].no):
        assert read_question("Which ropes are there?").listed is None
    assert read_question("Which ropes are there?").listed is not None


def test_a_rule_notes_when_it_says_something() -> None:
    patterns = {each.name: each for each in find_rules(["questions"], "patterns")}
    functions = {each.name: each for each in find_rules(["questions"], "functions")}
    told: list[str] = []
    watched = [patterns["questions.lists_asked._PART"], functions["questions.names.proper_names"]]

    for rule in watched:
        with rule.replaced(rule.watched(partial(told.append, rule.name))):
            lists_asked.words_of("...")
            names.proper_names("where are ropes?")
            assert told == []
            assert lists_asked.words_of("HempRope") == ["hemp", "rope"]
            assert names.proper_names("what is put into S3?") == ["S3"]
        assert set(told) == {rule.name}
        told.clear()
