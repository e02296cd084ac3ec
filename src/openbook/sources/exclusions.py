"""Names of files and folders that are never read, or only if a rule asks for them.

Look-ups in sets, because they run for every file of every scan.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

# Written by tools, or other people's code. Nobody edits what lies in them.
_IGNORED_FOLDERS = frozenset(
    """
    .git .hg .svn .bzr cvs .jj .openbook
    node_modules bower_components jspm_packages .yarn .pnpm-store
    .venv venv .env .virtualenv site-packages .eggs __pypackages__
    __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .pytype .hypothesis .ipynb_checkpoints
    .cache .parcel-cache .turbo .next .nuxt .svelte-kit .angular .docusaurus .vercel
    .gradle .terraform .dart_tool .stack-work elm-stuff deriveddata pods .bundle
    .idea .vs .nyc_output htmlcov _build
    """.split()
)

# Ordinary words that are output only beside the file of the tool that writes there: Python's
# `src/build/` or a course named `coverage/` are sources. Output is best told by .gitignore; this
# is for what came without one, such as an unpacked npm package with its bundles.
_OUTPUT_FOLDERS: dict[str, frozenset[str]] = {
    "build": frozenset(
        {"setup.py", "setup.cfg", "pyproject.toml", "package.json", "cmakelists.txt", "meson.build"}
        | {"build.gradle", "build.gradle.kts", "pubspec.yaml"}
    ),
    "dist": frozenset({"setup.py", "setup.cfg", "pyproject.toml", "package.json"}),
    "target": frozenset({"cargo.toml", "pom.xml", "build.sbt"}),
    "coverage": frozenset({"package.json"}),
    "vendor": frozenset({"go.mod", "composer.json", "gemfile"}),
    "deps": frozenset({"mix.exs"}),
}

# Written by package managers from a file that is indexed itself.
_IGNORED_FILES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    poetry.lock pipfile.lock pdm.lock uv.lock pixi.lock conda-lock.yml
    cargo.lock go.sum go.work.sum composer.lock gemfile.lock podfile.lock packages.lock.json
    mix.lock pubspec.lock flake.lock gradle.lockfile .terraform.lock.hcl
    .git .ds_store thumbs.db desktop.ini
    """.split()
)

# Text by form, but made for machines: minified code, source maps, drawings.
_IGNORED_ENDINGS = (".min.js", ".min.css", ".min.mjs", ".map", ".svg", ".bundle.js", "-lock.json", ".egg-info")

_BINARY_SUFFIXES = frozenset(
    """
    png jpg jpeg gif bmp ico icns webp tif tiff avif heic psd ai eps xcf sketch fig
    mp3 wav ogg oga flac m4a aac opus mid mp4 m4v mov avi mkv webm wmv flv
    gz tgz bz2 tbz xz txz zst 7z rar tar jar war ear whl egg nupkg deb rpm apk dmg iso cab msi gem crate lz4 br
    exe dll so dylib a lib o obj ko pyc pyo pyd class wasm node elc beam rlib rmeta pdb bin
    ttf otf woff woff2 eot
    mobi djvu pages numbers
    db sqlite sqlite3 mdb accdb parquet feather arrow avro orc h5 hdf5 npy npz pkl pickle joblib mat rds rda sav
    onnx pt pth safetensors gguf ggml tflite pb ckpt caffemodel
    blend fbx glb stl 3ds dwg swf fla mo gmo idx pack pcap swp lance
    """.split()
)

_SECRET_FOLDERS = frozenset({".aws", ".azure", ".docker", ".gnupg", ".kube", ".ssh"})

_SECRET_FILES = frozenset(
    """
    id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
    .netrc _netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .htpasswd .dockercfg .s3cfg .boto .vault-token
    .dockerconfigjson .vault_pass .vault-pass .vault_password .vault_pass.txt vault_pass.txt
    credentials credentials.json credentials.yml credentials.yaml credentials.toml credentials.ini credentials.csv
    credentials.yml.enc client_secret.json client_secrets.json
    kubeconfig kubeconfig.yml kubeconfig.yaml
    secrets.json secrets.toml secrets.yml secrets.yaml terraform.tfstate terraform.tfstate.backup
    """.split()
)

_SECRET_SUFFIXES = frozenset({"pem", "key", "p12", "pfx", "jks", "keystore", "ppk", "kdbx", "env", "tfvars"})

_SECRET_BEGINNINGS = ("service-account", "service_account", "serviceaccount", "client_secret_")


def is_secret(name: str) -> bool:
    """Return whether a file name is that of keys, passwords or other credentials.

    Example:
        >>> [is_secret(name) for name in (".env.local", "id_rsa", "credentials.py")]
        [True, True, False]
    """
    return bool(secret_pattern(name))


def secret_pattern(name: str) -> str:
    """Return the pattern of credentials that a file name matches; empty if it matches none.

    Example:
        >>> secret_pattern(".env.local"), secret_pattern("id_rsa"), secret_pattern("server.PEM")
        ('.env*', 'id_rsa', '*.pem')
    """
    name = name.lower()
    if name in _SECRET_FILES:
        return name
    suffix = name.rpartition(".")[2] if "." in name else ""
    # `.env.example` as well: it is meant to hold no secret, and often does.
    if name.startswith(".env"):
        return ".env*"
    if suffix in _SECRET_SUFFIXES:
        return f"*.{suffix}"
    beginning = next((begins for begins in _SECRET_BEGINNINGS if suffix == "json" and name.startswith(begins)), "")
    return f"{beginning}*.json" if beginning else ""


def is_secret_folder(name: str) -> bool:
    """Return whether a folder of that name holds credentials."""
    return name.lower() in _SECRET_FOLDERS


def is_binary_name(name: str) -> bool:
    """Return whether the suffix is that of a binary format."""
    return name.rpartition(".")[2].lower() in _BINARY_SUFFIXES and "." in name


def is_ignored_file(name: str) -> bool:
    """Return whether a file is ignored by default: lock files and minified code."""
    name = name.lower()
    return name in _IGNORED_FILES or name.endswith(_IGNORED_ENDINGS)


def is_ignored_folder(name: str, siblings: AbstractSet[str]) -> bool:
    """Return whether a folder is ignored by default.

    `siblings`: names beside it, in lower case. `build` and the like are ignored only beside the manifest of a tool that
    writes there.

    Example:
        >>> is_ignored_folder("build", {"setup.py"}), is_ignored_folder("build", {"__init__.py"})
        (True, False)
    """
    name = name.lower()
    if name in _IGNORED_FOLDERS or name.endswith((".egg-info", ".dist-info")):
        return True
    makers = _OUTPUT_FOLDERS.get(name)
    return makers is not None and not makers.isdisjoint(siblings)


def is_environment(names: AbstractSet[str]) -> bool:
    """Check by the names in a folder whether it is a virtual or conda environment."""
    return "pyvenv.cfg" in names or "conda-meta" in names
