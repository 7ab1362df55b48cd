// Generated from the types in crates/live-page. Do not edit; write it by
// GENERATE=1 cargo test -p loadline-live-page typescript

/**
 * An agent of a run that goes on. Counts are those so far; rates and times are those of the latest
 * interval.
 */
export type AgentSoFar = { 
/**
 * Its name.
 */
name: string, 
/**
 * True if it told nothing of the latest interval: it is late, lost or has ended.
 */
is_silent: boolean, 
/**
 * Requests with a whole response.
 */
answered: number, 
/**
 * Requests without one; null if that is not known: of more than 64 agents each is known by its
 * responses alone.
 */
failed: number | null, 
/**
 * Responses per second.
 */
rate_per_s: number, 
/**
 * The median of the response time, in microseconds.
 */
p50_us: number | null, 
/**
 * The 99th percentile of the response time, in microseconds.
 */
p99_us: number | null, 
/**
 * The 99th percentile of the delay that it added itself, in microseconds.
 */
lateness_p99_us: number | null, };

/**
 * A band of a percentile. While the run lasts it is made anew each time that the run has grown by
 * a quarter, and holds the true percentile at 95 % for all of these looks together. When the run
 * has ended, it is the 95 % interval of the report.
 */
export type Band = { 
/**
 * The lower end, in microseconds.
 */
lower_us: number, 
/**
 * The upper end, in microseconds; null if it is unknown: too few responses are that slow, or
 * requests are waiting that may exceed it.
 */
upper_us: number | null, 
/**
 * The length of the run when it was made, in seconds.
 */
as_of_s: number, };

/**
 * The part in which most of the time of a slow request passed.
 */
export type Cause = "target" | "generator" | "connections";

/**
 * A check as it stands.
 */
export type CheckSoFar = { 
/**
 * Its condition, as typed.
 */
check: string, 
/**
 * The outcome if the run ended now: `passed`, `failed` or `undecided`.
 */
outcome: string, 
/**
 * The outcome that is proven, `passed` or `failed`, however long the run goes on: at 99 %
 * for all checks together, as `--until decided` decides it. Null while that is open; some
 * checks are decided at the end only. A check that was added is never proven before the end.
 */
proven: string | null, 
/**
 * The time until it is proven if the run goes on as it did, in seconds from now. Null if it is
 * proven, if only the end decides it, before the 30th second, or if it would take very long.
 */
more_s: number | null, 
/**
 * The instant at which it was added on the page, in seconds of the measured part; null for a
 * check of the plan. What was added is on the page alone: no report and no exit code has it.
 */
added_at_s: number | null, };

/**
 * A comparison of two saved runs.
 */
export type Compared = { 
/**
 * The report of `loadline compare`.
 */
text: string, };

/**
 * The command line of a run.
 */
export type Composed = { 
/**
 * The command line, as it is typed in a shell in the page's folder.
 */
command: string, 
/**
 * The name of the saved run.
 */
save: string, };

/**
 * The CPU of a tree of processes.
 */
export type CpuShare = { 
/**
 * The name of the tree: `generator`, `:8080`.
 */
name: string, 
/**
 * The CPU, in percent of one core.
 */
percent: number, };

/**
 * A saved run in the folder.
 */
export type EarlierRun = { 
/**
 * The name of the file.
 */
name: string, 
/**
 * The time of its start, in RFC 3339.
 */
started_at: string, 
/**
 * The requests, in words.
 */
title: string, 
/**
 * The load.
 */
load: string, 
/**
 * Its length, in seconds.
 */
duration_s: number, 
/**
 * Responses per second.
 */
rate_per_s: number, 
/**
 * The 99th percentile of the response time, in microseconds.
 */
p99_us: number | null, 
/**
 * The share of requests without a response, in percent; null if none was sent.
 */
failed_percent: number | null, 
/**
 * `nothing was sent` or `nothing was answered` of a run without any response; null of others.
 */
unanswered: string | null, 
/**
 * `valid`, `suspect` or `invalid`.
 */
validity: string, 
/**
 * The outcome of its checks: `passed`, `failed` or `undecided`; null without a check.
 */
checks: string | null, };

/**
 * The changes of a second. Sent as `interval`, and as `over` when nothing follows.
 */
export type Event = { 
/**
 * The changes of the page since the event before.
 */
page: Patch, 
/**
 * The lines that the script has written since the event before, the latest 200; absent if
 * there are none. With the phase `preparing` the log begins anew.
 */
log?: Array<string>, 
/**
 * The changes of the search; absent if there are none.
 */
search?: Patch, 
/**
 * The number of the event, or of the last one that is part of the state. The next event has
 * the next number.
 */
number: number, 
/**
 * The phase of the run.
 */
phase: Phase, 
/**
 * True if no run and no event follows.
 */
is_over: boolean, 
/**
 * True if the run is one of a series, and another one follows it.
 */
has_more: boolean, 
/**
 * True if runs are started from this page.
 */
starts: boolean, 
/**
 * True if a run can be started from this page now.
 */
can_start: boolean, 
/**
 * The reason why the last run that was started from this page could not be made, as a
 * sentence; null if it was.
 */
problem: string | null, 
/**
 * The load.
 */
load: Load, 
/**
 * The figures of the latest second, and counts so far.
 */
figures: Figures, 
/**
 * The paths of the files that can be downloaded: the reports of the last run that has ended.
 */
files: Array<string>, 
/**
 * The name of the baseline that runs are compared with; null if there is none.
 */
baseline: string | null, 
/**
 * True if the run has something to decide while it lasts: checks, or the comparison with a
 * baseline.
 */
can_decide: boolean, 
/**
 * True if the run is stopped as soon as that is decided.
 */
stops_when_decided: boolean, };

/**
 * Figures for programs and for large type. Counts are those of the measured part so far; rates
 * and times are those of the latest interval.
 */
export type Figures = { 
/**
 * The length of the measured part so far, in seconds.
 */
elapsed_s: number, 
/**
 * The planned length of the measured part, in seconds, if time ends it.
 */
planned_s: number | null, 
/**
 * Arrivals that fell due; in a closed load equal to `sent`.
 */
planned: number, 
/**
 * Requests sent.
 */
sent: number, 
/**
 * Requests with a whole response.
 */
answered: number, 
/**
 * Requests without one.
 */
failed: number, 
/**
 * Requests with a whole response that a script rejected.
 */
rejected: number, 
/**
 * Requests in flight at the end of the interval.
 */
in_flight: number, 
/**
 * Responses per second.
 */
rate_per_s: number, 
/**
 * Intended arrivals per second of an open load.
 */
asked_per_s: number | null, 
/**
 * The median of the response time, in microseconds.
 */
p50_us: number | null, 
/**
 * The 95th percentile of the response time, in microseconds.
 */
p95_us: number | null, 
/**
 * The 99th percentile of the response time, in microseconds.
 */
p99_us: number | null, 
/**
 * The validity of the result if the run ended now: `valid`, `suspect` or `invalid`.
 */
validity: string, 
/**
 * The checks as they stand.
 */
checks: Array<CheckSoFar>, 
/**
 * The agents that send the load, by name; empty if this machine sends it. Of more than 64
 * those that are silent, and the first ones of the others; `agents` has all.
 */
agents: Array<AgentSoFar>, 
/**
 * The number of all agents.
 */
agents_total: number, 
/**
 * Percentiles of the response time of the whole run so far, in rising order: the 50th, the
 * 90th, the 99th, and those that checks are on, if there are enough responses.
 */
percentiles: Array<PercentileSoFar>, };

/**
 * The kind of a file that describes a run.
 */
export type FileKind = "plan" | "k6" | "locust";

/**
 * A level of the load.
 */
export type LevelNow = { 
/**
 * The unit of the number.
 */
unit: LevelUnit, 
/**
 * The number.
 */
number: number, };

/**
 * The unit of a level's number.
 */
export type LevelUnit = "percent" | "rate" | "users";

/**
 * The load of a run.
 */
export type Load = { 
/**
 * The last change, in words; null while the load is as planned.
 */
level: string | null, 
/**
 * The load since the last change of the whole; null while it is as planned, or paused.
 */
now: LevelNow | null, 
/**
 * True while it is paused.
 */
is_paused: boolean, 
/**
 * True if it can be paused.
 */
can_pause: boolean, 
/**
 * The units of the levels to which it can be changed; empty if it stays as planned.
 */
levels: Array<LevelUnit>, 
/**
 * True if its users start and stop at a rate, which a change of their number may set.
 */
spawns: boolean, 
/**
 * The planned number of its users; null of an open load, and of several scenarios.
 */
users: number | null, 
/**
 * The names of its scenarios, in the order of the plan; empty if there is only one.
 */
scenarios: Array<string>, };

/**
 * The course of one name over a run.
 */
export type NameCourse = { 
/**
 * The name, as the table by name has it.
 */
name: string, 
/**
 * The plots of its rate, failures and response times. Their shape follows the page.
 */
plots: unknown, };

/**
 * A baseline that is to be chosen.
 */
export type NewBaseline = { 
/**
 * The name of a saved run; null for none.
 */
name: string | null, };

/**
 * A check that is to be added while the run lasts.
 */
export type NewCheck = { 
/**
 * The condition, as on the command line: `p99<300ms`.
 */
check: string, };

/**
 * A change of the end of a run: as soon as it is decided, or as it was planned.
 */
export type NewEnd = { 
/**
 * True if it is, false if it is not any more.
 */
when_decided: boolean, };

/**
 * A level to which the load is to be changed: one of the three.
 */
export type NewLevel = { 
/**
 * A share of the plan, in percent: 100 is the load as planned.
 */
percent?: number, 
/**
 * A rate of arrivals, as on the command line: `500` or `30/m`. For open loads.
 */
rate?: number | string, 
/**
 * A number of users. For closed loads.
 */
users?: number, 
/**
 * The users that start or stop each second, where users are spawned; without it as many as
 * the test says.
 */
spawn_rate?: number, 
/**
 * The scenario whose number of users changes, where there are several.
 */
scenario?: string, };

/**
 * A note that is to be written on the run.
 */
export type NewNote = { 
/**
 * The instant that it is about, in seconds of the measured part; without it now.
 */
at_s?: number, 
/**
 * The text, one line; at most 500 characters are kept.
 */
text: string, };

/**
 * A run that is to be started: the words of a command line, as typed. What is left empty is not
 * said.
 */
export type NewRun = { 
/**
 * The target: a URL, or one of the files that are offered.
 */
target: string, 
/**
 * The number of users: connections of a closed load, virtual users of a script.
 */
users?: string, 
/**
 * The rate of an open load, such as `500`. For URLs and plan files.
 */
rate?: string, 
/**
 * Stages, such as `10s:100,1m:100`. Not for locustfiles.
 */
stages?: string, 
/**
 * The length, such as `30s`.
 */
duration?: string, 
/**
 * Checks, such as `p99<50ms`. Not for scripts of k6, which have thresholds.
 */
checks?: Array<string>, 
/**
 * The host of a locustfile.
 */
host?: string, 
/**
 * The users that a locustfile starts each second.
 */
spawn_rate?: string, 
/**
 * The classes of users of a locustfile; without one all.
 */
classes?: Array<string>, 
/**
 * Options that a locustfile adds, each as `NAME=value`, or as `NAME` for one without a value.
 */
options?: Array<string>, 
/**
 * Variables of a script of k6, each as `NAME=value`.
 */
variables?: Array<string>, 
/**
 * True to search for the load line of a URL or plan file: the length is the limit of the whole
 * search then, which decides the load itself.
 */
search: boolean, 
/**
 * The name of the saved run; without one there is a new one.
 */
save?: string, };

/**
 * The runs that can be started from this page.
 */
export type Offer = { 
/**
 * The folder, as its user knows it.
 */
folder: string, 
/**
 * The plan files and scripts in it.
 */
files: Array<OfferedFile>, 
/**
 * The file that the page was opened for, if it was opened for one.
 */
chosen: string | null, };

/**
 * A file that describes a run.
 */
export type OfferedFile = { 
/**
 * The name of the file.
 */
name: string, 
/**
 * The kind of the file.
 */
kind: FileKind, };

/**
 * What changed in a value. Nothing did if it is empty.
 */
export type Patch = { 
/**
 * The new value, instead of the old one. If it is there, nothing else is.
 */
set?: unknown, 
/**
 * What changed in members of the object, or in elements of the list, by name or index.
 */
in?: { [key in string]: Patch }, 
/**
 * Elements that are appended to the list.
 */
add?: unknown[], };

/**
 * A percentile of the response time of the run so far, with a band that holds the true one.
 */
export type PercentileSoFar = { 
/**
 * The percentile: 99 of the p99.
 */
percentile: number, 
/**
 * Its value, in microseconds.
 */
us: number, 
/**
 * Its band; null in the first 30 seconds, and if there are too few responses for one.
 */
band: Band | null, 
/**
 * The upper bounds that checks have on it, in microseconds.
 */
bounds_us: Array<number>, };

/**
 * The phase of a run.
 */
export type Phase = "idle" | "preparing" | "running" | "ending" | "ended";

/**
 * The reason why a request was refused.
 */
export type Problem = { 
/**
 * A sentence that says what to do.
 */
message: string, };

/**
 * A slow request.
 */
export type SlowRow = { 
/**
 * The instant of its end, in seconds of the measured part.
 */
at_s: number, 
/**
 * The name, or the request; null for a request that a script composed without a name.
 */
name: string | null, 
/**
 * The status of its response; null if it failed.
 */
status: number | null, 
/**
 * The kind of its failure; null if it was answered.
 */
error: string | null, 
/**
 * The response time in microseconds, from the intended start: the sum of the five parts that
 * follow.
 */
response_us: number, 
/**
 * The part in which no connection was free.
 */
blocked_us: number, 
/**
 * The part that the generator added.
 */
lateness_us: number, 
/**
 * The part in which a connection was opened; 0 on an open one.
 */
dial_us: number, 
/**
 * The part until the first byte of the response.
 */
wait_us: number, 
/**
 * The part until its last byte.
 */
rest_us: number, 
/**
 * The time from the kernel's receive to the read, which is in none of the other times.
 */
wakeup_us: number, 
/**
 * The bytes of the response.
 */
bytes_in: number, 
/**
 * The number of requests, or pipelines, that its connection had served before: 0 if it was
 * new; null with HTTP/2.
 */
served_before: number | null, 
/**
 * The part in which most of the time passed.
 */
cause: Cause, };

/**
 * The slowest requests of a part of the run: of each second and worker at most 16 are kept, of a
 * long run fewer.
 */
export type SlowRows = { 
/**
 * The requests, the slowest first; at most 50.
 */
requests: Array<SlowRow>, 
/**
 * The 99th percentile of the delay that the generator added then, in microseconds; of several
 * seconds the highest.
 */
lateness_p99_us: number, 
/**
 * The CPU of the generator and of all that is watched then.
 */
cpu: Array<CpuShare>, };

/**
 * A part of a run, with the tables of its page for that part alone.
 */
export type Span = { 
/**
 * The begin, in seconds of the measured part: of a long run the next second that was kept
 * before the requested one.
 */
from_s: number, 
/**
 * The end.
 */
to_s: number, 
/**
 * The page of that part, without plots. Its shape follows the page.
 */
page: unknown, };

/**
 * Everything that is known of the run so far.
 */
export type State = { 
/**
 * The content of the page; null before the load begins. Its shape follows the page, and may
 * change with any version: programs read `figures`.
 */
page: unknown, 
/**
 * The lines that the script of the run has written, the latest 200.
 */
log: Array<string>, 
/**
 * The search whose trials are the runs, as data of the page; null if they are none.
 */
search: unknown, 
/**
 * The number of the event, or of the last one that is part of the state. The next event has
 * the next number.
 */
number: number, 
/**
 * The phase of the run.
 */
phase: Phase, 
/**
 * True if no run and no event follows.
 */
is_over: boolean, 
/**
 * True if the run is one of a series, and another one follows it.
 */
has_more: boolean, 
/**
 * True if runs are started from this page.
 */
starts: boolean, 
/**
 * True if a run can be started from this page now.
 */
can_start: boolean, 
/**
 * The reason why the last run that was started from this page could not be made, as a
 * sentence; null if it was.
 */
problem: string | null, 
/**
 * The load.
 */
load: Load, 
/**
 * The figures of the latest second, and counts so far.
 */
figures: Figures, 
/**
 * The paths of the files that can be downloaded: the reports of the last run that has ended.
 */
files: Array<string>, 
/**
 * The name of the baseline that runs are compared with; null if there is none.
 */
baseline: string | null, 
/**
 * True if the run has something to decide while it lasts: checks, or the comparison with a
 * baseline.
 */
can_decide: boolean, 
/**
 * True if the run is stopped as soon as that is decided.
 */
stops_when_decided: boolean, };

/**
 * The effect of a command.
 */
export type Steered = { 
/**
 * The state that holds now, as a sentence.
 */
message: string, 
/**
 * From when a changed load holds, in seconds of the measured part; null for other commands.
 */
from_s: number | null, };
