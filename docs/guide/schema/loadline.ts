// Generated from the types in crates/json. Do not edit; to write it anew:
// GENERATE=1 cargo test -p loadline-json typescript

/**
 * A figure with a large part that the target did not cause.
 */
export type Affected = { 
/**
 * Its name, as in the text report: p99, mean, max.
 */
figure: string, 
/**
 * By which delay.
 */
by: AffectedBy, 
/**
 * With that delay.
 */
with_us: Us, 
/**
 * Without it.
 */
without_us: Us, };

/**
 * What affected a figure.
 */
export type AffectedBy = "own_delay" | "plan";

/**
 * The pattern in which requests of an open load were due and sent.
 */
export type Arrivals = { 
/**
 * The windows in which requests were counted.
 */
window_s: Seconds, 
/**
 * The share that was sent in another window than the one in which it was due and could be
 * sent.
 */
displaced: Share, 
/**
 * How much the windows' counts vary as due: variance over mean.
 */
dispersion_due: number | null, 
/**
 * The same as sent.
 */
dispersion_sent: number | null, 
/**
 * Where the dispersion of this many windows of a Poisson process lies; null of other arrivals.
 */
dispersion_of_poisson: Band | null, };

/**
 * Between which bounds a figure lies.
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
 * In which share of such runs.
 */
level: Share, };

/**
 * What happened to a tree.
 */
export type Change = "ended" | "restarted";

/**
 * A condition, and what the run says of it.
 */
export type Check = { 
/**
 * The condition as typed.
 */
text: string, 
/**
 * What the run says of it.
 */
outcome: CheckOutcome, 
/**
 * Why the run can't decide it, in a sentence that says what to do; null if it can.
 */
why: string | null, 
/**
 * What was measured; null without a sample.
 */
actual: Number | null, 
/**
 * Whether `actual` is a lower bound.
 */
at_least: boolean, 
/**
 * What it was compared with.
 */
bound: Number, 
/**
 * The unit of `actual` and `bound`.
 */
unit: Unit, 
/**
 * How many times, or requests that ended, were looked at.
 */
samples: number, };

/**
 * The outcome of a check. In JSON *passed* is `kept`, *failed* `broken` and *undecided*
 * `not_known`: programs rely on these names.
 */
export type CheckOutcome = "kept" | "broken" | "not_known";

/**
 * What a closed-loop tool would have shown of an open load.
 */
export type ClosedLoop = { 
/**
 * How many users it would have had: the connections at the beginning.
 */
users: number, 
/**
 * Requests that fell due while all of its users would have waited, and that went out on
 * further connections.
 */
omitted: number, 
/**
 * Requests that waited longer for a connection than its p99, before they were sent.
 */
waited: number, 
/**
 * What makes the response time longer than twice what it shows, if it is; else null.
 */
hides: Hides | null, 
/**
 * What it would have timed.
 */
shown_us: Distribution, };

/**
 * A figure of both sides.
 */
export type ComparedFigure = { 
/**
 * Its name: p99, mean, max, rate.
 */
figure: string, 
/**
 * The unit of `a` and `b`.
 */
unit: Unit, 
/**
 * That of A; of several runs the geometric mean.
 */
a: number, 
/**
 * That of B; of several runs the geometric mean.
 */
b: number, 
/**
 * B / A.
 */
ratio: number, 
/**
 * Between which bounds the ratio lies.
 */
interval: RatioInterval, 
/**
 * What the interval says.
 */
standing: Standing, 
/**
 * About how many more runs of each would tell a difference of this size: 0 if it is known
 * already, null if a thousand would not suffice.
 */
more_runs: number | null, };

/**
 * A saved run that was compared.
 */
export type ComparedFile = { 
/**
 * Its file.
 */
file: string, 
/**
 * Its number there, from 1; null if it is alone.
 */
run: number | null, 
/**
 * Whether it may be believed.
 */
validity: Validity, };

/**
 * A metric that the scripts of both sides counted, without an interval.
 */
export type ComparedMetric = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its tags.
 */
tags?: { [key in string]: string }, 
/**
 * What is made of its values.
 */
kind: MetricKind, 
/**
 * A's figures: `sum`, `share`, `p95` and so on, in the metric's unit.
 */
a: { [key in string]: number }, 
/**
 * B's figures.
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
 * Its tags.
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
 * The names of both sides, compared. The intervals of all of them hold together at 95 %, apart
 * from those of the whole sides.
 */
export type ComparedNames = { 
/**
 * Those that both sides have; at most 50.
 */
common: Array<ComparedName>, 
/**
 * How many more both have, with fewer requests: they are not compared.
 */
more: number, 
/**
 * How many percentiles are left out, because requests that had no response at the end of a run
 * could move them.
 */
open_percentiles: number, 
/**
 * Those that only A has, with their tags in braces.
 */
only_a: Array<string>, 
/**
 * Those that only B has, with their tags in braces.
 */
only_b: Array<string>, };

/**
 * What `loadline compare -o json` prints. Described in docs/guide/json.md.
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
 * Whether both took turns, and runs were compared in pairs.
 */
paired: boolean, 
/**
 * The figures that were compared, the rate last.
 */
figures: Array<ComparedFigure>, 
/**
 * Percentiles that are not compared, because unfinished requests make them a lower bound in a
 * run.
 */
bounds: Array<string>, 
/**
 * Of all figures: slower if any is, else faster if any is, else cannot_tell.
 */
standing: Standing, 
/**
 * The same of the requests of each name that both sides have, the one with the most requests
 * first; left out where there are none.
 */
names?: ComparedNames, 
/**
 * What the scripts of both sides counted by themselves: the metrics that both have; left out
 * where there are none.
 */
metrics?: Array<ComparedMetric>, 
/**
 * The tolerances of `--fail-on`, with what came of them; left out where there are none.
 */
tolerances?: Array<ToleranceResult>, 
/**
 * What else differs between the runs; of saved runs only.
 */
warnings?: Array<Difference>, };

/**
 * Between which bounds a percentile lies.
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
 * Which of the ends are lower bounds.
 */
at_least: Array<End>, 
/**
 * The number of independent samples that the samples are worth.
 */
independent: number, 
/**
 * How many more samples such as these it takes to an upper end; 0 if there is one.
 */
still_needed: number, };

/**
 * Between which bounds each percentile lies.
 */
export type ConfidenceIntervals = { 
/**
 * The confidence of each of them.
 */
level: Share, 
/**
 * Whether dependence between the times is allowed for; not of a run too short to show it.
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
 * A metric that a script counted by itself, in its unit. Figures that its kind does not have, and
 * those of a metric without a value, are absent.
 */
export type CustomMetric = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its tags.
 */
tags?: { [key in string]: string }, 
/**
 * What is made of its values.
 */
kind: MetricKind, 
/**
 * What its values are: `ms` or `bytes`; absent for plain numbers.
 */
unit?: string, 
/**
 * How many values were added; of a gauge 1 if it was set.
 */
count: number, 
/**
 * The sum of a counter.
 */
sum?: number, 
/**
 * What was added to a counter in the window, per second.
 */
rate?: number, 
/**
 * The share of a rate's values that are not zero: 1 is all.
 */
share?: number, 
/**
 * The value that a gauge was set to last.
 */
last?: number, 
/**
 * The smallest value of a gauge or a trend.
 */
min?: number, 
/**
 * The largest one.
 */
max?: number, 
/**
 * The arithmetic mean of a trend.
 */
mean?: number, 
/**
 * Percentiles of a trend, to within a hundredth: `p50`, `p90`, `p95`, `p99`.
 */
percentiles?: { [key in string]: number }, };

/**
 * What else differs between the runs of a comparison.
 */
export type Difference = { 
/**
 * What it is.
 */
kind: string, 
/**
 * What it means and what to do.
 */
text: string, };

/**
 * Times in microseconds, exact to three significant digits; null without a sample.
 */
export type Distribution = { 
/**
 * How many times there are.
 */
count: number, 
/**
 * Their arithmetic mean.
 */
mean: Us | null, 
/**
 * Their standard deviation.
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
 * How sure the percentiles are; of response and service times alone.
 */
confidence_intervals?: ConfidenceIntervals, 
/**
 * Of response and service times: the requests without a response at the end, each counted with
 * its age.
 */
unfinished?: number, 
/**
 * Of response and service times: which of these figures are lower bounds, because unfinished
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
 * What `loadline doctor -o json` prints. Described in docs/guide/doctor.md.
 */
export type Doctor = { 
/**
 * The version of this schema.
 */
doctor_schema: number, 
/**
 * The version of the program that looked.
 */
version: string, 
/**
 * The machine, as a run records it. What could not be read is null.
 */
environment: Environment, 
/**
 * For how many connections at once there are descriptors; null if that is not known.
 */
connections: number | null, 
/**
 * For how many connections to one address of a target there are local ports; null if that is
 * not known.
 */
connections_to_a_target: number | null, 
/**
 * How many of these can be opened anew, where each closed one keeps its port for a minute;
 * null if it does not, or that is not known.
 */
new_connections_per_s: PerSecond | null, 
/**
 * The share of the CPU time that the hypervisor gave to other machines, while this one was
 * looked at; null if that is not known.
 */
steal: Share | null, 
/**
 * What to change.
 */
changes: Array<MachineChange>, };

/**
 * An end of an interval.
 */
export type End = "lower" | "upper";

/**
 * What ended a run.
 */
export type Ended = "duration" | "requests" | "stages" | "precise" | "decided" | "interrupted" | "aborted" | "threw" | "failed" | "unknown";

/**
 * The machine that a run was made on. What could not be read is null.
 */
export type Environment = { 
/**
 * The kernel's release, as of `uname -r`.
 */
kernel: string | null, 
/**
 * The processor's model name.
 */
cpu_model: string | null, 
/**
 * Cores (hardware threads) that are online.
 */
cores: number | null, 
/**
 * Cores that this process may use, by its affinity and its control group.
 */
usable_cores: number | null, 
/**
 * How many cores' time its control group may use; null also when that has no limit.
 */
cpu_quota: number | null, 
/**
 * Memory of the machine in bytes.
 */
memory_bytes: number | null, 
/**
 * The soft limit of open files; null also when there is none.
 */
open_files: number | null, 
/**
 * The hard limit, to which a run raises its own; null also when there is none.
 */
open_files_hard: number | null, 
/**
 * Mean number of runnable tasks over the last 1, 5 and 15 minutes.
 */
load_average: [number, number, number] | null, 
/**
 * What the kernel's clocks count (`tsc`, `kvm-clock`, …).
 */
clock_source: string | null, 
/**
 * What one reading of the monotonic clock takes, in nanoseconds.
 */
clock_reading_ns: number | null, 
/**
 * What chooses the cores' frequency (`performance`, `powersave`, …).
 */
governor: string | null, 
/**
 * Whether cores share their parts with a twin (hyper-threading).
 */
smt: boolean | null, 
/**
 * Whether it is a virtual machine, whose hypervisor may take time from it.
 */
is_virtual: boolean | null, 
/**
 * What limits its connections.
 */
tcp: TcpSettings, 
/**
 * How this program was built: `release` or `debug`.
 */
build: string | null, 
/**
 * By which flags the compiler made this program: optimisation, target and features of the
 * processor.
 */
build_flags: string | null, 
/**
 * How this program waits for the instant at which something is due.
 */
pacing: string | null, 
/**
 * What the machine does at best, if that was measured.
 */
floor?: Floor, };

/**
 * Failures of one kind.
 */
export type Failures = { 
/**
 * How many there were.
 */
count: number, 
/**
 * What the first of them said; empty if not known.
 */
example: string, };

/**
 * What can be watched.
 */
export type Figure = "context_switches" | "cpu" | "listen_overflows" | "memory" | "network" | "open_files" | "pressure" | "pss" | "retransmits" | "sockets" | "tcp_states";

/**
 * A figure in all runs.
 */
export type FigureSpread = { 
/**
 * Its name: p99, rate.
 */
figure: string, 
/**
 * The unit of its values.
 */
unit: Unit, 
/**
 * That of each run.
 */
values: Array<number>, 
/**
 * Their median.
 */
median: number, 
/**
 * The least of them.
 */
least: number, 
/**
 * The greatest of them.
 */
most: number, 
/**
 * Between which bounds the median of such runs lies; null of fewer than six.
 */
median_interval: MedianInterval | null, };

/**
 * One thing that was found.
 */
export type Finding = { 
/**
 * What it is; see docs/guide/validity.md.
 */
kind: string, 
/**
 * How far the result may still be believed.
 */
grade: Grade, 
/**
 * A sentence that ends in what to do.
 */
text: string, };

/**
 * What the machine of the generator does at best: the run's own requests, by its own protocol and
 * script, against a server on loopback that does nothing. No measurement of a target on this
 * machine can be faster, and no rate higher.
 */
export type Floor = { 
/**
 * The shortest response time where one request is sent after the other, in nanoseconds.
 */
min_ns: number, 
/**
 * The median of these response times, in nanoseconds.
 */
p50_ns: number, 
/**
 * Their 99th percentile, in nanoseconds.
 */
p99_ns: number, 
/**
 * Answers a second where all connections send as fast as they can.
 */
answers_per_s: number, 
/**
 * How many connections these were.
 */
connections: number, };

/**
 * What the generator did meanwhile.
 */
export type Generator = { 
/**
 * Its threads.
 */
workers: Array<Worker>, 
/**
 * Requests in flight on average.
 */
in_flight: InFlight, 
/**
 * The whole machine.
 */
host: HostCounters, 
/**
 * The pattern in which requests of an open load were due and sent; not in a closed one.
 */
arrivals?: Arrivals, };

/**
 * What was searched for: the attributes of a goal in RFC 9971. The loss ratio is that of the
 * checks.
 */
export type Goal = { 
/**
 * The conditions that must hold.
 */
checks: Array<string>, 
/**
 * Whether the one on errors was added, as none was given.
 */
errors_check_added: boolean, 
/**
 * How long a trial measures.
 */
trial_s: Seconds, 
/**
 * How long the trials at a level measure together.
 */
duration_sum_s: Seconds, 
/**
 * How many trials a level takes.
 */
trials: number, 
/**
 * The share of trials at a level that may break.
 */
exceed_ratio: Share, 
/**
 * How far apart the bounds may lie, as a share.
 */
width: Share, 
/**
 * So many trials last as long as the run that confirms.
 */
confirmation_trials: number, 
/**
 * How long the search may take.
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
 * How far a result may be believed, as a reader of the JSON sees it: what judges has a type of its
 * own, so that a reader needs none of the judging.
 */
export type Grade = "valid" | "suspect" | "invalid";

/**
 * What a closed-loop tool would have hidden.
 */
export type Hides = "stall" | "lateness" | "plan";

/**
 * The machine in the whole run.
 */
export type Host = { 
/**
 * Cores that are online.
 */
cores: number | null, 
/**
 * Memory that the machine has.
 */
memory_bytes: number | null, 
/**
 * The network interface that leads to the target.
 */
interface: string | null, 
/**
 * The speed of its link, where it has one.
 */
link_bits_per_s: number | null, 
/**
 * Time that all cores were busy.
 */
cpu_percent: MeanAndMax, 
/**
 * Time that a hypervisor gave to others instead.
 */
steal_percent: MeanAndMax, 
/**
 * Memory that is not available.
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
 * Bytes that went out through it.
 */
net_out_bytes_per_s: MeanAndMax, 
/**
 * Packets that came through it.
 */
net_in_packets_per_s: MeanAndMax, 
/**
 * Packets that went out through it.
 */
net_out_packets_per_s: MeanAndMax, 
/**
 * The busier of its two ways, of the link's speed.
 */
link_percent: MeanAndMax, 
/**
 * TCP segments sent again.
 */
retransmits: number | null, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number | null, 
/**
 * What could not be read.
 */
missing: Array<Missing>, };

/**
 * The whole machine, from the end of the warm-up on.
 */
export type HostCounters = { 
/**
 * The share of processor time that the hypervisor gave to others.
 */
steal: Share, 
/**
 * The share of TCP segments that were sent again.
 */
retransmitted: Share, 
/**
 * Connections that were reset.
 */
resets: number, 
/**
 * Connections refused by a full queue of a listener.
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
 * What the machine used.
 */
export type HostUsage = { 
/**
 * Time that all cores were busy.
 */
cpu_percent: number | null, 
/**
 * Time that a hypervisor gave to others instead.
 */
steal_percent: number | null, 
/**
 * Memory that is not available.
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
 * Bytes that went out through it.
 */
net_out_bytes_per_s: number | null, 
/**
 * Packets that came through it.
 */
net_in_packets_per_s: number | null, 
/**
 * Packets that went out through it.
 */
net_out_packets_per_s: number | null, 
/**
 * The busier of its two ways, of the link's speed.
 */
link_percent: number | null, 
/**
 * TCP segments sent again.
 */
retransmits: number | null, 
/**
 * Connections refused because a listener's queue was full.
 */
listen_overflows: number | null, };

/**
 * Requests in flight on average.
 */
export type InFlight = { 
/**
 * The time that each was in flight, until its response was read, over that of the run.
 */
counted: number, 
/**
 * Rate times service time.
 */
by_littles_law: number, };

/**
 * One second of a run.
 */
export type Interval = { 
/**
 * Its beginning, from the start of the measured part.
 */
start_s: Seconds, 
/**
 * Its end, from the start of the measured part.
 */
end_s: Seconds, 
/**
 * How many requests were in flight on average; null in a saved run of a version that did not
 * count it.
 */
in_flight_mean: number | null, 
/**
 * The most that were in flight at once; of several workers the sum of what each had, an upper
 * bound. Null as above.
 */
in_flight_max: number | null, 
/**
 * From the intended start to the last byte, of the requests that ended in it.
 */
response_time_us: Quantiles, 
/**
 * From the send to the last byte, of the requests that ended in it.
 */
service_time_us: Quantiles, 
/**
 * What was watched in it; absent where nothing was.
 */
watch?: Look, 
/**
 * Arrivals whose intended start fell due; in a closed load the same as `sent`.
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
 * Responses that ended in the interval or the window, whenever begun; none of the drain.
 */
completed: number, 
/**
 * Requests that ended without a response.
 */
failed: number, 
/**
 * Requests begun and not ended, at the end of the interval or of the run.
 */
in_flight: number, 
/**
 * Kept-alive connections that the server had closed and that were replaced.
 */
reconnects: number, 
/**
 * Requests that went out once more, each of which is one of those sent.
 */
resent: number, 
/**
 * Connections given up because more data came on them than the lengths of the responses said.
 */
surplus: number, 
/**
 * Arrivals that fell due when no user was free and were not begun, where the plan drops such;
 * absent where there are none.
 */
dropped?: number, 
/**
 * Starts that users who pace themselves did not make, as they still waited for a response;
 * each is among the response times. Absent where there are none.
 */
missed?: number, 
/**
 * Connections that came up.
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
 * `completed` a second.
 */
rate: PerSecond, };

/**
 * Requests that the kernel's clock split.
 */
export type KernelTimestamps = { 
/**
 * One in this many requests of a worker was picked.
 */
every: number, 
/**
 * From the intended start to the start.
 */
schedule_wait_us: Distribution, 
/**
 * From there until the request left for the network device.
 */
send_us: Distribution, 
/**
 * From there until the last packet of the response was received.
 */
wire_and_server_us: Distribution, 
/**
 * From there to Loadline's read.
 */
wakeup_us: Distribution, 
/**
 * From there until the response was known to be whole.
 */
parse_us: Distribution, 
/**
 * The last four together: what a clock in user space takes for the time of wire and server.
 */
user_space_us: Distribution, 
/**
 * By how much that overstates it.
 */
overstated_us: Overstated, };

/**
 * A change of the load.
 */
export type LoadChange = { 
/**
 * From when on it holds, in seconds from the start of the measured part; less than 0 in the
 * warm-up.
 */
at_s: number, 
/**
 * What the load is then.
 */
to: LoadLevel, 
/**
 * The scenario whose load it is, if it is not the whole load.
 */
scenario?: string, };

/**
 * What a load is changed to.
 */
export type LoadLevel = { "share": Share } | { "rate": PerSecond } | { "users": number } | "paused";

/**
 * A request body that is too long to keep, and by what it is known again.
 */
export type LongBody = { 
/**
 * The index of its request in the plan; that request's body is [`Body::None`].
 */
request: number, 
/**
 * Its length in bytes.
 */
length: number, 
/**
 * Its CRC-32 (that of zip and gzip), as eight hexadecimal digits.
 */
crc32: string, };

/**
 * What was watched in an interval.
 */
export type Look = { 
/**
 * Its length, which is that of the interval but for some milliseconds.
 */
length_s: Seconds, 
/**
 * The machine.
 */
host: HostUsage, 
/**
 * The processes, each with all that descend from it; the generator is the first.
 */
trees: Array<TreeLook>, };

/**
 * One thing to change about a machine.
 */
export type MachineChange = { 
/**
 * Which part of it: `cores`, `governor`, `descriptors`, `local_ports`, `clock`, `queues`,
 * `buffers`, `steal` or `other_load`.
 */
part: string, 
/**
 * What to do.
 */
advice: string, };

/**
 * The mean over a run, and the highest of one interval.
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
 * Between which bounds a median lies.
 */
export type MedianInterval = { 
/**
 * Its lower end.
 */
lower: number, 
/**
 * Its upper end.
 */
upper: number, 
/**
 * Its confidence.
 */
level: Share, };

/**
 * What is made of a metric's values.
 */
export type MetricKind = "trend" | "counter" | "rate" | "gauge";

/**
 * A figure that could not be read, and why.
 */
export type Missing = { 
/**
 * Which one.
 */
figure: Figure, 
/**
 * Why.
 */
why: Why, };

/**
 * A name over time: a value for each stretch.
 */
export type NameCourse = { 
/**
 * The name.
 */
name: string, 
/**
 * Its tags.
 */
tags?: { [key in string]: string }, 
/**
 * Responses a second.
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
 * The 95th percentile.
 */
p95_us: Array<Us | null>, 
/**
 * The 99th percentile.
 */
p99_us: Array<Us | null>, };

/**
 * The requests of one name that ended in the run.
 */
export type Named = { 
/**
 * The name; of requests without one their URL, with the method before it if that is not GET.
 * `(other)` holds those of names beyond the first `--max-series`.
 */
name: string, 
/**
 * Its tags.
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
 * Responses by status code.
 */
statuses: { [key in string]: number }, 
/**
 * Responses a second, as `rate` of the run.
 */
rate: PerSecond, 
/**
 * From the intended start to the last byte, to within a hundredth.
 */
response_time_us: NamedTimes, };

/**
 * The response times of a name; null where there are none, a percentile also where there are too
 * few for it (p99 takes 368).
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
 * When each stretch begins, from the start of the measured part: a second each, or several in
 * a long run.
 */
start_s: Array<Seconds>, 
/**
 * When each stretch ends.
 */
end_s: Array<Seconds>, 
/**
 * The names, the busiest first.
 */
names: Array<NameCourse>, };

/**
 * A number that is whole where it counts something.
 */
export type Number = number | number;

/**
 * By how much a clock in user space overstates the time of wire and server; null without a sample.
 */
export type Overstated = { 
/**
 * At the median.
 */
p50: Us | null, 
/**
 * At the 99th percentile.
 */
p99: Us | null, };

/**
 * The response time without the delay that Loadline added, and the figures that are not the
 * target's alone.
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
 * A limit of the generator or its machine that was reached, or what took time from it.
 */
export type OwnLimit = { "kind": "busy", 
/**
 * The share.
 */
share: Share, } | { "kind": "connections", 
/**
 * How many there were.
 */
most: number, } | { "kind": "exhausted", 
/**
 * How many.
 */
failed: number, } | { "kind": "late", 
/**
 * The share of requests that did.
 */
share: Share, } | { "kind": "crowded", 
/**
 * The share.
 */
share: Share, } | { "kind": "stood_still", 
/**
 * For so long at most.
 */
longest_us: Us, } | { "kind": "stolen", 
/**
 * The share.
 */
share: Share, } | { "kind": "others", 
/**
 * In percent of one core.
 */
cpu_percent: number, } | { "kind": "floor", 
/**
 * Responses a second.
 */
rate: PerSecond, };

/**
 * How many a second.
 */
export type PerSecond = number;

/**
 * The parts of a request.
 */
export type Phases = { 
/**
 * Names resolved, of the connections made.
 */
resolve_us: Distribution, 
/**
 * Connections made.
 */
connect_us: Distribution, 
/**
 * TLS handshakes of the connections made.
 */
tls_us: Distribution, 
/**
 * From the send to the first byte of the response.
 */
first_byte_us: Distribution, 
/**
 * From there to the last byte.
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
 * Between which bounds a ratio lies.
 */
export type RatioInterval = { 
/**
 * Its lower end.
 */
lower: number, 
/**
 * Its upper end.
 */
upper: number, 
/**
 * Its confidence.
 */
level: Share, };

/**
 * Whether the target recovered from too much load.
 */
export type Recovery = { 
/**
 * Whether all checks passed again.
 */
recovered: boolean, 
/**
 * From so long after the step down; absent if they did not.
 */
after_s?: Seconds, 
/**
 * Within this time they did not; absent if they did.
 */
within_s?: Seconds, };

/**
 * What a run is in a *series*: several runs in one file, one behind the other.
 */
export type Role = { 
/**
 * Why there are several.
 */
kind: RoleKind, 
/**
 * Which one of its kind (and name) it is, from 1, in the order in which they were run.
 */
number: number, 
/**
 * How many there were to be, where that was known before.
 */
of?: number, 
/**
 * Which of several things it measured (`A` or `B`, say), where there are several.
 */
name?: string, 
/**
 * What the search was asked for that a trial belongs to.
 */
search?: Record<string, unknown>, 
/**
 * Of a trial: seconds of the search's budget that were gone when the one before it had ended.
 */
spent_s?: number, };

/**
 * Why there are several runs in one file.
 */
export type RoleKind = "repeat" | "trial" | "side" | "unknown";

/**
 * What `loadline -o json` prints of a run. Described in docs/guide/json.md.
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
 * When the run started, UTC, RFC 3339.
 */
started_at: string, 
/**
 * When its load began, by CLOCK_MONOTONIC of the machine; null if that is not known.
 */
started_monotonic_ns: number | null, 
/**
 * What was run, after defaults.
 */
plan: Record<string, unknown>, 
/**
 * Request bodies too long to keep in the plan.
 */
long_bodies: Array<LongBody>, 
/**
 * The machine it was run on. What could not be read is null.
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
 * A trial at a share of the load line.
 */
export type Rung = { 
/**
 * Which share.
 */
part: string, 
/**
 * The rate a second or the number of users that was asked for.
 */
level: number, 
/**
 * Whether it passed.
 */
held: boolean, 
/**
 * The conditions, and whether each passed.
 */
checks: Array<TrialCheck>, 
/**
 * Responses a second.
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
 * Whether that is a lower bound: requests without a response are older than every response.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time.
 */
p99_us: Us, 
/**
 * Whether that is a lower bound.
 */
p99_at_least: boolean, 
/**
 * What fell due and had not ended when it did, in seconds of the load; 0 in a closed load.
 */
outstanding_s: number, 
/**
 * By how many requests more was outstanding at its end than at its beginning; 0 in a closed
 * load.
 */
grown: number, 
/**
 * What the target used, in percent of one core; null if it was not watched.
 */
target_cpu_percent: number | null, 
/**
 * Whether the machine lost time: it was stolen, or a loop stalled.
 */
lost_time: boolean, 
/**
 * Which limit of the generator was reached before the target's; null if none.
 */
own_limit: OwnLimit | null, 
/**
 * What took time from the generator and its machine; null if nothing.
 */
disturbance: OwnLimit | null, };

/**
 * What `loadline capacity -o json` prints. Described in docs/guide/capacity.md.
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
 * What each trial was, but for its load.
 */
plan: Record<string, unknown>, 
/**
 * What was varied.
 */
searched: Searched, 
/**
 * What was searched for.
 */
goal: Goal, 
/**
 * What was found.
 */
answer: SearchAnswer, 
/**
 * That trials were too short to see a backlog grow; null if they were not.
 */
trials_too_short: TooShort | null, 
/**
 * Whether the user ended the search.
 */
interrupted: boolean, 
/**
 * Loads below, at and above the load line.
 */
ladder: Array<Rung>, 
/**
 * Whether the target recovered from too much load; null if that was not tried.
 */
recovery: Recovery | null, 
/**
 * What the machine of the generator does at best; null if it was not measured.
 */
floor: Floor | null, 
/**
 * Every trial, in the order in which they were made.
 */
trials: Array<Trial>, };

/**
 * What was found.
 */
export type SearchAnswer = { "kind": "found", 
/**
 * The load line: the level, less what piles up in a second at it.
 */
level: number, 
/**
 * With a confidence of 95 % it lies above this.
 */
low: number, 
/**
 * With a confidence of 95 % it lies below this.
 */
high: number, 
/**
 * The highest level that holds: the relevant lower bound of RFC 9971.
 */
lower_bound: number, 
/**
 * The lowest level above that does not: the relevant upper bound of RFC 9971.
 */
upper_bound: number, 
/**
 * The median of the responses a second in the trials at the lower bound that passed.
 */
conditional_throughput: number, 
/**
 * What failed just above, the most frequent first.
 */
breaks: Array<string>, 
/**
 * How long the run that confirmed it measured.
 */
confirmed_s: Seconds, 
/**
 * What the target used there, in percent of one core; null if it was not watched.
 */
target_cpu_percent: number | null, 
/**
 * What disturbed most of the trials that failed just above; null if nothing.
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
 * Why there is no more to say.
 */
why: WhyNoMore, 
/**
 * Which limit of the generator was reached before the target's; null if none.
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
 * What failed there, the most frequent first.
 */
breaks: Array<string>, 
/**
 * Which limit of the generator or its machine may have caused it; null if none.
 */
own_limit: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, } | { "kind": "unsettled", 
/**
 * The load line lies above this; null if that is not known.
 */
lower: number | null, 
/**
 * The load line lies below this; null if that is not known.
 */
upper: number | null, 
/**
 * The level at which most short trials passed, and a long run or all responses together
 * failed.
 */
refuted: number | null, 
/**
 * Which limit of the generator or its machine may have caused the failures; null if none.
 */
own_limit: OwnLimit | null, 
/**
 * The answer as a sentence.
 */
text: string, };

/**
 * What a search varies.
 */
export type Searched = "rate" | "users";

/**
 * Seconds.
 */
export type Seconds = number;

/**
 * What `loadline -o json` prints of several runs: repeats, two targets that took turns, or a saved
 * file with several runs. Described in docs/guide/json.md.
 */
export type Series = { 
/**
 * The version of this schema.
 */
schema: number, 
/**
 * Of repeats: what differs from run to run.
 */
spread?: Spread, 
/**
 * Of two targets that took turns: how they compare.
 */
comparison?: Comparison, 
/**
 * The runs, in the order in which they were made.
 */
runs: Array<SeriesRun>, };

/**
 * A run of a series.
 */
export type SeriesRun = { 
/**
 * Its role in the series; null if that is not known.
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
 * When the run started, UTC, RFC 3339.
 */
started_at: string, 
/**
 * When its load began, by CLOCK_MONOTONIC of the machine; null if that is not known.
 */
started_monotonic_ns: number | null, 
/**
 * What was run, after defaults.
 */
plan: Record<string, unknown>, 
/**
 * Request bodies too long to keep in the plan.
 */
long_bodies: Array<LongBody>, 
/**
 * The machine it was run on. What could not be read is null.
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
 * What was loaded.
 */
target: string, 
/**
 * How many runs it has.
 */
runs: number, 
/**
 * The share of their requests that failed.
 */
failed: Share, 
/**
 * The conditions of `--check` for all its runs together; of targets that took turns only.
 */
checks?: Array<Check>, 
/**
 * Its runs; of saved runs only.
 */
files?: Array<ComparedFile>, };

/**
 * What differs from run to run.
 */
export type Spread = { 
/**
 * How many runs there are, without those that were cut short if any is whole.
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
 * How B stands to A.
 */
export type Standing = "faster" | "slower" | "cannot_tell";

/**
 * A figure of a distribution.
 */
export type Statistic = "mean" | "stdev" | "max" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99.9" | "p99.99";

/**
 * The whole run.
 */
export type Summary = { 
/**
 * Length of the measured part.
 */
duration_s: Seconds, 
/**
 * How long what was unfinished was waited for behind that.
 */
drained_s: Seconds, 
/**
 * Whether the run was recorded to its end.
 */
complete: boolean, 
/**
 * How many processes ran the plan at the same time.
 */
parts: number, 
/**
 * What ended the run.
 */
ended: Ended, 
/**
 * The condition of `--abort-on` that ended it, if one did.
 */
aborted_by: string | null, 
/**
 * What was found of the run's beginning, with `--warmup auto` only.
 */
transient?: Transient, 
/**
 * How the load was changed while it lasted; absent where it was not.
 */
changes?: Array<LoadChange>, 
/**
 * Requests without a response when the run ended.
 */
unfinished: Unfinished, 
/**
 * From the intended start to the last byte.
 */
response_time_us: Distribution, 
/**
 * From the send (or the dial, where one was needed) to the last byte.
 */
service_time_us: Distribution, 
/**
 * From the intended start until a connection was free.
 */
blocked_us: Distribution, 
/**
 * From there to the send: delay added by Loadline.
 */
lateness_us: Distribution, 
/**
 * The parts of a request.
 */
phases: Phases, 
/**
 * From the kernel's receive to Loadline's read; in none of the times above.
 */
wakeup_us: Distribution, 
/**
 * From the intended start of an iteration to its last response; of iterations of several
 * requests only.
 */
iteration_us?: Distribution, 
/**
 * The delay that Loadline added, and what it changes; of an open load with answers only.
 */
own_delay?: OwnDelay, 
/**
 * What a closed-loop tool would have shown of an open load; only there.
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
 * The requests by name, those with the most requests first; absent where all have one name.
 */
names?: Array<Named>, 
/**
 * The metrics that a script counted by itself, in the order of their names; absent where there
 * are none.
 */
metrics?: Array<CustomMetric>, 
/**
 * Values that are in none of them, as there was no room; absent where there are none.
 */
metric_values_left_out?: number, 
/**
 * The conditions of `--check`, in their order.
 */
checks: Array<Check>, 
/**
 * Whether the result may be believed.
 */
validity: Validity, 
/**
 * What the generator did meanwhile.
 */
generator: Generator, 
/**
 * What to know before believing the figures, the gravest first.
 */
warnings: Array<Warning>, 
/**
 * Requests that the kernel's clock split, with `--kernel-timestamps` only.
 */
kernel_timestamps?: KernelTimestamps, 
/**
 * What was watched in the whole run; absent where nothing was.
 */
watch?: Watch, 
/**
 * Arrivals whose intended start fell due; in a closed load the same as `sent`.
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
 * Responses that ended in the interval or the window, whenever begun; none of the drain.
 */
completed: number, 
/**
 * Requests that ended without a response.
 */
failed: number, 
/**
 * Requests begun and not ended, at the end of the interval or of the run.
 */
in_flight: number, 
/**
 * Kept-alive connections that the server had closed and that were replaced.
 */
reconnects: number, 
/**
 * Requests that went out once more, each of which is one of those sent.
 */
resent: number, 
/**
 * Connections given up because more data came on them than the lengths of the responses said.
 */
surplus: number, 
/**
 * Arrivals that fell due when no user was free and were not begun, where the plan drops such;
 * absent where there are none.
 */
dropped?: number, 
/**
 * Starts that users who pace themselves did not make, as they still waited for a response;
 * each is among the response times. Absent where there are none.
 */
missed?: number, 
/**
 * Connections that came up.
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
 * `completed` a second.
 */
rate: PerSecond, };

/**
 * The kernel's settings for TCP that limit a load, named as below `net.ipv4` and `net.core` (see
 * tcp(7) and ip(7)). What could not be read is null.
 */
export type TcpSettings = { 
/**
 * The first and the last local port that a connection may be given.
 */
ip_local_port_range: [number, number] | null, 
/**
 * Whether the port of a closed connection may be given to a new one at once: 0 never,
 * 1 always, 2 on loopback.
 */
tcp_tw_reuse: number | null, 
/**
 * How many connections may wait for a server on this machine to accept them.
 */
somaxconn: number | null, 
/**
 * How many may be half open at such a server.
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
 * TCP sockets by state (RFC 9293, section 3.3.2). One that has no owner any more, as in
 * TIME-WAIT, belongs to no process.
 */
export type TcpStates = { established: number } & { [state in 'syn_sent' | 'syn_received' | 'fin_wait_1' | 'fin_wait_2' | 'time_wait' | 'closed' | 'close_wait' | 'last_ack' | 'listening' | 'closing']?: number };

/**
 * What a figure may differ by, and what the runs say of it.
 */
export type ToleranceResult = { 
/**
 * The tolerance as typed.
 */
rule: string, 
/**
 * Whether the figure stays within it: decided only where the whole interval says so.
 */
outcome: CheckOutcome, 
/**
 * The largest B / A that is allowed; of a tolerance downwards the smallest.
 */
limit: number, 
/**
 * B / A; null if the figure could not be compared.
 */
ratio: number | null, 
/**
 * Between which bounds the ratio lies; null as above.
 */
interval: RatioInterval | null, };

/**
 * Trials that were too short to see a backlog grow.
 */
export type TooShort = { 
/**
 * How long the shortest measured.
 */
trial_s: Seconds, 
/**
 * The mean response time of the target at low load.
 */
response_s: Seconds, 
/**
 * How long they would have to measure.
 */
needed_s: Seconds, 
/**
 * What it means and what to do.
 */
text: string, };

/**
 * What was found of a run's beginning.
 */
export type Transient = { "cut": { 
/**
 * Their number.
 */
intervals: number, } } | "never" | "too_short";

/**
 * A tree of processes in the whole run.
 */
export type Tree = { 
/**
 * `generator`, or what it was asked for by.
 */
name: string, 
/**
 * The name of its first process's program.
 */
command: string | null, 
/**
 * Its first process.
 */
pid: number | null, 
/**
 * Time on a core in all, children included.
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
 * The same with shared pages divided among them.
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
 * What happened to it, at most a hundred events.
 */
events: Array<TreeEvent>, 
/**
 * How many events there were.
 */
event_count: number, 
/**
 * What could not be read.
 */
missing: Array<Missing>, };

/**
 * What happened to a tree.
 */
export type TreeEvent = { 
/**
 * The end of the interval in which it was seen, from the start of the measured part.
 */
at_s: Seconds, 
/**
 * What it was.
 */
change: Change, 
/**
 * Its first process after it.
 */
pid: number | null, };

/**
 * A tree of processes in one interval.
 */
export type TreeLook = { 
/**
 * `generator`, or what it was asked for by.
 */
name: string, 
/**
 * How many processes there were at the end.
 */
processes: number, 
/**
 * Time on a core, user and system, children included.
 */
cpu_percent: number | null, 
/**
 * Resident memory; pages that processes share count in each of them.
 */
rss_bytes: number | null, 
/**
 * The same with shared pages divided among them; read every five seconds at most.
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
 * How often a second a thread gave its core away to wait.
 */
voluntary_switches_per_s: number | null, 
/**
 * How often a second a core was taken from a thread.
 */
involuntary_switches_per_s: number | null, };

/**
 * A measurement of a level.
 */
export type Trial = { 
/**
 * Its number, from 1.
 */
number: number, 
/**
 * What it was for.
 */
purpose: string, 
/**
 * The rate a second or the number of users that was asked for.
 */
level: number, 
/**
 * How long it measured.
 */
seconds: Seconds, 
/**
 * Whether it passed.
 */
held: boolean, 
/**
 * Whether no more was outstanding at its end than at its beginning, but for chance.
 */
kept_up: boolean, 
/**
 * Whether it was made again, because its machine lost time meanwhile.
 */
set_aside: boolean, 
/**
 * The conditions, and whether each passed.
 */
checks: Array<TrialCheck>, 
/**
 * Responses a second.
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
 * Whether that is a lower bound: requests without a response are older than every response.
 */
p50_at_least: boolean, 
/**
 * The 99th percentile of the response time.
 */
p99_us: Us, 
/**
 * Whether that is a lower bound.
 */
p99_at_least: boolean, 
/**
 * What fell due and had not ended when it did, in seconds of the load; 0 in a closed load.
 */
outstanding_s: number, 
/**
 * By how many requests more was outstanding at its end than at its beginning; 0 in a closed
 * load.
 */
grown: number, 
/**
 * What the target used, in percent of one core; null if it was not watched.
 */
target_cpu_percent: number | null, 
/**
 * Whether the machine lost time: it was stolen, or a loop stalled.
 */
lost_time: boolean, 
/**
 * Which limit of the generator was reached before the target's; null if none.
 */
own_limit: OwnLimit | null, 
/**
 * What took time from the generator and its machine; null if nothing.
 */
disturbance: OwnLimit | null, };

/**
 * A condition, and whether it passed.
 */
export type TrialCheck = { 
/**
 * The condition as typed.
 */
check: string, 
/**
 * Whether the search takes it for passed: by the estimate, however sure that is.
 */
held: boolean, 
/**
 * What the trial alone says of it.
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
 * Unsent because all connections were in use, by a target slower than at low load.
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
 * Arrivals that would have been those of a worker that was lost, so that planned = sent +
 * unsent + lost; absent without any.
 */
lost?: number, 
/**
 * Requests in flight.
 */
in_flight: number, 
/**
 * How long the oldest had waited since its intended start.
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
 * Whether the result may be believed, and why not.
 */
export type Validity = { 
/**
 * The worst grade of the findings.
 */
grade: Grade, 
/**
 * What was found, the gravest first.
 */
findings: Array<Finding>, };

/**
 * What to know before believing a figure.
 */
export type Warning = { 
/**
 * What it is.
 */
kind: string, 
/**
 * What it means and what to do.
 */
text: string, };

/**
 * What was watched in the whole run.
 */
export type Watch = { 
/**
 * The machine.
 */
host: Host, 
/**
 * The processes, each with all that descend from it; the generator is the first.
 */
trees: Array<Tree>, };

/**
 * What `loadline watch -o json` prints, one object to a line. Described in docs/guide/watch.md.
 */
export type Watched = { 
/**
 * The end of the look, from the start.
 */
time_s: Seconds, 
/**
 * The machine.
 */
host: WatchedHost, 
/**
 * The processes, each with all that descend from it.
 */
trees: Array<WatchedTree>, };

/**
 * The machine, and what could not be read of it.
 */
export type WatchedHost = { 
/**
 * What could not be read.
 */
missing: Array<Missing>, 
/**
 * Time that all cores were busy.
 */
cpu_percent: number | null, 
/**
 * Time that a hypervisor gave to others instead.
 */
steal_percent: number | null, 
/**
 * Memory that is not available.
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
 * Bytes that went out through it.
 */
net_out_bytes_per_s: number | null, 
/**
 * Packets that came through it.
 */
net_in_packets_per_s: number | null, 
/**
 * Packets that went out through it.
 */
net_out_packets_per_s: number | null, 
/**
 * The busier of its two ways, of the link's speed.
 */
link_percent: number | null, 
/**
 * TCP segments sent again.
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
 * `generator`, or what it was asked for by.
 */
name: string, 
/**
 * The name of its first process's program.
 */
command: string | null, 
/**
 * Its first process.
 */
pid: number | null, 
/**
 * What happened to it.
 */
change: Change | null, 
/**
 * What could not be read.
 */
missing: Array<Missing>, 
/**
 * How many processes there were at the end.
 */
processes: number, 
/**
 * Time on a core, user and system, children included.
 */
cpu_percent: number | null, 
/**
 * Resident memory; pages that processes share count in each of them.
 */
rss_bytes: number | null, 
/**
 * The same with shared pages divided among them; read every five seconds at most.
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
 * How often a second a thread gave its core away to wait.
 */
voluntary_switches_per_s: number | null, 
/**
 * How often a second a core was taken from a thread.
 */
involuntary_switches_per_s: number | null, };

/**
 * Why a figure could not be read.
 */
export type Why = "rights" | "too_large" | "untold";

/**
 * Why it is not known what lies above a level.
 */
export type WhyNoMore = "generator" | "highest";

/**
 * A thread that runs users.
 */
export type Worker = { 
/**
 * Its number.
 */
worker: number, 
/**
 * Seconds that passed.
 */
wall_s: Seconds, 
/**
 * The share of them in which it computed.
 */
cpu: Share, 
/**
 * In which it polled, because the next deadline was too near to sleep; not in `cpu`.
 */
polled: Share, 
/**
 * In which it waited for the CPU.
 */
queued: Share, 
/**
 * In which its loop stalled.
 */
stood_still: Share, 
/**
 * How long the iterations of its loop took.
 */
turns_us: Distribution, 
/**
 * Requests with a whole response.
 */
answered: number, 
/**
 * Connections that came up.
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
 * The cores on which its thread was at the ends of intervals.
 */
cores: Array<number>, 
/**
 * How late the kernel might let its timers fire.
 */
timer_slack_us: Us | null, };
