# SPDX-License-Identifier: BSD-3-Clause
"""Who stores what is written, by the setting background, and what the model waits for: for explanation.py,
whose Explanation these take."""

from __future__ import annotations

from dataclasses import replace

from .errors import InvalidArgumentError

choices = ("off", "thread", "ranks", "auto")


def checked(options):
    """The same options, with servers a number where ranks serve. InvalidArgumentError for what would not be
    used."""
    asked = options.background
    if asked not in choices:
        raise InvalidArgumentError(f"background={asked}: it can be {', '.join(choices[:-1])} or auto.")
    if min(options.servers, options.cores) < 0:
        raise InvalidArgumentError("Numbers of servers and cores are 1 or more.")
    if options.cores and asked != "auto":
        raise InvalidArgumentError("Only background=auto asks how many cores a node has; leave cores out.")
    if options.servers and asked != "ranks":
        raise InvalidArgumentError("Only with background=ranks do ranks serve; leave servers out.")
    if asked in ("thread", "ranks") and options.driver != "native":
        raise InvalidArgumentError(
            f"driver {options.driver} does not store in the background: its library makes MPI calls, or one "
            "rank has all the work; leave background out, or choose driver native."
        )
    if asked == "auto" and options.driver == "native" and not options.cores:
        raise InvalidArgumentError("background=auto needs to know how many cores a node has; give cores.")
    if asked != "ranks":
        return options
    if options.sets_io_ranks or options.rearranger == "subset":
        raise InvalidArgumentError(
            "With background=ranks the ranks that serve are the I/O ranks; leave io_ranks, "
            "io_ranks_per_node, io_stride, io_base and rearranger=subset out."
        )
    return replace(options, servers=options.servers or 1)


def choose(result, said: dict) -> None:
    """What auto chose, and why; then options.background is off, thread or ranks. said: by shoal-plan."""
    options, chosen = result.options, said["background"]
    if options.background != "auto":
        return
    result.options = replace(options, background=chosen)
    if options.driver != "native":
        result.background = f"auto is off: driver {options.driver} does not store in the background"
        return
    ranks, cores = said["most_ranks_of_node"], options.cores
    result.background = (
        f"auto is {chosen}: a node has {ranks} rank{'' if ranks == 1 else 's'} and {cores} "
        f"core{'' if cores == 1 else 's'}, and each rank needs {said['cores_of_rank_and_thread']} to have a "
        "thread"
    )


def storer(result, groups: bool, writers: int) -> str:
    """Who stores what is in the stage of a node, or in that of the group of an I/O rank."""
    options = result.options
    if options.background == "ranks":
        if options.servers == 1:
            return "the rank of the node that serves"
        return f"the {options.servers} ranks of the node that serve, {writers} at a time"
    if groups:
        return (
            "a thread of the group's I/O rank" if options.background == "thread" else "the group's I/O rank"
        )
    if options.background == "thread":
        return f"threads of the node's ranks, {writers} at a time, while the model computes"
    return f"whichever of the node's ranks has time, {writers} at a time"


def waits_of_stage(result, most: int) -> list[str]:
    """What the model waits for, whose fields go through the stage; most: slot generations of one."""
    if result.options.background == "off":
        return [
            "write waits for the copy, and where no slot is free, for a store by this rank or another",
            "sync and close wait until the rest is stored",
        ]
    who = "the threads" if result.options.background == "thread" else "the ranks that serve"
    fields = result.slots // most
    room = f"{fields} fields of this size have" if fields > 1 else "one field of this size has"
    if fields:
        full = f"write waits for the copy alone; {room} room until {who} must have stored something"
    else:
        full = (
            f"write waits for the copy, and until {who} have stored a part: the field makes more slot "
            "generations than there are slots (stage_bytes)"
        )
    return [full, f"sync and close wait until {who} have stored all"]


def waits_of_rearranging(result) -> list[str]:
    """The same of fields that go to I/O ranks."""
    options = result.options
    first = "write waits for messages, and for the I/O ranks to store their boxes"
    if options.driver == "native" and len(result.nodes) > 1:
        first += "; of fields that are not large, those that go together wait for the last of them"
    if options.background == "off":
        return [first]
    why = "threads send no messages" if options.background == "thread" else "ranks meet those that serve"
    return [first, f"background={options.background} does not shorten that: {why}"]
