//! The data of a run's plots: over time, and over the percentiles.

/// The measurements of a run over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The middle of each period, in seconds from the end of warm-up, in rising order.
    pub time_s: Vec<f64>,
    /// The measurements of each period.
    pub tracks: Vec<Track>,
}

/// One measure over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The measure.
    pub measure: Measure,
    /// A number for each time of the timeline, in the unit of the measure; `None` without a
    /// measurement.
    pub values: Vec<Option<f64>>,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Responses per second.
    Rate,
    /// The asked rate of an open load, in arrivals per second.
    AskedRate,
    /// Failures per second.
    FailedRate,
    /// The median of the response time in microseconds.
    ResponseP50,
    /// The 90th percentile of the response time in microseconds.
    ResponseP90,
    /// The 99th percentile of the response time in microseconds.
    ResponseP99,
    /// The longest response time in microseconds.
    ResponseMax,
    /// The 99th percentile of the service time in microseconds.
    ServiceP99,
    /// The mean number of requests in flight; the number at the end of the period if no mean was
    /// recorded.
    InFlight,
    /// The highest number of requests in flight at once.
    InFlightMax,
    /// The most active virtual users at once.
    Users,
    /// Iterations of a script per second.
    Iterations,
    /// CPU in percent of one core: two busy cores are 200.
    Cpu,
    /// Resident memory in bytes (of a host: memory in use).
    Memory,
    /// Open sockets.
    Sockets,
    /// Threads.
    Threads,
    /// Bytes per second received by the interface.
    BytesIn,
    /// Bytes per second sent by the interface.
    BytesOut,
    /// Bytes per second in both directions together.
    Bandwidth,
    /// The percentage of time in which a task waited for the CPU (pressure stall information).
    CpuPressure,
}

/// A distribution over the percentiles, as HdrHistogram plots it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The name of the distribution: `response time`, `service time`.
    pub name: String,
    /// Percentiles, in rising order, from 0 to below 100.
    pub percentile: Vec<f64>,
    /// The time at each percentile, in microseconds.
    pub us: Vec<f64>,
}

impl Measure {
    /// Returns the name of the measure's line in a plot.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Rate => "answered",
            Measure::AskedRate => "asked",
            Measure::FailedRate => "failed",
            Measure::ResponseP50 => "p50",
            Measure::ResponseP90 => "p90",
            Measure::ResponseP99 => "p99",
            Measure::ResponseMax => "max",
            Measure::ServiceP99 => "p99 of the service time",
            Measure::InFlight => "in flight",
            Measure::InFlightMax => "at most",
            Measure::Users => "users",
            Measure::Iterations => "iterations",
            Measure::Cpu => "CPU",
            Measure::Memory => "memory",
            Measure::Sockets => "open sockets",
            Measure::Threads => "threads",
            Measure::BytesIn => "received",
            Measure::BytesOut => "sent",
            Measure::Bandwidth => "bandwidth",
            Measure::CpuPressure => "waiting for a core",
        }
    }

    /// True if the maximum of neighbouring values is kept instead of their mean.
    fn is_peak(self) -> bool {
        matches!(
            self,
            Measure::ResponseP90
                | Measure::ResponseP99
                | Measure::ResponseMax
                | Measure::ServiceP99
                | Measure::InFlightMax
                | Measure::Users
        )
    }
}

impl Timeline {
    /// Returns the track of this measure.
    pub fn track(&self, measure: Measure) -> Option<&Track> {
        self.tracks.iter().find(|track| track.measure == measure)
    }

    /// Returns the timeline with at most `most` times: neighbours are merged to their mean,
    /// percentiles above the median to their maximum.
    #[must_use]
    pub fn thinned(&self, most: usize) -> Timeline {
        let each = self.time_s.len().div_ceil(most.max(1)).max(1);
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
        Timeline {
            time_s: self.time_s.chunks(each).map(mean).collect(),
            tracks: self
                .tracks
                .iter()
                .map(|track| track.thinned(each))
                .collect(),
        }
    }
}

impl Track {
    /// Returns the track with each `each` neighbours merged.
    #[must_use]
    pub fn thinned(&self, each: usize) -> Track {
        let values = self.values.chunks(each.max(1));
        Track {
            measure: self.measure,
            values: values.map(|values| self.joined(values)).collect(),
        }
    }

    fn joined(&self, values: &[Option<f64>]) -> Option<f64> {
        let known = || values.iter().flatten().copied();
        if self.measure.is_peak() {
            return known().reduce(f64::max);
        }
        let count = known().count();
        (count > 0).then(|| known().sum::<f64>() / count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(moments: usize) -> Timeline {
        let track = |measure, gap| Track {
            measure,
            values: (0..moments)
                .map(|index| (index % gap != 1).then_some(index as f64))
                .collect(),
        };
        Timeline {
            time_s: (0..moments).map(|index| index as f64 + 0.5).collect(),
            tracks: vec![track(Measure::Rate, 99), track(Measure::ResponseP99, 4)],
        }
    }

    #[test]
    fn few_moments_stay_as_they_are() {
        for moments in [0, 1, 4] {
            assert_eq!(timeline(moments).thinned(4), timeline(moments));
        }
    }

    #[test]
    fn neighbours_are_joined_by_their_mean_or_their_peak() {
        let thinned = timeline(10).thinned(4);
        assert_eq!(thinned.time_s, [1.5, 4.5, 7.5, 9.5]);
        let rate = &thinned.track(Measure::Rate).unwrap().values;
        assert_eq!(rate[1..], [Some(4.0), Some(7.0), Some(9.0)]);
        let p99 = &thinned.track(Measure::ResponseP99).unwrap().values;
        assert_eq!(p99[..], [Some(2.0), Some(4.0), Some(8.0), None]);
    }
}
