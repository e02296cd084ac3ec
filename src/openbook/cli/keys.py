"""The commands `keys`: who may use the server, how much, and what they did."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, options, printing
from openbook.errors import OpenbookError

keys: typer.Typer = typer.Typer(
    name="keys",
    help="Create, list and revoke server keys.",
    short_help="Create, list and revoke server keys",
    no_args_is_help=True,
)

if TYPE_CHECKING:
    from openbook.server.keys import Grant, Key, Use
    from openbook.server.people import People

RoleName = Literal["reader", "editor", "owner"]

KeyName = Annotated[str, typer.Argument(metavar="NAME", help="Who or what uses the key.")]
AnyName = Annotated[str, typer.Argument(metavar="NAME", help="A key, a class, or a student as CLASS/STUDENT.")]
RoleOption = Annotated[
    RoleName,
    typer.Option(
        "--role",
        help="`reader` asks and reads; `editor` also adds and deletes sources; `owner` also manages keys.",
    ),
]
ExpiresOption = Annotated[
    str | None,
    typer.Option("--expires", metavar="WHEN", help="Days from now, such as `90d`, a date in UTC, or `never`."),
]
QuestionsOption = Annotated[
    int | None, typer.Option("--questions-per-day", min=0, metavar="N", help="Most questions in a day, in UTC.")
]
UsdOption = Annotated[
    float | None,
    typer.Option(
        "--usd-per-day",
        min=0,
        metavar="USD",
        callback=options.finite,
        help="Most that answers may cost in a day, in UTC. Default: OPENBOOK_KEY_USD_PER_DAY.",
    ),
]


@keys.command("add")
def add_key(
    name: KeyName,
    role: RoleOption = "reader",
    expires: ExpiresOption = None,
    questions_per_day: QuestionsOption = None,
    usd_per_day: UsdOption = None,
) -> None:
    """Create a key and print it. It is shown only once."""
    from openbook.server.keys import Grant

    grant = _changed(Grant(role), expires, questions_per_day, usd_per_day)
    with _people() as people:
        key = people.keys.add(name, grant)
        people.audit.add(_console(), "added key", f"{name}, {role}")
        printing.say(key)
    printing.note(f"this is the key for {name}, with the role {role}; it is not shown again")


@keys.command("change")
def change_key(
    name: AnyName,
    role: Annotated[RoleName | None, typer.Option("--role", help="What the key may do.")] = None,
    expires: ExpiresOption = None,
    questions_per_day: QuestionsOption = None,
    usd_per_day: UsdOption = None,
) -> None:
    """Change what a key or a student may do, or the end and limits of a class with all its students.

    What is not given stays.
    """
    with _people() as people:
        before = people.grant_of(name)
        if before is None:
            raise _unknown_name(name)
        grant = _changed(before, expires, questions_per_day, usd_per_day)
        grant = replace(grant, role=role or grant.role)
        did = people.change(name, grant)
        if did is not None:
            people.audit.add(_console(), did, f"{name}, {grant.role}" if did == "changed key" else name)
    printing.note(f"changed {name}")


@keys.command("invite")
def invite(
    name: Annotated[str, typer.Argument(metavar="CLASS", help="Name of the class.")],
    seats: Annotated[int, typer.Option("--seats", min=1, max=10_000, metavar="N", help="Most students.")] = 100,
    expires: ExpiresOption = None,
    questions_per_day: QuestionsOption = None,
    usd_per_day: UsdOption = None,
) -> None:
    """Create a class and print its code. Limits are those of each student.

    Students open the page `join#CODE` of the server, and choose a name and a PIN.
    """
    from openbook.server.keys import Grant

    grant = _changed(Grant(), expires, questions_per_day, usd_per_day)
    with _people() as people:
        code = people.classes.add(name, seats, grant)
        people.audit.add(_console(), "added class", f"{name}, {seats} seats")
        printing.say(code)
    printing.note(f"this is the code for {name}; students join at ADDRESS/join#CODE; it is not shown again")


@keys.command("list")
def list_keys() -> None:
    """List the keys, classes and students, with their role, limits, last use, and use of today."""
    from openbook.server.keys import Use

    with _people() as people:
        found, classes, uses = people.keys.all(), people.classes.all(), people.keys.uses()
    for key in found:
        printing.say(_line(key, uses.get(key.id, Use())))
    for each in classes:
        count = sum(key.class_id == each.id for key in found)
        until = f"  until {_last_day(each.grant.expires_at)}" if each.grant.expires_at else ""
        printing.say(f"{each.name}  class  {count} of {each.seats} students{until}")
    if not found and not classes:
        printing.note("there are no keys; openbook keys add NAME creates one")


@keys.command("rotate")
def rotate(name: AnyName) -> None:
    """Replace a key, the code of a class, or the PIN of a student, and print the new one once.

    The old one, and logins with it, end. Conversations and limits stay.
    """
    with _people() as people:
        replaced = people.rotate(name)
        if replaced is None:
            raise _unknown_name(name)
        secret, did = replaced
        people.audit.add(_console(), did, name)
        printing.say(secret)
    printing.note(f"{did} {name}; it is not shown again")


@keys.command("remove")
def remove_key(name: AnyName) -> None:
    """Revoke a key, a student, or a class with all its students, and delete what they wrote.

    Their logins end, and their conversations, ratings and share links are deleted. Files that they uploaded stay.
    """
    from openbook.cli.opening import settings
    from openbook.server.erasure import erase_in_home

    with _people() as people:
        did = people.remove(name)
        if did is None:
            raise _unknown_name(name)
        people.audit.add(_console(), did, name)
        try:
            erased = erase_in_home(people, settings())
        except OpenbookError as exc:
            problem = f"removed {name}, but what they wrote is not deleted yet: {exc}"
            printing.complain(problem, "a running server tries again every hour")
            raise typer.Exit(EXIT_FAILURE) from None
        if erased:
            people.audit.add(_console(), "deleted texts", f"{name}: {erased}")
    printing.note(f"removed {name}, with {erased}")


@keys.command("log")
def show_log(
    last: Annotated[int, typer.Option("--last", min=1, max=100_000, metavar="N", help="Most lines.")] = 50,
) -> None:
    """Print the audit log, the latest line last: who did what with keys, sources and uploads, and refused logins."""
    with _people() as people:
        events = people.audit.last(last)
    for each in reversed(events):
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(each.at))
        printing.say(
            printing.one_line("  ".join(filter(None, (at, each.who or "?", each.did, each.what, each.address))))
        )
    if not events:
        printing.note("the log is empty")


def _line(key: Key, use: Use) -> str:
    grant = key.grant
    parts = [key.name, "student" if key.class_id else grant.role, f"made {_date(key.created_at)}"]
    parts.append(f"used {_minute(key.last_used_at)}" if key.last_used_at else "never used")
    today = (
        f"{use.questions_today}{'' if grant.questions_per_day is None else f' of {grant.questions_per_day}'} questions"
    )
    spent = f"${use.usd_today:.2f}{'' if grant.usd_per_day is None else f' of ${grant.usd_per_day:.2f}'}"
    parts.append(f"today {today}, {spent}")
    if grant.expires_at is not None:
        parts.append(f"{'expired' if grant.expires_at <= time.time() else 'until'} {_last_day(grant.expires_at)}")
    return "  ".join(parts)


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def _minute(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def _last_day(expires_at: float) -> str:
    """Return the last day before an end, which may be midnight after it."""
    return _date(expires_at - 1)


def _changed(grant: Grant, expires: str | None, questions_per_day: int | None, usd_per_day: float | None) -> Grant:
    return replace(
        grant,
        expires_at=grant.expires_at if expires is None else _end(expires),
        questions_per_day=grant.questions_per_day if questions_per_day is None else questions_per_day,
        usd_per_day=grant.usd_per_day if usd_per_day is None else usd_per_day,
    )


def _end(when: str) -> float | None:
    """Parse the end given by `--expires` as Unix seconds; for a date, its last moment."""
    if when == "never":
        return None
    try:
        if when.endswith("d") and when[:-1].isdecimal():
            return time.time() + timedelta(days=int(when[:-1])).total_seconds()
        end = datetime.strptime(when, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{when!r} is neither days, as 90d, nor a date, as 2027-07-31, nor never") from None
    return end.timestamp()


def _console() -> str:
    from openbook.server.people import CONSOLE

    return CONSOLE


def _unknown_name(name: str) -> typer.Exit:
    printing.complain(f"no key, class or student named {name!r}", "list them with: openbook keys list")
    return typer.Exit(EXIT_NOTHING)


def _people() -> closing[People]:
    from openbook.cli.opening import settings
    from openbook.server.people import People

    return closing(People.of(settings().home))
