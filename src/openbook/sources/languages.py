"""Tables that map file names to kind and language.

A language is the name of a `semble-grammars` grammar if there is one, else the usual name of the format, so parsers
must expect names without a grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from openbook.types import Kind

Format = tuple[Kind, str]

_CODE = """
astro awk css d dart elm fish go heex hy java less lua nix nu proto r sass scss svelte swift tcl tsx vim vue wat
zig
asm: asm s
bash: bash bats ksh sh zsh
batch: bat cmd
c: c h
clojure: clj cljc cljs edn
coffeescript: coffee
cpp: c++ cc cpp cu cuh cxx h++ hh hpp hxx inl ipp tpp
crystal: cr
csharp: cs csx
cython: pxd pxi pyx
elisp: el
elixir: ex exs
embedded_template: ejs erb
erlang: erl hrl
fennel: fnl
fortran: f f03 f08 f77 f90 f95 for
fsharp: fs fsi fsx
gotmpl: gotmpl tmpl
graphql: gql graphql graphqls
groovy: gradle groovy
handlebars: handlebars hbs mustache
haskell: hs lhs
hcl: hcl tf
javascript: cjs es6 js jsx mjs
jinja2: j2 jinja jinja2
jsonnet: jsonnet libsonnet
julia: jl
kotlin: kt kts
lisp: asd lisp lsp
matlab: m
nim: nim nims
objc: mm
ocaml: ml mli
pascal: pas pp
perl: pl pm t
php: php phtml
powershell: ps1 psd1 psm1
python: py pyi pyw
racket: rkt
ruby: gemspec rake rb ru
rust: rs
scala: sbt sc scala
scheme: scm sld ss
solidity: sol
sql: ddl sql
starlark: bazel bzl star
typescript: cts mts ts
verilog: sv svh v
vhdl: vhd vhdl
"""

_DOCS = """
man org pod rd sbv srt vtt
asciidoc: adoc asciidoc
html: htm html xhtml
latex: latex sty tex
markdown: markdown md mdown mdx mkd mkdn qmd rmd
notebook: ipynb
rst: rest rst
text: text txt
typst: typ
ics: ics ical ifb
"""

_CONFIG = """
cmake dockerfile dtd json5 just kdl properties toml
ini: cfg conf cnf desktop ini service
json: json webmanifest
jsonc: code-workspace jsonc
make: mak mk
xml: atom csproj dbk dita docbook fb2 nxml plist props resx rss targets tei vcxproj wsdl xlf xml xsd xsl xslt
yaml: yaml yml
"""

_DATA = """
csv log tsv
json: geojson
jsonl: jsonl ndjson
po: po pot
"""

_NAMES = """
bash: .bash_profile .bashrc .profile .zshrc
cmake: cmakelists.txt
dockerfile: containerfile dockerfile
gitignore: .dockerignore .gitignore .npmignore .openbookignore .prettierignore
ini: .coveragerc .editorconfig .flake8 .gitconfig .gitmodules .pylintrc
json: .babelrc .eslintrc .prettierrc
just: justfile
make: gnumakefile makefile
text: .gitattributes codeowners go.mod go.work manifest.in procfile robots.txt
toml: pipfile
yaml: .clang-format .clang-tidy
"""

_CODE_NAMES = """
groovy: jenkinsfile
ruby: brewfile fastfile gemfile podfile rakefile vagrantfile
starlark: build tiltfile workspace
"""

# Pages written for models, in Markdown by convention.
_PAGE_NAMES = """
markdown: llms.txt llms-full.txt
"""

_PROGRAMS = """
elixir fish groovy julia perl php ruby
awk: awk gawk mawk
bash: ash bash dash ksh sh zsh
javascript: bun deno node nodejs
lua: lua luajit
powershell: pwsh
python: pypy python
r: rscript
tcl: tclsh wish
"""


def _parse(table: str) -> dict[str, str]:
    """Parse lines of `language: word word` into a map from word to language. A word without a colon is a language."""
    lines = (line.partition(": ") for line in table.strip().splitlines())
    return {word: name if words else word for name, _, words in lines for word in (words or name).split()}


def _formats(**tables: str) -> Mapping[str, Format]:
    kinds: dict[str, Kind] = {"code": "code", "docs": "docs", "config": "config", "data": "data"}
    return MappingProxyType(
        {word: (kinds[kind], name) for kind, table in tables.items() for word, name in _parse(table).items()}
    )


BY_SUFFIX: Mapping[str, Format] = _formats(code=_CODE, docs=_DOCS, config=_CONFIG, data=_DATA)
"""Format by file suffix, in lower case, without the full stop."""

BY_NAME: Mapping[str, Format] = _formats(code=_CODE_NAMES, docs=_PAGE_NAMES, config=_NAMES)
"""Format by whole name, in lower case. Takes precedence over the suffix."""

BY_PROGRAM: Mapping[str, str] = MappingProxyType(_parse(_PROGRAMS))
"""Language by interpreter in the `#!` line, without its version."""


# A template of a page is a page with a few gaps. As a template, it would have no headings.
_TEMPLATE_OF_PAGE = re.compile(
    r"(\.(?:adoc|markdown|md|mdx|rst))\.(?:eex|ejs|erb|gotmpl|hbs|inc|j2|jinja2?|mustache|tmpl|tpl)\Z"
)

# A sample of a file, to be copied without this suffix.
_SAMPLE = re.compile(r"(\w\.\w+)\.(?:default|dist|example|sample|template)\Z")


def format_of_name(path: str) -> Format | None:
    """Return the format that the name of a file implies; None if it implies none.

    Example:
        >>> format_of_name("docs/llms.txt"), format_of_name("docs/guide")
        (('docs', 'markdown'), None)
    """
    name = name_of(path)
    _, dot, suffix = name.rpartition(".")
    return BY_NAME.get(name) or (BY_SUFFIX.get(suffix) if dot else None)


def name_of(path: str) -> str:
    """Return the name of a file in lower case, without the suffix of a sample, a template of a page or a build (`.in`).

    Example:
        >>> name_of("docs/Harbour.1.in"), name_of("MANIFEST.in"), name_of("README.md.erb"), name_of("index.html.erb")
        ('harbour.1', 'manifest.in', 'readme.md', 'index.html.erb')
        >>> name_of("etc/harbour.cfg.dist"), name_of(".env.example")
        ('harbour.cfg', '.env.example')
    """
    name = path.rpartition("/")[2].lower()
    return name if name in BY_NAME else _TEMPLATE_OF_PAGE.sub(r"\1", _SAMPLE.sub(r"\1", name.removesuffix(".in")))
