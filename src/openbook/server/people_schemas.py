"""Request and response models of logins, keys, classes and the audit log."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from openbook.server.keys import Role
from openbook.server.schemas import Shape, StrictShape

_Secret = Annotated[str, Field(max_length=200)]
_KeyName = Annotated[str, Field(min_length=1, max_length=200)]
_Time = Annotated[float, Field(ge=0, le=1e11)]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Usd = Annotated[float, Field(ge=0, le=1_000_000)]


class StudentRequest(StrictShape):
    """A student, with the code of their class."""

    code: _Secret
    """From the link, as `openbook keys invite` printed it."""
    name: _KeyName
    pin: _Secret


class LoginRequest(StrictShape):
    """A key, as `openbook keys add` printed it, or a student."""

    key: _Secret = ""
    student: StudentRequest | None = None


class LimitsRequest(StrictShape):
    """Expiry and limits of a key."""

    expires_at: _Time | None = None
    """Unix seconds; null: never."""
    questions_per_day: _Count | None = None
    """Null: only the limit per minute applies."""
    usd_per_day: _Usd | None = None
    """Null: as the settings say."""


class KeyChangeRequest(LimitsRequest):
    """The new role and limits of a key."""

    role: Role


class KeyRequest(KeyChangeRequest):
    """A new key."""

    name: _KeyName


class ClassRequest(LimitsRequest):
    """A new class. The limits are those of each student."""

    name: _KeyName
    seats: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Most students."""


class CallerResponse(Shape):
    """The caller."""

    key: str
    """Name of the key; empty without one."""
    needs_key: bool
    role: Role
    may_share: bool
    """Whether they may share answers by link."""


class SecretResponse(Shape):
    """A secret, which is shown only once."""

    name: str
    secret: str
    """A key, the code of a class, or a PIN."""


class KeyResponse(Shape):
    """A key or a student, with its use."""

    name: str
    role: Role
    class_name: str
    """Of a student; else empty."""
    created_at: float
    expires_at: float | None
    last_used_at: float | None
    """To the minute."""
    questions_per_day: int | None
    usd_per_day: float | None
    questions_today: int
    usd_today: float
    questions: int
    usd: float


class ClassResponse(Shape):
    """A class."""

    name: str
    created_at: float
    expires_at: float | None
    seats: int
    students: int
    questions_per_day: int | None
    usd_per_day: float | None


class PeopleResponse(Shape):
    """All keys with students, by name, and all classes."""

    keys: list[KeyResponse]
    classes: list[ClassResponse]
    usd_per_day: float
    """Of a key that has no limit of its own."""


class AuditEventResponse(Shape):
    """A line of the audit log."""

    at: float
    who: str
    did: str
    what: str
    address: str


class AuditLogResponse(Shape):
    """The last lines of the audit log, the latest first."""

    events: list[AuditEventResponse]


class OpenJobResponse(Shape):
    """A background job that has not ended."""

    source: str
    state: str
    done: int
    total: int


class ServerResponse(Shape):
    """State of the server."""

    version: str
    documents: int
    chunks: int
    store: str
    """The error of the shared store; empty if it works, or if there is none."""
    jobs: list[OpenJobResponse]
