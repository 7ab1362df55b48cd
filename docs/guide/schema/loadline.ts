// Generated from the types in crates/json. Do not edit; to write it anew:
// GENERATE=1 cargo test -p loadline-json typescript

/**
 * A figure that contains much delay not caused by the target.
 */
export type Affected = { 
/**
 * The name of the figure, as in the text report: p99, mean, max.
 */
figure: string, 
/**
 * The kind of delay.
 */
by: AffectedBy, 
/**
 * The figure with that delay.
 */
with_us: Us, 
/**
 * The figure without that delay.
 */
without_us: Us, };

/**
 * The kind of delay in an affected figure.
 */
export type AffectedBy = "own_delay" | "plan";

/**
 * The pattern in which requests of an open load were due and sent.
 */
export type Arrivals = { 
/**
 * The length of the windows in which requests were counted.
 */
window_s: Seconds, 
/**
 * The share of requests sent in another window than the one in which they were due and could
 * be sent.
 */
displaced: Share, 
/**
 * The dispersion of the windows' counts of requests due: variance over mean.
 */
dispersion_due: number | null, 
/**
 * The dispersion of the windows' counts of requests sent.
 */
dispersion_sent: number | null, 
/**
 * The band in which the dispersion of as many windows of a Poisson process lies; null for
 * other arrivals.
 */
dispersion_of_poisson: Band | null, };

/**
 * The bounds of a figure.
 */
export type Band = { 
/**
 * The lower bound.
 */
lower: number, 
/**
 * The upper bound.
 */
upper: number, 
/**
 * The share of such runs whose figure lies within the bounds.
 */
level: Share, };

/**
 * An event of a tree.
 */
export type Change = "ended" | "restarted";

/**
 * A condition and its result in this run.
 */
export type Check = { 
/**
 * The condition as typed.
 */
text: string, 
/**
 * The result of the condition.
 */
outcome: CheckOutcome, 
/**
 * The reason why the run cannot decide the condition, as a sentence that says what to do; null
 * if it is decided.
 */
why: string | null, 
/**
 * The measured figure; null without a sample.
 */
actual: Number | null, 
/**
 * True if `actual` is a lower bound.
 */
at_least: boolean, 
/**
 * The bound of the condition, which `actual` was compared with.
 */
bound: Number, 
/**
 * The unit of `actual` and `bound`.
 */
unit: Unit, 
/**
 * The number of times, or of requests that ended, from which `actual` was computed.
 */
samples: number, };

/**
 * The outcome of a check. In JSON *passed* is `kept`, *failed* `broken` and *undecided*
 * `not_known`: existing programs rely on these names.
 */
export type CheckOutcome = "kept" | "broken" | "not_known";

/**
 * The times that a closed-loop tool would have shown of an open load.
 */
export type ClosedLoop = { 
/**
 * The number of users of that tool: the connections at the beginning.
 */
users: number, 
/**
 * Requests that fell due while all of these users would have waited, and that were sent on
 * further connections.
 */
omitted: number, 
/**
 * Requests that waited longer for a connection, before they were sent, than the tool's p99.
 */
waited: number, 
/**
 * The main cause of the difference, if the response time is longer than twice the time that
 * the tool shows; else null.
 */
hides: Hides | null, 
/**
 * The times that the tool would have measured.
 */
shown_us: Distribution, };

/**
 * A figure of both sides.
 */
export type ComparedFigure = { 
/**
 * The name of the figure: p99, mean, max, rate.
 */
figure: string, 
/**
 * The unit of `a` and `b`.
 */
unit: Unit, 
/**
 * The value of A; of several runs their geometric mean.
 */
a: number, 
/**
 * The value of B; of several runs their geometric mean.
 */
b: number, 
/**
 * B / A.
 */
ratio: number, 
/**
 * The confidence interval of the ratio.
 */
interval: RatioInterval, 
/**
 * The conclusion from the interval.
 */
standing: Standing, 
/**
 * The approximate number of further runs of each side that would show a difference of this
 * size: 0 if it is shown already, null if a thousand would not suffice.
 */
more_runs: number | null, };

/**
 * A saved run that was compared.
 */
export type ComparedFile = { 
/**
 * The path of the file.
 */
file: string, 
/**
 * The number of the run in its file, from 1; null if the file has a single run.
 */
run: number | null, 
/**
 * The validity of the run.
 */
validity: Validity, };

/**
 * A metric that the scripts of both sides counted, without an interval.
 */
export type ComparedMetric = { 
/**
 * The name of the metric.
 */
name: string, 
/**
 * The tags of the metric.
 */
tags?: { [key in string]: string }, 
/**
 * The kind of the metric, which decides the figures that it has.
 */
kind: MetricKind, 
/**
 * The figures of A: `sum`, `share`, `p95` and so on, in the metric's unit.
 */
a: { [key in string]: number }, 
/**
 * The figures of B.
 */
b: { [key in string]: number }, };

/**
 * A name that both sides have.
 */
export type ComparedName = { 
/**
 * The name; where the names of a side are URLs of one host, without scheme and host.
 */
name: string, 
/**
 * The tags of the name.
 */
tags?: { [key in string]: string }, 
/**
 * The share of A's requests that failed.
 */
a_failed: Share, 
/**
 * The share of B's requests that failed.
 */
b_failed: Share, 
/**
 * The figures that were compared, the rate last.
 */
figures: Array<ComparedFigure>, };

/**
 * The names of both sides, compared. The intervals of all names hold together at 95 %,
 * independently of the intervals of the whole sides.
 */
export type ComparedNames = { 
/**
 * The names that both sides have; at most 50.
 */
common: Array<ComparedName>, 
/**
 * The number of further common names, with fewer requests, that are not compared.
 */
more: number, 
/**
 * The number of percentiles that are left out, because requests without a response at the end
 * of a run could move them.
 */
open_percentiles: number, 
/**
 * The names that only A has, with their tags in braces.
 */
only_a: Array<string>, 
/**
 * The names that only B has, with their tags in braces.
 */
only_b: Array<string>, };

/**
 * The document that `loadline compare -o json` prints. Described in docs/guide/json.md.
 */
export type Comparison = { 
/**
 * The version of this schema.
 */
schema: number, 
/**
 * One side.
 */
a: Side, 
/**
 * The other side.
 */
b: Side, 
/**
 * True if both sides took turns, and runs were compared in pairs.
 */
paired: boolean, 
/**
 * The figures that were compared, the rate last.
 */
figures: Array<ComparedFigure>, 
/**
 * Percentiles that are not compared, because unfinished requests make them lower bounds in at
 * least one run.
 */
bounds: Array<string>, 
/**
 * The result over all figures: slower if any figure is, else faster if any is, else
 * cannot_tell.
 */
standing: Standing, 
/**
 * The same comparison for the requests of each name that both sides have, the name with the
 * most requests first; absent if there is no such name.
 */
names?: ComparedNames, 
/**
 * The metrics that the scripts of both sides counted by themselves, those that both have;
 * absent if there are none.
 */
metrics?: Array<ComparedMetric>, 
/**
 * The tolerances of `--fail-on` and their results; absent if there are none.
 */
tolerances?: Array<ToleranceResult>, 
/**
 * Other differences between the runs; only if saved runs are compared.
 */
warnings?: Array<Difference>, };

/**
 * The confidence interval of a percentile.
 */
export type ConfidenceInterval = { 
/**
 * The lower end; null where there are too few samples for one.
 */
lower: Us | null, 
/**
 * The upper end; null where there are too few samples for one.
 */
upper: Us | null, 
/**
 * The ends that are lower bounds themselves.
 */
at_least: Array<End>, 
/**
 * The number of independent samples with the same information as the samples, which may depend
 * on each other.
 */
independent: number, 
/**
 * The number of further samples such as these that an upper end needs; 0 if there is one.
 */
still_needed: number, };

/**
 * The confidence intervals of the percentiles.
 */
export type ConfidenceIntervals = { 
/**
 * The confidence level of each interval.
 */
level: Share, 
/**
 * True if the dependence between successive times is accounted for; false in a run too short
 * to show it.
 */
adjusted: boolean, 
/**
 * The median.
 */
p50: ConfidenceInterval, 
/**
 * The 75th percentile.
 */
p75: ConfidenceInterval, 
/**
 * The 90th percentile.
 */
p90: ConfidenceInterval, 
/**
 * The 95th percentile.
 */
p95: ConfidenceInterval, 
/**
 * The 99th percentile.
 */
p99: ConfidenceInterval, 
/**
 * The 99.9th percentile.
 */
"p99.9": ConfidenceInterval, 
/**
 * The 99.99th percentile.
 */
"p99.99": ConfidenceInterval, };

/**
 * A metric that a script counted by itself, in its own unit. Figures that its kind does not have
 * are absent, and so are all figures of a metric without a value.
 */
export type CustomMetric = { 
/**
 * The name of the metric.
 */
name: string, 
/**
 * The tags of the metric.
 */
tags?: { [key in string]: string }, 
/**
 * The kind of the metric, which decides the figures that it has.
 */
kind: MetricKind, 
/**
 * The unit of the values: `ms` or `bytes`; absent for plain numbers.
 */
unit?: string, 
/**
 * The number of values that were added; of a gauge 1 if it was set.
 */
count: number, 
/**
 * The sum of a counter.
 */
sum?: number, 
/**
 * The values added to a counter in the window, per second.
 */
rate?: number, 
/**
 * The share of a rate's values that are not zero: 1 is all.
 */
share?: number, 
/**
 * The last value of a gauge.
 */
last?: number, 
/**
 * The smallest value of a gauge or a trend.
 */
min?: number, 
/**
 * The largest value of a gauge or a trend.
 */
max?: number, 
/**
 * The arithmetic mean of a trend.
 */
mean?: number, 
/**
 * Percentiles of a trend, by the nearest rank: `p50`, `p90`, `p95`, `p99`. Exact up to 8 192
 * values, to within 0.05 % beyond.
 */
percentiles?: { [key in string]: number }, };

/**
 * A difference between the runs of a comparison, other than in their figures.
 */
export type Difference = { 
/**
 * The kind of difference.
 */
kind: string, 
/**
 * The meaning of the difference, and what to do.
 */
text: string, };

/**
 * Times in microseconds, exact to three significant digits; null without a sample.
 */
export type Distribution = { 
/**
 * The number of times.
 */
count: number, 
/**
 * The arithmetic mean.
 */
mean: Us | null, 
/**
 * The standard deviation.
 */
stdev: Us | null, 
/**
 * The shortest.
 */
min: Us | null, 
/**
 * The longest.
 */
max: Us | null, 
/**
 * The confidence intervals of the percentiles; of response and service times alone.
 */
confidence_intervals?: ConfidenceIntervals, 
/**
 * Of response and service times: the number of requests without a response at the end, each
 * included with its age.
 */
unfinished?: number, 
/**
 * Of response and service times: the figures that are lower bounds, because unfinished
 * requests are older than every response.
 */
at_least?: Array<Statistic>, 
/**
 * The median.
 */
p50: Us | null, 
/**
 * The 75th percentile.
 */
p75: Us | null, 
/**
 * The 90th percentile.
 */
p90: Us | null, 
/**
 * The 95th percentile.
 */
p95: Us | null, 
/**
 * The 99th percentile.
 */
p99: Us | null, 
/**
 * The 99.9th percentile.
 */
"p99.9": Us | null, 
/**
 * The 99.99th percentile.
 */
"p99.99": Us | null, };

/**
 * The document that `loadline doctor -o json` prints. Described in docs/guide/doctor.md.
 */
export type Doctor = { 
/**
 * The version of this schema.
 */
doctor_schema: number, 
/**
 * The version of the program that inspected the machine.
 */
version: string, 
/**
 * The machine, as a run records it. What could not be read is null.
 */
environment: Environment, 
/**
 * The number of simultaneous connections for which there are descriptors; null if unknown.
 */
connections: number | null, 
/**
 * The number of simultaneous connections to one address of a target for which there are local
 * ports; null if unknown.
 */
connections_to_a_target: number | null, 
/**
 * The rate at which connections to one address can be opened anew, where each closed one keeps
 * its port for a minute; null if closed connections free their ports, or if unknown.
 */
new_connections_per_s: PerSecond | null, 
/**
 * The share of the CPU time that the hypervisor gave to other machines during the inspection;
 * null if unknown.
 */
steal: Share | null, 
/**
 * The recommended changes.
 */
changes: Array<MachineChange>, };

/**
 * An end of an interval.
 */
export type End = "lower" | "upper";

/**
 * The reason why a run ended.
 */
export type Ended = "duration" | "requests" | "stages" | "precise" | "decided" | "interrupted" | "aborted" | "threw" | "failed" | "unknown";

/**
 * The machine of a run. A value that could not be read is null.
 */
export type Environment = { 
/**
 * The kernel's release, as of `uname -r`.
 */
kernel: string | null, 
/**
 * The model name of the processor.
 */
cpu_model: string | null, 
/**
 * The cores (hardware threads) that are online.
 */
cores: number | null, 
/**
 * The cores that this process may use, by its affinity and its control group.
 */
usable_cores: number | null, 
/**
 * The CPU limit of its control group, in cores; null also without a limit.
 */
cpu_quota: number | null, 
/**
 * The memory of the machine in bytes.
 */
memory_bytes: number | null, 
/**
 * The soft limit of open files; null also without a limit.
 */
open_files: number | null, 
/**
 * The hard limit of open files, to which a run raises its own; null also without a limit.
 */
open_files_hard: number | null, 
/**
 * The mean number of runnable tasks over the last 1, 5 and 15 minutes.
 */
load_average: [number, number, number] | null, 
/**
 * The source of the kernel's clocks (`tsc`, `kvm-clock`, …).
 */
clock_source: string | null, 
/**
 * The time to read the monotonic clock, in nanoseconds.
 */
clock_reading_ns: number | null, 
/**
 * The governor of the cores' frequency (`performance`, `powersave`, …).
 */
governor: string | null, 
/**
 * True if cores are hardware threads that share a physical core (hyper-threading).
 */
smt: boolean | null, 
/**
 * True for a virtual machine, whose hypervisor may take time from it.
 */
is_virtual: boolean | null, 
/**
 * The limits of its connections.
 */
tcp: TcpSettings, 
/**
 * The build profile of this program: `release` or `debug`.
 */
build: string | null, 
/**
 * The compiler flags of this program: optimisation, target and features of the processor.
 */
build_flags: string | null, 
/**
 * The method by which this program waits for the instant of a send.
 */
pacing: string | null, 
/**
 * The best performance of the machine, if it was measured.
 */
floor?: Floor, };

/**
 * A response that reports an error: the first one with its name and status.
 */
export type ErrorResponse = { 
/**
 * The status. One below 400 was rejected by a script.
 */
status: number, 
/**
 * The number of responses with this name and status; of rejected ones with this name.
 */
count: number, 
/**
 * The end of the response, from the begin of the measured part.
 */
end_s: Seconds, 
/**
 * The beginning of the body as text, decoded, at most 2 048 bytes; secrets are masked.
 */
body: string, 
/**
 * True if the body was longer.
 */
is_cut: boolean, 
/**
 * The name of the request; absent if all requests have the same.
 */
name?: string, 
/**
 * The tags of the name.
 */
tags?: { [key in string]: string }, };

/**
 * An exception that nothing in a script handled: all those of one class with one stack.
 */
export type Exception = { 
/**
 * The number of times that it occurred.
 */
count: number, 
/**
 * The name of its class, such as `KeyError`; absent if a value was thrown that has none.
 */
kind?: string, 
/**
 * The message of the first one, at most 1 024 bytes; secrets are masked.
 */
message: string, 
/**
 * The stack, at most 4 096 bytes; secrets are masked. Empty if there is none.
 */
trace: string, 
/**
 * The begin of the interval in which it first occurred, from the begin of the measured part.
 */
first_s: Seconds, 
/**
 * The agents or processes of the run in which it occurred, at most 20; absent if there is one
 * process alone.
 */
parts?: Array<string>, };

/**
 * Failures of one kind.
 */
export type Failures = { 
/**
 * The number of failures.
 */
count: number, 
/**
 * The message of the first failure; empty if unknown.
 */
example: string, };

/**
 * A figure that can be watched.
 */
export type Figure = "context_switches" | "cpu" | "listen_overflows" | "memory" | "network" | "open_files" | "pressure" | "pss" | "retransmits" | "sockets" | "tcp_states";

/**
 * The values of a figure in all runs.
 */
export type FigureSpread = { 
/**
 * The name of the figure: p99, rate.
 */
figure: string, 
/**
 * The unit of its values.
 */
unit: Unit, 
/**
 * The value in each run.
 */
values: Array<number>, 
/**
 * The median of the values.
 */
median: number, 
/**
 * The smallest value.
 */
least: number, 
/**
 * The largest value.
 */
most: number, 
/**
 * The confidence interval of the median; null for fewer than six runs.
 */
median_interval: MedianInterval | null, };

/**
 * A finding: one reason for a grade.
 */
export type Finding = { 
/**
 * The kind of finding; see docs/guide/validity.md.
 */
kind: string, 
/**
 * The grade that this finding alone leads to.
 */
grade: Grade, 
/**
 * A sentence that ends in advice.
 */
text: string, };

/**
 * The best performance of the generator's machine: the run's own requests, with the same protocol
 * and script, against a server on loopback that does nothing. No measurement of a target on this
 * machine can be faster, and no rate higher.
 */
export type Floor = { 
/**
 * The shortest response time of requests sent one after another, in nanoseconds.
 */
min_ns: number, 
/**
 * The median of these response times, in nanoseconds.
 */
p50_ns: number, 
/**
 * The 99th percentile of these response times, in nanoseconds.
 */
p99_ns: number, 
/**
 * The responses per second if all connections send as fast as they can.
 */
answers_per_s: number, 
/**
 * The number of these connections.
 */
connections: number, };

/**
 * The generator during the run.
 */
export type Generator = { 
/**
 * The threads of the generator.
 */
workers: Array<Worker>, 
/**
 * The mean number of requests in flight.
 */
in_flight: InFlight, 
/**
 * The whole machine of the generator.
 */
host: HostCounters, 
/**
 * The pattern in which the requests of an open load were due and sent; absent in a closed
 * load.
 */
arrivals?: Arrivals, };

/**
 * The goal of a search: the attributes of a goal in RFC 9971. The loss ratio of the RFC is the one
 * that the checks allow.
 */
export type Goal = { 
/**
 * The conditions that must be met.
 */
checks: Array<string>, 
/**
 * True if the condition on errors was added, because the user gave none.
 */
errors_check_added: boolean, 
/**
 * The measured time of a trial.
 */
trial_s: Seconds, 
/**
 * The measured time of all trials at a level together.
 */
duration_sum_s: Seconds, 
/**
 * The number of trials at a level.
 */
trials: number, 
/**
 * The share of trials at a level that may fail.
 */
exceed_ratio: Share, 
/**
 * The largest distance between the bounds at the end, as a share.
 */
width: Share, 
/**
 * The length of the confirming run, in trials.
 */
confirmation_trials: number, 
/**
 * The time that the search may take.
 */
budget_s: Seconds, 
/**
 * The lowest level that may be tried.
 */
lowest: number, 
/**
 * The highest level that may be tried.
 */
highest: number, };

/**
 * A degree of validity, as a reader of the JSON needs it. The judging code has a type of its own,
 * so that a reader does not depend on that code.
 */
export type Grade = "valid" | "suspect" | "invalid";

/**
 * The effect that a closed-loop tool would have hidden.
 */
export type Hides = "stall" | "lateness" | "plan";

/**
 * The machine in the whole run.
 */
export type Host = { 
/**
 * The number of cores that are online.
 */
cores: number | null, 
/**
 * The memory of the machine.
 */
memory_bytes: number | null, 
/**
 * The network interface that leads to the target.
 */
interface: string | null, 
/**
 * The speed of the interface's link; null if it has none.
 */
link_bits_per_s: number | null, 
/**
 * Time that the cores were busy, all of them together.
 */
cpu_percent: MeanAndMax, 
/**
 * Time that a hypervisor gave to other machines instead.
 */
steal_percent: MeanAndMax, 
/**
 * Memory in use: all but the available memory.
 */
memory_used_bytes: MeanAndMax, 
/**
 * The share of the time in which some task waited for the CPU.
 */
cpu_pressure_percent: MeanAndMax, 
/**
 * The share of the time in which some task waited for memory.
 */
memory_pressure_percent: MeanAndMax, 
/**
 * The share of the time in which some task waited for a disk.
 */
io_pressure_percent: MeanAndMax, 
/**
 * Bytes received through the interface, by all programs.
 */
net_in_bytes_per_s: MeanAndMax, 
/**
 * Bytes sent through the interface, by all programs.
 */
net_out_bytes_per_s: MeanAndMax, 
/**
 * Packets received through the interface, by all programs.
 */
net_in_packets_per_s: MeanAndMax, 
/**
 * Packets sent through the interface, by all programs.
 */
net_out_packets_per_s: MeanAndMax, 
/**
 * The usage of the link's busier direction, in percent of its speed.
 */
link_percent: MeanAndMax, 
/**
 * TCP segments that were retransmitted.
 */
retransmits: number | null, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number | null, 
/**
 * The figures that could not be read.
 */
missing: Array<Missing>, };

/**
 * The whole machine, from the end of the warm-up on.
 */
export type HostCounters = { 
/**
 * The share of CPU time that the hypervisor gave to other machines.
 */
steal: Share, 
/**
 * The share of TCP segments that were retransmitted.
 */
retransmitted: Share, 
/**
 * Connections that were reset.
 */
resets: number, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number, 
/**
 * Packets dropped before TCP saw them.
 */
softnet_drops: number, 
/**
 * The share of the time in which some task waited for the CPU.
 */
cpu_pressure: Share, };

/**
 * The usage of the machine.
 */
export type HostUsage = { 
/**
 * Time that the cores were busy, all of them together.
 */
cpu_percent: number | null, 
/**
 * Time that a hypervisor gave to other machines instead.
 */
steal_percent: number | null, 
/**
 * Memory in use: all but the available memory.
 */
memory_used_bytes: number | null, 
/**
 * The share of the time in which some task waited for the CPU.
 */
cpu_pressure_percent: number | null, 
/**
 * The share of the time in which some task waited for memory.
 */
memory_pressure_percent: number | null, 
/**
 * The share of the time in which some task waited for a disk.
 */
io_pressure_percent: number | null, 
/**
 * Bytes received through the interface, by all programs.
 */
net_in_bytes_per_s: number | null, 
/**
 * Bytes sent through the interface, by all programs.
 */
net_out_bytes_per_s: number | null, 
/**
 * Packets received through the interface, by all programs.
 */
net_in_packets_per_s: number | null, 
/**
 * Packets sent through the interface, by all programs.
 */
net_out_packets_per_s: number | null, 
/**
 * The usage of the link's busier direction, in percent of its speed.
 */
link_percent: number | null, 
/**
 * TCP segments that were retransmitted.
 */
retransmits: number | null, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number | null, };

/**
 * The mean number of requests in flight, computed in two ways.
 */
export type InFlight = { 
/**
 * The sum of the times that each request was in flight, until its response was read, divided
 * by the duration of the run.
 */
counted: number, 
/**
 * The rate multiplied by the mean service time.
 */
by_littles_law: number, };

/**
 * One second of a run.
 */
export type Interval = { 
/**
 * The beginning of the interval, from the start of the measured part.
 */
start_s: Seconds, 
/**
 * The end of the interval, from the start of the measured part.
 */
end_s: Seconds, 
/**
 * The mean number of requests in flight; null in a saved run of a version that did not count
 * it.
 */
in_flight_mean: number | null, 
/**
 * The highest number of requests in flight at once; of several workers the sum of their
 * highest numbers, which is an upper bound. Null as above.
 */
in_flight_max: number | null, 
/**
 * The response times, from the intended start to the last byte, of the requests that ended in
 * the interval.
 */
response_time_us: Quantiles, 
/**
 * The service times, from the send to the last byte, of the requests that ended in the
 * interval.
 */
service_time_us: Quantiles, 
/**
 * The most virtual users of a script that were active at once; absent if there are none.
 */
users?: number, 
/**
 * The iterations of a script that ended in the interval; absent if there are none.
 */
iterations?: number, 
/**
 * The usage of the watched processes and of the machine in the interval; absent if nothing was
 * watched.
 */
watch?: UsageSample, 
/**
 * Arrivals whose request fell due, after the pauses of a script before it, if its iteration
 * sends one; in a closed load the same as `sent`.
 */
planned: number, 
/**
 * Requests begun.
 */
sent: number, 
/**
 * Requests with a whole response, whatever its status.
 */
answered: number, 
/**
 * Responses that ended in the interval or in the measured part, whenever their requests began;
 * responses of the drain are not included.
 */
completed: number, 
/**
 * Requests that ended without a response.
 */
failed: number, 
/**
 * Responses that a script rejected, which declared their requests failed; each is included in
 * `answered`. Absent if there are none.
 */
rejected?: number, 
/**
 * Requests begun and not ended, at the end of the interval or of the run.
 */
in_flight: number, 
/**
 * Kept-alive connections that the server had closed and that were replaced.
 */
reconnects: number, 
/**
 * Requests that were sent again; each of them is included in `sent`.
 */
resent: number, 
/**
 * Connections that were closed because more data came on them than the lengths of the
 * responses announced.
 */
surplus: number, 
/**
 * Arrivals that fell due when no user was free and that were not begun, if the plan drops such
 * arrivals; absent if there are none.
 */
dropped?: number, 
/**
 * Starts of a paced load that fell due while their user still waited for a response; each is
 * included in the response times. Absent if there are none.
 */
missed?: number, 
/**
 * Connections that were established.
 */
connections: number, 
/**
 * Bytes received, inside TLS.
 */
bytes_in: number, 
/**
 * Bytes sent, inside TLS.
 */
bytes_out: number, 
/**
 * `completed` per second.
 */
rate: PerSecond, };

/**
 * The requests whose times were split by the kernel's timestamps.
 */
export type KernelTimestamps = { 
/**
 * The sampling interval: one in this many requests of a worker was selected.
 */
every: number, 
/**
 * The times from the intended start to the start.
 */
schedule_wait_us: Distribution, 
/**
 * The times from the start until the request left for the network device.
 */
send_us: Distribution, 
/**
 * The times from there until the last packet of the response was received.
 */
wire_and_server_us: Distribution, 
/**
 * The times from there to Loadline's read.
 */
wakeup_us: Distribution, 
/**
 * The times from there until the response was known to be complete.
 */
parse_us: Distribution, 
/**
 * The sums of the last four: the time of wire and server as a clock in user space measures it.
 */
user_space_us: Distribution, 
/**
 * The excess of `user_space_us` over `wire_and_server_us`.
 */
overstated_us: Overstated, };

/**
 * A change of the load.
 */
export type LoadChange = { 
/**
 * The time from which the change holds, in seconds from the start of the measured part;
 * negative in the warm-up.
 */
at_s: number, 
/**
 * The new load.
 */
to: LoadLevel, 
/**
 * The scenario whose load changed; absent if it was the whole load.
 */
scenario?: string, };

/**
 * The load after a change.
 */
export type LoadLevel = { "share": Share } | { "rate": PerSecond } | { "users": number } | "paused";

/**
 * A request body that is too long to store, with data to recognise it.
 */
export type LongBody = { 
/**
 * The index of its request in the plan; the body of that request is [`Body::None`].
 */
request: number, 
/**
 * The length in bytes.
 */
length: number, 
/**
 * The CRC-32 (as in zip and gzip), as eight hexadecimal digits.
 */
crc32: string, };

/**
 * One thing to change about a machine.
 */
export type MachineChange = { 
/**
 * The part of the machine: `cores`, `governor`, `descriptors`, `local_ports`, `clock`,
 * `queues`, `buffers`, `steal` or `other_load`.
 */
part: string, 
/**
 * The advice: what to do.
 */
advice: string, };

/**
 * The mean over a run, and the highest value of one interval.
 */
export type MeanAndMax = { 
/**
 * The mean.
 */
mean: number | null, 
/**
 * The highest.
 */
max: Number | null, };

/**
 * The confidence interval of a median.
 */
export type MedianInterval = { 
/**
 * The lower end.
 */
lower: number, 
/**
 * The upper end.
 */
upper: number, 
/**
 * The confidence level.
 */
level: Share, };

/**
 * The kind of a metric: the figures that are computed from its values.
 */
export type MetricKind = "trend" | "counter" | "rate" | "gauge";

/**
 * A figure that could not be read, with the reason.
 */
export type Missing = { 
/**
 * The figure.
 */
figure: Figure, 
/**
 * The reason.
 */
why: Why, };

/**
 * A name over time: one value for each period.
 */
export type NameCourse = { 
/**
 * The name.
 */
name: string, 
/**
 * The tags of the name.
 */
tags?: { [key in string]: string }, 
/**
 * Responses per second.
 */
rate: Array<PerSecond>, 
/**
 * Requests that ended without a response.
 */
failed: Array<number>, 
/**
 * The median response time, to within a hundredth; null without a response.
 */
p50_us: Array<Us | null>, 
/**
 * The 95th percentile of the response time, as `p50_us`.
 */
p95_us: Array<Us | null>, 
/**
 * The 99th percentile of the response time, as `p50_us`.
 */
p99_us: Array<Us | null>, };

/**
 * The requests of one name that ended in the run.
 */
export type Named = { 
/**
 * The name; for requests without one their URL, after the method if that is not GET. The
 * requests of all names after the first `--max-series` share `(other)`.
 */
name: string, 
/**
 * The tags of the name.
 */
tags?: { [key in string]: string }, 
/**
 * Requests with a whole response, whatever its status.
 */
answered: number, 
/**
 * Requests that ended without a response.
 */
failed: number, 
/**
 * Responses that a script rejected; each is included in `answered`. Absent if there are none.
 */
rejected?: number, 
/**
 * Responses by status code.
 */
statuses: { [key in string]: number }, 
/**
 * Responses per second, defined as `rate` of the run.
 */
rate: PerSecond, 
/**
 * The response times, from the intended start to the last byte, to within a hundredth.
 */
response_time_us: NamedTimes, };

/**
 * The response times of a name; null without a response, and a percentile also if there are too
 * few responses for it (p99 takes 368).
 */
export type NamedTimes = { 
/**
 * The arithmetic mean.
 */
mean: Us | null, 
/**
 * The median.
 */
p50: Us | null, 
/**
 * The 90th percentile.
 */
p90: Us | null, 
/**
 * The 95th percentile.
 */
p95: Us | null, 
/**
 * The 99th percentile.
 */
p99: Us | null, 
/**
 * The largest.
 */
max: Us | null, };

/**
 * The busiest names over time, as columns.
 */
export type NamesOverTime = { 
/**
 * The beginnings of the periods, from the start of the measured part: one for each second, or
 * for several seconds in a long run.
 */
start_s: Array<Seconds>, 
/**
 * The ends of the periods.
 */
end_s: Array<Seconds>, 
/**
 * The names, the busiest first.
 */
names: Array<NameCourse>, };

/**
 * A note on an instant of a run.
 */
export type Note = { 
/**
 * The instant, in seconds from the start of the measured part.
 */
at_s: number, 
/**
 * The text.
 */
text: string, };

/**
 * A number that is whole where it counts something.
 */
export type Number = number | number;

/**
 * The time by which a clock in user space overstates the time of wire and server; null without a
 * sample.
 */
export type Overstated = { 
/**
 * The excess at the median.
 */
p50: Us | null, 
/**
 * The excess at the 99th percentile.
 */
p99: Us | null, };

/**
 * The response time without the delay that Loadline added, and the figures that the target did not
 * cause alone.
 */
export type OwnDelay = { 
/**
 * The response time without the delay that Loadline added.
 */
response_time_without_us: Distribution, 
/**
 * Figures of the response time that contain more than a tenth, and more than 50 µs, of delay
 * not caused by the target.
 */
affected: Array<Affected>, };

/**
 * A limit of the generator or its machine that was reached, or another use of its CPU time.
 */
export type OwnLimit = { "kind": "busy", 
/**
 * The share of its time in which it computed.
 */
share: Share, } | { "kind": "connections", 
/**
 * The number of connections.
 */
most: number, } | { "kind": "exhausted", 
/**
 * The number of requests that could not be sent.
 */
failed: number, } | { "kind": "late", 
/**
 * The share of requests that were late.
 */
share: Share, } | { "kind": "crowded", 
/**
 * The share of its time in which it waited.
 */
share: Share, } | { "kind": "stood_still", 
/**
 * The longest stall.
 */
longest_us: Us, } | { "kind": "stolen", 
/**
 * The share of the machine's time.
 */
share: Share, } | { "kind": "others", 
/**
 * Their CPU usage, in percent of one core.
 */
cpu_percent: number, } | { "kind": "floor", 
/**
 * The rate with that server, in responses per second.
 */
rate: PerSecond, };

/**
 * A rate per second.
 */
export type PerSecond = number;

/**
 * The phases of a request.
 */
export type Phases = { 
/**
 * Name resolutions for new connections.
 */
resolve_us: Distribution, 
/**
 * TCP connects of new connections.
 */
connect_us: Distribution, 
/**
 * TLS handshakes of new connections.
 */
tls_us: Distribution, 
/**
 * The times from the send to the first byte of the response.
 */
first_byte_us: Distribution, 
/**
 * The times from the first byte to the last byte of the response.
 */
rest_us: Distribution, };

/**
 * Some percentiles of the requests that ended in an interval, in microseconds; null without a
 * sample.
 */
export type Quantiles = { 
/**
 * The median.
 */
p50: Us | null, 
/**
 * The 90th percentile.
 */
p90: Us | null, 
/**
 * The 99th percentile.
 */
p99: Us | null, 
/**
 * The longest.
 */
max: Us | null, };

/**
 * The confidence interval of a ratio.
 */
export type RatioInterval = { 
/**
 * The lower end.
 */
lower: number, 
/**
 * The upper end.
 */
upper: number, 
/**
 * The confidence level.
 */
level: Share, };

/**
 * The recovery of the target from a load above the load line.
 */
export type Recovery = { 
/**
 * True if all checks passed again.
 */
recovered: boolean, 
/**
 * The time from the step down until they passed; absent if they did not.
 */
after_s?: Seconds, 
/**
 * The time in which they did not pass; absent if they did.
 */
within_s?: Seconds, };

/**
 * The role of a run in a *series*: several runs in one file, one after another.
 */
export type Role = { 
/**
 * The reason why there are several runs.
 */
kind: RoleKind, 
/**
 * The number of the run within its kind (and name), from 1, in the order in which they were
 * run.
 */
number: number, 
/**
 * The planned number of such runs, if it was known in advance.
 */
of?: number, 
/**
 * The name of the measured variant (such as `A` or `B`), if there are several.
 */
name?: string, 
/**
 * The parameters of the search that a trial belongs to.
 */
search?: Record<string, unknown>, 
/**
 * For a trial: the seconds of the search's budget spent when the previous trial had ended.
 */
spent_s?: number, };

/**
 * The reason why there are several runs in one file.
 */
export type RoleKind = "repeat" | "trial" | "side" | "unknown";

/**
 * The document that `loadline -o json` prints for one run. Described in docs/guide/json.md.
 */
export type Run = { 
/**
 * The version of this schema.
 */
schema: number, 
/**
 * The version of the program that ran it.
 */
version: string, 
/**
 * The start of the run, UTC, RFC 3339.
 */
started_at: string, 
/**
 * The start of the load, by CLOCK_MONOTONIC of the machine; null if unknown.
 */
started_monotonic_ns: number | null, 
/**
 * The plan of the run, with all defaults filled in.
 */
plan: Record<string, unknown>, 
/**
 * Request bodies too long to keep in the plan.
 */
long_bodies: Array<LongBody>, 
/**
 * The machine of the generator. Null stands for figures that could not be read.
 */
environment: Environment, 
/**
 * The measured part, second by second.
 */
intervals: Array<Interval>, 
/**
 * The busiest names over time; absent where all requests have one name.
 */
names_over_time?: NamesOverTime, 
/**
 * The whole run.
 */
summary: Summary, };

/**
 * A trial at a share of the load line (a rung of the ladder).
 */
export type Rung = { 
/**
 * The share of the load line.
 */
part: string, 
/**
 * The planned rate per second or number of users.
 */
level: number, 
/**
 * True if the trial passed.
 */
held: boolean, 
/**
 * The conditions and their results.
 */
checks: Array<TrialCheck>, 
/**
 * Responses per second.
 */
rate: PerSecond, 
/**
 * The share of requests that failed.
 */
failed_share: Share, 
/**
 * The median of the response time.
 */
p50_us: Us, 
/**
 * True if `p50_us` is a lower bound: requests without a response are older than every
 * response.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time.
 */
p99_us: Us, 
/**
 * True if `p99_us` is a lower bound.
 */
p99_at_least: boolean, 
/**
 * The arrivals that had fallen due and not ended at the end of the trial, in seconds of the
 * load; 0 in a closed load.
 */
outstanding_s: number, 
/**
 * The growth of the number of outstanding requests from the beginning to the end of the trial;
 * 0 in a closed load.
 */
grown: number, 
/**
 * The CPU usage of the target, in percent of one core; null if it was not watched.
 */
target_cpu_percent: number | null, 
/**
 * True if the machine lost CPU time: the hypervisor took it, or a loop stalled.
 */
lost_time: boolean, 
/**
 * The limit of the generator that was reached before the target's; null if there was none.
 */
own_limit: OwnLimit | null, 
/**
 * The use of CPU time by others that disturbed the generator and its machine; null if there
 * was none.
 */
disturbance: OwnLimit | null, };

/**
 * The document that `loadline capacity -o json` prints. Described in docs/guide/capacity.md.
 */
export type Search = { 
/**
 * The version of this schema.
 */
capacity_schema: number, 
/**
 * The version of the program that prints it.
 */
version: string, 
/**
 * The plan of each trial, without its load.
 */
plan: Record<string, unknown>, 
/**
 * The quantity that the search varies.
 */
searched: Searched, 
/**
 * The goal of the search.
 */
goal: Goal, 
/**
 * The result of the search.
 */
answer: SearchAnswer, 
/**
 * Present if the trials were too short to see a backlog grow; else null.
 */
trials_too_short: TooShort | null, 
/**
 * True if the user ended the search.
 */
interrupted: boolean, 
/**
 * Trials at loads below, at and above the load line.
 */
ladder: Array<Rung>, 
/**
 * The recovery from a load above the load line; null if it was not tried.
 */
recovery: Recovery | null, 
/**
 * The best result that the generator's machine reaches; null if it was not measured.
 */
floor: Floor | null, 
/**
 * Every trial, in chronological order.
 */
trials: Array<Trial>, };

/**
 * The result of a search.
 */
export type SearchAnswer = { "kind": "found", 
/**
 * The load line: that level, less the backlog that grows in a second at it.
 */
level: number, 
/**
 * The lower end of the 95 % confidence interval.
 */
low: number, 
/**
 * The upper end of the 95 % confidence interval.
 */
high: number, 
/**
 * The highest level that holds: the relevant lower bound of RFC 9971.
 */
lower_bound: number, 
/**
 * The lowest level above it that does not hold: the relevant upper bound of RFC 9971.
 */
upper_bound: number, 
/**
 * The median rate of responses per second in the trials at the lower bound that passed.
 */
conditional_throughput: number, 
/**
 * The checks that failed just above the load line, the most frequent first.
 */
breaks: Array<string>, 
/**
 * The measured time of the run that confirmed the level.
 */
confirmed_s: Seconds, 
/**
 * The CPU usage of the target at the load line, in percent of one core; null if it was not
 * watched.
 */
target_cpu_percent: number | null, 
/**
 * The disturbance in most of the trials that failed just above the load line; null if
 * there was none.
 */
disturbance: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, } | { "kind": "at_least", 
/**
 * The highest level that held.
 */
level: number, 
/**
 * The reason why higher levels are unknown.
 */
why: WhyNoMore, 
/**
 * The limit of the generator that was reached before the target's; null if there was none.
 */
own_limit: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, } | { "kind": "nothing_holds", 
/**
 * The lowest level.
 */
level: number, 
/**
 * The checks that failed at that level, the most frequent first.
 */
breaks: Array<string>, 
/**
 * The limit of the generator or its machine that may have caused the failures; null if
 * there was none.
 */
own_limit: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, } | { "kind": "unsettled", 
/**
 * A lower bound of the load line; null if there is none.
 */
lower: number | null, 
/**
 * An upper bound of the load line; null if there is none.
 */
upper: number | null, 
/**
 * The level at which most short trials passed, but a long run or all responses together
 * failed; null if there was none.
 */
refuted: number | null, 
/**
 * The limit of the generator or its machine that may have caused the failures; null if
 * there was none.
 */
own_limit: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, };

/**
 * The quantity that a search varies.
 */
export type Searched = "rate" | "users";

/**
 * Seconds.
 */
export type Seconds = number;

/**
 * The document that `loadline -o json` prints for several runs: repeats, two targets that took
 * turns, or a saved file with several runs. Described in docs/guide/json.md.
 */
export type Series = { 
/**
 * The version of this schema.
 */
schema: number, 
/**
 * The variation from run to run; only of repeats.
 */
spread?: Spread, 
/**
 * The comparison of two targets; only if two targets took turns.
 */
comparison?: Comparison, 
/**
 * The runs, in chronological order.
 */
runs: Array<SeriesRun>, };

/**
 * A run of a series.
 */
export type SeriesRun = { 
/**
 * The role of the run in the series; null if unknown.
 */
role: Role | null, 
/**
 * The version of this schema.
 */
schema: number, 
/**
 * The version of the program that ran it.
 */
version: string, 
/**
 * The start of the run, UTC, RFC 3339.
 */
started_at: string, 
/**
 * The start of the load, by CLOCK_MONOTONIC of the machine; null if unknown.
 */
started_monotonic_ns: number | null, 
/**
 * The plan of the run, with all defaults filled in.
 */
plan: Record<string, unknown>, 
/**
 * Request bodies too long to keep in the plan.
 */
long_bodies: Array<LongBody>, 
/**
 * The machine of the generator. Null stands for figures that could not be read.
 */
environment: Environment, 
/**
 * The measured part, second by second.
 */
intervals: Array<Interval>, 
/**
 * The busiest names over time; absent where all requests have one name.
 */
names_over_time?: NamesOverTime, 
/**
 * The whole run.
 */
summary: Summary, };

/**
 * A share: 1 is all.
 */
export type Share = number;

/**
 * One side of a comparison.
 */
export type Side = { 
/**
 * The target of the load.
 */
target: string, 
/**
 * The number of runs.
 */
runs: number, 
/**
 * The share of the requests of these runs that failed.
 */
failed: Share, 
/**
 * The conditions of `--check` for all runs of this side together; only if two targets took
 * turns.
 */
checks?: Array<Check>, 
/**
 * The runs of this side; only if saved runs are compared.
 */
files?: Array<ComparedFile>, };

/**
 * The variation from run to run.
 */
export type Spread = { 
/**
 * The number of runs; those that were cut short do not count if at least one run is complete.
 */
runs: number, 
/**
 * The figures, the rate last.
 */
figures: Array<FigureSpread>, 
/**
 * The conditions of `--check` for the requests of all these runs together.
 */
checks: Array<Check>, };

/**
 * The result of a comparison: B relative to A.
 */
export type Standing = "faster" | "slower" | "cannot_tell";

/**
 * A figure of a distribution.
 */
export type Statistic = "mean" | "stdev" | "max" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99.9" | "p99.99";

/**
 * The summary of a whole run.
 */
export type Summary = { 
/**
 * Length of the measured part.
 */
duration_s: Seconds, 
/**
 * The time after the measured part in which unfinished requests were waited for.
 */
drained_s: Seconds, 
/**
 * True if the run was recorded to its end.
 */
complete: boolean, 
/**
 * The number of processes that ran the plan at the same time.
 */
parts: number, 
/**
 * The reason why the run ended.
 */
ended: Ended, 
/**
 * The condition of `--abort-on`, or the threshold of the script, that ended the run; null if
 * none did.
 */
aborted_by: string | null, 
/**
 * The transient at the beginning of the run; only with `--warmup auto`.
 */
transient?: Transient, 
/**
 * The changes of the load during the run; absent if there were none.
 */
changes?: Array<LoadChange>, 
/**
 * The notes that people wrote while the run lasted, in the order of writing; absent if there
 * are none.
 */
notes?: Array<Note>, 
/**
 * Requests without a response when the run ended.
 */
unfinished: Unfinished, 
/**
 * The response times: from the intended start to the last byte.
 */
response_time_us: Distribution, 
/**
 * The service times: from the send (or the dial, if one was needed) to the last byte.
 */
service_time_us: Distribution, 
/**
 * The waits for a free connection, from the intended start.
 */
blocked_us: Distribution, 
/**
 * The delay added by Loadline: from the moment that a connection was free to the send.
 */
lateness_us: Distribution, 
/**
 * The phases of a request.
 */
phases: Phases, 
/**
 * The wake-up delays: from the kernel's receive to Loadline's read. They are part of none of
 * the times above.
 */
wakeup_us: Distribution, 
/**
 * The durations of iterations, from the intended start to the last response; only of
 * iterations with several requests.
 */
iteration_us?: Distribution, 
/**
 * The delay that Loadline added and its effect; only of an open load with responses.
 */
own_delay?: OwnDelay, 
/**
 * The times that a closed-loop tool would have shown; only of an open load.
 */
closed_loop?: ClosedLoop, 
/**
 * Responses by status code.
 */
statuses: { [key in number]: number }, 
/**
 * Failures by kind.
 */
errors: { [key in string]: Failures }, 
/**
 * Responses that report errors by their status, or that a script rejected: the first one of
 * each name and status, the most severe statuses first, at most 20. Absent if there are none,
 * or if they were not kept: they are kept for the live page (`--web`), and of locustfiles.
 */
error_responses?: Array<ErrorResponse>, 
/**
 * Exceptions that nothing in a script handled, of iterations of k6 or tasks of a locustfile:
 * equal ones together, the earliest first, at most 20. Absent if there are none.
 */
exceptions?: Array<Exception>, 
/**
 * The number of exceptions that are not among these for lack of room; absent if there are
 * none.
 */
exceptions_left_out?: number, 
/**
 * The requests by name, the name with the most requests first; absent if all have one name.
 */
names?: Array<Named>, 
/**
 * The metrics that a script counted by itself, in the order of their names; absent if there
 * are none.
 */
metrics?: Array<CustomMetric>, 
/**
 * The number of metric values that were dropped for lack of room; absent if there are none.
 */
metric_values_left_out?: number, 
/**
 * The slowest requests that carried a sampled trace, the slowest first; absent without
 * `--traceparent`.
 */
slowest_traces?: Array<TracedRequest>, 
/**
 * The conditions of `--check`, in their order.
 */
checks: Array<Check>, 
/**
 * The validity of the result.
 */
validity: Validity, 
/**
 * The generator during the run.
 */
generator: Generator, 
/**
 * Warnings about the figures, the most severe first.
 */
warnings: Array<Warning>, 
/**
 * The requests whose times were split by the kernel's timestamps; only with
 * `--kernel-timestamps`.
 */
kernel_timestamps?: KernelTimestamps, 
/**
 * The usage of the watched processes and of the machine in the whole run; absent if nothing
 * was watched.
 */
watch?: Watch, 
/**
 * Arrivals whose request fell due, after the pauses of a script before it, if its iteration
 * sends one; in a closed load the same as `sent`.
 */
planned: number, 
/**
 * Requests begun.
 */
sent: number, 
/**
 * Requests with a whole response, whatever its status.
 */
answered: number, 
/**
 * Responses that ended in the interval or in the measured part, whenever their requests began;
 * responses of the drain are not included.
 */
completed: number, 
/**
 * Requests that ended without a response.
 */
failed: number, 
/**
 * Responses that a script rejected, which declared their requests failed; each is included in
 * `answered`. Absent if there are none.
 */
rejected?: number, 
/**
 * Requests begun and not ended, at the end of the interval or of the run.
 */
in_flight: number, 
/**
 * Kept-alive connections that the server had closed and that were replaced.
 */
reconnects: number, 
/**
 * Requests that were sent again; each of them is included in `sent`.
 */
resent: number, 
/**
 * Connections that were closed because more data came on them than the lengths of the
 * responses announced.
 */
surplus: number, 
/**
 * Arrivals that fell due when no user was free and that were not begun, if the plan drops such
 * arrivals; absent if there are none.
 */
dropped?: number, 
/**
 * Starts of a paced load that fell due while their user still waited for a response; each is
 * included in the response times. Absent if there are none.
 */
missed?: number, 
/**
 * Connections that were established.
 */
connections: number, 
/**
 * Bytes received, inside TLS.
 */
bytes_in: number, 
/**
 * Bytes sent, inside TLS.
 */
bytes_out: number, 
/**
 * `completed` per second.
 */
rate: PerSecond, };

/**
 * The kernel's settings for TCP that limit a load, named as below `net.ipv4` and `net.core` (see
 * tcp(7) and ip(7)). A value that could not be read is null.
 */
export type TcpSettings = { 
/**
 * The first and the last local port for connections.
 */
ip_local_port_range: [number, number] | null, 
/**
 * The rule for reusing the port of a closed connection at once: 0 never, 1 always, 2 on
 * loopback.
 */
tcp_tw_reuse: number | null, 
/**
 * The maximum number of connections that wait to be accepted by a server on this machine.
 */
somaxconn: number | null, 
/**
 * The maximum number of half-open connections of such a server.
 */
tcp_max_syn_backlog: number | null, 
/**
 * The largest receive buffer of a connection, in bytes.
 */
tcp_rmem_max: number | null, 
/**
 * The largest send buffer of a connection, in bytes.
 */
tcp_wmem_max: number | null, };

/**
 * TCP sockets by state (RFC 9293, section 3.3.2). A socket without an owner, as in TIME-WAIT,
 * belongs to no process.
 */
export type TcpStates = { established: number } & { [state in 'syn_sent' | 'syn_received' | 'fin_wait_1' | 'fin_wait_2' | 'time_wait' | 'closed' | 'close_wait' | 'last_ack' | 'listening' | 'closing']?: number };

/**
 * The allowed change of a figure, and the result in these runs.
 */
export type ToleranceResult = { 
/**
 * The tolerance as typed.
 */
rule: string, 
/**
 * The result: passed if the figure stays within the tolerance. Decided only if the whole
 * interval lies on one side of the limit.
 */
outcome: CheckOutcome, 
/**
 * The largest allowed B / A; of a tolerance downwards the smallest.
 */
limit: number, 
/**
 * B / A; null if the figure could not be compared.
 */
ratio: number | null, 
/**
 * The interval of the ratio; null if the figure could not be compared.
 */
interval: RatioInterval | null, };

/**
 * The evidence that trials were too short to see a backlog grow.
 */
export type TooShort = { 
/**
 * The measured time of the shortest trial.
 */
trial_s: Seconds, 
/**
 * The mean response time of the target at low load.
 */
response_s: Seconds, 
/**
 * The measured time that a trial would need.
 */
needed_s: Seconds, 
/**
 * The meaning, and what to do.
 */
text: string, };

/**
 * A request that carried a sampled trace (`--traceparent`).
 */
export type TracedRequest = { 
/**
 * The identifier of the trace: 32 hexadecimal digits.
 */
trace_id: string, 
/**
 * The identifier of the span that the request is: 16 hexadecimal digits.
 */
span_id: string, 
/**
 * The response time: from the intended start to the last byte.
 */
response_us: Us, 
/**
 * The end of the request, from the begin of the measured part.
 */
end_s: Seconds, 
/**
 * The status of the response; null if the request timed out.
 */
status: number | null, 
/**
 * The name of the request; absent if all requests have the same.
 */
name?: string, 
/**
 * The tags of the name.
 */
tags?: { [key in string]: string }, };

/**
 * The result of the search for a transient at a run's beginning.
 */
export type Transient = { "cut": { 
/**
 * The number of intervals.
 */
intervals: number, } } | "never" | "too_short";

/**
 * A tree of processes in the whole run.
 */
export type Tree = { 
/**
 * `generator`, or the argument that selected the tree, after the name of its machine.
 */
name: string, 
/**
 * The agent on whose machine the tree is; absent if it is on this one.
 */
machine?: string, 
/**
 * The program name of the tree's first process.
 */
command: string | null, 
/**
 * The process identifier of the tree's first process.
 */
pid: number | null, 
/**
 * The total time on a core, child processes included.
 */
cpu_s: Seconds, 
/**
 * Time on a core, user and system, children included.
 */
cpu_percent: MeanAndMax, 
/**
 * Resident memory; pages that processes share count in each of them.
 */
rss_bytes: MeanAndMax, 
/**
 * Resident memory with shared pages divided among the processes.
 */
pss_bytes: MeanAndMax, 
/**
 * Threads.
 */
threads: MeanAndMax, 
/**
 * Open files.
 */
open_files: MeanAndMax, 
/**
 * Open sockets; one that processes share counts once.
 */
sockets: MeanAndMax, 
/**
 * The changes of the tree, at most a hundred.
 */
events: Array<TreeEvent>, 
/**
 * The number of changes.
 */
event_count: number, 
/**
 * The figures that could not be read.
 */
missing: Array<Missing>, };

/**
 * A change of a watched tree.
 */
export type TreeEvent = { 
/**
 * The end of the interval in which the change was seen, from the start of the measured part.
 */
at_s: Seconds, 
/**
 * The kind of change.
 */
change: Change, 
/**
 * The first process after the change.
 */
pid: number | null, };

/**
 * A tree of processes in one interval.
 */
export type TreeSample = { 
/**
 * `generator`, or the argument that selected the tree.
 */
name: string, 
/**
 * The number of processes at the end.
 */
processes: number, 
/**
 * Time on a core, user and system, child processes included.
 */
cpu_percent: number | null, 
/**
 * Resident memory; pages that processes share count in each of them.
 */
rss_bytes: number | null, 
/**
 * Resident memory with shared pages divided among the processes; read every five seconds at
 * most.
 */
pss_bytes: number | null, 
/**
 * Threads.
 */
threads: number | null, 
/**
 * Open files.
 */
open_files: number | null, 
/**
 * Open sockets; one that processes share counts once.
 */
sockets: number | null, 
/**
 * TCP sockets by state.
 */
tcp: TcpStates | null, 
/**
 * Voluntary context switches per second: a thread gave up its core to wait.
 */
voluntary_switches_per_s: number | null, 
/**
 * Involuntary context switches per second: a core was taken from a thread.
 */
involuntary_switches_per_s: number | null, };

/**
 * A trial at a level.
 */
export type Trial = { 
/**
 * The number of the trial, from 1.
 */
number: number, 
/**
 * The purpose of the trial.
 */
purpose: string, 
/**
 * The planned rate per second or number of users.
 */
level: number, 
/**
 * The measured time.
 */
seconds: Seconds, 
/**
 * True if the trial passed.
 */
held: boolean, 
/**
 * True if no more requests were outstanding at the end than at the beginning, apart from
 * chance.
 */
kept_up: boolean, 
/**
 * True if the trial was discarded and repeated, because its machine lost CPU time meanwhile,
 * or a part of its load was lost.
 */
set_aside: boolean, 
/**
 * The conditions and their results.
 */
checks: Array<TrialCheck>, 
/**
 * Responses per second.
 */
rate: PerSecond, 
/**
 * The share of requests that failed.
 */
failed_share: Share, 
/**
 * The median of the response time.
 */
p50_us: Us, 
/**
 * True if `p50_us` is a lower bound: requests without a response are older than every
 * response.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time.
 */
p99_us: Us, 
/**
 * True if `p99_us` is a lower bound.
 */
p99_at_least: boolean, 
/**
 * The arrivals that had fallen due and not ended at the end of the trial, in seconds of the
 * load; 0 in a closed load.
 */
outstanding_s: number, 
/**
 * The growth of the number of outstanding requests from the beginning to the end of the trial;
 * 0 in a closed load.
 */
grown: number, 
/**
 * The CPU usage of the target, in percent of one core; null if it was not watched.
 */
target_cpu_percent: number | null, 
/**
 * True if the machine lost CPU time: the hypervisor took it, or a loop stalled.
 */
lost_time: boolean, 
/**
 * The limit of the generator that was reached before the target's; null if there was none.
 */
own_limit: OwnLimit | null, 
/**
 * The use of CPU time by others that disturbed the generator and its machine; null if there
 * was none.
 */
disturbance: OwnLimit | null, };

/**
 * A condition and its result in a trial.
 */
export type TrialCheck = { 
/**
 * The condition as typed.
 */
check: string, 
/**
 * True if the search counts the condition as passed: it judges the estimate, whatever its
 * confidence interval.
 */
held: boolean, 
/**
 * The outcome of the condition in this trial alone.
 */
outcome: CheckOutcome | null, };

/**
 * Requests without a response when the run ended.
 */
export type Unfinished = { 
/**
 * Arrivals that were never sent.
 */
unsent: number, 
/**
 * Unsent because all connections were in use by a target that was slower than at low load.
 */
by_target: number, 
/**
 * Unsent because the plan allows too few connections, or its script or user ended the load.
 */
by_plan: number, 
/**
 * Unsent although a connection was free, or could be opened.
 */
by_loadline: number, 
/**
 * Arrivals of a worker that was lost: planned = sent + unsent + lost. Absent if there are
 * none.
 */
lost?: number, 
/**
 * Requests in flight.
 */
in_flight: number, 
/**
 * The longest wait of these requests, from their intended start.
 */
oldest_us: Us, };

/**
 * A unit.
 */
export type Unit = "us" | "share" | "count" | "per_second" | "number";

/**
 * Microseconds, exact to the nanosecond.
 */
export type Us = number;

/**
 * The usage in one interval.
 */
export type UsageSample = { 
/**
 * The length of the sample, which differs from the length of the interval by a few
 * milliseconds.
 */
length_s: Seconds, 
/**
 * The machine.
 */
host: HostUsage, 
/**
 * The processes, each with all its descendants; the generator is the first.
 */
trees: Array<TreeSample>, };

/**
 * The validity of the result, with the reasons.
 */
export type Validity = { 
/**
 * The worst grade of the findings.
 */
grade: Grade, 
/**
 * The findings, the most severe first.
 */
findings: Array<Finding>, };

/**
 * A warning about the figures.
 */
export type Warning = { 
/**
 * The kind of warning.
 */
kind: string, 
/**
 * The meaning, and what to do.
 */
text: string, };

/**
 * The usage in the whole run.
 */
export type Watch = { 
/**
 * The machine.
 */
host: Host, 
/**
 * The processes, each with all its descendants; the generator is the first.
 */
trees: Array<Tree>, };

/**
 * The document that `loadline watch -o json` prints, one object per line. Described in
 * docs/guide/watch.md.
 */
export type Watched = { 
/**
 * The end of the sample, from the start.
 */
time_s: Seconds, 
/**
 * The machine.
 */
host: WatchedHost, 
/**
 * The processes, each with all its descendants.
 */
trees: Array<WatchedTree>, };

/**
 * The machine, and its figures that could not be read.
 */
export type WatchedHost = { 
/**
 * The figures that could not be read.
 */
missing: Array<Missing>, 
/**
 * Time that the cores were busy, all of them together.
 */
cpu_percent: number | null, 
/**
 * Time that a hypervisor gave to other machines instead.
 */
steal_percent: number | null, 
/**
 * Memory in use: all but the available memory.
 */
memory_used_bytes: number | null, 
/**
 * The share of the time in which some task waited for the CPU.
 */
cpu_pressure_percent: number | null, 
/**
 * The share of the time in which some task waited for memory.
 */
memory_pressure_percent: number | null, 
/**
 * The share of the time in which some task waited for a disk.
 */
io_pressure_percent: number | null, 
/**
 * Bytes received through the interface, by all programs.
 */
net_in_bytes_per_s: number | null, 
/**
 * Bytes sent through the interface, by all programs.
 */
net_out_bytes_per_s: number | null, 
/**
 * Packets received through the interface, by all programs.
 */
net_in_packets_per_s: number | null, 
/**
 * Packets sent through the interface, by all programs.
 */
net_out_packets_per_s: number | null, 
/**
 * The usage of the link's busier direction, in percent of its speed.
 */
link_percent: number | null, 
/**
 * TCP segments that were retransmitted.
 */
retransmits: number | null, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number | null, };

/**
 * A tree of processes that is watched.
 */
export type WatchedTree = { 
/**
 * `generator`, or the argument that selected the tree.
 */
name: string, 
/**
 * The program name of the tree's first process.
 */
command: string | null, 
/**
 * The process identifier of the tree's first process.
 */
pid: number | null, 
/**
 * The last change of the tree.
 */
change: Change | null, 
/**
 * The figures that could not be read.
 */
missing: Array<Missing>, 
/**
 * The number of processes at the end.
 */
processes: number, 
/**
 * Time on a core, user and system, child processes included.
 */
cpu_percent: number | null, 
/**
 * Resident memory; pages that processes share count in each of them.
 */
rss_bytes: number | null, 
/**
 * Resident memory with shared pages divided among the processes; read every five seconds at
 * most.
 */
pss_bytes: number | null, 
/**
 * Threads.
 */
threads: number | null, 
/**
 * Open files.
 */
open_files: number | null, 
/**
 * Open sockets; one that processes share counts once.
 */
sockets: number | null, 
/**
 * TCP sockets by state.
 */
tcp: TcpStates | null, 
/**
 * Voluntary context switches per second: a thread gave up its core to wait.
 */
voluntary_switches_per_s: number | null, 
/**
 * Involuntary context switches per second: a core was taken from a thread.
 */
involuntary_switches_per_s: number | null, };

/**
 * The reason why a figure could not be read.
 */
export type Why = "rights" | "too_large" | "untold";

/**
 * The reason why no level above one that holds was judged.
 */
export type WhyNoMore = "generator" | "highest" | "time_over";

/**
 * A thread that runs users.
 */
export type Worker = { 
/**
 * The number of the worker.
 */
worker: number, 
/**
 * The elapsed time, in seconds.
 */
wall_s: Seconds, 
/**
 * The share of `wall_s` in which the worker computed.
 */
cpu: Share, 
/**
 * The share of `wall_s` in which it polled, because the next deadline was too near to sleep;
 * not part of `cpu`.
 */
polled: Share, 
/**
 * The share of `wall_s` in which it waited for the CPU.
 */
queued: Share, 
/**
 * The share of `wall_s` in which its event loop stalled.
 */
stood_still: Share, 
/**
 * The durations of the iterations of its event loop.
 */
turns_us: Distribution, 
/**
 * Requests with a whole response.
 */
answered: number, 
/**
 * Connections that were established.
 */
connections: number, 
/**
 * Bytes received, inside TLS.
 */
bytes_in: number, 
/**
 * Bytes sent, inside TLS.
 */
bytes_out: number, 
/**
 * The cores that its thread was on at the ends of the intervals.
 */
cores: Array<number>, 
/**
 * The longest delay with which the kernel may let its timers fire.
 */
timer_slack_us: Us | null, };
