"""Check commands: `verify`, `judge`, `eval` and `doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, options, printing
from openbook.types import Filter


def verify(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH", help="Text, code, the output of `ask --json`, or folders: all documents in them."
        ),
    ],
    *,
    root: Annotated[
        str, typer.Option(metavar="DIR", callback=options.no_blank, help="Folder that paths are relative to.")
    ] = ".",
    fix: Annotated[bool, typer.Option("--fix", help="Rewrite the citations whose lines have moved unchanged.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix, also rewrite those that somebody should look at.")
    ] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave out files, by a pattern as in .gitignore. Can be repeated."),
    ] = None,
    comments: Annotated[bool, typer.Option("--comments", help="In folders, check the comments of code too.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", callback=options.no_blank, help="Fail only for findings not in this file."),
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", callback=options.no_blank, help="Write what is wrong to this file, for --baseline."
        ),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="F", help="text, json, github (annotations) or sarif.")
    ] = "text",
    as_json: options.AsJson = False,
    as_annotations: Annotated[bool, typer.Option("--github", help="The same as --format github.")] = False,
) -> None:
    """Check that citations such as `path:12-18` still match the lines they name."""
    from openbook.cli.verifying import STYLES, VerifyOptions, verify_files

    if as_json and as_annotations:
        raise typer.BadParameter("it cannot be given together with --json", param_hint="--github")
    if unsafe_fixes and not fix:
        raise typer.BadParameter("it only works with --fix", param_hint="--unsafe-fixes")
    style = options.one_of(STYLES, "json" if as_json else "github" if as_annotations else output_format, "--format")
    asked = VerifyOptions(
        Path(root), fix, unsafe_fixes, style, tuple(exclude or ()), comments, baseline, write_baseline
    )
    code = verify_files([str(path) for path in options.as_paths(files)], asked)
    if code:
        raise typer.Exit(code)


def judge(
    claims: Annotated[
        Path,
        typer.Argument(
            metavar="CLAIMS.jsonl",
            readable=False,
            help="One JSON object per line: `claim`, `cited_text`, optionally `id` and `sources`. `-` reads stdin.",
        ),
    ],
    *,
    verifier: Annotated[
        str,
        typer.Option(
            metavar="V", help="Also check with a model, or with `nli:FOLDER`. Default: OPENBOOK_VERIFIER, else `off`."
        ),
    ] = "",
    max_usd: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1000.0,
            metavar="X",
            callback=options.finite,
            help="Maximum cost of the verifier in US dollars.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Check claims written by any program against the text they cite.

    Without a verifier, words alone decide: exact, conflict or unverified.
    """
    from openbook.cli.asking import judge_of
    from openbook.cli.judging import judge_file

    code = judge_file(claims, judge_of(verifier, max_usd), as_json=as_json)
    if code:
        raise typer.Exit(code)


def evaluate(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTIONS.jsonl [PATH]...", help="The question set, then folders or files."),
    ] = None,
    *,
    model: Annotated[str, typer.Option(metavar="M", help=f"Model that answers, {options.MODELS}.")] = "extractive",
    verifier: options.VerifierName = "",
    library: options.LibraryName = None,
    limit: options.Limit = 10,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=VALUE", help="Exit with code 1 when a metric is worse than this."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="RUN.json", readable=False, help="Compare with an earlier run, as printed by --json."),
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Propose questions about the folders, for you to edit.")
    ] = False,
    count: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Maximum number of questions to propose.")
    ] = 20,
    as_json: options.AsJson = False,
) -> None:
    """Measure search, citations and refusals on your own questions."""
    from openbook.cli.evaluating import EvalCommand, check_draftable, print_draft
    from openbook.cli.opening import opened

    words = words or []
    if not words and not draft:
        raise typer.BadParameter("name a question set; --draft proposes one", param_hint="QUESTIONS.jsonl")
    if draft:
        check_draftable(words)
    evaluation = None if draft else EvalCommand(Path(words[0]), model, verifier, fail_under or (), against)
    with opened(options.as_paths(words if draft else words[1:]), library) as assistant:
        options.check_filled(assistant, Filter())
        passed = evaluation(assistant, limit=limit, as_json=as_json) if evaluation else print_draft(assistant, count)
    if not passed:
        raise typer.Exit(EXIT_NOTHING)


def list_plugins(as_json: options.AsJson = False) -> None:
    """List the installed plugins."""
    from dataclasses import asdict

    from openbook.errors import PluginError
    from openbook.plugins import PLUGIN_KINDS, plugins

    found = [plugin for kind in PLUGIN_KINDS for plugin in plugins(kind).values()]
    broken = {}
    for plugin in found:
        try:
            plugin.load()
        except PluginError as exc:
            broken[plugin] = str(exc)
    if as_json:
        printing.print_json([asdict(plugin) | {"error": broken.get(plugin, "")} for plugin in found])
    for plugin in () if as_json else found:
        printing.say(f"{plugin.kind.removesuffix('s'):9} {plugin.name:12} {plugin.package}  {plugin.target}")
    for error in broken.values():
        printing.note(f"FAIL  {error}")
    if broken:
        raise typer.Exit(EXIT_FAILURE)


def doctor(
    model: Annotated[
        str, typer.Option("--model", metavar="M", help="Try this model: three small calls, one of them a question.")
    ] = "",
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every setting.")] = False,
) -> None:
    """Check the installation and show the settings that differ from the default."""
    from openbook.cli.diagnosis import diagnosis

    healthy = True
    for finding in diagnosis(model, every_setting=every):
        printing.say(f"{'ok  ' if finding.healthy else 'FAIL'}  {finding.text}")
        healthy = healthy and finding.healthy
    if not healthy:
        raise typer.Exit(EXIT_FAILURE)
