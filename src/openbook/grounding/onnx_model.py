"""One entailment model in ONNX, loaded: claims held against premises, as probabilities.

No windows and no verdicts here. Nothing else in the package knows onnxruntime.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openbook.errors import MissingExtraError, ModelError, SettingsError
from openbook.grounding.entailment_formats import ModelConfig, read_config

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"
MODEL_FILES = ("model.onnx", "onnx/model.onnx")
"""Where the graph may lie; the first that is there is taken. Exports with Optimum write the first, the hub has the
second."""

# Pairs that go through the model at once. Larger batches are no faster on a processor, and take more memory.
_BATCH_SIZE = 8

# Of larger machines, each run uses some: a server has processes beside this one, which check answers too.
_MOST_THREADS = 4

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_OUTPUT = "logits"

# What ends a text, in the order of T5 and RoBERTa, BERT and DeBERTa.
_ENDS = ("</s>", "[SEP]")
_PADS = ("<pad>", "[PAD]")

_ERRORS_ONLY = 3


class Scores(NamedTuple):
    """What a model says of one claim and one premise, as probabilities from 0 to 1."""

    entailed: float
    contradicted: float
    """0 where the model cannot tell it."""


class EntailmentModel:
    """Scores claims against premises. Threads may share one; a forked process must load its own."""

    def __init__(self, folder: Path) -> None:
        """Load `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, and run the model once. Takes seconds.

        Raises:
            SettingsError: A file is missing or damaged, or is no model for this.
            MissingExtraError: onnxruntime is not installed.
        """
        graph = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
        if graph is None:
            raise _refused(folder, "it has no model.onnx", "name a folder with model.onnx and tokenizer.json")
        self.config: ModelConfig = read_config(folder)
        self._tokenizer = _read_tokenizer(folder)
        self._end = _first_known(self._tokenizer, _ENDS)
        if "{end}" in self.config.input_format.template and not self._end:
            raise _refused(folder, "its tokenizer has no token that ends a text", "take the tokenizer of the model")
        self._pad_id = self._padding()
        self._special = _special_tokens(self._tokenizer)
        self._session, self._faults = _open_session(folder, graph)
        self._types = _input_types(folder, self._session)
        self._output = _output_name(folder, self._session)
        self._folder = folder
        try:
            self.scores("a", ["a", "a a"])
        except ModelError as exc:
            raise _refused(folder, str(exc), "export it again as a sequence classifier with dynamic axes") from exc

    def count(self, text: str) -> int:
        """Count the tokens of a text, special tokens left out."""
        return len(self._tokenizer.encode(_encodable(text), add_special_tokens=False).ids)

    def room(self, claim: str) -> int:
        """Return how many tokens a premise may have beside a claim; 0 or less if none."""
        return self.config.max_tokens - len(self._encode("", claim).ids)

    def fit(self, text: str, start: int, end: int, claim: str) -> int:
        """Move the end of a premise forward until it fits with the claim. Returns the new end; `start` if none fits."""
        while end > start:
            size = len(self._encode(text[start:end], claim).ids)
            if size <= self.config.max_tokens:
                return end
            end = start + min((end - start) * self.config.max_tokens // size, end - start - 1)
        return start

    def scores(self, claim: str, premises: Sequence[str]) -> list[Scores]:
        """Score a claim against premises, in their order. What is too long must have been cut before.

        A batch holds premises of one claim only: what else is in it changes the last digits of quantised models.

        Raises:
            ModelError: The model fails, or gives something else than probabilities can be made of.
        """
        found: list[Scores] = []
        for first in range(0, len(premises), _BATCH_SIZE):
            encoded = [self._encode(premise, claim) for premise in premises[first : first + _BATCH_SIZE]]
            found += self._scored(self._run(encoded))
        return found

    def _encode(self, premise: str, claim: str) -> Any:
        premise, claim = self._neutral(premise), self._neutral(claim)
        template = self.config.input_format.template
        if not template:
            return self._tokenizer.encode(premise, claim)
        before, _, rest = template.replace("{end}", self._end).partition("{premise}")
        between, _, after = rest.partition("{claim}")
        return self._tokenizer.encode(f"{before}{premise}{between}{claim}{after}")

    def _neutral(self, text: str) -> str:
        """Take special tokens in a text apart: `[SEP]` in a source would end the premise and begin a claim."""
        return self._special.sub(lambda match: f"{match.group()[:1]} {match.group()[1:]}", _encodable(text))

    def _run(self, encoded: Sequence[Any]) -> NDArray[np.float64]:
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
            raise ModelError(f"the entailment model failed: {_first_line(exc)}") from exc
        logits = np.asarray(logits, dtype=np.float64)
        if logits.ndim == 3:  # a classifier of tokens, as HHEM-2 is: its first token speaks for the text
            logits = logits[:, 0, :]
        wanted = (len(encoded), len(self.config.labels))
        if logits.shape != wanted:
            raise ModelError(f"the entailment model gives {logits.shape} logits, and {wanted} are wanted")
        if not np.isfinite(logits).all():
            raise ModelError("the entailment model gives logits that are no numbers")
        return logits

    def _scored(self, logits: NDArray[np.float64]) -> list[Scores]:
        import numpy as np

        labels = self.config.labels
        if len(labels) == 1:
            # Of a large score, either way, exp would overflow.
            return [Scores(float(1 / (1 + np.exp(-np.clip(score, -50, 50)))), 0.0) for score in logits[:, 0]]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        entailed = shares[:, labels.index("entailed")]
        against = shares[:, labels.index("contradicted")] if self.config.contradicts else np.zeros(len(shares))
        return [Scores(float(each), float(other)) for each, other in zip(entailed, against, strict=True)]

    def _padding(self) -> int:
        """Return the id that fills rows up. RoBERTa reckons positions from it, so it must be the right one."""
        padding = self._tokenizer.padding
        self._tokenizer.no_padding()
        if padding:
            return int(padding["pad_id"])
        if self.config.pad_id is not None:
            return self.config.pad_id
        return int(self._tokenizer.token_to_id(_first_known(self._tokenizer, _PADS)) or 0)


def _read_tokenizer(folder: Path) -> Tokenizer:
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        raise _refused(folder, f"it has no {TOKENIZER_FILE}", "take the one that the model was trained with")
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as exc:
        raise _missing("tokenizers") from exc
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise _refused(folder, f"{TOKENIZER_FILE} cannot be read: {_first_line(exc)}", "fetch the file again") from exc
    tokenizer.no_truncation()  # premises are cut here; the tokenizer could cut a claim
    return tokenizer


def _open_session(folder: Path, graph: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as native
    except ModuleNotFoundError as exc:
        raise _missing("onnxruntime") from exc
    own = [each for each in vars(native).values() if isinstance(each, type) and issubclass(each, Exception)]
    faults: tuple[type[Exception], ...] = (*own, OSError, RuntimeError, ValueError)
    onnxruntime.disable_telemetry_events()  # builds for Windows have some
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = min(os.cpu_count() or 1, _MOST_THREADS)
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait would burn a core each
    try:
        session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except faults as exc:
        hint = "fetch or export it again; a graph that keeps its weights in files of their own needs those beside it"
        raise _refused(folder, f"{graph.name} cannot be loaded: {_first_line(exc)}", hint) from exc
    return session, faults


def _input_types(folder: Path, session: Any) -> dict[str, str]:
    inputs = session.get_inputs()
    unknown = sorted({each.name for each in inputs} - set(_INPUTS))
    if unknown:
        hint = "models that write text, as MiniCheck-Flan-T5 does, are not supported; take an encoder that classifies"
        raise _refused(folder, f"its graph wants {', '.join(unknown)}", hint)
    if "input_ids" not in {each.name for each in inputs}:
        raise _refused(folder, "its graph has no input_ids", "take an encoder that classifies pairs of texts")
    for each in inputs:
        if each.type not in _TYPES:
            raise _refused(folder, f"its graph wants {each.name} as {each.type}", "export it with integer inputs")
    return {each.name: _TYPES[each.type] for each in inputs}


def _output_name(folder: Path, session: Any) -> str:
    names = [each.name for each in session.get_outputs()]
    if _OUTPUT in names:
        return _OUTPUT
    if len(names) == 1:
        return str(names[0])
    hint = "export it as a sequence classifier, not as a plain encoder"
    raise _refused(folder, f"its graph gives {', '.join(names)}, and no {_OUTPUT}", hint)


def _special_tokens(tokenizer: Tokenizer) -> re.Pattern[str]:
    texts = [token.content for token in tokenizer.get_added_tokens_decoder().values() if len(token.content) > 1]
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _first_known(tokenizer: Tokenizer, tokens: Sequence[str]) -> str:
    return next((token for token in tokens if tokenizer.token_to_id(token) is not None), "")


def _encodable(text: str) -> str:
    # Lone surrogates, as in file names that are no UTF-8, cannot cross into the tokenizer.
    return text.encode("utf-8", "replace").decode("utf-8")


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0][:300]


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(f"the package {package!r} is not installed", hint="pip install 'openbook[nli]'")


def _refused(folder: Path, reason: str, hint: str) -> SettingsError:
    return SettingsError(f"cannot use the entailment model in {str(folder)!r}: {reason}", hint=hint)
