"""Which kind and language a file has, by its name alone: tables and nothing else.

A language is the name of a `semble-grammars` grammar where there is one, else the usual name of
the format, so whoever parses has to expect a name without a grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from openbook.types import Kind

Format = tuple[Kind, str]

_CODE = """
asm: asm s
astro: astro
awk: awk
bash: bash bats ksh sh zsh
batch: bat cmd
c: c h
clojure: clj cljc cljs edn
coffeescript: coffee
cpp: c++ cc cpp cu cuh cxx h++ hh hpp hxx inl ipp tpp
crystal: cr
csharp: cs csx
css: css
cython: pxd pxi pyx
d: d
dart: dart
elixir: ex exs
elm: elm
embedded_template: ejs erb
erlang: erl hrl
fish: fish
fortran: f f03 f08 f77 f90 f95 for
fsharp: fs fsi fsx
gotmpl: gotmpl tmpl
go: go
graphql: gql graphql graphqls
groovy: gradle groovy
handlebars: handlebars hbs mustache
haskell: hs lhs
hcl: hcl tf
heex: heex
java: java
javascript: cjs es6 js jsx mjs
jinja2: j2 jinja jinja2
jsonnet: jsonnet libsonnet
julia: jl
kotlin: kt kts
less: less
lua: lua
matlab: m
nim: nim nims
nix: nix
nu: nu
objc: mm
ocaml: ml mli
pascal: pas pp
perl: pl pm t
php: php phtml
powershell: ps1 psd1 psm1
proto: proto
python: py pyi pyw
r: r
racket: rkt
ruby: gemspec rake rb ru
rust: rs
sass: sass
scala: sbt sc scala
scheme: scm sld ss
scss: scss
solidity: sol
sql: ddl sql
starlark: bazel bzl star
svelte: svelte
swift: swift
tcl: tcl
tsx: tsx
typescript: cts mts ts
verilog: sv svh v
vhdl: vhd vhdl
vim: vim
vue: vue
wat: wat
zig: zig
"""

_DOCS = """
asciidoc: adoc asciidoc
html: htm html xhtml
latex: latex sty tex
markdown: markdown md mdown mdx mkd mkdn qmd rmd
notebook: ipynb
man: man
org: org
pod: pod
rst: rest rst
srt: srt
text: text txt
typst: typ
vtt: vtt
ics: ics ical ifb
"""

_CONFIG = """
cmake: cmake
dockerfile: dockerfile
dtd: dtd
ini: cfg conf cnf desktop ini service
json: json webmanifest
json5: json5
jsonc: code-workspace jsonc
just: just
kdl: kdl
make: mak mk
properties: properties
toml: toml
xml: atom csproj dbk dita docbook fb2 nxml plist props resx rss targets tei vcxproj wsdl xlf xml xsd xsl xslt
yaml: yaml yml
"""

_DATA = """
csv: csv
json: geojson
jsonl: jsonl ndjson
log: log
po: po pot
tsv: tsv
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

_PROGRAMS = """
awk: awk gawk mawk
bash: ash bash dash ksh sh zsh
elixir: elixir
fish: fish
groovy: groovy
javascript: bun deno node nodejs
julia: julia
lua: lua luajit
perl: perl
php: php
powershell: pwsh
python: pypy python
r: rscript
ruby: ruby
tcl: tclsh wish
"""


def _parse(table: str) -> dict[str, str]:
    """Turn lines of `language: word word` into word to language."""
    pairs = (line.split(": ", 1) for line in table.strip().splitlines())
    return {word: language for language, words in pairs for word in words.split()}


def _formats(**tables: str) -> Mapping[str, Format]:
    kinds: dict[str, Kind] = {"code": "code", "docs": "docs", "config": "config", "data": "data"}
    return MappingProxyType(
        {word: (kinds[kind], name) for kind, table in tables.items() for word, name in _parse(table).items()}
    )


BY_SUFFIX: Mapping[str, Format] = _formats(code=_CODE, docs=_DOCS, config=_CONFIG, data=_DATA)
"""Format by what stands behind the last full stop of a name, in lower case."""

BY_NAME: Mapping[str, Format] = _formats(code=_CODE_NAMES, config=_NAMES)
"""Format by whole name, in lower case. Goes before the suffix."""

BY_PROGRAM: Mapping[str, str] = MappingProxyType(_parse(_PROGRAMS))
"""Language by the program that a `#!` line names, without its version."""
