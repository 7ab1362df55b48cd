// Generated from the types in crates/live-page. Do not edit; write it by
// GENERATE=1 cargo test -p loadline-live-page typescript

/**
 * A check as it stands.
 */
export type CheckSoFar = { 
/**
 * Its condition, as typed.
 */
check: string, 
/**
 * What it comes to if the run ended now: `passed`, `failed` or `undecided`.
 */
outcome: string, };

/**
 * What changed in a second. Sent as `interval`, and as `over` when nothing follows.
 */
export type Event = { 
/**
 * What changed in the page since the event before.
 */
page: Patch, 
/**
 * The number of the event, or of the last one that is part of the state. The next event has
 * the next number.
 */
number: number, 
/**
 * Where the run stands.
 */
phase: Phase, 
/**
 * True if no run and no event follows.
 */
is_over: boolean, 
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
files: Array<string>, };

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
 * How far the result could be believed if the run ended now: `valid`, `suspect` or `invalid`.
 */
validity: string, 
/**
 * The checks as they stand.
 */
checks: Array<CheckSoFar>, };

/**
 * The load of a run.
 */
export type Load = { 
/**
 * What it was changed to last, in words; null while it is as planned.
 */
level: string | null, 
/**
 * True while it is paused.
 */
is_paused: boolean, 
/**
 * The names of its scenarios, in the order of the plan; empty if there is only one.
 */
scenarios: Array<string>, };

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
 * The scenario whose number of users changes, where there are several.
 */
scenario?: string, };

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
 * Elements that are added behind the list.
 */
add?: unknown[], };

/**
 * Where a run stands.
 */
export type Phase = "preparing" | "running" | "ending" | "ended";

/**
 * Why a request was refused.
 */
export type Problem = { 
/**
 * A sentence that says what to do.
 */
message: string, };

/**
 * Everything that is known of the run so far.
 */
export type State = { 
/**
 * What the page shows; null before the load begins. Its shape follows the page, and may
 * change with any version: programs read `figures`.
 */
page: unknown, 
/**
 * The number of the event, or of the last one that is part of the state. The next event has
 * the next number.
 */
number: number, 
/**
 * Where the run stands.
 */
phase: Phase, 
/**
 * True if no run and no event follows.
 */
is_over: boolean, 
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
files: Array<string>, };

/**
 * What a command has done.
 */
export type Steered = { 
/**
 * What holds now, as a sentence.
 */
message: string, 
/**
 * From when a changed load holds, in seconds of the measured part; null for other commands.
 */
from_s: number | null, };
