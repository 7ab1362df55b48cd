//! Why a result may not be believed, in sentences that end in what to do.

use crate::figures;
use loadline_record::Stretch;
use loadline_verdict::Reason;

/// What was found, and what to do about it.
pub(crate) fn sentence(reason: &Reason) -> String {
    match *reason {
        Reason::Late {
            share,
            p99_ns,
            response_p99_ns,
        } => late(share, p99_ns, response_p99_ns),
        Reason::Busy { share } => busy(share),
        Reason::BusyAtTimes { stretch } => busy_at_times(stretch),
        Reason::Crowded { share } => crowded(share),
        Reason::Bunched { share } => bunched(share),
        Reason::StoodStill { share, longest_ns } => stood_still(share, longest_ns),
        Reason::Unsent { planned, sent } => unsent(planned, sent),
        Reason::Descriptors { failed, sent } => descriptors(failed, sent),
        Reason::Ports { failed, sent } => ports(failed, sent),
        Reason::Stolen { share } => stolen(share),
        Reason::Lost { share } => lost(share),
        Reason::Unsettled => UNSETTLED.to_owned(),
        Reason::TooShort => TOO_SHORT.to_owned(),
        Reason::BrokenOff => BROKEN_OFF.to_owned(),
        Reason::OwnQueue { in_flight, users } => own_queue(in_flight, users),
        Reason::Limit { share } => limit(share),
    }
}

// What was late or slow in the generator itself.

fn late(share: f64, p99_ns: u64, response_p99_ns: u64) -> String {
    format!(
        "{} of the requests went out more than {} late, by our own doing: the lateness has a p99 of \
         {}, the response time, which contains it, one of {}. Lower the rate (-r), use more cores \
         (-t), or keep other work off them.",
        figures::share(share),
        figures::time(loadline_verdict::LATE_NS as f64),
        figures::time(p99_ns as f64),
        figures::time(response_p99_ns as f64),
    )
}

fn busy(share: f64) -> String {
    format!(
        "A worker computed for {} of its time, so requests queued in Loadline itself. Give it \
         more cores (-t) or lower the rate (-r).",
        figures::share(share)
    )
}

fn busy_at_times(stretch: Stretch) -> String {
    format!(
        "From {} to {} of the run a worker computed for {} of its time, so requests queued in Loadline \
         itself. Give it more cores (-t), or a load that does not rise so high.",
        figures::time(stretch.start_ns as f64),
        figures::time(stretch.end_ns as f64),
        figures::share(stretch.cpu_share)
    )
}

fn crowded(share: f64) -> String {
    format!(
        "A worker waited for a core for {} of its time: other processes had it. Give the \
         generator cores of its own (taskset -c), or run it on another machine than the target.",
        figures::share(share)
    )
}

fn bunched(share: f64) -> String {
    format!(
        "{} of the requests went out in another {} than planned, by our own doing: the \
         arrivals were bunched. Lower the rate (-r), use more cores (-t), or keep other work \
         off them.",
        figures::share(share),
        figures::time(loadline_record::WINDOW_NS as f64),
    )
}

fn stood_still(share: f64, longest_ns: u64) -> String {
    format!(
        "Loadline stood still for {} of the time, up to {} at once, while the target went on: \
         its process was stopped, or other work had its core. Let nothing else run beside it, \
         or lengthen the run until this does not matter (-d).",
        figures::share(share),
        figures::time(longest_ns as f64),
    )
}

// What was asked for and could not be sent.

fn unsent(planned: u64, sent: u64) -> String {
    format!(
        "{} of {} planned requests were never sent, as no connection came free: this is not \
         the load that was asked for. Lower the rate (-r) to what the target carries, or allow \
         more connections (--max-connections).",
        figures::count(planned.saturating_sub(sent)),
        figures::count(planned),
    )
}

fn descriptors(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this process had no file descriptor left. \
         Use fewer connections (-c, --max-connections), or raise the limit of open files \
         (ulimit -n, or LimitNOFILE in a service).",
        figures::count(failed),
        figures::count(sent),
    )
}

fn ports(failed: u64, sent: u64) -> String {
    format!(
        "{} of {} requests could not be sent because this machine had no local port left for \
         the target. Use keep-alive or fewer connections (-c), widen \
         net.ipv4.ip_local_port_range, or spread the connections over more addresses \
         (--local-address).",
        figures::count(failed),
        figures::count(sent),
    )
}

// What the machine and the network did.

fn stolen(share: f64) -> String {
    format!(
        "The hypervisor gave {} of this machine's processor time to others. Repeat the run \
         when its neighbours are quiet, or on a machine of your own.",
        figures::share(share)
    )
}

fn lost(share: f64) -> String {
    format!(
        "{} of the TCP segments were sent again, each a wait of a fifth of a second or more. \
         Look for the lossy link or the full queue between here and the target.",
        figures::share(share)
    )
}

// How the run went over time.

const UNSETTLED: &str = "The run never settled: its rate or its times moved until the end, so \
    that its figures depend on when it ended. Run it longer (-d), and see in the intervals \
    (-o csv) what goes on.";

const TOO_SHORT: &str = "The run was too short to tell its beginning from the rest: --warmup auto \
    takes eight seconds, and better forty. Run it longer (-d).";

const BROKEN_OFF: &str = "The run was killed, and what was in flight then is not known. Run \
    it again to its end.";

// Where a closed load asked for as much as there is, and got what the generator could do.

fn own_queue(in_flight: f64, users: u32) -> String {
    format!(
        "The generator was the limit: of {} connections {in_flight:.1} had a request in flight \
         on average (rate times response time), the others waited for Loadline. The target can \
         do at least this; to find what it can do at most, use more cores (-t), or keep other \
         work off them.",
        figures::count(u64::from(users)),
    )
}

fn limit(share: f64) -> String {
    format!(
        "The generator was the limit: a worker computed for {} of its time. The target can do \
         at least this; to find what it can do at most, use more cores (-t).",
        figures::share(share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_a_sentence_that_ends_in_what_to_do() {
        let reasons = [
            Reason::Late {
                share: 0.12,
                p99_ns: 3_400_000,
                response_p99_ns: 9_100_000,
            },
            Reason::Busy { share: 0.71 },
            Reason::BusyAtTimes {
                stretch: Stretch {
                    start_ns: 50_000_000_000,
                    end_ns: 60_000_000_000,
                    cpu_share: 0.93,
                },
            },
            Reason::Crowded { share: 0.3 },
            Reason::Bunched { share: 0.11 },
            Reason::StoodStill {
                share: 0.04,
                longest_ns: 201_000_000,
            },
            Reason::Unsent {
                planned: 20_000,
                sent: 15_000,
            },
            Reason::Descriptors {
                failed: 12,
                sent: 20_000,
            },
            Reason::Ports {
                failed: 9_000,
                sent: 37_000,
            },
            Reason::Stolen { share: 0.08 },
            Reason::Lost { share: 0.02 },
            Reason::Unsettled,
            Reason::TooShort,
            Reason::BrokenOff,
            Reason::OwnQueue {
                in_flight: 38.3,
                users: 100,
            },
            Reason::Limit { share: 0.97 },
        ];
        let sentences: Vec<String> = reasons.iter().map(sentence).collect();
        insta::assert_snapshot!(sentences.join("\n"));
    }
}
