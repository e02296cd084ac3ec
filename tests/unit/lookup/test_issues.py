"""What is read of the text of an issue, and that a question is not taken for one."""

from __future__ import annotations

import pytest

from openbook.lookup.issue_search import Place, read_issue

ISSUE = """\
# Parcels are weighed twice

<!-- Please search for duplicates first. -->
Since 2.0, `Scale.read` is called twice by depot.scales.weigh, see src/depot/labels.py and https://a.example/x/y.py.

```python
from depot import weigh_all
weigh_all(parcels)
```

```
Traceback (most recent call last):
  File "/home/me/venv/lib/python3.11/site-packages/depot/scales.py", line 41, in weigh
    return self.read_scale()
  File "C:\\\\depot\\\\ports.py", line 7, in read_scale
depot.errors.ScaleError: port is taken
```

## Environment
depot 2.0.1, weird_machine_name
"""


def test_the_parts_of_an_issue_are_told_apart() -> None:
    issue = read_issue(ISSUE)

    assert issue is not None
    assert issue.title == "Parcels are weighed twice"
    assert [place.line for place in issue.places[:3]] == [7, 41, 0]  # the innermost comes first
    assert issue.places[1].path.endswith("site-packages/depot/scales.py")
    assert {"src/depot/labels.py", "depot.scales.weigh"} < {place.path for place in issue.places[2:]}
    assert issue.names[0] == "read"
    assert {"weigh_all", "read_scale", "weigh"} < {*issue.names}
    assert "weird_machine_name" not in issue.names


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("    at send (/srv/app/box.js:12:5)", Place("/srv/app/box.js", 12)),
        ("  --> src/box.rs:12:9", Place("src/box.rs", 12)),
        ("\t/go/src/box.go:12 +0x1d", Place("/go/src/box.go", 12)),
        ("    at com.shop.Box.send(Box.java:12)", Place("com/shop/Box.java", 12)),
        ("#0 /srv/src/Box.php(12): Shop\\Label->print('x')", Place("/srv/src/Box.php", 12)),
        ("   at Shop.Box.Send(String to) in C:\\src\\Box.cs:line 12", Place("C:/src/Box.cs", 12)),
        ("   at Box`1.Send[T](T to) in /My Shop (x86)/Box.cs:line 12", Place("/Box.cs", 12)),
        ("   at Box.<>c.<Send>b__0(Int32 n) in /srv/Box.cs:line 12", Place("/srv/Box.cs", 12)),
        ("    at Box.send (/srv/app/box.js:12:5)", Place("/srv/app/box.js", 12)),
        ("src/box.py:12: ValueError", Place("src/box.py", 12)),
    ],
)
def test_stack_frames_of_other_languages_are_read(line: str, place: Place) -> None:
    issue = read_issue("It fails\n\n" + "Nothing else changed since then. " * 8 + f"\n\n{line}\n")

    assert issue is not None
    assert issue.places[0] == place


def test_the_innermost_place_comes_first_where_it_is_printed_first() -> None:
    trace = "    at com.shop.Scale.read(Scale.java:9)\n    at com.shop.Box.weigh(Box.java:12)\n"
    issue = read_issue("It fails\n\n" + "Nothing else changed since then. " * 8 + f"\n\n{trace}")

    assert issue is not None
    assert [place.path for place in issue.places[:2]] == ["com/shop/Scale.java", "com/shop/Box.java"]


@pytest.mark.parametrize("text", ["", "How is a parcel weighed?", "word " * 200, "Two lines,\nbut short."])
def test_a_question_is_no_issue(text: str) -> None:
    assert read_issue(text) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["a/", "-a/", "a.", "## environment\n", "```\n", "<!--", 'File "', "at a(", "    x\n", "aA_"]
    + [f"at a() in {path}" for path in ("", "C:", "b:line ")],
)
def test_a_text_that_repeats_one_part_takes_no_more_than_its_length(part: str) -> None:
    text = "title\n\n" + part * (400_000 // len(part))  # for minutes, if it were read anew from each of its parts

    assert read_issue(text) is not None
