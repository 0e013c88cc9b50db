# SPDX-License-Identifier: BSD-3-Clause
"""Dates of all calendars against cftime, day by day, and over thousands of years."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

cftime = pytest.importorskip("cftime")

top = Path(__file__).resolve().parent.parent
calendars = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
names = {"gregorian": "standard", "365_day": "noleap", "366_day": "all_leap"}
microseconds_of_day = 86_400_000_000


def program() -> str:
    places = [top / "build" / preset / "bin" / "shoal-streams" for preset in ("release", "dev")]
    found = [str(place) for place in places if place.exists()]
    return os.environ.get("STREAMS_ENGINE") or (found or [shutil.which("shoal-streams")])[0]


def dates(calendar: str, start: str, end: str, every: str) -> list[list[str]]:
    command = [program(), "dates", "--calendar", calendar, "--from", start, "--to", end, "--every", every]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", autouse=True)
def built():
    if not program():
        pytest.skip("shoal-streams is not built (make build)")


def expected(calendar: str, rows: list[list[str]]):
    """cftime's dates for the numbers of a row."""
    # Whole days and the rest: a number of microseconds is an int64, which cftime takes as it is.
    return cftime.num2date(
        [int(row[1]) for row in rows],
        "microseconds since 0001-01-01 00:00:00",
        calendar=calendar,
    )


def text_of(date) -> str:
    sign = "-" if date.year < 0 else ""
    text = f"{sign}{abs(date.year):04d}-{date.month:02d}-{date.day:02d} "
    text += f"{date.hour:02d}:{date.minute:02d}:{date.second:02d}"
    return text + (f".{date.microsecond:06d}" if date.microsecond else "")


def day_of_year(calendar: str, date) -> int:
    """Days since the beginning of the year. cftime counts the ten days that 1582 does not have, too."""
    after_change = calendar == "standard" and (1582, 10, 15) <= (date.year, date.month, date.day) < (
        1583,
        1,
        1,
    )
    return date.dayofyr - (10 if after_change else 0)


def check(calendar: str, rows: list[list[str]]) -> None:
    assert rows
    for row, date in zip(rows, expected(calendar, rows)):
        assert row[0] == text_of(date), row
        assert int(row[2]) == day_of_year(calendar, date), row


@pytest.mark.parametrize("calendar", calendars)
@pytest.mark.parametrize(
    "years",
    [(1480, 1700), (-120, 120), (3990, 4010), (1890, 2110)],
    ids=lambda years: f"{years[0]}..{years[1]}",
)
def test_every_day(calendar, years):
    """Each day of those years, one after the other."""
    start, end = (f"{'-' if y < 0 else ''}{abs(y):04d}-01-01" for y in years)
    rows = dates(calendar, start, end, "1 day")
    check(calendar, rows)
    days = [int(row[1]) for row in rows]
    assert all(b - a == microseconds_of_day for a, b in zip(days, days[1:]))


@pytest.mark.parametrize("calendar", calendars)
def test_thousands_of_years(calendar):
    """Steps that fall on all days and times of day, from before the first Julian day to the year 9999."""
    check(calendar, dates(calendar, "-4713-01-01", "9999-12-01", "41.376854 day"))


@pytest.mark.parametrize("calendar", calendars)
def test_months(calendar):
    """The first days of all months of 6,000 years."""
    rows = dates(calendar, "-1000-01-01", "5000-01-01", "1 month")
    assert len(rows) == 12 * (6000 if calendar not in ("standard", "julian") else 5999)
    assert all(row[0][-11:] == "01 00:00:00" for row in rows)
    check(calendar, rows)


@pytest.mark.parametrize("other, name", names.items())
def test_other_names(other, name):
    assert dates(other, "1999-01-01", "2001-01-01", "1 day") == dates(
        name, "1999-01-01", "2001-01-01", "1 day"
    )


@pytest.mark.parametrize("calendar", calendars)
def test_dates_that_are_none(calendar):
    """Days of all months of leap years and others, which cftime refuses: so does Shoal."""
    for year in (-4, 1, 4, 1500, 1582, 1600, 1900, 2000, 2001):
        for month in range(1, 13):
            for day in (4, 5, 10, 14, 15, 28, 29, 30, 31):
                try:
                    date = cftime.datetime(year, month, day, calendar=calendar)
                except ValueError:
                    date = None
                text = f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"
                if (month, day) not in ((2, 29), (2, 30), (4, 31), (10, 5), (10, 14), (10, 31), (12, 31)):
                    continue
                command = [
                    program(),
                    "dates",
                    "--calendar",
                    calendar,
                    "--from",
                    text,
                    "--to",
                    "9999-01-01",
                    "--every",
                    "99999 months",
                ]
                done = subprocess.run(command, capture_output=True, text=True)
                assert (done.returncode == 0) == (date is not None), f"{text}: {done.stderr}"
                if date is None:
                    assert text in done.stderr and calendar in done.stderr
