"""Runs every benchmark and prints what was measured beside what is to be reached; exit 1 where one falls short."""

from __future__ import annotations

import sys

from benchmarks import attempt, evidence, groups, help_text, machine, pool, recorder, records
from benchmarks.measure import Measured


def main(names: list[str]) -> int:
    """Runs the benchmarks called `names`, or all."""
    known = {
        "help": help_text,
        "attempt": attempt,
        "evidence": evidence,
        "machine": machine,
        "recorder": recorder,
        "records": records,
        "pool": pool,
        "groups": groups,
    }
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; one of {', '.join(known)}", file=sys.stderr)
        return 2
    found: list[Measured] = []
    for name in names or known:
        for one in known[name].bench():
            mark = "reached" if one.reached else "MISSED "
            print(f"{mark}  {one.what}: {one.value}  (reach: {one.reach})", flush=True)
            found.append(one)
    return 0 if all(one.reached for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
