"""How many processor cores other programs keep busy while a system is measured: latencies are only worth what that allows."""

from __future__ import annotations

import os
import time

_STEAL = 8
_IDLE = (3, 4)  # idle, and idle while a disk is waited for


class Neighbours:
    """Counts from its making on, from /proc; where there is none, nothing is known."""

    def __init__(self) -> None:
        """Start counting."""
        self._began = _counted()

    def cores(self) -> float | None:
        """Return the mean number of cores that neither this process, nor its children, nor its parent kept busy since.

        Servers that the system asks count as others, and so does what a hypervisor gives to other machines. Never negative;
        None where it cannot be known, or no tick of the clock has passed.
        """
        ended = _counted()
        if self._began is None or ended is None:
            return None
        seconds, busy, own = (after - before for before, after in zip(self._began, ended, strict=True))
        return round(max(0.0, busy - own) / seconds, 3) if seconds > 1 / os.sysconf("SC_CLK_TCK") else None


def _counted() -> tuple[float, float, float] | None:
    """Return a clock, the machine's busy time and that of this run, all in seconds."""
    try:
        tick = os.sysconf("SC_CLK_TCK")
        with open("/proc/stat", encoding="ascii") as lines:
            spent = [int(field) for field in lines.readline().split()[1:]][:_STEAL]
        with open(f"/proc/{os.getppid()}/stat", encoding="utf-8", errors="replace") as line:
            # The name of a program may hold anything, blanks and brackets included.
            parent = line.read().rpartition(")")[2].split()[11:13]
    except (OSError, ValueError, AttributeError):
        return None
    busy = sum(value for place, value in enumerate(spent) if place not in _IDLE)
    return time.monotonic(), busy / tick, sum(os.times()[:4]) + sum(map(int, parent)) / tick
