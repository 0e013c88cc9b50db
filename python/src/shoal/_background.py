# SPDX-License-Identifier: BSD-3-Clause
"""Who stores what is written, by the setting background, and what the model waits for: for explanation.py,
whose Explanation these take."""

from __future__ import annotations

from dataclasses import replace

from .errors import InvalidArgumentError

choices = ("off", "thread", "ranks", "auto")


def choose(result) -> None:
    """Check what options say; then options.background is off, thread or ranks, and servers a number."""
    options = result.options
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
    if asked == "auto":
        chosen, result.background = _cores_suffice(result)
        result.options = replace(options, background=chosen)
    if asked != "ranks":
        return
    if options.sets_io_ranks or options.rearranger == "subset":
        raise InvalidArgumentError(
            "With background=ranks the ranks that serve are the I/O ranks; leave io_ranks, "
            "io_ranks_per_node, io_stride, io_base and rearranger=subset out."
        )
    result.options = replace(options, servers=options.servers or 1)


def _cores_suffice(result) -> tuple[str, str]:
    """What auto chooses, and why."""
    options = result.options
    if options.driver != "native":
        return "off", f"auto is off: driver {options.driver} does not store in the background"
    if not options.cores:
        raise InvalidArgumentError("background=auto needs to know how many cores a node has; give cores.")
    ranks = max(len(node.ranks) for node in result.nodes)
    chosen = "thread" if options.cores >= 2 * ranks else "off"
    return chosen, (
        f"auto is {chosen}: a node has {ranks} rank{'' if ranks == 1 else 's'} and {options.cores} "
        f"core{'' if options.cores == 1 else 's'}, and each rank needs 2 to have a thread"
    )


def check_writers(result) -> None:
    """More than any node has ranks that store are refused, as by the library."""
    wanted, servers = result.options.writers, result.options.servers
    most = servers or max(len(node.ranks) for node in result.nodes)
    if wanted > most:
        raise InvalidArgumentError(
            f"writers is {wanted}, but no node has more than {most} ranks"
            f"{' that serve' if servers else ''}; writers can be 1 to {most}."
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
