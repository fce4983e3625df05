"""Run every measurement, one after the other, each in a process of its own: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LONGEST = "bench_machines.py"  # hours, and it goes on where it was stopped, so it comes last


def main() -> int:
    """Run the scripts; the number that failed, at most 1 as an exit code."""
    failed = 0
    scripts = Path(__file__).parent.glob("bench_*.py")
    for script in sorted(scripts, key=lambda path: (path.name == LONGEST, path.name)):
        print(f"── {script.name}", flush=True)
        failed += subprocess.run([sys.executable, str(script)], check=False).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
