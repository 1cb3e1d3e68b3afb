"""The command line: parse, call one library function, print."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcounsel.errors import SimcounselError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simcounsel.llm.human import Board
    from simcounsel.llm.prices import Prices
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.runs import Run
    from simcounsel.specs.world import World

app = typer.Typer(
    name="simcounsel", no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Simulate counseling: people with personas, emotions, memories and homes live through their days.\n\n"
    "Begin with:  simcounsel run worlds/insomnia.yaml --ticks 24\n\n"
    "A research tool, not care: simulated outcomes are no evidence about people.",
)
personas = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Work with persona files.")
app.add_typer(personas, name="personas")

Out = Annotated[Path, typer.Option("--out", help="Folder in which the run's own folder is made.")]
Model = Annotated[
    str | None, typer.Option("--model", help="Model for all roles but `embed`, in place of the world's; `simcounsel models` lists the forms.")
]
Ticks = Annotated[int | None, typer.Option("--ticks", min=1, help="Stop after so many ticks; `resume` goes on.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Plain lines instead of the live display (a pipe gets them anyway).")]
InFlight = Annotated[int, typer.Option("--in-flight", min=1, help="At most so many requests to the model at once.")]
BudgetUsd = Annotated[float | None, typer.Option("--budget-usd", min=0, help="Stop at the end of the tick in which this is spent.")]
BudgetCalls = Annotated[int | None, typer.Option("--budget-calls", min=1, help="Stop at the end of the tick in which so many calls were made.")]
PricesFile = Annotated[Path | None, typer.Option("--prices", help="YAML with your own prices, in USD per million tokens.")]
Sets = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the world, e.g. conversation.max_turns=6; may be given again.")
]
HumanName = Annotated[
    str | None, typer.Option("--human", metavar="NAME", help="You speak for this resident: a page asks for the lines while the run goes on.")
]
HumanSeconds = Annotated[
    float, typer.Option("--human-seconds", min=5, help="So long the page waits for your line; then a polite fallback is said instead.")
]
HumanPort = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where the page for --human is served; 0 is any that is free.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")]


def main() -> None:
    """Run the command line; errors made on purpose become one line, without a traceback."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        app(standalone_mode=True)
    except SimcounselError as error:
        typer.echo(f"simcounsel: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def changes_of(sets: list[str] | None, option: str = "--set", such_as: str = "conversation.max_turns=6") -> dict[str, Any]:
    """KEY=VALUE pairs as a dictionary."""
    found: dict[str, Any] = {}
    for pair in sets or []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE, such as {such_as}", param_hint=option)
        found[key.strip()] = value.strip()
    return found


@app.command()
def run(
    world: Annotated[Path, typer.Argument(metavar="WORLD", help="A world file, such as worlds/insomnia.yaml.")],
    out: Out = Path("runs"), model: Model = None, ticks: Ticks = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="In place of the world's.")] = None,
    condition: Annotated[
        str | None, typer.Option("--condition", help="client_only, client_layperson, client_counselor or everyone.")
    ] = None,
    sets: Sets = None, quiet: Quiet = False, in_flight: InFlight = 64, budget_usd: BudgetUsd = None, budget_calls: BudgetCalls = None,
    prices: PricesFile = None, human: HumanName = None, human_seconds: HumanSeconds = 120, port: HumanPort = 0,
) -> None:
    """Live through a world and leave a run behind.

    Without an API key it uses the embedded models; their weights (about 190 MB to fetch) come on first use.
    Ctrl-C loses nothing: `resume` goes on.
    """
    from simcounsel.specs.world import load_world

    changes = changes_of(sets)
    if seed is not None:
        changes["seed"] = seed
    if condition is not None:
        changes["condition"] = condition
    if model is not None:
        from simcounsel.llm.catalog import roles_for

        changes["models"] = roles_for(model)
    loaded = load_world(world, **changes)
    board = _board(loaded, human, human_seconds)
    from simcounsel.engine.opening import begin_run, check_models

    console = console_of()
    fetch_weights(loaded.models.model_dump(), console, quiet)
    check_models(loaded)
    table = price_table(prices)
    _live(begin_run(loaded, out), ticks, quiet, in_flight, budget_usd, budget_calls, table, console, board, port)


@app.command()
def resume(
    run: RunFolder, ticks: Ticks = None, quiet: Quiet = False, in_flight: InFlight = 64, budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None, prices: PricesFile = None, human: HumanName = None, human_seconds: HumanSeconds = 120,
    port: HumanPort = 0,
) -> None:
    """Go on with a run that was stopped, after the last complete tick; replies already paid for are used again.

    A synthesis goes on after its last complete wave; --ticks are waves then.
    """
    from simcounsel.runs import Run

    opened = Run.open(run)
    if opened.ticks_done() >= opened.length:
        what = "ticks" if opened.manifest.world else "waves"
        again = f"`simcounsel fork {run} --at N` goes on from any of them"
        typer.echo(f"{run} is complete ({opened.length} {what}); {again}")
        return
    if opened.manifest.synthesis:
        console = console_of()
        fetch_weights(opened.manifest.models, console, quiet)
        synthesize.write(opened, ticks, quiet, in_flight, budget_usd, budget_calls, price_table(prices), console)
        return
    board = _board(opened.world, human, human_seconds)
    console = console_of()
    fetch_weights(opened.manifest.models, console, quiet)
    _live(opened, ticks, quiet, in_flight, budget_usd, budget_calls, price_table(prices), console, board, port)


@app.command()
def fork(
    run: RunFolder,
    at: Annotated[int, typer.Option("--at", metavar="TICK", min=1, help="The first tick that is lived anew.")],
    sets: Sets = None, out: Out = Path("runs"), ticks: Ticks = None, quiet: Quiet = False, in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None, budget_calls: BudgetCalls = None, prices: PricesFile = None, human: HumanName = None,
    human_seconds: HumanSeconds = 120, port: HumanPort = 0,
) -> None:
    """A what-if: the same past, another future. Of a synthesis: the same waves before --at, others from there on.

    Example: simcounsel fork runs/RUN --at 36 --set condition=client_only
    """
    from simcounsel.engine.forking import fork as fork_run
    from simcounsel.runs import Run

    table = price_table(prices)
    new = fork_run(Run.open(run), at, changes_of(sets), out)
    if new.manifest.synthesis:
        console = console_of()
        fetch_weights(new.manifest.models, console, quiet)
        synthesize.write(new, ticks, quiet, in_flight, budget_usd, budget_calls, table, console)
        return
    board = _board(new.world, human, human_seconds)
    console = console_of()
    fetch_weights(new.manifest.models, console, quiet)
    _live(new, ticks, quiet, in_flight, budget_usd, budget_calls, table, console, board, port)


def _board(world: "World", human: str | None, seconds: float) -> "Board | None":
    """Where the turns of a human who takes part wait for their lines."""
    if human is None:
        return None
    from simcounsel.viewer.turns import board_for

    return board_for(world, human, seconds)


def price_table(file: Path | None) -> "Prices":
    """Our prices and the user's own; read before a run's folder is made, since they may be wrong."""
    from simcounsel.llm.prices import Prices

    return Prices.load(file)


def console_of() -> "Console":
    from rich.console import Console

    return Console()


def _live(
    run: "Run", ticks: int | None, quiet: bool, in_flight: int, budget_usd: float | None, budget_calls: int | None,
    prices: "Prices", console: "Console", board: "Board | None" = None, port: int = 0,
) -> None:
    """Live through a run on the screen, then say what happened and how to go on. board: a human takes part."""
    from simcounsel.engine.opening import models_for
    from simcounsel.engine.simulation import Simulation
    from simcounsel.screen import LiveScreen, PlainScreen

    plain = quiet or not console.is_terminal
    screen = PlainScreen(console) if plain else LiveScreen(console, run.world.ticks)
    models = models_for(run, in_flight=in_flight, prices=prices)
    if not plain:
        console.print(f"{run.folder}: Ctrl-C stops, `simcounsel resume` goes on", markup=False, highlight=False)
    stopped: str | None = None
    try:
        with _taking_part(run, models, board, port), screen:
            simulation = Simulation(
                run.world, run=run, models=models, budget_usd=budget_usd, budget_calls=budget_calls, on_event=screen.on_event,
            )
            screen.watch(simulation)
            if run.dropped:
                typer.echo(run.dropped, err=True)
            simulation.run(ticks)
            stopped = simulation.stopped_because
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C; the unfinished tick is lived again on resume"
    except SimcounselError:
        _closing(run, None, console)
        raise
    _closing(run, stopped, console)


@contextmanager
def _taking_part(run: "Run", models: "Switchboard", board: "Board | None", port: int) -> Iterator[None]:
    """The page on which a human takes part, if one does, for as long as the run goes on."""
    if board is None:
        yield
        return
    from simcounsel.viewer.turns import taking_part

    with taking_part(run.folder, models, board, port) as address:
        typer.echo(f"you speak for {board.who}: open {address}")
        typer.echo(f"{board.seconds:g} s for each line; without one a polite line is said for you, and the run goes on")
        yield


def _closing(run: "Run", stopped: str | None, console: "Console") -> None:
    """What happened, and the commands to go on."""
    from simcounsel.summary import summary_lines

    for line in summary_lines(run):
        typer.echo(line)
    if stopped:
        typer.echo(f"stopped        {stopped}")
    typer.echo("go on with")
    if run.ticks_done() < run.world.ticks:
        typer.echo(f"  simcounsel resume {run.folder}")
    typer.echo(f"  simcounsel view {run.folder}")
    typer.echo(f"  simcounsel show {run.folder} --conversation 1")
    if run.ticks_done():
        typer.echo(f"  simcounsel fork {run.folder} --at {max(1, run.ticks_done() // 2)} --set condition=client_only")


def fetch_weights(roles: dict[str, Any], console: "Console", quiet: bool) -> None:
    """Fetch the embedded models' weights if a role needs them and they are missing."""
    if "embedded" in {str(name).split("+")[0] for name in roles.values()}:
        from simcounsel.llm.catalog import needed_weights

        _pull(needed_weights(roles), console, quiet)


def _pull(keys: tuple[str, ...], console: "Console", quiet: bool) -> None:
    from simcounsel.llm.weights import path_of, state

    missing = [part.weights.key for part in state() if part.weights.key in keys and not part.fetched]
    if not missing:
        return
    if quiet or not console.is_terminal:
        for key in missing:
            typer.echo(f"fetching weights: {key} ...")
            path_of(key)
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), console=console) as progress:
        for key in missing:
            task = progress.add_task(f"weights: {key}", total=None)
            path_of(key, partial(_advance, progress, task))


def _advance(progress: "Progress", task: "TaskID", done: int, total: int, what: str) -> None:
    progress.update(task, completed=done, total=total)


@app.command()
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Worlds, personas, experiments, instruments, syntheses.")]) -> None:
    """Validate files; exit 1 with file:line and a remedy for each problem."""
    from simcounsel.check import check_file

    wrong = 0
    for file in files:
        problems = check_file(file)
        wrong += bool(problems)
        for problem in problems or [f"{file}: ok"]:
            typer.echo(problem)
    sys.exit(1 if wrong else 0)


@app.command()
def models(pull: Annotated[bool, typer.Option("--pull", help="Fetch the embedded models' weights now.")] = False) -> None:
    """What models can be used here, and what is fetched."""
    from simcounsel.llm.catalog import EMBEDDED_WEIGHTS, model_lines

    if pull:
        _pull(EMBEDDED_WEIGHTS, console_of(), quiet=False)
    for line in model_lines():
        typer.echo(line)


@app.command()
def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet, or is empty.")]) -> None:
    """Write a small commented world and persona to start from."""
    from simcounsel.starter import write_starter

    for file in write_starter(folder):
        typer.echo(f"wrote {file}")
    typer.echo(f"now: simcounsel check {folder}/world.yaml && simcounsel run {folder}/world.yaml --ticks 8")


@app.command()
def show(
    run: RunFolder,
    who: Annotated[str | None, typer.Option("--who", help="A resident: one day of theirs.")] = None,
    day: Annotated[int, typer.Option("--day", min=0, help="Which day, for --who; the first is 0.")] = 0,
    conversation: Annotated[str | None, typer.Option("--conversation", metavar="N", help="A conversation, by number from 1 or by id.")] = None,
    recall: Annotated[str | None, typer.Option("--recall", metavar="NAME", help="What came to somebody's mind, and why.")] = None,
    tick: Annotated[int | None, typer.Option("--tick", min=0, help="Which tick, for --recall; the last recall if not given.")] = None,
) -> None:
    """Show a run in the terminal: its summary, or one day of a resident, a conversation, a recall."""
    from simcounsel import summary
    from simcounsel.runs import Run

    opened = Run.open(run)
    if opened.manifest.synthesis:
        for line in synthesize.show_lines(opened, conversation, who=who, recall=recall, tick=tick):
            typer.echo(line)
        return
    if conversation is not None:
        lines = summary.conversation_lines(opened, conversation)
    elif recall is not None:
        lines = summary.recall_lines(opened, recall, tick)
    elif who is not None:
        lines = summary.day_lines(opened, who, day)
    else:
        lines = summary.summary_lines(opened)
    for line in lines:
        typer.echo(line)


@app.command()
def view(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="A run's folder, or a folder of runs.")] = Path("runs"),
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the run into one file, to be opened without a server.")] = None,
    host: Annotated[str, typer.Option("--host", help="Any other address than this machine's own demands a token, which is printed.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8765,
) -> None:
    """Look at runs in a browser: the map, the days, memories and why they came up, conversations, prompts.

    Follows a run that is still being written. Ctrl-C stops.
    Example: simcounsel view runs/RUN --html day.html
    """
    from simcounsel.viewer.asking import asking_routes
    from simcounsel.viewer.serve import serve
    from simcounsel.viewer.shelf import Shelf

    shelf = Shelf(runs)
    if html is not None:
        from simcounsel.viewer.bundle import write_bundle

        if shelf.only is None:
            raise typer.BadParameter(f"{runs} is a folder of runs; name one of them", param_hint="--html")
        for left_out in write_bundle(shelf.log(shelf.only), html):
            typer.echo(f"left out: {left_out}", err=True)
        for problem in shelf.log(shelf.only).problems():
            typer.echo(problem, err=True)
        typer.echo(f"wrote {html} ({html.stat().st_size / 1e6:.1f} MB)")
        return
    path = f"/run/{shelf.only}" if shelf.only else "/"
    serve(shelf, host=host, port=port, path=path, more=asking_routes(shelf), say=lambda address: typer.echo(f"open {address}   (Ctrl-C stops)"))


@app.command("rate-page")
def rate_page(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUNS]...", help="Runs, folders of runs, corpora: to make a new study from.")] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The study's folder.")] = Path("study"),
    instrument: Annotated[
        str | None, typer.Option("--instrument", help="transcript_quality, dialogue_quality, persona_change, or a YAML file.")
    ] = None,
    raters: Annotated[int | None, typer.Option("--raters", min=1, max=500, help="How many raters; the instrument's number if not given.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws items, orders and sides.")] = 0,
    who: Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only this client.")] = None,
    partners: Annotated[
        list[str] | None, typer.Option("--with", metavar="ROLE", help="Only conversations with a counselor, layperson or client; may be given again.")
    ] = None,
    most: Annotated[int | None, typer.Option("--max-per-run", min=1, help="At most so many items of each run or corpus, drawn by chance.")] = None,
    fewest_lines: Annotated[int, typer.Option("--min-lines", min=1, help="Leave shorter conversations out.")] = 4,
    serve: Annotated[bool, typer.Option("--serve", help="Serve the raters' links until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the links; 0 for any that is free.")] = 8765,
    host: Annotated[str, typer.Option("--host", help="Address of the links; 0.0.0.0 lets other machines in, by these links only.")] = "127.0.0.1",
    imports: Annotated[
        list[Path] | None, typer.Option("--import", metavar="FILE", help="Take in answers that a rater downloaded and sent back; may be given again.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all answers, joined with the key, as CSV.")] = None,
) -> None:
    """A blind rating study: people judge transcripts, or persona pairs, without knowing where they come from.

    Make:     simcounsel rate-page runs --instrument transcript_quality --raters 3 --out study

    Collect:  simcounsel rate-page --out study --serve      (or send out study/offline/RATER.html)

    Take in:  simcounsel rate-page --out study --import FILE

    Export:   simcounsel rate-page --out study --csv ratings.csv

    Names, places and the instrument's masked words are taken out of the texts; read some before you send links.
    DIR/key.json says which item is which: keep it from the raters.
    """
    from simcounsel.viewer.rating import answers, desk

    if runs:
        for line in desk.make(runs, instrument, out, raters=raters, seed=seed, who=who, partners=partners, most=most, fewest_lines=fewest_lines):
            typer.echo(line)
    elif instrument is not None:
        raise typer.BadParameter("name the runs to make a study from, such as: simcounsel rate-page runs --instrument ...", param_hint="RUNS")
    if imports:
        taken = answers.import_answers(out, imports)
        typer.echo(f"imported {taken.new} answers into {out / 'answers.jsonl'}; {taken.known} were there already")
    if csv is not None:
        typer.echo(f"wrote {answers.write_csv(out, csv)} rows to {csv}")
    if serve:
        from simcounsel.viewer.rating.site import serve_ratings

        serve_ratings(out, host=host, port=port, say=typer.echo)
    elif not (imports or csv):
        for line in desk.state_lines(out, f"http://{host}:{port}"):
            typer.echo(line)


@app.command()
def talk(
    run: RunFolder,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="The resident to ask.")],
    at: Annotated[int | None, typer.Option("--at", metavar="TICK", help="As of the end of this tick; the last complete one if not given.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Who answers, in place of the run's own model.")] = None,
) -> None:
    """Ask a resident questions, as of a moment of the run; it answers from its persona and memories of then.

    An empty line or Ctrl-D ends. Questions may come through a pipe, one a line. The interview is kept in RUN/interviews and changes nothing else.
    """
    from simcounsel import interview
    from simcounsel.runs import Run

    opened = Run.open(run)
    sitting = interview.Interview.begin(opened, who, at, model)
    fetch_weights(interview.roles(opened, sitting.head["model"]), console_of(), quiet=True)
    for line in interview.introduction(sitting):
        typer.echo(line)
    models = interview.open_models(opened, sitting.head["model"])
    try:
        for question in _questions():
            try:
                told = sitting.ask(question, models)
            except ValueError as error:
                typer.echo(f"({error})", err=True)
                continue
            typer.echo(f"{sitting.head['who']}: {told['answer']}")
            if told["problem"]:
                typer.echo(f"(the model gave no usable answer: {told['problem']}; this line stands in for one)", err=True)
    except KeyboardInterrupt:
        typer.echo("")
    finally:
        models.close()
    typer.echo(f"kept in {sitting.file}" if sitting.file else "nothing was asked; nothing is kept")


def _questions() -> Iterator[str]:
    """What is typed, up to an empty line or Ctrl-D; or the lines of a pipe."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                typer.echo(f"you: {line.strip()}")
                yield line
        return
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (line editing and history in `input`)
    with contextlib.suppress(EOFError):
        while question := input("you: ").strip():
            yield question
    typer.echo("")


@app.command()
def sweep(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="An experiment file, such as experiments/quick.yaml.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the sweep; sweeps/NAME if not given. The same folder goes on.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the plan, its estimate, and how the conditions differ.")] = False,
    processes: Annotated[int | None, typer.Option("--processes", min=1, help="Runs at once; the number of cores if not given.")] = None,
    ray: Annotated[str | None, typer.Option("--ray", metavar="ADDRESS", help="Live the runs on a Ray cluster: its address, or `auto`.")] = None,
    in_flight: InFlight = 64, quiet: Quiet = False, prices: PricesFile = None,
) -> None:
    """Live through clients x conditions x seeds, or write corpora under several conditions; started again, it goes on.

    Nothing finished is run twice; a run that fails is reported and does not stop the others.
    Ctrl-C stops all runs after the tick they are in.
    """
    from simcounsel.engine.opening import check_models
    from simcounsel.lab import Sweep, plan_lines
    from simcounsel.lab_screen import SweepScreen
    from simcounsel.specs.experiment import load_experiment

    loaded, cells = load_experiment(experiment)
    folder = out or Path("sweeps") / experiment.stem
    for line in plan_lines(loaded, cells, price_table(prices), folder):
        typer.echo(line)
    if dry_run:
        return
    console = console_of()
    for cell in {cell.about.models: cell for cell in cells}.values():
        fetch_weights(cell.about.models.resolved(), console, quiet)
        check_models(cell.about)
    if ray is None:
        running = Sweep(loaded, cells, folder, processes=processes, in_flight=in_flight, prices_file=prices)
    else:
        from simcounsel.lab_ray import RaySweep

        running = RaySweep(loaded, cells, folder, address=ray, in_flight=in_flight, prices_file=prices)
    with SweepScreen(console, running, quiet or not console.is_terminal) as screen:
        done = running.run(screen.on_change)
    if running.stopping:
        typer.echo(f"{running.stopping}; the same command goes on")
    typer.echo(f"now: simcounsel view {folder}")
    report = "report" if loaded.worlds else "corpus"
    typer.echo(f"     python -m analysis {report} {folder} --out report")
    if not done:
        sys.exit(1)


@app.command()
def rate(
    run: RunFolder,
    instrument: Annotated[str, typer.Option("--instrument", metavar="NAME", help="A scale by name, `talk_measures`, or a scale's YAML file.")],
    model: Annotated[str | None, typer.Option("--model", help="Who answers; if not given the run's `judge`, for a self-report its `reason`.")] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, max=100, help="Answers to average where no probabilities are told.")] = 1,
    who: Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only this client.")] = None,
    chat: Annotated[str | None, typer.Option("--chat", metavar="N", help="Only this conversation, by number from 1 or by id.")] = None,
    at: Annotated[int | None, typer.Option("--at", metavar="TICK", help="As of the end of this tick; the last complete one if not given.")] = None,
    in_flight: InFlight = 64,
) -> None:
    """Measure a run afterwards, with any model; the run itself stays as it is.

    An observer rates each conversation, without knowing names, condition or model; a client answers about itself
    from its persona and memories of then. Kept in RUN/measurements; the same command again is a retest.
    """
    from simcounsel.instruments.read import is_trial
    from simcounsel.judging import Rating
    from simcounsel.runs import Run
    from simcounsel.summary import measured_line

    rating = Rating.plan(Run.open(run), instrument, model=model, samples=samples, who=who, chat=chat, at=at)
    if rating.judge:
        typer.echo(f"{len(rating.targets)} to measure, answered by {rating.judge}")
        fetch_weights(rating.roles(), console_of(), quiet=True)
    if is_trial(rating.judge):
        typer.echo(f"{rating.judge} model: for trying the software only; these numbers measure nothing", err=True)
    models = rating.open_models(in_flight)
    try:
        rating.measure(models, lambda measured: typer.echo(measured_line(measured)))
    except KeyboardInterrupt:
        typer.echo("stopped by Ctrl-C; what was measured is kept", err=True)
    finally:
        if models is not None:
            models.close()
    if models is not None:
        cost = models.usage.cost_usd
        typer.echo(f"{models.usage.calls} requests, " + ("price unknown" if cost is None else f"{cost:.4f} USD"))
    typer.echo(f"kept in {rating.file}")


@app.command("validate-judge")
def validate_judge(
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help="Labelled transcripts: our JSON, an AnnoMI CSV, a CPsyCounE-like JSON.")],
    model: Annotated[str, typer.Option("--model", help="The judge; `simcounsel models` lists the forms.")],
    instruments: Annotated[
        list[str] | None, typer.Option("--instrument", metavar="NAME", help="An observer's scale (default: helping_skills); may be given again.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="A new folder for ratings, calls and figures.")] = Path("judge"),
    samples: Annotated[int, typer.Option("--samples", min=1, max=100, help="Answers to average where no probabilities are told.")] = 1,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=10, help="How often each transcript is rated; from 2 on there is a retest.")] = 2,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many transcripts, drawn by chance.")] = None,
    faulty: Annotated[int, typer.Option("--faulty", min=0, help="In so many transcripts faults are planted.")] = 10,
    pairs: Annotated[int, typer.Option("--pairs", min=0, help="So many pairs are compared, each in both orders.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws transcripts, pairs and orders.")] = 1,
    in_flight: InFlight = 64,
) -> None:
    """Is a judge any good? AUC, correlation with people, alpha, retest, position bias, planted faults; beside plain counts of the talk."""
    import importlib

    from simcounsel.errors import ModelError
    from simcounsel.instruments.labelled import read_labelled
    from simcounsel.validation import Validation, open_judge, plan_validation

    try:
        judge = importlib.import_module("analysis.judge")
    except ImportError as error:
        raise ModelError(f"validate-judge computes its figures with {error.name}, which is missing: pip install 'simcounsel[analysis]'") from None
    names = tuple(instruments or ["helping_skills"])
    plan = plan_validation(read_labelled(data), names, limit=limit, samples=samples, rounds=rounds, faulty=faulty, pairs=pairs, seed=seed)
    fetch_weights({"judge": model}, console_of(), quiet=True)
    models = open_judge(model, in_flight)
    try:
        validation = Validation(plan, model, out)
        typer.echo(f"{len(plan.transcripts)} transcripts, judged by {model}; kept in {out}")
        ratings = validation.collect(models)
    finally:
        models.close()
    figures = judge.figures(ratings)
    judge.table(figures).to_csv(out / "figures.csv", index=False)
    for line in judge.lines(figures):
        typer.echo(line)
    typer.echo(f"wrote {out / 'figures.csv'}")


@personas.command("import")
def import_personas(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Patient-Psi records, JSON.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the persona files.")] = Path("personas"),
) -> None:
    """Read Patient-Psi records into persona files; several records of one id are one person."""
    from simcounsel.specs.patient_psi import import_records

    for written in import_records(file, out):
        typer.echo(f"wrote {written}")


from simcounsel.cli import corpus, corpus_rate, export, synthesize  # noqa: E402, F401  each adds its commands
