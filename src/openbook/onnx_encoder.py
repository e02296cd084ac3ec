"""Runs an ONNX encoder on pairs of texts: tokens in, logits out.

Callers interpret the logits. No other module imports onnxruntime.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openbook.errors import MissingExtraError, ModelError, SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

CONFIG_FILE = "config.json"
OWN_FILE = "openbook.json"
TOKENIZER_FILE = "tokenizer.json"
MODEL_FILES = ("model.onnx", "onnx/model.onnx")
"""Possible paths of the graph; the first that exists is used. Optimum exports to the first, the hub uses the
second."""

# Limit of the encoders in docs/entailment.md. Some can read more (DeBERTa has no absolute positions), but time grows
# quadratically, and a quote from a larger window is less precise. `max_tokens` raises it.
_MAX_TOKENS = 512
_MIN_TOKENS = 32

# In these, positions start after the padding id: of 514 positions, 512 are for text.
_ROBERTAS = frozenset({"camembert", "roberta", "xlm-roberta", "xlm-roberta-xl"})

_MAX_JSON_BYTES = 1024 * 1024  # the largest config.json of the models in the documentation has 2 kB

# Do not use all cores of larger machines: a server has other processes that check answers.
_MAX_THREADS = 4

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_OUTPUT = "logits"
_PADS = ("<pad>", "[PAD]")

_ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The folder of a model, and its kind for error messages."""

    path: Path
    what: str
    """For example `entailment model`."""
    extra: str
    """The extra that installs its dependencies."""

    def refused(self, reason: str, hint: str) -> SettingsError:
        """Build the error for a model that cannot be used."""
        return SettingsError(f"cannot use the {self.what} in {str(self.path)!r}: {reason}", hint=hint)

    def missing(self, package: str) -> MissingExtraError:
        """Build the error for a missing package, with the extra as the hint."""
        return MissingExtraError(
            f"the package {package!r} is not installed", hint=f"pip install 'openbook[{self.extra}]'"
        )

    def graph(self) -> Path:
        """Return the path of the graph.

        Raises:
            SettingsError: There is no graph.
        """
        found = next((self.path / name for name in MODEL_FILES if (self.path / name).is_file()), None)
        if found is None:
            raise self.refused("it has no model.onnx", "name a folder with model.onnx and tokenizer.json")
        return found

    def read_json(self, name: str) -> dict[str, Any]:
        """Read one of the JSON files; empty if it does not exist.

        Raises:
            SettingsError: It does not contain a JSON object.
        """
        path = self.path / name
        try:
            if not path.exists():
                return {}
            if path.stat().st_size > _MAX_JSON_BYTES:
                raise self.refused(f"{name}: it is too large", f"it may have {_MAX_JSON_BYTES} bytes")
            found = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as exc:
            raise self.refused(f"{name}: {exc.strerror}", "check its permissions") from exc
        except (ValueError, RecursionError) as exc:
            raise self.refused(f"{name}: it is not JSON", "fetch or write the file again") from exc
        if not isinstance(found, dict):
            raise self.refused(f"{name}: it is not a JSON object", "fetch or write the file again")
        return found

    def max_tokens(self) -> int:
        """Return the input limit in tokens: from `openbook.json`, else from `config.json`, but then at most 512.

        Raises:
            SettingsError: A file cannot be read, or has an invalid value.
        """
        own, hub = self.read_json(OWN_FILE), self.read_json(CONFIG_FILE)
        if "max_tokens" in own:
            name, found = OWN_FILE, own["max_tokens"]
        else:
            name = CONFIG_FILE
            found = hub.get("max_position_embeddings", hub.get("n_positions", _MAX_TOKENS))
            if _is_count(found):
                found = min(_MAX_TOKENS, found - 2 if hub.get("model_type") in _ROBERTAS else found)
        if not _is_count(found) or found < _MIN_TOKENS:
            hint = f'write "max_tokens", a whole number from {_MIN_TOKENS} up, into {OWN_FILE}'
            raise self.refused(f"{name}: the model would read {found!r} tokens", hint)
        return int(found)


class OnnxEncoder:
    """Runs one graph. Thread-safe; a forked process must load its own."""

    def __init__(self, folder: ModelFolder) -> None:
        """Load `tokenizer.json` and the graph.

        Raises:
            SettingsError: A file is missing, damaged, or not a classifying encoder.
            MissingExtraError: onnxruntime is not installed.
        """
        self.folder = folder
        self.tokenizer: Tokenizer = _read_tokenizer(folder)
        self._pad_id = self._padding(folder.read_json(CONFIG_FILE).get("pad_token_id"))
        self._special = _special_tokens(self.tokenizer)
        self._session, self._faults = _open_session(folder)
        self._types = _input_types(folder, self._session)
        self._output = _output_name(folder, self._session)

    def neutral(self, text: str) -> str:
        """Break up special tokens in a text: `[SEP]` in a source would end the text and start another."""
        return self._special.sub(lambda match: f"{match.group()[:1]} {match.group()[1:]}", without_surrogates(text))

    def logits(self, encoded: Sequence[Any], width: int) -> NDArray[np.float64]:
        """Run the graph on encoded texts. Returns float64 (len(encoded), width), all finite.

        Raises:
            ModelError: The graph fails, or has a different output.
        """
        import numpy as np

        longest = max(len(each.ids) for each in encoded)
        shape = (len(encoded), longest)
        ids = np.full(shape, self._pad_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, each in enumerate(encoded):
            size = len(each.ids)
            ids[row, :size], mask[row, :size], types[row, :size] = each.ids, 1, each.type_ids
        fed = dict(zip(_INPUTS, (ids, mask, types), strict=True))
        try:
            (logits,) = self._session.run(
                [self._output], {name: fed[name].astype(kind) for name, kind in self._types.items()}
            )
        except self._faults as exc:
            raise ModelError(f"the {self.folder.what} failed: {_first_line(exc)}") from exc
        logits = np.asarray(logits, dtype=np.float64)
        if logits.ndim == 3:  # a token classifier such as HHEM-2: the first token classifies the text
            logits = logits[:, 0, :]
        wanted = (len(encoded), width)
        if logits.shape != wanted:
            raise ModelError(f"the {self.folder.what} gives {logits.shape} logits, and {wanted} are expected")
        if not np.isfinite(logits).all():
            raise ModelError(f"the {self.folder.what} gives logits that are not numbers")
        return logits

    def _padding(self, configured: object) -> int:
        """Return the padding id. RoBERTa computes positions from it, so it must be correct."""
        padding = self.tokenizer.padding
        self.tokenizer.no_padding()
        if padding:
            return int(padding["pad_id"])
        if isinstance(configured, int) and _is_count(configured):
            return configured
        return int(self.tokenizer.token_to_id(first_known(self.tokenizer, _PADS)) or 0)


def first_known(tokenizer: Tokenizer, tokens: Sequence[str]) -> str:
    """Return the first of the tokens in the tokenizer's vocabulary; empty if there is none."""
    return next((token for token in tokens if tokenizer.token_to_id(token) is not None), "")


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, as in file names that are not UTF-8, because tokenizers reject them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _read_tokenizer(folder: ModelFolder) -> Tokenizer:
    path = folder.path / TOKENIZER_FILE
    if not path.is_file():
        raise folder.refused(f"it has no {TOKENIZER_FILE}", "take the one that the model was trained with")
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as exc:
        raise folder.missing("tokenizers") from exc
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise folder.refused(f"{TOKENIZER_FILE} cannot be read: {_first_line(exc)}", "fetch the file again") from exc
    tokenizer.no_truncation()  # callers decide what to cut
    return tokenizer


def _open_session(folder: ModelFolder) -> tuple[Any, tuple[type[Exception], ...]]:
    graph = folder.graph()
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as native
    except ModuleNotFoundError as exc:
        raise folder.missing("onnxruntime") from exc
    own = [each for each in vars(native).values() if isinstance(each, type) and issubclass(each, Exception)]
    faults: tuple[type[Exception], ...] = (*own, OSError, RuntimeError, ValueError)
    onnxruntime.disable_telemetry_events()  # Windows builds send telemetry
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = min(os.cpu_count() or 1, _MAX_THREADS)
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads would each burn a core
    try:
        session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except faults as exc:
        hint = "fetch or export it again; a graph that keeps its weights in files of their own needs those beside it"
        raise folder.refused(f"{graph.name} cannot be loaded: {_first_line(exc)}", hint) from exc
    return session, faults


def _input_types(folder: ModelFolder, session: Any) -> dict[str, str]:
    inputs = session.get_inputs()
    unknown = sorted({each.name for each in inputs} - set(_INPUTS))
    if unknown:
        hint = "models that write text, as MiniCheck-Flan-T5 does, are not supported; take an encoder that classifies"
        raise folder.refused(f"its graph wants {', '.join(unknown)}", hint)
    if "input_ids" not in {each.name for each in inputs}:
        raise folder.refused("its graph has no input_ids", "take an encoder that classifies pairs of texts")
    for each in inputs:
        if each.type not in _TYPES:
            raise folder.refused(f"its graph wants {each.name} as {each.type}", "export it with integer inputs")
    return {each.name: _TYPES[each.type] for each in inputs}


def _output_name(folder: ModelFolder, session: Any) -> str:
    names = [each.name for each in session.get_outputs()]
    if _OUTPUT in names:
        return _OUTPUT
    if len(names) == 1:
        return str(names[0])
    hint = "export it as a sequence classifier, not as a plain encoder"
    raise folder.refused(f"its graph gives {', '.join(names)}, and no {_OUTPUT}", hint)


def _special_tokens(tokenizer: Tokenizer) -> re.Pattern[str]:
    texts = [token.content for token in tokenizer.get_added_tokens_decoder().values() if len(token.content) > 1]
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0][:300]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
