//! The generator and its machine during the run.

use super::{distribution::distribution, us};
use crate::confidence::LEVEL;
use loadline_json as json;
use loadline_plan::Shape;
use loadline_record::{HostCounters, Pattern, Summary, WINDOW_NS, WorkerTimes};
use loadline_stats::arrivals::Dispersion;
use loadline_units::rounding;

pub(super) fn generator(summary: &Summary) -> json::Generator {
    let workers = summary.total.workers.iter();
    let has_arrivals = summary.arrivals.requests > 0;
    json::Generator {
        workers: workers
            .map(|(number, times)| worker(*number, times))
            .collect(),
        in_flight: in_flight(summary),
        host: host(&summary.host),
        arrivals: has_arrivals.then(|| arrivals(&summary.arrivals, &summary.plan.load.shape)),
    }
}

fn worker(number: u32, times: &WorkerTimes) -> json::Worker {
    json::Worker {
        worker: number,
        wall_s: json::Seconds(rounding::seconds(times.wall_ns)),
        cpu: share(times.cpu_share()),
        polled: share(times.polled_share()),
        queued: share(times.queued_share()),
        stood_still: share(times.stalled_share()),
        turns_us: distribution(&times.loop_iterations.distribution()),
        answered: times.answered,
        connections: times.connections,
        bytes_in: times.bytes_in,
        bytes_out: times.bytes_out,
        cores: times.cores.clone(),
        timer_slack_us: times.timer_slack_ns.map(|ns| us(ns as f64)),
    }
}

fn host(counters: &HostCounters) -> json::HostCounters {
    json::HostCounters {
        steal: share(counters.steal_share()),
        retransmitted: share(counters.retransmitted_share()),
        resets: counters.resets,
        listen_overflows: counters.listen_overflows,
        softnet_drops: counters.softnet_drops,
        cpu_pressure: share(counters.cpu_pressure_share()),
    }
}

/// Returns the mean number of requests in flight: until their responses were read, and as rate
/// times service time (J. D. C. Little, "A proof for the queuing formula L = λW", *Operations
/// Research* 9 (1961)).
fn in_flight(summary: &Summary) -> json::InFlight {
    let service = &summary.total.times.service;
    let total_ns = service.mean_ns() * service.len() as f64;
    let mean = |total_ns: f64| total_ns / summary.duration_ns.max(1) as f64;
    json::InFlight {
        counted: rounded(mean(summary.total.counts.flight_ns as f64)),
        by_littles_law: rounded(mean(total_ns)),
    }
}

/// In which pattern the requests of an open load were due and sent.
fn arrivals(pattern: &Pattern, shape: &Shape) -> json::Arrivals {
    let found = |squares: f64| Dispersion::of_sums(pattern.windows, pattern.requests, squares);
    let dispersion = |squares: f64| found(squares).map(|found| rounded(found.index));
    // Along stages the rate moves, and the arrivals vary with it.
    let is_poisson = matches!(shape, Shape::Rate { .. }) && shape.is_random();
    let of_poisson = found(pattern.sent_squares)
        .filter(|_| is_poisson)
        .map(|found| {
            let (lower, upper) = found.of_poisson(LEVEL);
            json::Band {
                lower: rounded(lower),
                upper: rounded(upper),
                level: json::Share(LEVEL),
            }
        });
    json::Arrivals {
        window_s: json::Seconds(rounding::seconds(WINDOW_NS)),
        displaced: share(pattern.displaced_share()),
        dispersion_due: dispersion(pattern.due_squares),
        dispersion_sent: dispersion(pattern.sent_squares),
        dispersion_of_poisson: of_poisson,
    }
}

fn share(share: f64) -> json::Share {
    json::Share(rounding::share(share))
}

/// To the thousandth.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
