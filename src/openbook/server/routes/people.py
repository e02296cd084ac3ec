"""Routes for owners: keys, classes, the audit log, and how the server is."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request

import openbook
from openbook.errors import OpenbookError
from openbook.server.audit import Deed
from openbook.server.auth import Caller, Owner
from openbook.server.failures import RequestRefusedError, without_places
from openbook.server.jobs import JobQueue
from openbook.server.keys import Grant, Key, Role, Use
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
from openbook.server.served_library import ServedLibrary
from openbook.server.shared_store import SharedStore
from openbook.settings import Settings

router: APIRouter = APIRouter(prefix="/api/admin")


def _people(request: Request) -> People:
    found: People = request.app.state.people
    return found


def note(request: Request, caller: Caller, did: Deed, what: str) -> None:
    """Write down in the audit log what a caller did."""
    _people(request).audit.add(caller.name, did, what, request.client.host if request.client else "")


@router.get("/people")
async def people(request: Request, _: Owner) -> PeopleResponse:
    """List keys, classes and students with their limits and use."""
    settings: Settings = request.app.state.library.settings
    return await asyncio.to_thread(_listed, _people(request), settings.key_usd_per_day)


@router.post("/keys", status_code=201)
async def add_key(request: Request, caller: Owner, new: KeyRequest) -> SecretResponse:
    """Create a key. It is shown this once."""

    def add() -> str:
        key = _people(request).keys.add(new.name, _grant(new, new.role))
        note(request, caller, "added key", f"{new.name}, {new.role}")
        return key

    return SecretResponse(name=new.name, secret=await asyncio.to_thread(add))


@router.put("/keys/{name:path}", status_code=204)
async def change_key(request: Request, caller: Owner, name: str, new: KeyChangeRequest) -> None:
    """Change what a key or a student may do, or the end and limits of a class."""

    def change() -> None:
        _check_other(caller, name)
        did = _people(request).change(name, _grant(new, new.role))
        if did is None:
            raise _nobody(name)
        note(request, caller, did, f"{name}, {new.role}" if did == "changed key" else name)

    await asyncio.to_thread(change)


@router.delete("/keys/{name:path}", status_code=204)
async def remove_key(request: Request, caller: Owner, name: str) -> None:
    """Revoke a key, a student, or a class with all its students."""

    def remove() -> None:
        _check_other(caller, name)
        did = _people(request).remove(name)
        if did is None:
            raise _nobody(name)
        note(request, caller, did, name)

    await asyncio.to_thread(remove)


@router.post("/rotations/{name:path}", status_code=201)
async def rotate(request: Request, caller: Owner, name: str) -> SecretResponse:
    """Replace a key, the code of a class, or the PIN of a student. Logins of the old one end."""

    def replace() -> str:
        found = _people(request).rotate(name)
        if found is None:
            raise _nobody(name)
        secret, did = found
        note(request, caller, did, name)
        return secret

    return SecretResponse(name=name, secret=await asyncio.to_thread(replace))


@router.post("/classes", status_code=201)
async def add_class(request: Request, caller: Owner, new: ClassRequest) -> SecretResponse:
    """Create a class. Its code is shown this once; the page `join#CODE` takes it."""

    def add() -> str:
        code = _people(request).classes.add(new.name, new.seats, _grant(new, "reader"))
        note(request, caller, "added class", f"{new.name}, {new.seats} seats")
        return code

    return SecretResponse(name=new.name, secret=await asyncio.to_thread(add))


@router.get("/log")
async def log(request: Request, _: Owner, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> AuditLogResponse:
    """Return the last lines of the audit log, the latest first."""
    events = await asyncio.to_thread(_people(request).audit.last, most)
    return AuditLogResponse(
        events=[
            AuditEventResponse(at=each.at, who=each.who, did=each.did, what=each.what, address=each.address)
            for each in events
        ]
    )


@router.get("/server")
async def server(request: Request, _: Owner) -> ServerResponse:
    """Return how the server is: its library, its store, and its work in the background."""
    library: ServedLibrary = request.app.state.library
    shared: SharedStore | None = request.app.state.shared
    jobs: JobQueue = request.app.state.jobs

    def read() -> ServerResponse:
        trouble = ""
        try:
            if shared is not None:
                shared.check()
        except OpenbookError as exc:
            trouble = without_places(str(exc))
        with library.in_use() as assistant:
            held = assistant.stats()
        return ServerResponse(
            version=openbook.__version__,
            documents=held.documents,
            chunks=held.chunks,
            store=trouble,
            jobs=[
                OpenJobResponse(source=job.source, state=job.state, done=job.done, total=job.total)
                for job in jobs.open()
            ],
        )

    return await asyncio.to_thread(read)


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
                expires_at=each.grant.expires_at,
                seats=each.seats,
                students=counts[each.id],
                questions_per_day=each.grant.questions_per_day,
                usd_per_day=each.grant.usd_per_day,
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


def _nobody(name: str) -> RequestRefusedError:
    return RequestRefusedError(
        404, f"there is no key, class or student {name!r}", hint="GET /api/admin/people lists them"
    )
