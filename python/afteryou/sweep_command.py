"""``afteryou sweep --dask ADDRESS``: the part of the command that this package carries out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from afteryou.errors import Error, ScenarioError
from afteryou.sweeps import sweep

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    """Runs a sweep on a cluster and returns the exit code of the command."""
    parser = argparse.ArgumentParser(prog="afteryou sweep")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--dask", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--engine", default="sim")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--repeat", type=int)
    given = parser.parse_args(words)
    try:
        return _sweep(given)
    except ScenarioError as error:
        return _refused(error, 2)
    except (Error, OSError) as error:
        return _refused(error, 1)
    except KeyboardInterrupt:
        return _refused("interrupted: the same command continues from there", 130)


def _sweep(given: argparse.Namespace) -> int:
    from distributed import Client

    file = given.files if len(given.files) > 1 else given.files[0]
    with Client(given.dask, timeout="10s") as client:
        for swept in sweep(file, given.out, client, engine=given.engine, seed=given.seed, repeat=given.repeat):
            print(f"{swept.runs} runs, {swept.computed} of them computed now: {swept.page}")
    return 0


def _refused(reason: object, code: int) -> int:
    print(f"afteryou: {reason}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
