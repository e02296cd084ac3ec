"""Start the model and say where it listens: `python -m tools.local_model`."""

from __future__ import annotations

import argparse
import contextlib
import signal

from tools.local_model.server import MODEL, serving


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tools.local_model", description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0 takes any that is free (default: %(default)s)")
    port = parser.parse_args().port
    with contextlib.suppress(KeyboardInterrupt), serving(port) as url:
        print(f"OpenAI Chat Completions: {url}/v1\nAnthropic Messages:      {url}\nmodel:                   {MODEL}")
        signal.pause()


if __name__ == "__main__":
    main()
