"""The checks of `openbook doctor`. They write only a temporary file, and call only the named model."""

from __future__ import annotations

import platform
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import openbook
from openbook.chunking.grammars import load_parser
from openbook.cli.model_trial import Diagnostic, context_findings, trial_findings
from openbook.embedding.static import load_embedder
from openbook.errors import OpenbookError, PluginError
from openbook.libraries.catalog import DEFAULT_LIBRARY, LibraryCatalog, keep_private
from openbook.library import Library
from openbook.permissions import check_writable, is_open_to_others
from openbook.plugins import PLUGIN_KINDS, plugins
from openbook.settings import Settings, ignored_settings, mistyped_variables, read_secrets
from openbook.sqlite_store import hint_for

if TYPE_CHECKING:
    from openbook.llm.protocol import Model

# Enough for a short reply of a reasoning model; at most a tenth of a cent.
_TRIAL_TOKENS = 64


def diagnosis(model: str = "", *, every_setting: bool = False) -> Iterator[Diagnostic]:
    """Check the parts one after the other. `model` is called once, if given."""
    settings = Settings.from_env()
    yield Diagnostic(f"openbook {openbook.__version__}, Python {platform.python_version()}, {platform.platform()}")
    yield Diagnostic(f"SQLite {sqlite3.sqlite_version}")
    yield _embedder(settings.embedder)
    yield from _reranker(settings)
    grammar = load_parser("python") is not None
    yield Diagnostic("grammars: loaded" if grammar else "grammars: none; code is chunked by lines", grammar)
    yield from _plugins()
    for fault in setting_faults(settings):
        yield Diagnostic(f"{fault}; {fault.hint}", healthy=False)
    yield _home(settings)
    yield from _broken_libraries(settings)
    yield from _shared_store(settings)
    for name, value, origin in settings.origins():
        if every_setting or origin != "default":
            yield Diagnostic(f"{name} = {value}  ({origin})")
    for remark in unread_variables():
        yield Diagnostic(remark, healthy=False)
    yield from _model(model or settings.model, settings, call=bool(model))


def unread_variables() -> list[str]:
    """Return remarks on variables whose name looks mistyped, and on settings in `.env`."""
    remarks = [f"{name} is no setting; did you mean {meant}?" for name, meant in mistyped_variables().items()]
    if ignored := ignored_settings():
        remarks.append(f"{', '.join(ignored)} in .env: ignored, since only keys are read from there; export it instead")
    return remarks


def setting_faults(settings: Settings) -> Iterator[OpenbookError]:
    """Yield what is wrong with settings that would fail only later: at a file, a question or a login. Sends nothing.

    Embedder, reranker, shared store and default model are not among them: `doctor` tries these, a server opens them.
    """
    from openbook.answering.verifiers import open_verifier
    from openbook.ingest.executor import executor_for
    from openbook.llm.choose import open_model
    from openbook.sources.optional_readers import check_recognition

    checks: list[Callable[[], object]] = [
        lambda: LibraryCatalog(settings),
        lambda: executor_for(settings, 0),
        lambda: check_recognition(settings),
        lambda: open_verifier(settings.verifier, settings),
        *(partial(open_model, name) for name in settings.server_models),
    ]
    if settings.uploads or settings.telemetry or settings.oidc_issuer:
        checks += _checks_of_servers(settings)
    for check in checks:
        try:
            check()
        except OpenbookError as exc:
            yield exc


def _checks_of_servers(settings: Settings) -> list[Callable[[], object]]:
    from openbook.cli.serving import check_installed

    try:
        check_installed()
    except OpenbookError:
        return [check_installed]
    from openbook.server.answer_tracker import open_exporter
    from openbook.server.oidc import check_provider
    from openbook.server.uploads import UploadStore

    checks: tuple[tuple[object, Callable[[], object]], ...] = (
        (settings.uploads, lambda: UploadStore(DEFAULT_LIBRARY, settings)),
        (settings.telemetry, lambda: open_exporter(settings.telemetry)),
        (settings.oidc_issuer, lambda: check_provider(settings)),
    )
    return [check for is_set, check in checks if is_set]


def _plugins() -> Iterator[Diagnostic]:
    """Import every external plugin, to see whether it works."""
    for plugin in (plugin for kind in PLUGIN_KINDS for plugin in plugins(kind).values()):
        if plugin.is_built_in:  # their packages are extras, which few have
            continue
        try:
            plugin.load()
            yield Diagnostic(f"{plugin.kind.removesuffix('s')} {plugin.name}, of {plugin.package}")
        except PluginError as exc:
            yield Diagnostic(f"{exc}; {exc.hint}", healthy=False)


def _embedder(name: str) -> Diagnostic:
    """Name the embedder; ask a remote one for a vector."""
    from openbook.opening import open_embedder

    try:
        embedder = open_embedder(name) if name else load_embedder()
        dimensions = embedder.dim
    except OpenbookError as exc:
        return Diagnostic(f"embedder: {exc}; {exc.hint}", healthy=False)
    return Diagnostic(f"embedder {embedder.identity}, {dimensions} dimensions")


def _reranker(settings: Settings) -> Iterator[Diagnostic]:
    """Check the configured reranker on two texts, or tell how to get one."""
    from openbook.grounding.installed_models import RERANKER, installed
    from openbook.opening import open_reranker

    try:
        reranker = open_reranker(settings.reranker, settings)
        if reranker is None:
            is_here = RERANKER.name in (model.name for model in installed(settings))
            step = f"OPENBOOK_RERANKER=onnx:{RERANKER.name}" if is_here else f"openbook models add {RERANKER.name}"
            yield Diagnostic(f"no reranker; to rank better: {step}")
        else:
            started = time.perf_counter()
            right, wrong = reranker.scores("When does the ferry sail?", ["The ferry sails at nine.", "Bread is baked."])
            took_ms = 1000 * (time.perf_counter() - started)
            said = f"two texts in {took_ms:.0f} ms" if right > wrong else "but the matching text does not score higher"
            yield Diagnostic(f"reranker {reranker.name}: {said}", healthy=right > wrong)
    except OpenbookError as exc:
        yield Diagnostic(f"reranker: {exc}; {exc.hint}", healthy=False)


def _model(name: str, settings: Settings, *, call: bool) -> Iterator[Diagnostic]:
    from openbook.llm.choose import open_model
    from openbook.llm.providers import PROVIDERS
    from openbook.llm.transport import WireModel

    try:
        model = open_model(name)
        keys = read_secrets(each.key for each in PROVIDERS.values() if each.needs_key)
    except OpenbookError as exc:
        yield Diagnostic(f"model: {exc}; {exc.hint}", healthy=False)
        return
    if model is None:
        why = "no key is in the environment, and no model named"
        if unused := next((each for each in PROVIDERS.values() if each.key in keys), None):
            why = f"{unused.key} in .env chooses no model; to use it: OPENBOOK_MODEL={unused.name}"
        yield Diagnostic("answers are quotes" if name else f"answers are quotes: {why}")
    elif call:
        if isinstance(model, WireModel):
            model.load()  # otherwise the first call would include the import
        findings = list(model_findings(model, settings.model_timeout_s))
        yield from findings
        if all(finding.healthy for finding in findings):
            yield from context_findings(name, settings)
            yield from trial_findings(model, settings)
    else:
        yield Diagnostic(f"answers by {model.name}; to try it: openbook doctor --model {model.name}")


def model_findings(model: Model, timeout_s: float) -> Iterator[Diagnostic]:
    """Make one tiny call, and report the reply, its speed and its cost."""
    from openbook.costs import format_usd, price_of
    from openbook.llm.messages import Message, ReplyFinished, Request, TextDelta

    request = Request((Message.user("Say hello."),), max_tokens=_TRIAL_TOKENS, deadline_s=timeout_s)
    started = time.perf_counter()
    first_s: float | None = None
    finished: ReplyFinished | None = None
    try:
        for event in model.stream(request):
            if isinstance(event, TextDelta) and first_s is None:
                first_s = time.perf_counter() - started
            elif isinstance(event, ReplyFinished):
                finished = event
    except OpenbookError as exc:
        yield Diagnostic(f"model {model.name}: {'; '.join(filter(None, (str(exc), exc.hint)))}", healthy=False)
        return
    took_s = time.perf_counter() - started
    if finished is None:
        yield Diagnostic(f"model {model.name}: its stream ended without a result", healthy=False)
        return
    said = "no word" if first_s is None else f"first words after {first_s:.2f} s"
    yield Diagnostic(f"model {model.name} replies as {finished.model or 'nobody'}: {said}, done after {took_s:.2f} s")
    usage = finished.usage
    counted = f"{usage.input_tokens} in, {usage.output_tokens} out" if usage.known else "not reported"
    yield Diagnostic(f"model tokens: {counted}; price of this call: {format_usd(price_of(model.name, usage))}")


def _broken_libraries(settings: Settings) -> Iterator[Diagnostic]:
    try:
        libraries = LibraryCatalog(settings)
    except OpenbookError:  # which is among the faults of the settings
        return
    try:
        names = libraries.names()
    except OpenbookError as exc:
        yield Diagnostic(f"{exc}; {exc.hint}", healthy=False)
        return
    for name in names:
        try:
            Library.open(name, settings=settings).close()
        except OpenbookError as exc:
            yield Diagnostic(f"{exc}; {exc.hint}", healthy=False)


def _shared_store(settings: Settings) -> Iterator[Diagnostic]:
    """Check the store of several servers; nothing if there is none."""
    from openbook.server.shared_store import open_shared_store

    if not settings.shared_store:
        return
    try:
        with closing(open_shared_store(settings.shared_store)) as store:
            store.check()
        yield Diagnostic("shared store: it responds and takes writes")
    except OpenbookError as exc:
        yield Diagnostic(f"shared store: {exc}; {exc.hint}", healthy=False)


def _home(settings: Settings) -> Diagnostic:
    home = settings.home
    try:
        keep_private(home)
        check_writable(home)
    except OSError as exc:
        return Diagnostic(f"home {home} cannot be written: {exc.strerror}; {hint_for(exc)}", healthy=False)
    if is_open_to_others(home / "libraries"):
        return Diagnostic(
            f"home {home}: others may read {home / 'libraries'}, which is not ours to change", healthy=False
        )
    if settings.storage:
        return Diagnostic(f"home {home}; libraries in {settings.storage}")
    count = len(LibraryCatalog(settings).names())
    return Diagnostic(f"home {home}, {count} {'library' if count == 1 else 'libraries'}")
