/**
 * What a page shows. These are the types of the Rust crate `page`, field by field; there they are
 * explained. Times are microseconds, and `null` is what was not measured.
 *
 * Every component draws what it is given and keeps nothing but what the reader has chosen (what is
 * toggled, sorted, zoomed): given a later state of the same run, it shows that one.
 */

export type Page = RunPage | SeriesPage | StudyPage | SearchPage;

export interface RunPage {
  kind: "run";
  version: string;
  started_at: string;
  title: string;
  load: string;
  facts: Fact[];
  machine: Fact[];
  validity: Validity;
  warnings: string[];
  checks: CheckRow[];
  timed_from: string;
  percentiles: PercentileRow[];
  spectra: Spectrum[];
  timeline: Timeline;
  heatmap: Heatmap | null;
  statuses: StatusRow[];
  errors: ErrorRow[];
  times: TimeRow[];
  time_notes: string[];
  resources: Resource[];
}

export interface SeriesPage {
  kind: "series";
  version: string;
  started_at: string;
  title: string;
  load: string;
  together: Table | null;
  notes: string[];
  checks: CheckRow[];
  doubts: string[];
  columns: string[];
  runs: SeriesRun[];
}

export interface Table {
  caption: string;
  columns: string[];
  rows: TableRow[];
}

export interface TableRow {
  name: string;
  cells: string[];
}

export interface SeriesRun {
  name: string;
  cells: string[];
  page: Omit<RunPage, "kind">;
}

export interface Fact {
  name: string;
  text: string;
}

export interface Validity {
  grade: "valid" | "suspect" | "invalid";
  /** What the grade means for this result. */
  claim: string;
  /** Whether it is shown without the colour of its grade. */
  is_plain: boolean;
  findings: string[];
}

export interface CheckRow {
  text: string;
  outcome: "kept" | "broken" | "not_known";
  actual: string;
  why: string | null;
}

export interface PercentileRow {
  name: string;
  response: TimedFigure;
  service: TimedFigure;
}

export interface TimedFigure {
  us: number | null;
  at_least: boolean;
  text: string;
  interval: string | null;
}

export interface Spectrum {
  name: string;
  percentile: number[];
  us: number[];
}

export interface StatusRow {
  status: number;
  count: number;
}

export interface ErrorRow {
  kind: string;
  count: number;
  example: string;
  remedy: string;
}

export interface TimeRow {
  name: string;
  within_service: boolean;
  count: number;
  cells: string[];
  mean_us: number;
}

export interface Resource {
  name: string;
  notes: string[];
  tracks: Track[];
}

export interface Timeline {
  time_s: number[];
  tracks: Track[];
}

export interface Track {
  measure: Measure;
  values: (number | null)[];
}

export type Measure =
  | "rate"
  | "asked_rate"
  | "failed_rate"
  | "response_p50"
  | "response_p90"
  | "response_p99"
  | "response_max"
  | "service_p99"
  | "in_flight"
  | "cpu"
  | "memory"
  | "sockets"
  | "threads"
  | "bytes_in"
  | "bytes_out"
  | "bandwidth"
  | "cpu_pressure";

export interface Heatmap {
  lowest_us: number;
  ratio: number;
  rows: number;
  columns: HeatColumn[];
}

export interface HeatColumn {
  start_s: number;
  end_s: number;
  first_row: number;
  counts: number[];
}

export interface StudyPage {
  kind: "study";
  version: string;
  started_at: string;
  title: string;
  description: string;
  facts: Fact[];
  notes: string[];
  columns: Column[];
  rows: StudyRow[];
  scatters: Scatter[];
}

export interface Column {
  name: string;
  title: string;
  unit: Unit;
}

export type Unit =
  "text" | "count" | "per_second" | "percent" | "bytes" | "bytes_per_second" | "us" | "seconds";

export type Cell = number | string | null;

export interface StudyRow {
  tool: string;
  name: string;
  cells: Cell[];
  doubt: string | null;
  timeline: Timeline | null;
}

export interface Scatter {
  title: string;
  x: string;
  y: string;
}

export interface SearchPage {
  kind: "search";
  version: string;
  started_at: string;
  title: string;
  course: string;
  answer: SearchAnswer;
  users: boolean;
  load_line: LoadLine | null;
  columns: string[];
  ladder: TrialRow[];
  ladder_notes: string[];
  trials: TrialRow[];
  floor: string | null;
  machine: Fact[];
}

export interface SearchAnswer {
  kind: "found" | "at_least" | "nothing_holds" | "not_known";
  text: string;
  notes: string[];
}

export interface LoadLine {
  level: number;
  low: number;
  high: number;
  text: string;
}

export interface TrialRow {
  number: number;
  purpose: string;
  stretch: string;
  level: number;
  p50_us: number | null;
  p99_us: number | null;
  cells: string[];
  ended: "held" | "broke" | "set_aside" | "warm_up";
  text: string;
}
