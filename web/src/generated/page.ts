// Generated from the types in crates/page. Do not edit; to write it anew:
// GENERATE=1 cargo test -p loadline-page typescript

/**
 * A column of a table that was added.
 */
export type AddedColumn = { 
/**
 * The heading of the column.
 */
name: string, 
/**
 * True if the cells are numbers.
 */
is_number: boolean, };

/**
 * A table that was added.
 */
export type AddedTable = { 
/**
 * The heading of the table.
 */
title: string, 
/**
 * The columns.
 */
columns: Array<AddedColumn>, 
/**
 * The rows, each with a cell for every column.
 */
rows: Array<Array<string>>, 
/**
 * True if the last row is the total of all others.
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
 * The program's own verdicts on the test; empty if it does not judge it.
 */
verdicts: Array<AddedVerdict>, 
/**
 * The tables, in order.
 */
tables: Array<AddedTable>, };

/**
 * A program's verdict on a test by its own rules, in few words.
 */
export type AddedVerdict = { 
/**
 * The subject of the verdict: `Thresholds`, `Failed`.
 */
name: string, 
/**
 * The result: `2 of 3 crossed`.
 */
figure: string, 
/**
 * Details of the result: the names of the thresholds that were crossed.
 */
note: string, 
/**
 * True if the result is bad.
 */
is_bad: boolean, };

/**
 * What is known of a run beside its baseline.
 */
export type Against = { 
/**
 * The name of the baseline.
 */
baseline: string, 
/**
 * The colour of the conclusion.
 */
tone: Tone, 
/**
 * The conclusion, as a sentence.
 */
claim: string, 
/**
 * All requests, then each name; empty before the first look.
 */
rows: Array<AgainstRow>, 
/**
 * What the figures apply to, and what is left out.
 */
notes: Array<string>, };

/**
 * A figure of both runs, formatted.
 */
export type AgainstFigure = { 
/**
 * The name of the figure: `p99`, `rate`.
 */
figure: string, 
/**
 * The figure of the baseline.
 */
base: string, 
/**
 * The figure of this run.
 */
with: string, 
/**
 * This run over the baseline.
 */
ratio: string, 
/**
 * The interval of the ratio.
 */
interval: string, 
/**
 * The conclusion from the interval.
 */
relation: Relation, };

/**
 * Requests of both runs, compared.
 */
export type AgainstRow = { 
/**
 * The name of the requests.
 */
name: string, 
/**
 * The conclusion from all figures.
 */
relation: Relation, 
/**
 * The figures.
 */
figures: Array<AgainstFigure>, };

/**
 * The kind of a search's answer.
 */
export type AnswerKind = "found" | "at_least" | "nothing_holds" | "not_known";

/**
 * An axis.
 */
export type Axis = { 
/**
 * The label of the axis.
 */
title: string, 
/**
 * The unit of its numbers.
 */
unit: Unit, 
/**
 * The mapping from numbers to positions.
 */
scale: Scale, 
/**
 * True if the axis counts whole things, so that ticks stand at whole numbers.
 */
is_whole: boolean, 
/**
 * The lower and the upper end; `None` takes them from the data.
 */
ends: [number, number] | null, };

/**
 * The content of a cell.
 */
export type Cell = number | string | null;

/**
 * A chart.
 */
export type Chart = { 
/**
 * The name of the chart's files, without an ending: `response-time`. Unique on a page.
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
 * The series. Later series lie above earlier ones.
 */
series: Array<Series>, 
/**
 * A heatmap below the series.
 */
heatmap: Heatmap | null, 
/**
 * Marked positions on the x axis, in rising order; drawn below the series.
 */
reference_lines: Array<ReferenceLine>, };

/**
 * A check and its result.
 */
export type CheckRow = { 
/**
 * The condition as typed.
 */
text: string, 
/**
 * The outcome of the check.
 */
outcome: Outcome, 
/**
 * The measured figure, formatted.
 */
actual: string, 
/**
 * The reason why the run cannot decide the check; `None` if it can.
 */
why: string | null, };

/**
 * A column of the table.
 */
export type Column = { 
/**
 * The name of the column, as in `results.csv`: `avg_cpu`.
 */
name: string, 
/**
 * The heading of the column: `CPU`.
 */
title: string, 
/**
 * The unit of the numbers.
 */
unit: Unit, };

/**
 * A response that reports an error, as an example of all with its name and status.
 */
export type ErrorResponseRow = { 
/**
 * The status.
 */
status: number, 
/**
 * True if a script rejected it, whatever its status.
 */
is_rejected: boolean, 
/**
 * The name; empty if all requests have the same.
 */
name: string, 
/**
 * The number of responses with this name and status; of rejected ones with this name.
 */
count: number, 
/**
 * The formatted instant of its end.
 */
at: string, 
/**
 * The beginning of its body as text; may be empty.
 */
body: string, 
/**
 * True if the body was longer.
 */
is_cut: boolean, };

/**
 * Failures of one kind.
 */
export type ErrorRow = { 
/**
 * The kind.
 */
kind: string, 
/**
 * The number of failures.
 */
count: number, 
/**
 * The message of the first failure; empty if it had none.
 */
example: string, 
/**
 * The advice: what to do.
 */
advice: string, };

/**
 * An exception that nothing in a script handled, as often as it occurred.
 */
export type ExceptionRow = { 
/**
 * The name of its class; empty if it has none.
 */
kind: string, 
/**
 * The message of the first one.
 */
message: string, 
/**
 * The number of times that it occurred.
 */
count: number, 
/**
 * The formatted instant from which on it occurred.
 */
at: string, 
/**
 * The agents or processes in which it occurred; empty if there is one process alone.
 */
parts: string, 
/**
 * The stack; may be empty.
 */
trace: string, };

/**
 * A name with a text.
 */
export type Fact = { 
/**
 * The name; empty if the text continues the fact before.
 */
name: string, 
/**
 * The text.
 */
text: string, };

/**
 * A figure in large type.
 */
export type Headline = { 
/**
 * The name of the figure.
 */
name: string, 
/**
 * The figure, formatted.
 */
figure: string, 
/**
 * The text below the figure; may be empty.
 */
note: string, 
/**
 * The rating of the figure; plain if it is neither good nor bad.
 */
tone: Tone, };

/**
 * The responses of one interval of time.
 */
export type HeatColumn = { 
/**
 * The beginning of the interval, in seconds from the end of warm-up.
 */
start_s: number, 
/**
 * The end of the interval, in seconds from the end of warm-up.
 */
end_s: number, 
/**
 * The lowest row that is not empty.
 */
first_row: number, 
/**
 * The counts of the rows from `first_row` up to the highest that is not empty.
 */
counts: Array<number>, };

/**
 * The number of responses by time and response time.
 */
export type Heatmap = { 
/**
 * The lower end of the lowest row, in microseconds.
 */
lowest_us: number, 
/**
 * The ratio of the upper end of a row to its lower end.
 */
ratio: number, 
/**
 * The number of rows.
 */
rows: number, 
/**
 * The columns, in chronological order.
 */
columns: Array<HeatColumn>, };

/**
 * The page of a run that goes on. It asks its server for the rest: a [`RunPage`](crate::RunPage)
 * with what it shows so far, and once a second what changed.
 */
export type LivePage = { 
/**
 * The version of the program that serves it.
 */
version: string, };

/**
 * The mark of a series.
 */
export type Mark = "line" | "dashed" | "dots";

/**
 * A metric that a script counted by itself.
 */
export type MetricRow = { 
/**
 * The name of the metric, with its tags.
 */
name: string, 
/**
 * The kind of the metric: `trend`, `counter`, `rate` or `gauge`.
 */
kind: string, 
/**
 * The figures of the metric by name; empty without a value.
 */
figures: Array<Fact>, };

/**
 * The requests of all names that begin alike, together.
 */
export type NameGroup = { 
/**
 * The beginning of their names.
 */
prefix: string, 
/**
 * The number of names.
 */
names: number, 
/**
 * The numbers of the group, in the order of the columns.
 */
cells: Array<string>, 
/**
 * True if a request failed, or a response had a status of 400 or above.
 */
is_bad: boolean, };

/**
 * The requests of one name.
 */
export type NameRow = { 
/**
 * The name.
 */
name: string, 
/**
 * The numbers of the name, in the order of the columns.
 */
cells: Array<string>, 
/**
 * True if requests failed, or responses had a status of 400 or above.
 */
is_bad: boolean, 
/**
 * Responses per second in each part of the run, all of the same length but for the last; empty
 * if the course of the name is not kept.
 */
course: Array<number>, };

/**
 * A note on the course of a run.
 */
export type NoteRow = { 
/**
 * The instant, in seconds from the beginning of the measured part; negative in the warm-up.
 */
at_s: number, 
/**
 * The formatted instant.
 */
at: string, 
/**
 * The text.
 */
text: string, 
/**
 * True if a person wrote it; false if it follows from the record.
 */
is_written: boolean, };

/**
 * The outcome of a check.
 */
export type Outcome = "passed" | "failed" | "undecided";

/**
 * The data of a page.
 */
export type Page = { "kind": "run" } & RunPage | { "kind": "series" } & SeriesPage | { "kind": "study" } & StudyPage | { "kind": "search" } & SearchPage | { "kind": "live" } & LivePage;

/**
 * A percentile of the response time and of the service time.
 */
export type PercentileRow = { 
/**
 * The name of the percentile, `p99.9`, or of another statistic: `mean`, `max`.
 */
name: string, 
/**
 * The figure of the response time.
 */
response: TimedFigure, 
/**
 * The figure of the service time.
 */
service: TimedFigure, };

/**
 * The ratio of B to A for one figure, as it is drawn.
 */
export type RatioBar = { 
/**
 * The name of the figure.
 */
name: string, 
/**
 * B / A.
 */
ratio: number, 
/**
 * The lower end of the ratio's interval; `None` if unknown.
 */
lower: number | null, 
/**
 * The upper end of the ratio's interval; `None` if unknown.
 */
upper: number | null, 
/**
 * The rating of B in this figure; plain if it is unknown.
 */
tone: Tone, 
/**
 * The ratio with its interval, formatted.
 */
text: string, };

/**
 * A marked position on the x axis: a dashed line from bottom to top.
 */
export type ReferenceLine = { 
/**
 * The position.
 */
at: number, 
/**
 * The confidence interval of the position: its lower and upper end.
 */
band: [number, number] | null, 
/**
 * The text next to the line.
 */
label: string, };

/**
 * The relation of this run to its baseline.
 */
export type Relation = "faster" | "slower" | "open";

/**
 * A process tree or the machine.
 */
export type Resource = { 
/**
 * The name of the tree or of the machine: `generator`, `:8080 nginx`, `host`.
 */
name: string, 
/**
 * Notes on it, and the figures that could not be read.
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
 * The start of the run, in RFC 3339.
 */
started_at: string, 
/**
 * The request: `GET http://127.0.0.1:8080/`.
 */
title: string, 
/**
 * The load and its model: `open loop: 2 000/s constant, 50 connections, …`.
 */
load: string, 
/**
 * The most important figures.
 */
headlines: Array<Headline>, 
/**
 * The counts.
 */
facts: Array<Fact>, 
/**
 * The generator's machine.
 */
machine: Array<Fact>, 
/**
 * The validity of the result.
 */
validity: ValidityText, 
/**
 * Warnings about the figures.
 */
warnings: Array<string>, 
/**
 * The checks and their results.
 */
checks: Array<CheckRow>, 
/**
 * The notes on its course, in chronological order.
 */
notes: Array<NoteRow>, 
/**
 * The run beside its baseline, if it was compared while it went on.
 */
against: Against | null, 
/**
 * The event that response times start from, in words.
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
 * The requests by name, the most frequent name first; empty if all have one name.
 */
names: Array<NameRow>, 
/**
 * The groups of names that begin alike; empty if there are few names, or none that do.
 */
name_groups: Array<NameGroup>, 
/**
 * Explanations of the rows by name.
 */
name_notes: Array<string>, 
/**
 * The metrics that a script counted by itself.
 */
metrics: Array<MetricRow>, 
/**
 * Explanations of the metrics.
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
 * Responses that report errors, each as an example of its status; empty if they were not kept.
 */
error_responses: Array<ErrorResponseRow>, 
/**
 * Exceptions that nothing in a script handled.
 */
exceptions: Array<ExceptionRow>, 
/**
 * The sentence about exceptions that have no row; empty if there are none.
 */
exceptions_left_out: string, 
/**
 * The names of the columns of times, in the order of each row's cells.
 */
time_columns: Array<string>, 
/**
 * The times of the parts of an exchange.
 */
times: Array<TimeRow>, 
/**
 * Explanations of the times.
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
 * The x values of the series.
 */
shared_x: SharedX, 
/**
 * Rates and times of the requests.
 */
course: Array<Chart>, 
/**
 * The usage of processes and of the machine.
 */
resources: Array<Chart>, 
/**
 * Sentences about how long the points are, where they are longer than an interval.
 */
notes?: Array<string>, };

/**
 * The mapping from numbers to positions on an axis.
 */
export type Scale = "linear" | "log" | "percentile";

/**
 * The charts of two columns.
 */
export type ScatterPlots = { 
/**
 * The heading of the charts.
 */
title: string, 
/**
 * A chart of all tools and, if there are several tools, one for each of them.
 */
charts: Array<Chart>, };

/**
 * The result of a search, as sentences.
 */
export type SearchAnswer = { 
/**
 * The kind of answer.
 */
kind: AnswerKind, 
/**
 * The answer, in few words: `load line: 4900 req/s (4880 … 4961)`.
 */
text: string, 
/**
 * Details: the reason why the answer is no higher, and what to do.
 */
detail: string, 
/**
 * Warnings about the answer, each a sentence.
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
 * The start of the first trial, in RFC 3339.
 */
started_at: string, 
/**
 * The request: `GET http://127.0.0.1:8080/`.
 */
title: string, 
/**
 * The searched quantity, the number of trials and the checks, in a sentence.
 */
course: string, 
/**
 * The result of the search.
 */
answer: SearchAnswer, 
/**
 * The headings of the trials' cells.
 */
columns: Array<string>, 
/**
 * The trials around the load line, one for each rung of the ladder.
 */
ladder: Array<TrialRow>, 
/**
 * Notes on the ladder: the recovery of the target, and limits of the generator or its machine.
 */
ladder_notes: Array<string>, 
/**
 * Every trial, in chronological order.
 */
trials: Array<TrialRow>, 
/**
 * The plots of the trials.
 */
plots: SearchPlots, 
/**
 * The best result that the generator's machine reaches, in a sentence; `None` if it was not
 * measured.
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
 * The x values of the series.
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
 * The name in the legend, unique in its chart.
 */
name: string, 
/**
 * The x values of the points, as an index into the page's [`SharedX`].
 */
x: number, 
/**
 * The y value for each x value; `None` interrupts a line.
 */
y: Array<number | null>, 
/**
 * The mark that the series is drawn with.
 */
mark: Mark, 
/**
 * The colour, as an index into the palette of seven. Higher indices reuse the colours with
 * other marks: dashed lines, rings instead of dots.
 */
colour: number, 
/**
 * True if the series is left out until the reader selects it; files leave it out.
 */
is_hidden: boolean, };

/**
 * The page of repeats, of two sides that took turns, or of other runs of one file.
 */
export type SeriesPage = { 
/**
 * The version of the program that made the first run.
 */
version: string, 
/**
 * The start of the first run, in RFC 3339.
 */
started_at: string, 
/**
 * The request.
 */
title: string, 
/**
 * The load, its model, and the number of runs.
 */
load: string, 
/**
 * The comparison of both sides, if there are two.
 */
verdict: SeriesVerdict | null, 
/**
 * The figures of all runs together, if the runs belong together.
 */
together: Table | null, 
/**
 * Conclusions from these figures, and warnings about them.
 */
notes: Array<string>, 
/**
 * The checks, evaluated on all runs of each side together.
 */
checks: Array<CheckRow>, 
/**
 * The runs with doubtful validity, and the reasons.
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
 * The name of the run: `Run 3`, or `Run 3 (A)`.
 */
name: string, 
/**
 * The figures of the run, one for each column.
 */
cells: Array<string>, 
/**
 * The page of the run.
 */
page: RunPage, };

/**
 * The result of a comparison of two sides.
 */
export type SeriesVerdict = { 
/**
 * The rating of B relative to A; plain if it is unknown.
 */
tone: Tone, 
/**
 * The result as a sentence.
 */
text: string, 
/**
 * The ratio of B to A for each figure.
 */
ratios: Array<RatioBar>, };

/**
 * The x values of a page's charts. Series with equal x values share one entry, so that a page
 * holds the times of a run once.
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
 * The number of responses.
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
 * The start of the first run, in RFC 3339.
 */
started_at: string, 
/**
 * The title of the study.
 */
title: string, 
/**
 * The purpose of the study in a sentence or two; may be empty.
 */
description: string, 
/**
 * The conditions of the study: seed, order, pinning, machine.
 */
facts: Array<Fact>, 
/**
 * Notes for the reader: tools that were missing, runs that failed.
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
 * The x values of the series.
 */
shared_x: SharedX, 
/**
 * The charts of pairs of columns.
 */
scatters: Array<ScatterPlots>, 
/**
 * Each measure over time, with a series for each run that has it. The reader selects runs;
 * shown at first is the first run of each tool, of at most five tools.
 */
timelines: Array<Chart>, };

/**
 * A run in the table.
 */
export type StudyRow = { 
/**
 * The tool that made the run, or another attribute that plots distinguish by colour.
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
 * The reason why the run is invalid or failed, in a sentence; `None` if there is no such
 * reason.
 */
finding: string | null, };

/**
 * A table of formatted figures.
 */
export type Table = { 
/**
 * The title of the table.
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
 * The name of the figure.
 */
name: string, 
/**
 * The values, one for each column.
 */
cells: Array<string>, };

/**
 * The times of one part of the exchanges.
 */
export type TimeRow = { 
/**
 * The name of the part.
 */
name: string, 
/**
 * True if it is a part of the service time.
 */
within_service: boolean, 
/**
 * The number of samples.
 */
count: number, 
/**
 * The formatted times, one for each of the page's `time_columns`.
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
 * True if the time is a lower bound.
 */
at_least: boolean, 
/**
 * The formatted time, or the number of samples that it needs.
 */
text: string, 
/**
 * The formatted 95 % interval, if there is one.
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
 * The number of the trial, from 1.
 */
number: number, 
/**
 * The purpose of the trial: `search`, `90 %`.
 */
purpose: string, 
/**
 * The part of the search: `warm-up`, `search`, `confirmation` or `ladder`.
 */
stretch: string, 
/**
 * The planned rate per second or number of users, with all digits: a search may be more
 * precise than four digits.
 */
level: number, 
/**
 * The median of the response time in microseconds; `None` without a response.
 */
p50_us: number | null, 
/**
 * True if `p50_us` is a lower bound.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time in microseconds; `None` without a response.
 */
p99_us: number | null, 
/**
 * True if `p99_us` is a lower bound.
 */
p99_at_least: boolean, 
/**
 * The level and the measured figures, formatted.
 */
cells: Array<string>, 
/**
 * The result, as plots show it.
 */
ended: TrialEnd, 
/**
 * The result, as text.
 */
text: string, };

/**
 * The unit of numbers. Renderers scale it: 1500 µs may be shown as 1.5 ms.
 */
export type Unit = "text" | "count" | "per_second" | "percent" | "bytes" | "bytes_per_second" | "us" | "seconds";

/**
 * The validity of a result, as sentences.
 */
export type ValidityText = { 
/**
 * The colour and the sign of the box.
 */
tone: Tone, 
/**
 * The conclusion, as a sentence.
 */
claim: string, 
/**
 * The findings, each a sentence that ends in advice.
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
 * The name of each value; empty if the values have no names.
 */
names: Array<string>, };
