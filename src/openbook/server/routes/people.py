"""Routes for owners: keys, classes, the audit log, and the state of the server."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request

import openbook
from openbook.errors import OpenbookError
from openbook.server.auth import Caller, Owner
from openbook.server.failures import REFUSALS, RequestRefusedError, without_places
from openbook.server.keys import Grant, Key, Role, Use
from openbook.server.parts import Parts, note
from openbook.server.people import People
from openbook.server.people_schemas import (
    AuditEventResponse,
    AuditLogResponse,
    ClassRequest,
    ClassResponse,
    KeyChangeRequest,
    KeyRequest,
    KeyResponse,
    LimitsRequest,
    OpenJobResponse,
    PeopleResponse,
    SecretResponse,
    ServerResponse,
)

router: APIRouter = APIRouter(prefix="/api/admin", responses=REFUSALS)


@router.get("/people")
def people(parts: Parts, _: Owner) -> PeopleResponse:
    """List keys, classes and students with their limits and usage."""
    return _listed(parts.people, parts.settings.key_usd_per_day)


@router.post("/keys", status_code=201)
def add_key(request: Request, parts: Parts, caller: Owner, new: KeyRequest) -> SecretResponse:
    """Create a key, which is returned only once."""
    key = parts.keys.add(new.name, _grant(new, new.role))
    note(request, caller, "added key", f"{new.name}, {new.role}")
    return SecretResponse(name=new.name, secret=key)


@router.put("/keys/{name:path}", status_code=204)
def change_key(request: Request, parts: Parts, caller: Owner, name: str, new: KeyChangeRequest) -> None:
    """Change role and limits of a key or student, or end and limits of a class."""
    _check_other(caller, name)
    did = parts.people.change(name, _grant(new, new.role))
    if did is None:
        raise _unknown_name(name)
    note(request, caller, did, f"{name}, {new.role}" if did == "changed key" else name)


@router.delete("/keys/{name:path}", status_code=204)
def remove_key(request: Request, parts: Parts, caller: Owner, name: str) -> None:
    """Revoke a key, a student, or a class with all its students, and delete what they wrote.

    Their conversations, ratings and share links are deleted, and the log tells how many. Uploaded files stay.
    """
    _check_other(caller, name)
    did = parts.people.remove(name)
    if did is None:
        raise _unknown_name(name)
    note(request, caller, did, name)
    try:
        erased = parts.erase_removed()
    except OpenbookError as exc:
        raise RequestRefusedError(
            503,
            f"{name!r} is removed, but what they wrote is not deleted yet: {without_places(str(exc))}",
            hint="the server tries again every hour",
        ) from exc
    if erased:
        note(request, caller, "deleted texts", f"{name}: {erased}")


@router.post("/rotations/{name:path}", status_code=201)
def rotate(request: Request, parts: Parts, caller: Owner, name: str) -> SecretResponse:
    """Replace a key, the code of a class, or the PIN of a student. Logins of the old one end."""
    found = parts.people.rotate(name)
    if found is None:
        raise _unknown_name(name)
    secret, did = found
    note(request, caller, did, name)
    return SecretResponse(name=name, secret=secret)


@router.post("/classes", status_code=201)
def add_class(request: Request, parts: Parts, caller: Owner, new: ClassRequest) -> SecretResponse:
    """Create a class. Its code, for the page `join#CODE`, is returned only once."""
    code = parts.people.classes.add(new.name, new.seats, _grant(new, "reader"))
    note(request, caller, "added class", f"{new.name}, {new.seats} seats")
    return SecretResponse(name=new.name, secret=code)


@router.get("/log")
def log(parts: Parts, _: Owner, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> AuditLogResponse:
    """Return the last entries of the audit log, latest first."""
    events = parts.people.audit.last(most)
    return AuditLogResponse(events=[AuditEventResponse.model_validate(each) for each in events])


@router.get("/server")
def server(parts: Parts, _: Owner) -> ServerResponse:
    """Return the state of the server: its library, its store and its background jobs."""
    with parts.library.in_use() as assistant:
        held = assistant.stats()
    return ServerResponse(
        version=openbook.__version__,
        documents=held.documents,
        chunks=held.chunks,
        store=parts.store_trouble(),
        jobs=[OpenJobResponse.model_validate(job) for job in parts.jobs.open()],
    )


def _listed(people: People, usd_per_day: float) -> PeopleResponse:
    classes, keys, uses = people.classes.all(), people.keys.all(), people.keys.uses()
    names = {each.id: each.name for each in classes}
    counts = Counter(key.class_id for key in keys)
    return PeopleResponse(
        keys=[_key(key, names.get(key.class_id, ""), uses.get(key.id, Use())) for key in keys],
        classes=[
            ClassResponse(
                name=each.name,
                created_at=each.created_at,
                seats=each.seats,
                students=counts[each.id],
                **asdict(each.grant),
            )
            for each in classes
        ],
        usd_per_day=usd_per_day,
    )


def _key(key: Key, class_name: str, use: Use) -> KeyResponse:
    return KeyResponse(
        name=key.name,
        class_name=class_name,
        created_at=key.created_at,
        last_used_at=key.last_used_at,
        **asdict(key.grant),
        **asdict(use),
    )


def _grant(limits: LimitsRequest, role: Role) -> Grant:
    return Grant(role, limits.expires_at, limits.questions_per_day, limits.usd_per_day)


def _check_other(caller: Caller, name: str) -> None:
    if caller.name == name:
        raise RequestRefusedError(
            409, "this is the key that you use", hint="use another owner's, or `openbook keys` on the server's machine"
        )


def _unknown_name(name: str) -> RequestRefusedError:
    return RequestRefusedError(
        404, f"there is no key, class or student {name!r}", hint="GET /api/admin/people lists them"
    )
