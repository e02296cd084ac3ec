"""All settings, with defaults and units. No other module reads the environment."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from openbook.errors import SettingsError

Strategy = Literal["semantic", "fixed-size", "hybrid"]
SHARING = ("off", "reader", "editor", "owner")
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_PREFIX = "OPENBOOK_"

_POSITIVE = (
    *("max_document_bytes", "max_pages", "file_timeout_s", "file_memory_bytes"),
    *("fetch_timeout_s", "max_repository_bytes"),
    *("max_file_bytes", "chunk_words", "context_tokens", "workers", "lock_timeout_s", "session_days", "upload_files"),
    *("upload_bytes", "key_questions_per_minute", "key_usd_per_day", "answer_usd", "model_timeout_s"),
    *("server_wait_s", "server_answers", "server_jobs", "job_timeout_s", "key_upload_bytes", "course_chunk_chars"),
    *("storage_cache_bytes", "oidc_hours"),
)

_NOT_NEGATIVE = (
    *("session_history", "server_workers", "server_queue", "server_results", "server_images"),
    *("model_requests_per_minute", "model_tokens_per_minute"),
)

# User and password of an address.
_PASSWORD = re.compile(r"(?<=//)[^/@\s]*@")

_ASSIGNMENT = re.compile(
    r"""\s*(?:export\s+)?(?P<name>\w+)\s*=\s*(?:(?P<mark>["'])(?P<quoted>.*?)(?P=mark)|(?P<plain>[^\s#"']\S*))?"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of Openbook.

    Each field is read from `OPENBOOK_` plus its name in capitals: `max_file_bytes` from
    `OPENBOOK_MAX_FILE_BYTES`.
    """

    home: Path = field(default_factory=lambda: default_home())
    """Folder of the libraries. Default: the platform's folder for user data."""
    storage: str = ""
    """Shared storage of libraries, instead of the home: `engine:address`, with an engine listed by
    `openbook plugins`. Empty: in the home."""
    storage_cache_bytes: int = 32 * 1024 * 1024
    """Memory that a process may use to cache a library in `storage`: texts, words, and the caches of the engine
    itself."""
    max_file_bytes: int = 1024 * 1024
    """Larger files are skipped and reported. Hand-written text rarely passes 1 MiB."""
    max_document_bytes: int = 64 * 1024 * 1024
    """The same limit for PDF, Office and other formats with extracted text."""
    max_pages: int = 5000
    """A PDF with more pages is skipped and reported. Handbooks have 2,000."""
    file_timeout_s: float = 60.0
    """Maximum seconds to read one file in a child process. A PDF of 1,000 pages takes about 10."""
    file_memory_bytes: int = 2 * 1024**3
    """Memory limit of a child process that reads files. A PDF of 1,000 pages takes 0.1 GB; a compressed file of 7 MB
    was seen to take 8 GB."""
    pdf_password: Secret | None = None
    """Password for encrypted PDFs. Never shown."""
    ocr: bool = False
    """Whether to run OCR on images and scanned pages, which takes seconds for each."""
    audio: str = ""
    """Speech recognition model for recordings: one fetched by `openbook models add`, such as `whisper-small`, or the
    path of its folder. Empty: none."""
    mask_secrets: bool = True
    """Whether new libraries mask access tokens and private keys in texts, such as `ghp_****`."""
    chunk_strategy: Strategy = "semantic"
    """Chunking strategy for prose: `semantic`, `fixed-size` or `hybrid`."""
    chunk_words: int = 500
    """Words per chunk, for the strategies `fixed-size` and `hybrid`."""
    chunk_overlap_words: int = 50
    """Words that such a chunk repeats from the previous one. Less than `chunk_words`."""
    course_chunk_chars: int = 800
    """Characters per chunk of a course. Headings at its beginning may exceed this by up to half."""
    course_overlap_chars: int = 150
    """Maximum characters that such a chunk repeats from the previous one, in whole sentences. 150 gives about the
    intended mean of 100: 78 to 103 on four courses, where 100 gives 36 to 48. Less than `course_chunk_chars`."""
    context_tokens: int = 8000
    """Maximum estimated tokens of sources per answer."""
    model: str = ""
    """Model that writes answers, as in `--model`. Empty: the first provider with a key."""
    query_expansion: bool = True
    """Whether the model first expands the query, which costs a short call."""
    verifier: str = ""
    """Verifier of claims, as in `--verifier`. Empty: the model that writes; `off`: none."""
    model_timeout_s: float = 120.0
    """Maximum seconds per model call, including retries. A model on a small machine may need more."""
    model_requests_per_minute: int = 0
    """Maximum calls of a model per minute that this process starts; further calls wait. 0: no limit."""
    model_tokens_per_minute: int = 0
    """Maximum tokens, read and written, of these calls per minute. 0: no limit."""
    reply_cache: str = ""
    """Folder where commands cache complete model replies, so that the same request is not paid for twice. Empty: no
    cache."""
    embedder: str = ""
    """Embedder that replaces the shipped model: `provider:model`, or a server's URL with `#model`. It receives the text
    of all sources and each question."""
    reranker: str = ""
    """Reranker of the best results, as in `--reranker`. It receives the question and the texts of 20 results, unless it
    is local (`onnx:` and a folder). Empty or `off`: none."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Number of processes that read and chunk files. 1: do the work in this process, except for non-text formats."""
    executor: str = ""
    """Executor for the files of large sources, instead of local processes: `name:address`, with an executor listed by
    `openbook plugins`. Empty: local processes."""
    lock_timeout_s: float = 60.0
    """Seconds to wait for another writer of the same library."""
    fetch_timeout_s: float = 600.0
    """Maximum seconds to fetch a repository, including waits for rate limits."""
    max_repository_bytes: int = 1024 * 1024 * 1024
    """Larger repositories are not fetched. Few have more text; the Linux kernel has 1.4 GB."""

    session_days: float = 30.0
    """Days that the server keeps a conversation after its last question."""
    session_history: int = 2
    """Number of earlier exchanges that a follow-up question takes into account. 0: none."""
    shared_store: Secret | None = None
    """Shared store of several servers for conversations, limits and logins: `name:address`, with a store listed by
    `openbook plugins`. Never shown: it may contain a password. Empty: each server has its own."""
    oidc_issuer: str = ""
    """URL of the OpenID Connect provider for logins. Empty: users need keys."""
    oidc_client_id: str = ""
    """Client id of this server at the provider."""
    oidc_client_secret: Secret | None = None
    """Client secret of this server at the provider, if it has one. Never shown."""
    oidc_redirect_url: str = ""
    """URL of this server's `/api/oidc/callback`, as registered at the provider."""
    oidc_scopes: tuple[str, ...] = ("openid", "email", "profile")
    """Scopes to request from the provider."""
    oidc_owners: tuple[str, ...] = ()
    """Who becomes an owner at login: verified e-mail addresses, `@domain`, `claim:value`, or `*` for everyone."""
    oidc_editors: tuple[str, ...] = ()
    """The same for editors."""
    oidc_readers: tuple[str, ...] = ()
    """The same for readers. Everyone else is rejected."""
    oidc_hours: float = 12.0
    """Hours until a login expires."""
    server_workers: int = field(default_factory=lambda: min(os.cpu_count() or 1, 4))
    """Maximum number of processes that search and check for the server. 0: use threads."""
    server_queue: int = 200
    """Maximum number of questions waiting at the server. Further questions are rejected. Two cores answer about 35 per
    second: `python -m benchmarks.server`."""
    server_wait_s: float = 10.0
    """Maximum seconds that a question waits. It is rejected after that, or at once if the wait is expected to be
    longer."""
    server_answers: int = 256
    """Maximum number of questions that the server answers concurrently, including those written by a model. One caller
    gets at most half of them."""
    server_results: int = 0
    """Results per answer of the server, unless the request sets a number. 0: 10 for quotes and 20 for a model."""
    server_images: int = 3
    """Maximum number of images in a question to the server; each page of a PDF counts as one. 0: none."""
    server_shares: str = "editor"
    """Who may create public links to answers: `reader`, `editor`, `owner`, or `off`: nobody."""
    server_hosts: tuple[str, ...] = ()
    """Host names that the server accepts, besides `localhost` and IP addresses."""
    server_roots: tuple[str, ...] = ()
    """Folders from which sources may be added through the server, besides those it was started with."""
    server_git_hosts: tuple[str, ...] = ("github.com",)
    """Hosts from which the server may load repositories."""
    server_models: tuple[str, ...] = ()
    """Models that requests to the server may select, besides the default and those with a key."""
    uploads: str = ""
    """Shared storage for uploaded files of several servers: object storage, such as `s3://bucket/folder`, or a folder
    that all of them have mounted at this path. Empty: each server has its own, in the home."""
    upload_files: int = 20
    """Maximum number of files per upload."""
    upload_bytes: int = 32 * 1024 * 1024
    """Maximum bytes per upload, all files together."""
    key_upload_bytes: int = 512 * 1024 * 1024
    """Maximum bytes of uploaded files that the server keeps per key or browser."""
    server_jobs: int = 4
    """Maximum number of concurrent background jobs of the server. Jobs for the same files run one after the other."""
    job_timeout_s: float = 1800.0
    """Maximum seconds per background job of the server. Its committed work stays."""
    key_questions_per_minute: int = 30
    """Maximum questions and uploads per key and minute."""
    key_usd_per_day: float = 5.0
    """Maximum US dollars per key and day (UTC) for answers of the server."""
    answer_usd: float = 0.5
    """Maximum US dollars per answer of the server, if the price of its model is known."""
    telemetry: str = ""
    """Where the server sends OpenTelemetry spans: `console` or `otlp`. Empty: nowhere."""

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            if not 0 < getattr(self, name) < math.inf:  # also rejects NaN
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, and must be a positive, finite number",
                    hint=f"set {_variable(name)}",
                )
        for name, whole in (("chunk_overlap_words", "chunk_words"), ("course_overlap_chars", "course_chunk_chars")):
            if not 0 <= getattr(self, name) < getattr(self, whole):
                raise SettingsError(
                    f"{name} is {getattr(self, name)}, and must be below {whole}, {getattr(self, whole)}",
                    hint=f"set {_variable(name)}",
                )
        if self.server_shares not in SHARING:
            raise SettingsError(
                f"server_shares is {self.server_shares!r}", hint=f"set it to one of {', '.join(SHARING)}"
            )
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise SettingsError(
                    f"{name} is {getattr(self, name)}, and must not be negative", hint=f"set {_variable(name)}"
                )
        self._check_hosts()
        if self.chunk_strategy not in STRATEGIES:
            raise SettingsError(
                f"chunk_strategy is {self.chunk_strategy!r}", hint=f"set it to one of {', '.join(STRATEGIES)}"
            )

    def _check_hosts(self) -> None:
        """Reject names that no request, or no repository, can have."""
        if any("/" in host or host.count(":") == 1 for host in self.server_hosts):
            hint = f"name hosts in {_variable('server_hosts')} without scheme and port"
            raise SettingsError(f"server_hosts is {','.join(self.server_hosts)!r}", hint=hint)
        for name in ("server_hosts", "server_git_hosts"):
            if any("*" in host for host in getattr(self, name)):
                hint = f"name each host in {_variable(name)}: `*` stands for nothing"
                raise SettingsError(f"{name} is {','.join(getattr(self, name))!r}", hint=hint)
        if any("/" in host for host in self.server_git_hosts):
            hint = f"name hosts in {_variable('server_git_hosts')} without scheme and path"
            raise SettingsError(f"server_git_hosts is {','.join(self.server_git_hosts)!r}", hint=hint)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read `OPENBOOK_*` variables from `environ`, by default that of this process.

        Empty variables count as not set; unknown ones are ignored.

        Raises:
            SettingsError: A variable cannot be parsed, or is out of range.

        Example:
            >>> Settings.from_env({"OPENBOOK_CONTEXT_TOKENS": "800"}).context_tokens
            800
        """
        environ = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for setting in fields(cls):
            text = environ.get(_variable(setting.name), "")
            if text:
                values[setting.name] = _parse(setting, text)
        return cls(**values)

    @property
    def models_folder(self) -> Path:
        """The folder of models in the home. It may not exist."""
        return self.home.expanduser().resolve() / "models"

    def is_default(self, name: str) -> bool:
        """Return whether a setting has its default value, so that a better-informed default may replace it.

        Example:
            >>> Settings().is_default("context_tokens"), Settings(context_tokens=800).is_default("context_tokens")
            (True, False)
        """
        return bool(getattr(self, name) == next(field.default for field in fields(self) if field.name == name))

    def origins(self, environ: Mapping[str, str] | None = None) -> list[tuple[str, str, str]]:
        """List every setting as name, current value and origin, by name. Passwords in addresses are not shown."""
        environ = os.environ if environ is None else environ
        return sorted(
            (
                s.name,
                _PASSWORD.sub("***@", str(getattr(self, s.name))),
                _variable(s.name) if environ.get(_variable(s.name)) else "default",
            )
            for s in fields(self)
        )


def ignored_settings(folder: Path | None = None, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the variables in the `.env` of a folder, by default the current one, that are settings, and not exported.

    Only keys are read from there.
    """
    environ = os.environ if environ is None else environ
    try:
        written = _dotenv((folder or Path()) / ".env")
        return sorted(name for name in written if name.startswith(_PREFIX) and name not in environ)
    except SettingsError:  # which is told where keys are read
        return []


def mistyped_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return variables that are no setting but nearly named like one, each with that one. Others may be of plugins.

    Example:
        >>> mistyped_variables({"OPENBOOK_MODLE": "groq", "OPENBOOK_HOME": "~", "OPENBOOK_MY_PLUGINS_OWN": "1"})
        {'OPENBOOK_MODLE': 'OPENBOOK_MODEL'}
    """
    from difflib import get_close_matches  # lazy: only `doctor` and `serve` need it

    known = {setting.name.upper() for setting in fields(Settings)}
    environ = os.environ if environ is None else environ
    given = {name.removeprefix(_PREFIX) for name in environ if name.startswith(_PREFIX)}
    close = {name: get_close_matches(name, known, 1) for name in sorted(given - known)}
    return {_PREFIX + name: _PREFIX + found[0] for name, found in close.items() if found}


class Secret:
    """A key that is never printed.

    Example:
        >>> Secret("sk-1")
        Secret(***)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the key itself, for sending it."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "Secret(***)"


def read_secrets(
    names: Iterable[str],
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    *,
    dotenv: bool = True,
) -> dict[str, Secret]:
    """Read keys from the environment, then from `.env` in a folder.

    Empty variables count as not set. Quotation marks around a key are left out: some programs pass them on.

    Args:
        names: Names of the variables; no others are read.
        environ: Default: the environment of this process.
        folder: Default: the current folder.
        dotenv: Whether `.env` is read.

    Raises:
        SettingsError: A key contains invalid characters, or `.env` cannot be read.
    """
    environ = os.environ if environ is None else environ
    written = _dotenv((folder or Path()) / ".env") if dotenv else {}
    found = {}
    for name in sorted(names):
        text = (environ.get(name) or written.get(name, "")).strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1].strip()
        if not text.isascii() or not text.isprintable() or " " in text:
            raise SettingsError(f"{name} contains characters that are not valid in a key", hint=f"set {name} again")
        if text:
            found[name] = Secret(text)
    return found


def read_options(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Return the options of another program that are set, by name: `timeout` for `AWS_TIMEOUT`, with prefix `AWS_`."""
    return {name: os.environ[prefix + name.upper()] for name in names if os.environ.get(prefix + name.upper())}


def read_color() -> bool | None:
    """Return whether to print colours: False if `NO_COLOR` is set, True if `FORCE_COLOR` is, else None.

    None: on a terminal only, unless it is a dumb one. https://no-color.org, https://force-color.org
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def read_addresses(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read the addresses that are set.

    `.env` is ignored: otherwise a folder from someone else could have keys sent to an address of its choice.
    """
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in names if environ.get(name)}


def _dotenv(path: Path) -> dict[str, str]:
    """Parse `NAME=value` lines with `export`, quotes and comments as in shells, without expansion."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines() if path.is_file() else []
    except OSError as exc:
        raise SettingsError(f"cannot read {str(path)!r}: {exc.strerror}") from exc
    return {match["name"]: match["quoted"] or match["plain"] or "" for match in map(_ASSIGNMENT.match, lines) if match}


def default_home() -> Path:
    """Return the default home."""
    from platformdirs import user_data_path

    return user_data_path("openbook", appauthor=False)


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def _switch(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}[
        text.strip().lower()
    ]


# Parsers by the annotated type of a setting.
_PARSERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "Path": (lambda text: Path(text).expanduser(), "a path"),
    "bool": (_switch, "`on` or `off`"),
    "float": (float, "a number"),
    "int": (int, "a whole number"),
    "str": (str, "a text"),
    "Strategy": (str, "a name"),
    "Secret | None": (Secret, "a secret"),
    "tuple[str, ...]": (_names, "names with commas between"),
}


def _parse(setting: Field[Any], text: str) -> Any:
    parser, wanted = _PARSERS[str(setting.type)]
    try:
        return parser(text)
    except (ValueError, KeyError, RuntimeError) as exc:  # RuntimeError: `~name` of an unknown user
        raise SettingsError(f"{_variable(setting.name)} is {text!r}, and must be {wanted}") from exc
