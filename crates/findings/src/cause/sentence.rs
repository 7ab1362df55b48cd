//! Each cause as a sentence that ends in advice, and effects of the machine in a few words.

use super::{Cause, generator, target};
use crate::clause;
use loadline_units as units;

impl Cause {
    /// Returns the finding and its advice as one text.
    pub fn sentence(&self) -> String {
        match self {
            Cause::Decisive { effect, passed } => generator::decisive(*effect, *passed),
            Cause::Late { effect } => generator::late(*effect),
            Cause::PlanLimit {
                max_connections,
                effect,
                unsent,
                planned,
            } => generator::plan_limit(*max_connections, *effect, *unsent, *planned),
            Cause::Unstamped { share } => generator::unstamped(*share),
            Cause::Busy { share } => generator::busy(*share),
            Cause::BusyAtTimes { stretch } => generator::busy_at_times(*stretch),
            Cause::Crowded { share, by_target } => generator::crowded(*share, *by_target),
            Cause::Bunched { share } => generator::bunched(*share),
            Cause::Stalled { share, longest_ns } => generator::stalled(*share, *longest_ns),
            Cause::Unsent {
                planned,
                unsent,
                by_loadline,
                lost,
            } => generator::unsent(*planned, *unsent, *by_loadline, *lost),
            Cause::Dropped { planned, dropped } => generator::dropped(*planned, *dropped),
            Cause::Missed { planned, missed } => generator::missed(*planned, *missed),
            Cause::Descriptors { failed, sent } => generator::descriptors(*failed, *sent),
            Cause::Ports { failed, sent } => generator::ports(*failed, *sent),
            Cause::Unreachable {
                away_ns,
                duration_ns,
            } => generator::unreachable(*away_ns, *duration_ns),
            Cause::Stolen { share } => generator::stolen(*share),
            Cause::Lost { share } => generator::lost(*share),
            Cause::UnevenBegin {
                agent,
                late_ns,
                clock_error_ns,
                others,
            } => generator::uneven_begin(agent, *late_ns, *clock_error_ns, *others),
            Cause::NotSteady => generator::UNSETTLED.to_owned(),
            Cause::TooShort => generator::TOO_SHORT.to_owned(),
            Cause::BrokenOff => generator::BROKEN_OFF.to_owned(),
            Cause::OwnQueue {
                in_flight,
                users,
                have_streams,
                beside_target,
            } => {
                let kind = if *have_streams {
                    "stream"
                } else {
                    "connection"
                };
                let of = units::counted(u64::from(*users), kind);
                generator::own_queue(*in_flight, &of, *beside_target)
            }
            Cause::Limit {
                share,
                beside_target,
            } => generator::limit(*share, *beside_target),
            Cause::Aborted {
                check,
                of_script,
                after,
            } => target::aborted(check, *of_script, *after),
            Cause::FewSamples {
                percentiles,
                samples,
                needed,
                length,
            } => target::few_samples(percentiles, *samples, *needed, *length),
            Cause::Interrupted { after, planned } => target::interrupted(*after, *planned),
            Cause::LeftOut { addresses } => target::left_out(addresses),
            Cause::ManyFailed { failed, ended } => target::many_failed(*failed, *ended),
            Cause::NotDelivered { sentence } => target::not_delivered(sentence),
            Cause::NotSuccessful {
                count,
                answered,
                status,
            } => target::not_successful(*count, *answered, *status),
            Cause::NothingAnswered {
                sent,
                failed,
                has_script,
            } => target::nothing_answered(*sent, *failed, *has_script),
            Cause::OddAgent {
                agent,
                percentile,
                own_ns,
                rest_ns,
            } => target::odd_agent(agent, *percentile, *own_ns, *rest_ns),
            Cause::RateBelowAsked {
                asked,
                achieved,
                shortfall,
            } => target::rate_below_asked(*asked, *achieved, *shortfall),
            Cause::Reconnects {
                count,
                answered,
                is_http2: false,
            } => target::reconnects(*count, *answered),
            Cause::Reconnects {
                count, answered, ..
            } => target::http2_reconnects(*count, *answered),
            Cause::Resent {
                count,
                sent,
                is_http2,
            } => target::resent(*count, *sent, *is_http2),
            Cause::ScriptThrew { error, after } => target::script_threw(error, *after),
            Cause::ExtraBytes { count, answered } => target::extra_bytes(*count, *answered),
            Cause::Unanswered {
                unsent,
                in_flight,
                oldest_ns,
                counted,
            } => target::unanswered(*unsent, *in_flight, *oldest_ns, *counted),
            Cause::WorkerFailed { error, after } => target::worker_failed(error, *after),
        }
    }

    /// Returns an effect of the machine in a few words; for any other cause the whole sentence.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "a new cause has its sentence, until it has a phrase"
    )]
    pub fn phrase(&self) -> String {
        match self {
            Cause::Busy { share } => clause::busy(*share),
            Cause::BusyAtTimes { stretch } => clause::busy_at_times(*stretch),
            Cause::Crowded { share, by_target } => {
                let by = if *by_target { "the target" } else { "others" };
                format!("{}, because {by} used it", clause::crowded(*share))
            }
            Cause::Bunched { share } => clause::bunched(*share),
            Cause::Stalled { share, longest_ns } => clause::stalled(Some(*share), *longest_ns),
            Cause::Stolen { share } => clause::stolen(*share),
            Cause::Lost { share } => {
                format!(
                    "{} of its TCP segments were retransmitted",
                    units::share(*share)
                )
            }
            other => other.sentence(),
        }
    }
}
