"""Writes a tiny Whisper model, as CTranslate2 keeps it, into a folder: `python -m tools.tiny_whisper FOLDER`.

It has the layers and files of a real one, two megabytes large, and hears the same words in whatever is played to it:
its weights are zero but for those of positions, each of which points to the token that comes next.
Tests load it where weights of a real model cannot be had. It needs `faster-whisper` (`openbook[audio]`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import whisper_spec
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

WORDS = ("Rye", " rests", " for", " an", " hour", ".")
SECONDS = 2

_SIZE = 64
_MELS = 80
_FRAMES, _POSITIONS = 1500, 448  # of 30 s of sound, and of tokens
_STEP_S = 0.02
_END = "<|endoftext|>"
# In the order of Whisper, which finds some of them by their distance.
_SPECIAL = (
    *(_END, "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>"),
    *("<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"),
)


def write(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """Write the model, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [word.replace(" ", "\u0120") for word in words]  # as a space is written in the vocabulary
    known = list(dict.fromkeys([*sorted(pre_tokenizers.ByteLevel.alphabet()), *pieces]))
    special = [*_SPECIAL, *(_time(step) for step in range(_FRAMES + 1))]
    tokenizer = Tokenizer(models.BPE(vocab={token: id_ for id_, token in enumerate(known)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.save(str(folder / "tokenizer.json"))
    said = [_time(0), *pieces, _time(round(SECONDS / _STEP_S)), _END]
    spec = _spec([*known, *special], said)
    spec.validate()
    spec.save(str(folder))
    return folder


def _time(step: int) -> str:
    return f"<|{step * _STEP_S:.2f}|>"


def _spec(vocabulary: Sequence[str], said: Sequence[str]) -> Any:
    """Build the weights: the position of each token points to the next, however the layers between see it."""
    used = list(dict.fromkeys(said))
    embeddings, positions = _zeros(len(vocabulary), _SIZE), _zeros(_POSITIONS, _SIZE)
    for direction, token in enumerate(used):
        embeddings[vocabulary.index(token), direction] = 8.0
    for position in range(_POSITIONS):
        positions[position, used.index(said[min(position, len(said) - 1)])] = 100.0
    spec = whisper_spec.WhisperSpec(1, 1, 1, 1)
    encoder, decoder = spec.encoder, spec.decoder
    _fill(encoder.conv1, _SIZE, _MELS, 3)
    _fill(encoder.conv2, _SIZE, _SIZE, 3)
    encoder.position_encodings.encodings = _zeros(_FRAMES, _SIZE)
    decoder.embeddings.weight = decoder.projection.weight = embeddings
    decoder.position_encodings.encodings = positions
    for part in (encoder, decoder):
        _normalize(part.layer_norm)
        _attend(part.layer[0].self_attention, (3, 1))
        _normalize(part.layer[0].ffn.layer_norm)
        _fill(part.layer[0].ffn.linear_0, 4 * _SIZE, _SIZE)
        _fill(part.layer[0].ffn.linear_1, _SIZE, 4 * _SIZE)
    _attend(decoder.layer[0].attention, (1, 2, 1))
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.alignment_heads = [(0, 0)]
    spec.config.lang_ids = [vocabulary.index("<|en|>")]
    spec.register_vocabulary(list(vocabulary))
    return spec


def _attend(attention: Any, sizes: Sequence[int]) -> None:
    _normalize(attention.layer_norm)
    for linear, size in zip(attention.linear, sizes, strict=True):
        _fill(linear, size * _SIZE, _SIZE)


def _fill(layer: Any, *shape: int) -> None:
    layer.weight, layer.bias = _zeros(*shape), _zeros(shape[0])


def _normalize(layer: Any) -> None:
    layer.gamma, layer.beta = np.ones(_SIZE, np.float32), _zeros(_SIZE)


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
