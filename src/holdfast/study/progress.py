"""Progress of a study: numbers, and a line on stderr."""

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How far a study has come.

    Attributes
    ----------
    done, total : int
        Fits that are finished, those of earlier sessions included, and fits in all.
    failures : int
        Fits that failed.
    rate : float
        Fits per second in this session.
    """

    done: int
    total: int
    failures: int
    rate: float

    @property
    def seconds_left(self) -> float:
        """Seconds until the end, if it goes on like this."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")

    def __str__(self) -> str:
        share = self.done / self.total if self.total else 1.0
        filled = round(20 * share)
        bar = "█" * filled + "░" * (20 - filled)
        failed = f", {self.failures} failed" if self.failures else ""
        speed = f", {self.rate:,.1f} per second" if self.rate else ""
        left = f", {format_duration(self.seconds_left)} left" if self.rate and self.done < self.total else ""
        return f"{bar} {self.done:,} of {self.total:,} fits{speed}{left}{failed}"


Report: TypeAlias = Callable[[Progress], None]


def format_duration(seconds: float) -> str:
    """Format a time to wait."""
    if seconds == float("inf"):
        return "unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Line:
    """Draws progress on stderr: one line that is written over on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self.alive = sys.stderr.isatty()
        self.wait = 0.1 if self.alive else 15.0
        self.last = time.monotonic() - (self.wait if self.alive else 0)

    def __call__(self, progress: Progress) -> None:
        now, ended = time.monotonic(), progress.done >= progress.total
        if now - self.last < self.wait and not ended:
            return
        self.last = now
        start, end = ("\r\x1b[K", "\n" if ended else "") if self.alive else ("", "\n")
        sys.stderr.write(f"{start}{progress}{end}")
        sys.stderr.flush()

    def tell(self, text: str) -> None:
        """Write a line of its own, above that of the progress."""
        sys.stderr.write(f"\r\x1b[K{text}\n" if self.alive else f"{text}\n")
        sys.stderr.flush()


def find_teller(report: Report) -> Callable[[str], None]:
    """Where to say what happens beside the progress: above it if it is drawn here, else in the log."""
    return report.tell if isinstance(report, Line) else log.info


def make_reporter(progress: bool | Report) -> Report:
    """Return the callback for progress: a line on stderr, nothing, or the user's own."""
    if callable(progress):
        return progress
    return Line() if progress else lambda _: None
