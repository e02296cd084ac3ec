"""Every knob, its default and its unit. Nothing else in the package reads the environment."""

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
    *("max_document_bytes", "max_pages", "file_timeout_s"),
    *("fetch_timeout_s", "max_repository_bytes"),
    *("max_file_bytes", "chunk_words", "context_tokens", "workers", "lock_timeout_s", "session_days", "upload_files"),
    *("upload_bytes", "key_questions_per_minute", "key_usd_per_day", "answer_usd", "model_timeout_s"),
    *("server_wait_s", "server_answers", "server_jobs", "job_timeout_s", "key_upload_bytes", "course_chunk_chars"),
    "storage_cache_bytes",
)

_NOT_NEGATIVE = (
    *("session_history", "server_workers", "server_queue", "server_results", "server_images"),
    *("model_requests_per_minute", "model_tokens_per_minute"),
)

# Libraries, work and conversations would go elsewhere than they went if these were ignored.
_REMOVED = {
    "OPENBOOK_LANCE_URI": "OPENBOOK_STORAGE to lance: and the address",
    "OPENBOOK_RAY_ADDRESS": "OPENBOOK_EXECUTOR to ray: and the address",
    "OPENBOOK_REDIS_URL": "OPENBOOK_SHARED_STORE to the address; redis: goes before unix:",
}

_ASSIGNMENT = re.compile(
    r"""\s*(?:export\s+)?(?P<name>\w+)\s*=\s*(?:(?P<mark>["'])(?P<quoted>.*?)(?P=mark)|(?P<plain>[^\s#"']\S*))?"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every knob of Openbook.

    Each field is read from `OPENBOOK_` and its name in capitals: `max_file_bytes` from
    `OPENBOOK_MAX_FILE_BYTES`.
    """

    home: Path = field(default_factory=lambda: default_home())
    """Folder where libraries live. Default: the platform's folder for user data."""
    storage: str = ""
    """Where libraries are kept instead of the home, for several machines: `engine:address`, with an engine that
    `openbook plugins` lists. Empty: in the home."""
    storage_cache_bytes: int = 32 * 1024 * 1024
    """Memory that a process may use for what it has read of a library in `storage`: texts, words, and what the engine
    keeps for itself."""
    max_file_bytes: int = 1024 * 1024
    """Larger files are skipped and reported. Hand-written text rarely passes 1 MiB."""
    max_document_bytes: int = 64 * 1024 * 1024
    """The same for PDF, Office and other formats that text is extracted from."""
    max_pages: int = 5000
    """A PDF with more pages is skipped and reported. Handbooks have 2,000."""
    file_timeout_s: float = 60.0
    """Seconds that reading one file may take in a process of its own. A PDF of 1,000 pages takes about 10."""
    pdf_password: Secret | None = None
    """Opens PDF that is encrypted. Never shown."""
    ocr: bool = False
    """Whether the text of pictures and scanned pages is recognized, which takes seconds for each."""
    audio: str = ""
    """What recognizes speech in recordings: a model that `openbook models add` has fetched, such as `whisper-small`, or
    the path of its folder. Empty: nothing does."""
    mask_secrets: bool = True
    """Whether access tokens and private keys in the text of new libraries are masked, such as `ghp_****`."""
    chunk_strategy: Strategy = "semantic"
    """How prose is cut: `semantic`, `fixed-size` or `hybrid`."""
    chunk_words: int = 500
    """Words in a chunk of the strategies `fixed-size` and `hybrid`."""
    chunk_overlap_words: int = 50
    """Words that such a chunk repeats of the one before. Fewer than `chunk_words`."""
    course_chunk_chars: int = 800
    """Characters in a chunk of a course; headings that open it may take up to half as much again."""
    course_overlap_chars: int = 150
    """Characters that such a chunk repeats of the one before, at most, in whole sentences. 150 gives the mean of 100
    that is aimed at: 78 to 103 on four courses, where 100 gives 36 to 48. Fewer than `course_chunk_chars`."""
    context_tokens: int = 8000
    """Estimated tokens of sources that one answer may be written from."""
    model: str = ""
    """What writes answers, as `--model` takes it. Empty: the first key that is set chooses."""
    query_expansion: bool = True
    """Whether a model that answers first writes other searches for the question, which costs a short call."""
    verifier: str = ""
    """What checks whether cited lines say what claims say, as `--verifier` takes it. Empty: the model that writes;
    `off`: nothing does."""
    model_timeout_s: float = 120.0
    """Seconds that one call of a model may take, retries included. A model on a small machine may need more."""
    model_requests_per_minute: int = 0
    """Calls of one model that this process begins in any minute; more wait for their turn. 0: as many as there are."""
    model_tokens_per_minute: int = 0
    """Tokens, read and written, of those calls. 0: as many as there are."""
    reply_cache: str = ""
    """Folder where whole replies of models are kept for commands, so that the same request is not paid twice. Empty:
    none are."""
    embedder: str = ""
    """What embeds instead of the shipped model: `provider:model`, or a server's address and `#model`. All text of
    sources and each question is sent there."""
    reranker: str = ""
    """What orders the best results anew, as `--reranker` takes it. The question and the texts of 20 results are sent
    there, unless it is `onnx:` and a folder. Empty or `off`: nothing does."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Processes that read and cut files. 1 keeps the work in this process, but for formats that are no text."""
    executor: str = ""
    """What reads and cuts the files of large sources instead of processes of this machine: `name:address`, with an
    executor that `openbook plugins` lists. Empty: those."""
    lock_timeout_s: float = 60.0
    """Seconds that a writer waits for another writer of the same library."""
    fetch_timeout_s: float = 600.0
    """Seconds that fetching a repository may take, waiting for rate limits included."""
    max_repository_bytes: int = 1024 * 1024 * 1024
    """A repository that takes more is not fetched. Few have more text; the Linux kernel has 1.4 GB."""

    session_days: float = 30.0
    """Days after its last question that the server keeps a conversation."""
    session_history: int = 2
    """Exchanges of a conversation that the next question is asked in the light of. 0 for none."""
    shared_store: Secret | None = None
    """Where several servers share conversations and what keys may do: `name:address`, with a store that
    `openbook plugins` lists. Never shown: it may hold a password. Empty: each server keeps its own."""
    oidc_issuer: str = ""
    """Address of a provider of OpenID Connect at which people log in. Empty: they need keys."""
    oidc_client_id: str = ""
    """Name of this server at the provider."""
    oidc_client_secret: Secret | None = None
    """Secret of this server at the provider, where it gave one. Never shown."""
    oidc_redirect_url: str = ""
    """Address of this server's `/api/oidc/callback`, as it is registered at the provider."""
    oidc_scopes: tuple[str, ...] = ("openid", "email", "profile")
    """What the provider is asked to tell."""
    oidc_owners: tuple[str, ...] = ()
    """Who becomes an owner at login: verified e-mail addresses, `@domain`, `claim:value`, or `*` for all."""
    oidc_editors: tuple[str, ...] = ()
    """The same for editors."""
    oidc_readers: tuple[str, ...] = ()
    """The same for readers. Nobody else comes in."""
    oidc_hours: float = 12.0
    """Hours after which a login at the provider has to be repeated."""
    server_workers: int = field(default_factory=lambda: min(os.cpu_count() or 1, 4))
    """Processes that search and check for the answers of the server, at most. 0: the server does it in threads."""
    server_queue: int = 200
    """Questions that wait for their turn at the server, at most. Those beyond it are refused. Two cores answer about
    35 in a second: `python -m benchmarks.server`."""
    server_wait_s: float = 10.0
    """Seconds from its arrival that a question waits for its turn. It is refused then, or at once if it is clear that
    its turn would come later."""
    server_answers: int = 256
    """Questions that the server answers at a time, those that a model writes at included. One caller has at most
    half of them."""
    server_results: int = 0
    """Results that an answer of the server is written from, where the question names no number. 0: 10 for quotes and
    20 for a model."""
    server_images: int = 3
    """Images that may come with a question to the server, each page of a PDF being one. 0: none."""
    server_shares: str = "editor"
    """Who may make links that show answers to whoever has them: `reader`, `editor`, `owner`, or `off`: nobody."""
    server_hosts: tuple[str, ...] = ()
    """Names under which the server may be asked, besides `localhost` and addresses of numbers."""
    server_roots: tuple[str, ...] = ()
    """Folders below which sources may be added through the server, besides those that it was started with."""
    server_git_hosts: tuple[str, ...] = ("github.com",)
    """Hosts that repositories may be loaded from through the server."""
    server_models: tuple[str, ...] = ()
    """Models that may be chosen through the server, besides the default and those whose key is set."""
    uploads: str = ""
    """Where several servers keep uploaded files together: object storage, such as `s3://bucket/folder`, or a folder on
    a disk that all of them have at this path. Empty: each keeps its own, in the home."""
    upload_files: int = 20
    """Most files of one upload."""
    upload_bytes: int = 32 * 1024 * 1024
    """Most bytes of one upload, all files together."""
    key_upload_bytes: int = 512 * 1024 * 1024
    """Most bytes of uploaded files that one key or browser of the server may keep there."""
    server_jobs: int = 4
    """Background jobs of the server that run at a time. Those of the same files run one after the other."""
    job_timeout_s: float = 1800.0
    """Seconds that one background job of the server may take. What it has committed by then stays."""
    key_questions_per_minute: int = 30
    """Questions and uploads that one key of the server may send in a minute."""
    key_usd_per_day: float = 5.0
    """US dollars that the answers of one key of the server may cost in a day, by UTC."""
    answer_usd: float = 0.5
    """Most US dollars that one answer of the server may cost, where the price of its model is known."""
    telemetry: str = ""
    """Where the server sends OpenTelemetry spans: `console` or `otlp`. Empty: nowhere."""

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            if not 0 < getattr(self, name) < math.inf:  # in this form, "not a number" is refused too
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, and must be a positive number", hint=f"set {_variable(name)}"
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
        if self.chunk_strategy not in STRATEGIES:
            raise SettingsError(
                f"chunk_strategy is {self.chunk_strategy!r}", hint=f"set it to one of {', '.join(STRATEGIES)}"
            )

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read `OPENBOOK_*` variables, of this process unless `environ` is given.

        An empty variable counts as not set; unknown ones are ignored.

        Raises:
            SettingsError: A variable is set but does not parse, is out of range, or has another name now.

        Example:
            >>> Settings.from_env({"OPENBOOK_CONTEXT_TOKENS": "800"}).context_tokens
            800
        """
        environ = os.environ if environ is None else environ
        for removed, instead in _REMOVED.items():
            if environ.get(removed):
                raise SettingsError(f"{removed} is not read any more", hint=f"unset it, and set {instead}")
        values: dict[str, Any] = {}
        for setting in fields(cls):
            text = environ.get(_variable(setting.name), "")
            if text:
                values[setting.name] = _parse(setting, text)
        return cls(**values)

    @property
    def models_folder(self) -> Path:
        """The folder of the home that models lie in; it may not exist."""
        return self.home.expanduser().resolve() / "models"

    def is_default(self, name: str) -> bool:
        """Return whether a setting has its default, so that what is known better may stand in for it.

        Example:
            >>> Settings().is_default("context_tokens"), Settings(context_tokens=800).is_default("context_tokens")
            (True, False)
        """
        return bool(getattr(self, name) == next(field.default for field in fields(self) if field.name == name))

    def origins(self, environ: Mapping[str, str] | None = None) -> list[tuple[str, str, str]]:
        """List every setting as name, value in force and where it comes from, by name."""
        environ = os.environ if environ is None else environ
        return sorted(
            (s.name, str(getattr(self, s.name)), _variable(s.name) if environ.get(_variable(s.name)) else "default")
            for s in fields(self)
        )


class Secret:
    """A key. Nothing that prints it shows it.

    Example:
        >>> Secret("sk-1")
        Secret(***)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the key itself, for the one place that sends it."""
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
    names: Iterable[str], environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> dict[str, Secret]:
    """Read the keys that are set, from the environment and, after it, from `.env` in a folder.

    Empty variables count as not set.

    Args:
        names: Of the variables; nothing else is read.
        environ: The environment of this process if not given.
        folder: The current one if not given.

    Raises:
        SettingsError: A key has characters that no key has, or `.env` cannot be read.
    """
    environ = os.environ if environ is None else environ
    written = _dotenv((folder or Path()) / ".env")
    found = {}
    for name in sorted(names):
        text = (environ.get(name) or written.get(name, "")).strip()
        if not text.isascii() or not text.isprintable() or " " in text:
            raise SettingsError(f"{name} holds characters that no key has", hint=f"set {name} again")
        if text:
            found[name] = Secret(text)
    return found


def read_options(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Return options of another program that are set, by name: `timeout` for `AWS_TIMEOUT`, with the prefix `AWS_`."""
    return {name: os.environ[prefix + name.upper()] for name in names if os.environ.get(prefix + name.upper())}


def read_color() -> bool | None:
    """Return whether to print colours: False where `NO_COLOR` is set, True where `FORCE_COLOR` is, else None.

    None: on a terminal only. https://no-color.org, https://force-color.org
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def read_addresses(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read the addresses that are set.

    Not from `.env`: a folder of somebody else's could have keys sent to an address of its choice.
    """
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in names if environ.get(name)}


def _dotenv(path: Path) -> dict[str, str]:
    """Read `NAME=value` lines, with `export`, quotes and comments as shells know them. Nothing is expanded."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines() if path.is_file() else []
    except OSError as exc:
        raise SettingsError(f"cannot read {str(path)!r}: {exc.strerror}") from exc
    return {match["name"]: match["quoted"] or match["plain"] or "" for match in map(_ASSIGNMENT.match, lines) if match}


def default_home() -> Path:
    """Return where the home is if nothing names one."""
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


# By the type of a setting, as it is written above.
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
    except (ValueError, KeyError, RuntimeError) as exc:  # RuntimeError: `~name` of nobody
        raise SettingsError(f"{_variable(setting.name)} is {text!r}, and must be {wanted}") from exc
