"""Trains the rows of a static model on pairs: the question of a pair must find its text among those of the batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from tools.static_model.tokens import Pieces

# Put before some queries, so that the words with which people ask come to count for little.
STEMS = (
    "how does", "what does", "where is", "how is", "what is", "how to", "which function", "what happens when",
    "how are", "where are", "why does", "what is the purpose of", "how do i", "can i", "explain", "describe",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What training depends on beside the pairs. docs/static-model.md says what others came to."""

    seed: int = 1
    batch: int = 1_024
    steps: int = 700
    rate: float = 0.003
    warm_up: int = 20
    temperature: float = 0.07
    stem_share: float = 0.2
    imitation: float = 2.0
    """The weight of imitating the teacher, beside finding the right text."""
    imitated: int = 256
    """Pairs of the teacher in a batch."""
    nearness: float = 0.1
    """The temperature at which the nearness of texts is compared with what the teacher finds near."""
    betas: tuple[float, float] = field(default=(0.9, 0.99))


@dataclass(frozen=True, slots=True)
class Lessons:
    """What the teacher says of some pairs."""

    places: np.ndarray
    """int64 (lessons,): which pairs."""
    queries: np.ndarray
    """float16 (lessons, 384), of unit length."""
    texts: np.ndarray
    """The same of the texts."""


class RowAdam:
    """Adam with one second moment per row, so that rare words take steps as bold as frequent ones."""

    def __init__(self, rows: torch.Tensor, betas: tuple[float, float]) -> None:
        self._mean = torch.zeros_like(rows)
        self._square = torch.zeros(len(rows), 1)
        self._betas = betas
        self._steps = 0

    def step(self, rows: torch.Tensor, gradient: torch.Tensor, rate: float) -> None:
        """Move the rows against the gradient, in place."""
        first, second = self._betas
        self._steps += 1
        self._mean.mul_(first).add_(gradient, alpha=1 - first)
        self._square.mul_(second).add_(gradient.square().mean(dim=1, keepdim=True), alpha=1 - second)
        scale = (self._square / (1 - second**self._steps)).sqrt_().add_(1e-12)
        rows.sub_(self._mean / scale, alpha=rate / (1 - first**self._steps))


def train(
    rows: np.ndarray,
    queries: Pieces,
    texts: Pieces,
    stems: Pieces,
    order: np.ndarray,
    lessons: Lessons | None,
    recipe: Recipe,
) -> np.ndarray:
    """Return trained rows, float32.

    Args:
        rows: float32 (pieces, dim), where to start.
        queries: One per pair.
        texts: One per pair.
        stems: The pieces of `STEMS`.
        order: Places of pairs, in the order in which they are used; `steps` batches are taken.
        lessons: What the teacher says; none if `recipe` imitates nothing.
        recipe: Everything else.
    """
    torch.set_num_threads(1)  # the order in which floats are added depends on it
    rng = np.random.default_rng(recipe.seed)
    trained = torch.tensor(rows / np.linalg.norm(rows, axis=1).mean(), requires_grad=True)
    adam = RowAdam(trained.detach(), recipe.betas)
    for step in range(recipe.steps):
        places = order[np.arange(step * recipe.batch, (step + 1) * recipe.batch) % len(order)]
        asked = _pooled(trained, *_with_stems(queries, places, stems, rng, recipe.stem_share))
        found = _pooled(trained, *texts.take(places))
        loss, right = _contrast(asked, found, recipe.temperature, _same(texts, places) | _same(queries, places))
        if lessons is not None:
            chosen = rng.choice(len(lessons.places), recipe.imitated, replace=False)
            loss = loss + recipe.imitation * _unlikeness(trained, queries, texts, lessons, chosen, recipe.nearness)
        (gradient,) = torch.autograd.grad(loss, trained)
        with torch.no_grad():
            adam.step(trained, gradient, _rate(step, recipe))
        if step % 50 == 0 or step == recipe.steps - 1:
            print(f"step {step}: loss {loss.item():.3f}, right {right:.3f}", flush=True)
    return trained.detach().numpy()


def _unlikeness(
    rows: torch.Tensor, queries: Pieces, texts: Pieces, lessons: Lessons, chosen: np.ndarray, temperature: float
) -> torch.Tensor:
    """Return how far what is near to what, among queries and texts alike, is from what the teacher finds."""
    places = lessons.places[chosen]
    ours = torch.cat([_pooled(rows, *queries.take(places)), _pooled(rows, *texts.take(places))])
    theirs = torch.from_numpy(np.concatenate([lessons.queries[chosen], lessons.texts[chosen]]).astype(np.float32))
    itself = torch.eye(len(ours), dtype=torch.bool)
    said = (ours @ ours.T / temperature).masked_fill(itself, -1e4).log_softmax(dim=1)
    meant = (theirs @ theirs.T / temperature).masked_fill(itself, -1e4).softmax(dim=1)
    return functional.kl_div(said, meant, reduction="batchmean")


def _rate(step: int, recipe: Recipe) -> float:
    if step < recipe.warm_up:
        return recipe.rate * (step + 1) / recipe.warm_up
    done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
    return recipe.rate * (0.02 + 0.98 * 0.5 * (1 + float(np.cos(np.pi * done))))


def _with_stems(
    queries: Pieces, places: np.ndarray, stems: Pieces, rng: np.random.Generator, share: float
) -> tuple[np.ndarray, np.ndarray]:
    ids, offsets = queries.take(places)
    parts = np.split(ids, offsets[1:])
    for row in np.flatnonzero(rng.random(len(places)) < share):
        stem = int(rng.integers(len(stems)))
        parts[row] = np.concatenate([stems.ids[stems.starts[stem] : stems.starts[stem + 1]], parts[row]])
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])[:-1]])


def _pooled(rows: torch.Tensor, ids: np.ndarray, offsets: np.ndarray) -> torch.Tensor:
    summed = functional.embedding_bag(torch.from_numpy(ids), rows, torch.from_numpy(offsets), mode="mean")
    return functional.normalize(summed, dim=1)


def _same(pieces: Pieces, places: np.ndarray) -> torch.Tensor:
    """Return which of a batch are equal to which, the diagonal left out: these are no wrong answers."""
    keys = [hash(pieces.ids[pieces.starts[place] : pieces.starts[place + 1]].tobytes()) for place in places]
    numbers = torch.tensor(keys)
    return (numbers[:, None] == numbers[None, :]).fill_diagonal_(False)


def _contrast(
    asked: torch.Tensor, found: torch.Tensor, temperature: float, same: torch.Tensor
) -> tuple[torch.Tensor, float]:
    scores = (asked @ found.T / temperature).masked_fill(same, -1e4)
    gold = torch.arange(len(scores))
    loss = (functional.cross_entropy(scores, gold) + functional.cross_entropy(scores.T, gold)) / 2
    return loss, float((scores.argmax(dim=1) == gold).float().mean())
