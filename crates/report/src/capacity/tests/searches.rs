//! Made-up searches.

use super::super::*;
use crate::samples;
use loadline_capacity::{
    Breaking, Inconclusive, Ladder, LoadLine, Observation, OwnLimit, Part, Purpose, Trial, Why,
};

use std::sync::LazyLock;
use std::time::Duration;

pub(super) fn plan() -> Plan {
    let mut plan = samples::steady().plan;
    plan.checks = ["p99<50ms", "errors<0.1%"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    plan
}

pub(super) fn seen(level: f64, p99_ms: u64) -> Observation {
    Observation {
        checks: vec![p99_ms < 50, true],
        answers_per_s: level,
        p50_ns: 300_000,
        p99_ns: p99_ms * 1_000_000,
        mean_s: 0.0003,
        target_cores: Some(level / 5_000.0),
        ..Observation::default()
    }
}

pub(super) fn trial(number: u32, level: f64, p99_ms: u64) -> Trial {
    Trial {
        number,
        purpose: Purpose::Search,
        level,
        seconds: 2.0,
        kept_up: true,
        discarded: false,
        seen: seen(level, p99_ms),
    }
}

pub(super) fn outcome(answer: Conclusion) -> SearchOutcome {
    let trials = [
        (100.0, 1),
        (1_600.0, 2),
        (3_200.0, 4),
        (6_400.0, 900),
        (4_900.0, 30),
        (5_000.0, 80),
    ];
    let trials = trials.iter().zip(1..);
    SearchOutcome {
        conclusion: answer,
        ladder: Ladder::default(),
        trials: trials
            .map(|((level, p99), number)| trial(number, *level, *p99))
            .collect(),
    }
}

pub(super) fn found() -> SearchOutcome {
    let line = LoadLine {
        level: 4_900.0,
        low: 4_880.4,
        high: 4_960.2,
        upper: 5_000.0,
        throughput: 4_897.0,
        carried: 4_900.0,
        breaks: vec![Breaking::Check(0), Breaking::KeepingUp],
        confirmed_s: 10.0,
        target_cores: Some(0.98),
        disturbance: None,
    };
    let rung = |(part, p99): (Part, u64)| {
        let level = (4_900.0 * part.share()).round();
        Rung {
            part,
            trial: Trial {
                purpose: Purpose::Ladder(part),
                ..trial(7, level, p99)
            },
        }
    };
    let rungs = [
        (Part::Idle, 1),
        (Part::Tenth, 1),
        (Part::Half, 2),
        (Part::Most, 9),
        (Part::Over, 190),
        (Part::Back, 60),
    ];
    let ladder = Ladder {
        rungs: rungs.map(rung).to_vec(),
        recovery: Some(Recovery::After { seconds: 2.0 }),
    };
    SearchOutcome {
        ladder,
        ..outcome(Conclusion::Found(line))
    }
}

pub(super) const FLOOR: Floor = Floor {
    min_ns: 31_000,
    p50_ns: 38_000,
    p99_ns: 90_000,
    answers_per_s: 94_000.0,
    connections: 50,
};

pub(super) const SETTINGS: Settings = Settings {
    lowest: 1.0,
    highest: 1e6,
    first: 100.0,
    whole: false,
    users_keep_pace: false,
    checks: 2,
    samples: 100.0,
    trial_s: 2.0,
    overhead_s: 0.4,
    recovery_s: 5.0,
    warm_up_s: 5.0,
    spent_s: 2.2,
    width: 0.05,
    trials: 5,
    budget_s: 120.0,
    floor_per_s: None,
};

/// A machine of two cores.
static ORIGIN: LazyLock<Origin> = LazyLock::new(|| Origin {
    version: "0.0.0".to_owned(),
    started_at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045),
    environment: Environment {
        floor: Some(FLOOR),
        ..samples::steady().environment
    },
});

pub(super) fn report<'a>(plan: &'a Plan, outcome: &'a SearchOutcome) -> CapacityReport<'a> {
    CapacityReport {
        plan,
        users: false,
        errors_added: false,
        settings: &SETTINGS,
        outcome,
        interrupted: false,
        origin: &ORIGIN,
    }
}

/// Every answer but a load line.
pub(super) fn other_answers() -> Vec<Conclusion> {
    let busy = OwnLimit::Busy { share: 0.97 };
    let generator = |limit| Conclusion::AtLeast {
        level: 20_000.0,
        why: Why::Generator {
            limit,
            at: 20_200.0,
        },
    };
    let highest = Conclusion::AtLeast {
        level: 2_000.0,
        why: Why::Highest,
    };
    let nothing = |own_limit| Conclusion::NothingHolds {
        level: 1.0,
        breaks: vec![Breaking::Check(0)],
        own_limit,
    };
    let unsettled = |lower, upper, own_limit| {
        Conclusion::Inconclusive(Inconclusive {
            lower,
            upper,
            refuted: None,
            own_limit,
        })
    };
    let stolen = OwnLimit::Stolen { share: 0.5 };
    let confirmed = |known| Conclusion::AtLeast {
        level: 186.4,
        why: Why::TimeOver {
            confirmed_s: 10.0,
            known,
        },
    };
    vec![
        confirmed(Inconclusive {
            lower: Some(180.0),
            upper: Some(264.5),
            refuted: None,
            own_limit: Some(stolen),
        }),
        confirmed(Inconclusive {
            refuted: Some(246.3),
            ..Inconclusive::default()
        }),
        generator(busy),
        generator(OwnLimit::Connections { most: 1_000 }),
        generator(OwnLimit::Exhausted { failed: 120 }),
        generator(OwnLimit::Late { share: 0.2 }),
        generator(OwnLimit::Floor {
            answers_per_s: 20_400.0,
        }),
        highest,
        nothing(None),
        nothing(Some(busy)),
        nothing(Some(OwnLimit::Crowded { share: 0.4 })),
        nothing(Some(OwnLimit::Stalled {
            longest_ns: 120_000_000,
        })),
        nothing(Some(stolen)),
        nothing(Some(OwnLimit::Others { cores: 1.7 })),
        unsettled(Some(4_800.0), Some(5_200.0), None),
        unsettled(None, None, None),
        unsettled(None, Some(5_200.0), Some(stolen)),
        unsettled(Some(2.5), None, None),
        Conclusion::Inconclusive(Inconclusive {
            lower: None,
            upper: Some(1_483.0),
            refuted: Some(246.3),
            own_limit: None,
        }),
    ]
}
