# SPDX-License-Identifier: BSD-3-Clause
"""Studies, the starts of the engine that they are made of, and what the command line changes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product


class StudyError(ValueError):
    """Options that cannot be together, or names that do not exist."""


def _nodes(count: int) -> str:
    return f"{count} node{'s' if count > 1 else ''}"


@dataclass(frozen=True)
class Lab:
    """An emulated file system (labfs) and its nodes.

    preset   a name that `labfs --list` shows, or the path of a file
    stripes  servers of a file; 0: as the preset has it
    changes  of the preset, "servers.load = 0.5"
    scale    real seconds for one of the model; 0: as the machine needs it
    model    distinguishes models: a digest of labfs and the preset
    """

    preset: str
    nodes: int
    stripes: int = 0
    changes: tuple[str, ...] = ()
    scale: float = 0.0
    model: str = ""

    def ranks_per_node(self, ranks: int) -> int:
        return -(-ranks // self.nodes)

    def used_nodes(self, ranks: int) -> int:
        return -(-ranks // self.ranks_per_node(ranks))

    @property
    def place(self) -> str:
        """In place of a folder: what, beside the preset, makes it another file system."""
        return ", ".join(["labfs", _nodes(self.nodes), *self.changes])


@dataclass(frozen=True)
class Study:
    """Every combination of these: each is one start of the engine, in which methods, formats and folders take
    turns.

    asks         what is varied, in a line
    tiles        "2x2", or a rule for any number of ranks: "1xR", "Rx1", "square", "all" (every factorisation)
    sizes        names of the engine's sizes, or NXxNYxNZ
    hints        each "key=value,key=value" for MPI-IO, "" for none
    io_layouts   each "NXxNY" for the methods with I/O domains, "" for what they say themselves
    mpi_ios      "default"; "romio", which Open MPI has beside its own; "ompio", "romio321": its components
    stripes      servers of a file, 0 as the file system has it; others in the laboratory alone
    read         whether files are read back by the method, timed
    """

    name: str
    asks: str
    methods: tuple[str, ...]
    formats: tuple[str, ...] = ("cdf5",)
    ranks: tuple[int, ...] = (4,)
    tiles: tuple[str, ...] = ("square",)
    sizes: tuple[str, ...] = ("large",)
    records: tuple[int, ...] = (5,)
    hints: tuple[str, ...] = ("",)
    io_layouts: tuple[str, ...] = ("",)
    mpi_ios: tuple[str, ...] = ("default",)
    stripes: tuple[int, ...] = (0,)
    read: bool = True
    repetitions: int = 5


def names(text: str) -> tuple[str, ...]:
    """Names with blanks between. Local."""
    return tuple(text.split())


# Of E1 to E3.
roms_methods = names("native gather pnetcdf-collective netcdf-collective limit")
# A store of Zarr by Shoal and by others, beside a file of netCDF-4.
zarr_methods = names("native+zarr native+format=netcdf4 zarr-python xarray nczarr")
# Programs that call PIO: on Shoal, and on PIO itself, of which 1, 4 and all ranks are I/O tasks.
pio_methods = (
    "native",
    "pio-on-shoal",
    *(f"pio-{way}{tasks}" for way in ("box", "subset") for tasks in ("+io_tasks=1", "+io_tasks=4", "")),
    "limit",
)


@dataclass(frozen=True)
class Experiment:
    """title: a few words; question: what the published study asked; source: which study, and its year;
    number: its place in lists; computes: whether it is a run with steps of a model; switches: whether that
    model has switches; lab_studies: those that need a laboratory (--lab), beside `studies`."""

    number: int
    name: str
    title: str
    question: str
    source: str
    studies: tuple[Study, ...]
    paper_studies: tuple[Study, ...]
    computes: bool = False
    switches: bool = False
    lab_studies: tuple[Study, ...] = ()


@dataclass(frozen=True)
class Choice:
    """What the command line asks for; None: what the study says. labs: where each study is run; none: in
    `dirs`. default_mpi_ios: of studies that leave it to the MPI."""

    ranks: tuple[int, ...] | None = None
    tiles: tuple[str, ...] | None = None
    sizes: tuple[str, ...] | None = None
    records: tuple[int, ...] | None = None
    methods: tuple[str, ...] | None = None
    formats: tuple[str, ...] | None = None
    hints: tuple[str, ...] | None = None
    io_layouts: tuple[str, ...] | None = None
    mpi_ios: tuple[str, ...] | None = None
    default_mpi_ios: tuple[str, ...] = ("default",)
    stripes: tuple[int, ...] | None = None
    labs: tuple[Lab, ...] = ()
    repetitions: int | None = None
    steps: int | None = None
    switches: str | None = None
    ranks_per_node: int | None = None
    dirs: tuple[str, ...] = (".",)
    flush: bool = False
    cold: bool = False
    touch_memory: bool = False
    paper: bool = False


@dataclass(frozen=True)
class Start:
    """One start of the engine."""

    experiment: str
    study: str
    ranks: int
    tiles: str
    size: str
    records: int
    methods: tuple[str, ...]
    formats: tuple[str, ...]
    dirs: tuple[str, ...]
    hints: str = ""
    io_layout: str = ""
    mpi_io: str = "default"
    steps: int = 0  # what the experiment says
    switches: str = ""
    ranks_per_node: int = 0  # as mpiexec does it
    read: bool = True
    flush: bool = False
    cold: bool = False
    touch_memory: bool = False
    warm_up: bool = True
    paper: bool = False
    lab: Lab | None = None
    repetitions: int = field(default=5, compare=False)

    def arguments(self) -> list[str]:
        """The engine's command line, from the experiment on, but for what is said of the run's end. Local."""
        given = [self.experiment, "--tiles", self.tiles, "--size", self.size]
        if self.records:
            given += ["--records", str(self.records)]
        given += ["--reps", str(self.repetitions), "--methods", ",".join(self.methods)]
        if self.formats:
            given += ["--formats", ",".join(self.formats)]
        given += ["--dir", ",".join(self.dirs)]
        values = {
            "--hints": self.hints,
            "--io-layout": self.io_layout,
            "--steps": self.steps,
            "--switches": self.switches,
        }
        for option, value in values.items():
            if value:
                given += [option, str(value)]
        flags = (
            ("--read", self.read),
            ("--flush", self.flush),
            ("--cold", self.cold),
            ("--touch-memory", self.touch_memory),
            ("--no-warm-up", not self.warm_up),
        )
        return given + [flag for flag, wanted in flags if wanted]

    def key(self, build: str, environment: dict[str, str]) -> str:
        """What results must share to belong together: this start, but for the number of repetitions; the
        build of the engine; the environment that it runs in. Local."""
        reported = asdict(self)
        del reported["repetitions"]
        text = json.dumps([reported, build, sorted(environment.items())], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """What distinguishes it from others of its study: "4 ranks 2x2 large, 5 records". Local."""
        parts = [f"{self.ranks} rank{'s' if self.ranks > 1 else ''} {self.tiles} {self.size}"]
        if self.records:
            parts.append(f"{self.records} record{'s' if self.records > 1 else ''}")
        parts += [part for part in (self.hints, self.io_layout and f"io_layout {self.io_layout}") if part]
        if self.mpi_io != "default":
            parts.append(self.mpi_io)
        if self.steps:
            parts.append(f"{self.steps} steps")
        if self.ranks_per_node:
            parts.append(f"{self.ranks_per_node} ranks a node")
        if self.lab is not None:
            parts += [f"stripes {self.lab.stripes}"] if self.lab.stripes else []
            parts += [self.lab.preset, _nodes(self.lab.used_nodes(self.ranks))]
        return ", ".join(parts)


@dataclass
class Plan:
    """starts: each once. unheeded: options of the command line, and the studies that are left out since
    nothing in them heeds the option. notes: what else is to be said."""

    starts: list[Start] = field(default_factory=list)
    unheeded: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def uses_mpi_io(method: str) -> bool:
    """Whether MPI-IO is beneath a method, so that hints mean something to it. Local."""
    base = method.split("+")[0].removeprefix("bare-")
    return base.startswith(("pnetcdf", "netcdf", "mpiio", "pio-box", "pio-subset"))


def has_domains(method: str) -> bool:
    """Whether a method has I/O domains to choose. Local."""
    return method.split("+")[0].endswith("-per-domain")


def _near_square(ranks: int) -> str:
    xi = max(n for n in range(1, int(ranks**0.5) + 1) if ranks % n == 0)
    return f"{xi}x{ranks // xi}"


def tilings(rule: str, ranks: int) -> list[str]:
    """What a rule or a tiling means on so many ranks; nothing if it does not fit them. Local."""
    if rule == "square":
        return [_near_square(ranks)]
    if rule == "all":
        return [f"{n}x{ranks // n}" for n in range(1, ranks + 1) if ranks % n == 0]
    parts = rule.split("x")
    if len(parts) == 2 and "R" in parts and set(parts) <= {"1", "R"}:
        return ["x".join(str(ranks) if part == "R" else "1" for part in parts)]
    if len(parts) != 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise StudyError(f"--tiles '{rule}': write tiles in xi x tiles in eta, such as 2x2.")
    return [rule] if int(parts[0]) * int(parts[1]) == ranks else []


def _without_io_layout(methods: Sequence[str]) -> tuple[str, ...]:
    kept = ("+".join(p for p in m.split("+") if not p.startswith("io_layout=")) for m in methods)
    return tuple(dict.fromkeys(kept))


def _changed(study: Study, choice: Choice) -> Study:
    axes = ("ranks", "tiles", "sizes", "records", "methods", "formats", "hints", "io_layouts", "mpi_ios")
    axes += ("stripes",)
    given = {axis: getattr(choice, axis) for axis in axes if getattr(choice, axis) is not None}
    if choice.repetitions is not None:
        given["repetitions"] = choice.repetitions
    if study.mpi_ios == ("default",):
        given.setdefault("mpi_ios", choice.default_mpi_ios)
    if choice.io_layouts is not None and choice.methods is None:
        given["methods"] = _without_io_layout(study.methods)
    if choice.tiles is not None and choice.ranks is None:
        # "--tiles 4x4" alone says how many ranks.
        counts = [tuple(map(int, t.split("x"))) for t in choice.tiles if t.replace("x", "").isdigit()]
        if counts and len(counts) == len(choice.tiles) and all(len(c) == 2 for c in counts):
            given["ranks"] = tuple(dict.fromkeys(xi * eta for xi, eta in counts))
    if study.records == (0,):
        given.pop("records", None)  # it is said of it that it has none
    return replace(study, **given)


def _unheeded(experiment: Experiment, study: Study, choice: Choice) -> list[str]:
    """Options of the command line that would change nothing in a study, changed as the choice says."""
    methods = study.methods
    given = {
        "--hints": choice.hints is not None and not any(map(uses_mpi_io, methods)),
        "--mpi-io": choice.mpi_ios is not None and not any(map(uses_mpi_io, methods)),
        "--io-layout": choice.io_layouts is not None and not any(map(has_domains, methods)),
        "--records": choice.records is not None and study.records == (0,),
        "--steps": choice.steps is not None and not experiment.computes,
        "--switches": choice.switches is not None and not experiment.switches,
    }
    return [option for option, idle in given.items() if idle]


def _methods_with(study: Study, hints: str, choice: Choice) -> tuple[str, ...]:
    """The methods of a start with these hints; none where nothing would heed them.

    Where the study varies hints, variants (native+writers=1) that take none were measured without them
    already. Plain methods stay, since the others are compared with them in turns."""
    if not hints or choice.hints is not None:
        return study.methods
    if not any(map(uses_mpi_io, study.methods)):
        return ()
    once = "" in study.hints
    return tuple(m for m in study.methods if uses_mpi_io(m) or not (once and "+" in m))


def _tiles_of(study: Study, choice: Choice) -> tuple[list[tuple[int, str]], list[int]]:
    """Ranks and tiles of the starts; ranks that none of the --tiles is for. StudyError."""
    for tiles in choice.tiles or ():
        if not any(tilings(tiles, ranks) for ranks in study.ranks):
            raise StudyError(
                f"--tiles {tiles} is for another number of ranks than {', '.join(map(str, study.ranks))}."
            )
    found, bare = [], []
    for ranks in study.ranks:
        cuts = dict.fromkeys(cut for rule in study.tiles for cut in tilings(rule, ranks))
        if not cuts and choice.tiles is None:
            cuts = dict.fromkeys(tilings("square", ranks))
        found += [(ranks, cut) for cut in cuts]
        bare += [] if cuts else [ranks]
    return found, bare


def _add_starts(to: Plan, experiment: Experiment, study: Study, choice: Choice) -> None:
    """The starts of a study under a choice. StudyError."""
    name = f"{experiment.name}:{study.name}"
    study = _changed(study, choice)
    cuts, bare = _tiles_of(study, choice)
    if bare:
        to.notes.append(f"{name}: none of the --tiles is for {', '.join(map(str, bare))} ranks, left out.")
    idle = _unheeded(experiment, study, choice)
    for option in idle:
        to.unheeded.setdefault(option, []).append(name)
    if idle:
        return
    labs = tuple(replace(lab, stripes=count) for lab in choice.labs for count in study.stripes) or (None,)
    axes = (study.sizes, study.records, study.hints, study.io_layouts, study.mpi_ios, labs)
    dropped: dict[str, None] = {}
    for (ranks, tiles), (size, records, hints, io_layout, mpi_io, lab) in product(cuts, product(*axes)):
        methods = _methods_with(study, hints, choice)
        if not methods:
            dropped[hints] = None
            continue
        to.starts.append(
            Start(
                experiment=experiment.name,
                study=study.name,
                ranks=ranks,
                tiles=tiles,
                size=size,
                records=records,
                methods=methods,
                formats=study.formats,
                dirs=choice.dirs,
                hints=hints,
                io_layout=io_layout,
                # What no method makes use of makes no other start.
                mpi_io=mpi_io if any(map(uses_mpi_io, methods)) else "default",
                steps=choice.steps or 0,
                switches=choice.switches or "",
                ranks_per_node=choice.ranks_per_node or 0,
                read=study.read,
                flush=choice.flush,
                cold=choice.cold and study.read,
                touch_memory=choice.touch_memory,
                paper=choice.paper,
                lab=lab,
                repetitions=study.repetitions,
            )
        )
    if dropped:
        to.notes.append(f"{name}: left out with hints, which none of the methods takes.")


def plan(experiment: Experiment, choice: Choice, only: str = "") -> Plan:
    """All starts of an experiment, or of one study of it, each once. StudyError. Local."""
    studies = experiment.paper_studies if choice.paper else experiment.studies
    if not studies:
        raise StudyError(f"{experiment.name} has no published sizes; leave --paper away.")
    if choice.labs and not choice.paper:
        studies = (*studies, *experiment.lab_studies)
    if only:
        names = [study.name for study in studies]
        if not choice.labs and only in {study.name for study in experiment.lab_studies}:
            raise StudyError(f"{experiment.name}:{only} is for an emulated file system; name one with --lab.")
        if only not in names:
            raise StudyError(f"{experiment.name} has no study '{only}'; it has {', '.join(names)}.")
        studies = tuple(study for study in studies if study.name == only)
    found = Plan()
    for study in studies:
        _add_starts(found, experiment, study, choice)
    starts: dict[Start, Start] = {}
    for start in found.starts:
        # The same under the name of another study is measured once.
        starts.setdefault(replace(start, study=""), start)
    return replace(found, starts=list(starts.values()), notes=list(dict.fromkeys(found.notes)))
