"""An object store on this machine to measure with: `python -m benchmarks.object_store -- COMMAND ...`.

It is Ceph's: one monitor, one OSD that holds all in memory, and its gateway for S3, from Debian's packages `ceph-mon`,
`ceph-osd`, `radosgw` and `ceph-common`. COMMAND runs with the address and the keys in its environment, and with a
bucket `openbook`; then all of it ends, and what was stored is gone. It listens on 127.0.0.1 alone, and its parts ask
each other for no keys: it is for measuring.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROGRAMS = ("monmaptool", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph")
BUCKET = "openbook"

_STARTS_S = 120.0

# Encrypted connections need keys, and keys an authority: `crc` and `none` do without.
_CONFIGURATION = """\
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{mon}
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms mon cluster mode = crc
ms mon service mode = crc
ms cluster mode = crc
ms service mode = crc
ms client mode = crc
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
osd class load list = *
osd class default list = *
osd objectstore = memstore
memstore device bytes = {size_bytes}
mon allow pool size one = true
mon data avail crit = 1
mon max pg per osd = 1000
run dir = {folder}
crash dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
rgw data = {folder}
rgw frontends = beast endpoint=127.0.0.1:{gateway}
[mon.a]
mon data = {folder}/mon
[osd.0]
osd data = {folder}/osd
"""


def main() -> int:
    """Run a command beside a store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="+")
    parser.add_argument("--gigabytes", type=int, default=4, help="memory that it may take")
    arguments = parser.parse_args()
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        print(f"{', '.join(missing)}: not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), arguments.gigabytes << 30) as environment:
        return subprocess.run(arguments.command, env=os.environ | environment, check=False).returncode


@contextlib.contextmanager
def running(folder: Path, size_bytes: int) -> Iterator[Mapping[str, str]]:
    """Run a store in an empty folder, and yield the variables that say where it is."""
    mon, gateway = _free_ports(2)
    fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
    configuration = folder / "ceph.conf"
    configuration.write_text(
        _CONFIGURATION.format(fsid=fsid, mon=mon, gateway=gateway, folder=folder, size_bytes=size_bytes), "utf-8"
    )
    for name in ("mon", "osd"):
        (folder / name).mkdir()
    key, secret = secrets.token_hex(8), secrets.token_hex(16)
    with contextlib.ExitStack() as stack:

        def do(program: str, *words: str) -> None:
            _done([program, "-c", str(configuration), *words], folder)

        def start(program: str, *words: str) -> None:
            stack.enter_context(_started([program, "-c", str(configuration), "-f", *words], folder))

        _done(["monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v2:127.0.0.1:{mon}]", "monmap"], folder)
        do("ceph-mon", "-i", "a", "--mkfs", "--monmap", "monmap")
        start("ceph-mon", "-i", "a")
        do("ceph", "osd", "new", osd)
        do("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        start("ceph-osd", "-i", "0")
        start("radosgw", "-n", "client.rgw.a", "--no-mon-config")
        do(
            "radosgw-admin",
            "user",
            "create",
            "--uid=u",
            "--display-name=u",
            f"--access-key={key}",
            f"--secret={secret}",
        )
        environment = {
            "AWS_ENDPOINT": f"http://127.0.0.1:{gateway}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
        }
        _make_bucket(environment)
        yield environment


def _make_bucket(environment: Mapping[str, str]) -> None:
    import boto3  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

    client = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    until = time.monotonic() + _STARTS_S
    while True:
        try:
            client.create_bucket(Bucket=BUCKET)
            return
        except (BotoCoreError, ClientError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _done(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_STARTS_S)


@contextlib.contextmanager
def _started(command: Sequence[str], folder: Path) -> Iterator[None]:
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()  # all that it has goes with it


if __name__ == "__main__":
    sys.exit(main())
