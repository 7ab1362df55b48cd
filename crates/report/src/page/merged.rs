//! How long the points of plots are: of a long run each stands for several intervals.

use super::timeline;
use loadline_record::Summary;
use loadline_units as units;
use std::time::Duration;

/// Returns a sentence for each kind of plots whose points are longer than an interval, if plots
/// have so many moments at most.
pub(super) fn notes(summary: &Summary, most: usize) -> Vec<String> {
    let rows = &summary.rows;
    let each = rows.len().div_ceil(most.max(1));
    let course = (each > 1).then(|| {
        let length_ns: u64 = rows[..each]
            .iter()
            .map(|row| row.end_ns - row.start_ns)
            .sum();
        format!(
            "Each point is {}: the mean of its {each} intervals, of the p90, the p99 and the \
             longest time the highest.",
            seconds(length_ns)
        )
    });
    let has_names = !summary.names.busiest(&summary.total.series).is_empty();
    let names = has_names.then(|| of_names(summary)).flatten();
    course.into_iter().chain(names).collect()
}

/// Returns the sentence for the plots of names.
pub(super) fn of_names(summary: &Summary) -> Option<String> {
    let moment = timeline::whole_moments(summary).first()?;
    let row = summary.rows.first()?;
    let (length_ns, interval_ns) = (moment.end_ns - moment.start_ns, row.end_ns - row.start_ns);
    // An interval may be a little longer or shorter than another one.
    (length_ns / 2 >= interval_ns - interval_ns / 10).then(|| {
        format!(
            "By name each point is {}, with the percentiles of all its requests.",
            seconds(length_ns)
        )
    })
}

/// A length in whole seconds, if it is about so long.
fn seconds(length_ns: u64) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    let length = match length_ns > SECOND_NS {
        true => Duration::from_secs((length_ns + SECOND_NS / 2) / SECOND_NS),
        false => Duration::from_nanos(length_ns),
    };
    units::duration(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_point_says_its_length_once_it_is_more_than_an_interval() {
        let summary = samples::stalled();
        let seconds = summary.rows.len();
        assert_eq!(notes(&summary, seconds), Vec::<String>::new());
        let [said] = &notes(&summary, seconds / 2)[..] else {
            panic!("one sentence");
        };
        assert!(
            said.starts_with("Each point is 2 s: the mean of its 2 intervals"),
            "{said}"
        );
    }
}
