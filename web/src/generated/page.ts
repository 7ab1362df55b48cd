// Generated from the types in crates/page. Do not edit; to write it anew:
// GENERATE=1 cargo test -p loadline-page typescript

/**
 * A column of a table that was added.
 */
export type AddedColumn = { 
/**
 * Its heading.
 */
name: string, 
/**
 * Whether its cells are numbers.
 */
is_number: boolean, };

/**
 * A table that was added.
 */
export type AddedTable = { 
/**
 * What it is of.
 */
title: string, 
/**
 * Its columns.
 */
columns: Array<AddedColumn>, 
/**
 * Its rows, each with a cell for every column.
 */
rows: Array<Array<string>>, 
/**
 * Whether the last row is that of all others together.
 */
has_total: boolean, };

/**
 * Tables under a heading of their own.
 */
export type AddedTables = { 
/**
 * The heading.
 */
title: string, 
/**
 * What the program says of the test by its own rules; none if it does not judge it.
 */
verdicts: Array<AddedVerdict>, 
/**
 * The tables, in order.
 */
tables: Array<AddedTable>, };

/**
 * What a program says of a test by its own rules, in few words.
 */
export type AddedVerdict = { 
/**
 * What is judged: `Thresholds`, `Failed`.
 */
name: string, 
/**
 * What came of it: `2 of 3 crossed`.
 */
figure: string, 
/**
 * What there is to know about it: the names of those that were crossed.
 */
note: string, 
/**
 * Whether it is bad.
 */
is_bad: boolean, };

/**
 * What kind of answer a search has.
 */
export type AnswerKind = "found" | "at_least" | "nothing_holds" | "not_known";

/**
 * An axis.
 */
export type Axis = { 
/**
 * What it measures.
 */
title: string, 
/**
 * The unit of its numbers.
 */
unit: Unit, 
/**
 * Where a number stands on it.
 */
scale: Scale, 
/**
 * Whether it counts whole things, so that ticks stand at whole numbers.
 */
is_whole: boolean, 
/**
 * The lower and the upper end; `None` takes them from the numbers.
 */
ends: [number, number] | null, };

/**
 * What stands in a cell.
 */
export type Cell = number | string | null;

/**
 * A chart.
 */
export type Chart = { 
/**
 * What its files are called, without an ending: `response-time`. Unique on a page.
 */
name: string, 
/**
 * The title above the plot.
 */
title: string, 
/**
 * A sentence on what the chart shows; may be empty.
 */
note: string, 
/**
 * The axis from left to right.
 */
x: Axis, 
/**
 * The axis from bottom to top.
 */
y: Axis, 
/**
 * What is drawn. Later series lie above earlier ones.
 */
series: Array<Series>, 
/**
 * Drawn below the series.
 */
heatmap: Heatmap | null, 
/**
 * Places on the x axis that are pointed out, rising; drawn below the series.
 */
reference_lines: Array<ReferenceLine>, };

/**
 * A check, and its result.
 */
export type CheckRow = { 
/**
 * The condition as typed.
 */
text: string, 
/**
 * What the run says of it.
 */
outcome: Outcome, 
/**
 * What was measured.
 */
actual: string, 
/**
 * Why the run can't decide it, where it can't.
 */
why: string | null, };

/**
 * A column of the table.
 */
export type Column = { 
/**
 * Its name, as in `results.csv`: `avg_cpu`.
 */
name: string, 
/**
 * Its heading: `CPU`.
 */
title: string, 
/**
 * The unit of its numbers.
 */
unit: Unit, };

/**
 * Failures of one kind.
 */
export type ErrorRow = { 
/**
 * The kind.
 */
kind: string, 
/**
 * How many.
 */
count: number, 
/**
 * The message of the first of them; empty if it had none.
 */
example: string, 
/**
 * What to do.
 */
advice: string, };

/**
 * A name with a text.
 */
export type Fact = { 
/**
 * Its name; empty if it goes on from the one before.
 */
name: string, 
/**
 * Its text.
 */
text: string, };

/**
 * A figure that is shown large.
 */
export type Headline = { 
/**
 * What it is of.
 */
name: string, 
/**
 * The figure, formatted.
 */
figure: string, 
/**
 * What stands below it; empty if nothing does.
 */
note: string, 
/**
 * Whether it is good or bad; plain if it is neither.
 */
tone: Tone, };

/**
 * The responses of one interval of time.
 */
export type HeatColumn = { 
/**
 * When it began, in seconds from the end of warm-up.
 */
start_s: number, 
/**
 * When it ended.
 */
end_s: number, 
/**
 * The lowest row that is not empty.
 */
first_row: number, 
/**
 * The counts of that row and of those above it, up to the highest that is not empty.
 */
counts: Array<number>, };

/**
 * How many responses took how long, and when.
 */
export type Heatmap = { 
/**
 * The lower end of the lowest row, in microseconds.
 */
lowest_us: number, 
/**
 * How many times longer the upper end of a row is than its lower end.
 */
ratio: number, 
/**
 * How many rows there are.
 */
rows: number, 
/**
 * The columns, in the order of time.
 */
columns: Array<HeatColumn>, };

/**
 * How a series is drawn.
 */
export type Mark = "line" | "dashed" | "dots";

/**
 * A metric that a script counted by itself.
 */
export type MetricRow = { 
/**
 * Its name, with its tags.
 */
name: string, 
/**
 * What is made of its values: `trend`, `counter`, `rate` or `gauge`.
 */
kind: string, 
/**
 * Its figures by name; none without a value.
 */
figures: Array<Fact>, };

/**
 * The requests of one name.
 */
export type NameRow = { 
/**
 * The name.
 */
name: string, 
/**
 * Its numbers, in the order of the columns.
 */
cells: Array<string>, 
/**
 * Whether requests failed, or responses had a status of 400 or above.
 */
is_bad: boolean, };

/**
 * What a run says of a check.
 */
export type Outcome = "passed" | "failed" | "undecided";

/**
 * What a page shows.
 */
export type Page = { "kind": "run" } & RunPage | { "kind": "series" } & SeriesPage | { "kind": "study" } & StudyPage | { "kind": "search" } & SearchPage;

/**
 * A percentile of the response and the service time.
 */
export type PercentileRow = { 
/**
 * Its name, `p99.9`, or that of a moment: `mean`, `max`.
 */
name: string, 
/**
 * That of the response time.
 */
response: TimedFigure, 
/**
 * That of the service time.
 */
service: TimedFigure, };

/**
 * The ratio of B to A in a figure, as it is drawn.
 */
export type RatioBar = { 
/**
 * The figure's name.
 */
name: string, 
/**
 * B / A.
 */
ratio: number, 
/**
 * The lower end of its interval; `None` if that is not known.
 */
lower: number | null, 
/**
 * The upper end of its interval; `None` if that is not known.
 */
upper: number | null, 
/**
 * Whether B is better or worse in it; plain if that is not known.
 */
tone: Tone, 
/**
 * The ratio with its interval, formatted.
 */
text: string, };

/**
 * A place on the x axis that is pointed out: a dashed line from bottom to top.
 */
export type ReferenceLine = { 
/**
 * Where it stands.
 */
at: number, 
/**
 * From where to where it may lie: its confidence interval.
 */
band: [number, number] | null, 
/**
 * The words beside it.
 */
label: string, };

/**
 * A process tree or the machine.
 */
export type Resource = { 
/**
 * Its name: `generator`, `:8080 nginx`, `host`.
 */
name: string, 
/**
 * What is known of it, and what could not be read.
 */
notes: Array<string>, };

/**
 * The page of one run. Its sentences and formatted figures are those of the text report.
 */
export type RunPage = { 
/**
 * The version of the program that ran it.
 */
version: string, 
/**
 * When it started, in RFC 3339.
 */
started_at: string, 
/**
 * What was sent: `GET http://127.0.0.1:8080/`.
 */
title: string, 
/**
 * How much, in which model: `open loop: 2 000/s constant, 50 connections, …`.
 */
load: string, 
/**
 * The figures that a reader looks for first.
 */
headlines: Array<Headline>, 
/**
 * What was counted.
 */
facts: Array<Fact>, 
/**
 * The generator's machine.
 */
machine: Array<Fact>, 
/**
 * Whether the result can be believed.
 */
validity: ValidityText, 
/**
 * What to know before believing a figure.
 */
warnings: Array<string>, 
/**
 * The checks, and their results.
 */
checks: Array<CheckRow>, 
/**
 * What the response times count from.
 */
timed_from: string, 
/**
 * The percentiles of the response time.
 */
percentiles: Array<PercentileRow>, 
/**
 * The names of the columns of numbers by name, in the order of each row's cells.
 */
name_columns: Array<string>, 
/**
 * The requests by name, the most frequent name first; none where all have one name.
 */
names: Array<NameRow>, 
/**
 * What explains these rows.
 */
name_notes: Array<string>, 
/**
 * The metrics that a script counted by itself.
 */
metrics: Array<MetricRow>, 
/**
 * What explains these rows.
 */
metric_notes: Array<string>, 
/**
 * Responses by status.
 */
statuses: Array<StatusRow>, 
/**
 * Failures by kind.
 */
errors: Array<ErrorRow>, 
/**
 * The names of the columns of times, in the order of each row's cells.
 */
time_columns: Array<string>, 
/**
 * Where the time went.
 */
times: Array<TimeRow>, 
/**
 * What explains these rows.
 */
time_notes: Array<string>, 
/**
 * The processes and the machine that were watched.
 */
resources: Array<Resource>, 
/**
 * The tables that another program added.
 */
added: AddedTables | null, 
/**
 * The plots.
 */
plots: RunPlots, };

/**
 * The charts of a run.
 */
export type RunPlots = { 
/**
 * Where their series stand.
 */
shared_x: SharedX, 
/**
 * Rates and times of the requests.
 */
course: Array<Chart>, 
/**
 * What processes and the machine used.
 */
resources: Array<Chart>, };

/**
 * Where a number stands on an axis.
 */
export type Scale = "linear" | "log" | "percentile";

/**
 * The charts of two columns.
 */
export type ScatterPlots = { 
/**
 * Their heading.
 */
title: string, 
/**
 * A chart of all tools, then, if there are several, one for each.
 */
charts: Array<Chart>, };

/**
 * What was found, as a sentence.
 */
export type SearchAnswer = { 
/**
 * What kind of answer it is.
 */
kind: AnswerKind, 
/**
 * The answer, in few words: `load line: 4900 req/s (4880 … 4961)`.
 */
text: string, 
/**
 * What else there is to say of it: why it is no more, and what to do.
 */
detail: string, 
/**
 * What to know before believing it, each a sentence.
 */
notes: Array<string>, };

/**
 * The page of a search. Its sentences and formatted figures are those of the text report.
 */
export type SearchPage = { 
/**
 * The version of the program that searched.
 */
version: string, 
/**
 * When the first trial started, in RFC 3339.
 */
started_at: string, 
/**
 * What was sent: `GET http://127.0.0.1:8080/`.
 */
title: string, 
/**
 * What was searched, in how many trials, by which checks.
 */
course: string, 
/**
 * What was found.
 */
answer: SearchAnswer, 
/**
 * The headings of the trials' cells.
 */
columns: Array<string>, 
/**
 * What the target does around its load line, a trial for each part of it.
 */
ladder: Array<TrialRow>, 
/**
 * What there is to say of the ladder: whether the target recovered, and what excuses it.
 */
ladder_notes: Array<string>, 
/**
 * Every trial, in the order in which they were made.
 */
trials: Array<TrialRow>, 
/**
 * The plots of the trials.
 */
plots: SearchPlots, 
/**
 * What the generator's machine does at best, in a sentence, if it was measured.
 */
floor: string | null, 
/**
 * The generator's machine.
 */
machine: Array<Fact>, };

/**
 * The charts of a search.
 */
export type SearchPlots = { 
/**
 * Where their series stand.
 */
shared_x: SharedX, 
/**
 * The charts.
 */
charts: Array<Chart>, };

/**
 * Points that belong together.
 */
export type Series = { 
/**
 * Its name in the legend, unique in its chart.
 */
name: string, 
/**
 * Where its points stand: an index into the page's [`SharedX`].
 */
x: number, 
/**
 * The number at each of these places; `None` interrupts a line.
 */
y: Array<number | null>, 
/**
 * How it is drawn.
 */
mark: Mark, 
/**
 * Its colour, an index into the palette of seven. Larger ones begin anew with other marks:
 * dashed lines, rings in place of dots.
 */
colour: number, 
/**
 * Whether it is left out until the reader chooses it; files leave it out.
 */
is_hidden: boolean, };

/**
 * The page of repeats, of two sides that took turns, or of other runs of one file.
 */
export type SeriesPage = { 
/**
 * The version of the program that ran the first.
 */
version: string, 
/**
 * When the first started, in RFC 3339.
 */
started_at: string, 
/**
 * What was sent.
 */
title: string, 
/**
 * How much, in which model, and how many runs.
 */
load: string, 
/**
 * How the sides stand to each other, if there are two: what is to be read first.
 */
verdict: SeriesVerdict | null, 
/**
 * The figures of all runs together, if they belong together.
 */
together: Table | null, 
/**
 * What these figures say, and what to know about them.
 */
notes: Array<string>, 
/**
 * The checks, evaluated on all runs of each side together.
 */
checks: Array<CheckRow>, 
/**
 * The runs that may not be believed, and why.
 */
validity_findings: Array<string>, 
/**
 * The names of the cells of each run.
 */
columns: Array<string>, 
/**
 * Every run, in order.
 */
runs: Array<SeriesRun>, };

/**
 * One run of several.
 */
export type SeriesRun = { 
/**
 * Which one: `Run 3`, or `Run 3 (A)`.
 */
name: string, 
/**
 * Its figures, one for each column.
 */
cells: Array<string>, 
/**
 * Its own page.
 */
page: RunPage, };

/**
 * How two sides stand to each other.
 */
export type SeriesVerdict = { 
/**
 * Whether B is better or worse; plain if that is not known.
 */
tone: Tone, 
/**
 * The same as a sentence.
 */
text: string, 
/**
 * The ratio of B to A in each figure.
 */
ratios: Array<RatioBar>, };

/**
 * The x values of a page's charts. Series that stand at the same places share one entry, so that
 * a page holds the moments of a run once.
 */
export type SharedX = Array<XValues>;

/**
 * Responses of one status.
 */
export type StatusRow = { 
/**
 * The status.
 */
status: number, 
/**
 * How many.
 */
count: number, };

/**
 * The page of a study. Rows may be runs of any tool.
 */
export type StudyPage = { 
/**
 * The version of the program that wrote it.
 */
version: string, 
/**
 * When the first run started, in RFC 3339.
 */
started_at: string, 
/**
 * What was studied.
 */
title: string, 
/**
 * In a sentence or two what the study is for; may be empty.
 */
description: string, 
/**
 * How it was made: seed, order, pinning, machine.
 */
facts: Array<Fact>, 
/**
 * What a reader must know: tools that were missing, runs that failed.
 */
notes: Array<string>, 
/**
 * The table's columns, in order.
 */
columns: Array<Column>, 
/**
 * The table's rows, in order.
 */
rows: Array<StudyRow>, 
/**
 * The plots of these rows.
 */
plots: StudyPlots, };

/**
 * The charts of a study.
 */
export type StudyPlots = { 
/**
 * Where their series stand.
 */
shared_x: SharedX, 
/**
 * Columns against each other.
 */
scatters: Array<ScatterPlots>, 
/**
 * Each measure over time, a series for each run that has it. The reader chooses among the
 * runs; those that are shown at first are the first of each tool, of five tools at most.
 */
timelines: Array<Chart>, };

/**
 * A run in the table.
 */
export type StudyRow = { 
/**
 * The tool that ran it, or what else plots tell apart: the colour of its dots.
 */
tool: string, 
/**
 * A short name, unique in the study: `wrk 5/100/120`.
 */
name: string, 
/**
 * A cell for each column.
 */
cells: Array<Cell>, 
/**
 * Whether it can't be believed, or failed: then why, in a sentence.
 */
finding: string | null, };

/**
 * A table of formatted figures.
 */
export type Table = { 
/**
 * What it is of.
 */
caption: string, 
/**
 * The names of the cells.
 */
columns: Array<string>, 
/**
 * A line for each figure.
 */
rows: Array<TableRow>, };

/**
 * A line of a table.
 */
export type TableRow = { 
/**
 * The figure's name.
 */
name: string, 
/**
 * Its values, one for each column.
 */
cells: Array<string>, };

/**
 * One part of the time that exchanges took.
 */
export type TimeRow = { 
/**
 * Which part.
 */
name: string, 
/**
 * Whether it is a part of the service time.
 */
within_service: boolean, 
/**
 * How many samples there are.
 */
count: number, 
/**
 * Its formatted times, one for each of the page's `time_columns`.
 */
cells: Array<string>, 
/**
 * The mean in microseconds.
 */
mean_us: number, };

/**
 * A formatted time.
 */
export type TimedFigure = { 
/**
 * The time in microseconds; `None` if there are too few samples for it.
 */
us: number | null, 
/**
 * Whether the time is a lower bound.
 */
at_least: boolean, 
/**
 * The formatted time, or how many samples it needs.
 */
text: string, 
/**
 * Its formatted 95 % interval, if there is one.
 */
interval: string | null, };

/**
 * The colour and the sign of a statement.
 */
export type Tone = "good" | "plain" | "doubtful" | "bad";

/**
 * The result of a trial.
 */
export type TrialEnd = "passed" | "failed" | "discarded" | "warm_up";

/**
 * A trial, in a table and in plots.
 */
export type TrialRow = { 
/**
 * Its number, from 1.
 */
number: number, 
/**
 * What it was for: `search`, `90 %`.
 */
purpose: string, 
/**
 * The part of the search that it belongs to: `warm-up`, `search`, `confirmation` or `ladder`.
 */
stretch: string, 
/**
 * The rate per second, or the number of users, that was asked for. All digits: a search may be
 * more precise than four.
 */
level: number, 
/**
 * The median of the response time in microseconds; `None` if nothing was answered.
 */
p50_us: number | null, 
/**
 * Whether that is a lower bound.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time in microseconds; `None` if nothing was answered.
 */
p99_us: number | null, 
/**
 * Whether that is a lower bound.
 */
p99_at_least: boolean, 
/**
 * The level and what was measured, formatted.
 */
cells: Array<string>, 
/**
 * Its result, as plots show it.
 */
ended: TrialEnd, 
/**
 * Its result, as text.
 */
text: string, };

/**
 * The unit of numbers. Renderers scale it: 1500 µs may be shown as 1.5 ms.
 */
export type Unit = "text" | "count" | "per_second" | "percent" | "bytes" | "bytes_per_second" | "us" | "seconds";

/**
 * Whether a result can be believed, as sentences.
 */
export type ValidityText = { 
/**
 * The colour and the sign of its box.
 */
tone: Tone, 
/**
 * How far the result can be believed, as a sentence.
 */
claim: string, 
/**
 * Why not, each a sentence that ends in what to do.
 */
findings: Array<string>, };

/**
 * The x values of one or more series.
 */
export type XValues = { 
/**
 * The values, rising.
 */
values: Array<number>, 
/**
 * What stands at each value, where that has a name; else empty.
 */
names: Array<string>, };
