//! Rates and response times, interval by interval.

use crate::names;
use loadline_metrics::{Key, Series};
use loadline_page::{Measure, Timeline, Track};
use loadline_record::{Model, Moment, Quantiles, Row, Summary};
use loadline_units::rounding::per_second;

/// The intervals of a run, with a moment in the middle of each.
pub(super) fn timeline(summary: &Summary) -> Timeline {
    let zero_ns = summary.total.start_ns;
    let middle_s = |row: &Row| {
        let middle_ns = row.start_ns / 2 + row.end_ns / 2;
        middle_ns.saturating_sub(zero_ns) as f64 / 1e9
    };
    let rows = &summary.rows[..whole(&summary.rows, |row| row.end_ns - row.start_ns)];
    Timeline {
        time_s: rows.iter().map(middle_s).collect(),
        tracks: tracks(summary, rows),
    }
}

/// Returns the number of these intervals that are long enough for a rate: the last may be a rest of
/// some milliseconds, whose rate would be zero or a peak.
fn whole<T>(intervals: &[T], length_ns: impl Fn(&T) -> u64) -> usize {
    match intervals {
        [.., before, last] if length_ns(last) * 10 < length_ns(before) => intervals.len() - 1,
        _ => intervals.len(),
    }
}

/// The course of one name, of so many moments at most, with its failures and its median as well;
/// `None` if it is not kept.
pub(super) fn of_name(summary: &Summary, key: &Key, most: usize) -> Option<Timeline> {
    let moments = whole_moments(summary);
    let of_name = summary.names.of(key)?;
    let mut course = course(of_name, moments, summary.total.start_ns);
    let mut failed = vec![Some(0.0); moments.len()];
    let mut p50 = vec![None; moments.len()];
    for (index, series) in of_name {
        let Some(moment) = moments.get(*index) else {
            continue;
        };
        let length_ns = moment.end_ns - moment.start_ns;
        failed[*index] = Some(per_second(series.failures(), length_ns));
        p50[*index] = series.percentile_ns(50.0).map(|ns| ns as f64 / 1e3);
    }
    let has_failed = of_name.iter().any(|(_, series)| series.failures() > 0);
    let track = |measure, values| Track { measure, values };
    course.tracks.push(track(Measure::ResponseP50, p50));
    if has_failed {
        course.tracks.push(track(Measure::FailedRate, failed));
    }
    Some(course.thinned(most))
}

pub(super) fn whole_moments(summary: &Summary) -> &[Moment] {
    let moments = summary.names.moments();
    &moments[..whole(moments, |moment| moment.end_ns - moment.start_ns)]
}

/// The course of each of the busiest names, of so many moments at most.
pub(super) fn of_names(summary: &Summary, most: usize) -> Vec<(String, Timeline)> {
    let busiest = summary.names.busiest(&summary.total.series);
    let listed: Vec<(&Key, &Series)> = busiest
        .iter()
        .filter_map(|(key, _)| Some((*key, summary.total.series.get(key)?)))
        .collect();
    let labels = names::labels(&listed).into_iter();
    let moments = whole_moments(summary);
    let zero_ns = summary.total.start_ns;
    let courses = busiest.into_iter().map(|(_, of_name)| {
        let course = course(of_name, moments, zero_ns);
        course.thinned(most)
    });
    labels.zip(courses).collect()
}

fn course(of_name: &[(usize, Series)], moments: &[Moment], zero_ns: u64) -> Timeline {
    let middle_s = |moment: &Moment| {
        let middle_ns = moment.start_ns / 2 + moment.end_ns / 2;
        middle_ns.saturating_sub(zero_ns) as f64 / 1e9
    };
    let mut rate = vec![Some(0.0); moments.len()];
    let mut p99 = vec![None; moments.len()];
    for (index, series) in of_name {
        let Some(moment) = moments.get(*index) else {
            continue;
        };
        let length_ns = moment.end_ns - moment.start_ns;
        rate[*index] = Some(per_second(series.completed, length_ns));
        p99[*index] = series.percentile_ns(99.0).map(|ns| ns as f64 / 1e3);
    }
    let track = |measure, values| Track { measure, values };
    Timeline {
        time_s: moments.iter().map(middle_s).collect(),
        tracks: vec![track(Measure::Rate, rate), track(Measure::ResponseP99, p99)],
    }
}

fn tracks(summary: &Summary, rows: &[Row]) -> Vec<Track> {
    let track = |measure, of: &dyn Fn(&Row) -> Option<f64>| Track {
        measure,
        values: rows.iter().map(of).collect(),
    };
    let rate = |count: u64, row: &Row| Some(per_second(count, row.end_ns - row.start_ns));
    let response = |of: fn(&Quantiles) -> u64| move |row: &Row| us(&row.response, of);
    let mut tracks = vec![track(Measure::Rate, &|row| rate(row.counts.completed, row))];
    if summary.model == Model::Open {
        tracks.push(track(Measure::AskedRate, &|row| {
            rate(row.counts.planned, row)
        }));
    }
    if summary.total.counts.failures() > 0 {
        tracks.push(track(Measure::FailedRate, &|row| {
            rate(row.counts.failures(), row)
        }));
    }
    tracks.push(track(Measure::ResponseP50, &response(|times| times.p50_ns)));
    tracks.push(track(Measure::ResponseP90, &response(|times| times.p90_ns)));
    tracks.push(track(Measure::ResponseP99, &response(|times| times.p99_ns)));
    tracks.push(track(Measure::ResponseMax, &response(|times| times.max_ns)));
    if summary.model == Model::Open {
        let service = |row: &Row| us(&row.service, |times| times.p99_ns);
        tracks.push(track(Measure::ServiceP99, &service));
    }
    tracks.extend(in_flight(rows));
    tracks.extend(course_of_script(rows));
    tracks
}

/// The users and the iterations of a script, if it counts them.
fn course_of_script(rows: &[Row]) -> Vec<Track> {
    let track = |measure, of: &dyn Fn(&Row) -> Option<f64>| Track {
        measure,
        values: rows.iter().map(of).collect(),
    };
    let users = |row: &Row| row.users.map(f64::from);
    let iterations = |row: &Row| {
        let ended = row.iterations.unwrap_or(0);
        Some(per_second(ended, row.end_ns - row.start_ns))
    };
    let has_users = rows.iter().any(|row| row.users.is_some());
    let has_iterations = rows.iter().any(|row| row.iterations.is_some());
    let users = has_users.then(|| track(Measure::Users, &users));
    let iterations = has_iterations.then(|| track(Measure::Iterations, &iterations));
    users.into_iter().chain(iterations).collect()
}

/// The mean and the maximum of each second; of a version that did not count them, what there was at
/// its end.
fn in_flight(rows: &[Row]) -> Vec<Track> {
    let track = |measure, of: &dyn Fn(&Row) -> Option<f64>| Track {
        measure,
        values: rows.iter().map(of).collect(),
    };
    let mean = |row: &Row| row.counts.in_flight_mean(row.end_ns - row.start_ns);
    let most = |row: &Row| row.counts.most_in_flight().map(|most| most as f64);
    if rows.iter().any(|row| row.counts.in_flight_max > 0) {
        let (mean, most) = (
            track(Measure::InFlight, &mean),
            track(Measure::InFlightMax, &most),
        );
        return vec![mean, most];
    }
    let at_the_end = |row: &Row| Some(row.counts.in_flight as f64);
    vec![track(Measure::InFlight, &at_the_end)]
}

/// In microseconds; nothing where nothing was timed.
fn us(times: &Quantiles, of: fn(&Quantiles) -> u64) -> Option<f64> {
    (times.max_ns > 0).then(|| of(times) as f64 / 1e3)
}
