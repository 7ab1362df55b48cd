//! `loadline versus`: two targets that take turns.
//!
//! Both are loaded in short runs, one at a time, so that neither takes anything from the other. The
//! runs come in pairs, one of each target in random order, and each pair is compared by itself:
//! what drifts while the series lasts is in both (docs/design/010).

use crate::closing::{end_of_series, end_silently, print_trouble_before};
use crate::commands::compare;
use crate::exit::{Exit, exit_of_series};
use crate::flags::compare::{rules_of, with_those_of};
use crate::flags::run::RunFlags;
use crate::flags::run::request::{BodySource, TargetWord};
use crate::flags::versus::VersusFlags;
use crate::invocation::Invocation;
use crate::resolve::{RunEnvironment, resolve_on_agents, with_plan_file};
use crate::session::RanSeries;
use crate::web::keep_open;
use anyhow::{Result, bail, ensure};
use loadline_plan::Plan;
use loadline_record::{Role, RoleKind, Summary};
use loadline_runner::Planned;
use loadline_verdict::{COMPARED_PERCENTILES, Comparison};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::io::{self, Cursor, Read};
use std::time::Duration;

/// The default number of turns of each target.
const PAIRS: u32 = 10;
/// The default duration of a turn.
const TURN: Duration = Duration::from_secs(2);

/// Loads two targets in turns, and reports the slower one, and the one that breaks the checks.
pub(crate) fn run(flags: VersusFlags) -> Result<Exit> {
    let VersusFlags { run } = with_plan_file(flags)?;
    refuse_baseline(&run)?;
    let fail_on = run.regressions.fail_on.clone();
    let [base, with] = sides(with_defaults(run)?)?;
    let Invocation { reports, trust, .. } = &base;
    reports.prepare()?;
    let turns = turns([&base.plan, &with.plan], base.repeat.unwrap_or(PAIRS));
    let session = &base.session;
    let RanSeries {
        mut series,
        heats,
        page,
    } = session.run_series(&base.plan, turns, reports.needs())?;
    let summaries: Vec<&Summary> = series.runs.iter().map(|run| &run.summary).collect();
    let percentiles = with_those_of(&fail_on, &COMPARED_PERCENTILES);
    let found = Comparison::of_sides_in(&summaries, &percentiles, &rules_of(&fail_on));
    if found.is_none() && series.trouble.is_some() {
        // If one of them can't be run at all, a report of the rest is of no use.
        return end_silently(series, Exit::Failed);
    }
    let published = reports.publish_series(&series.runs, &heats, None);
    series.trouble = print_trouble_before(published, series.trouble.take())?;
    let of_runs = exit_of_series(&series.runs, *trust);
    let of_sides = found
        .as_ref()
        .map_or(Exit::Good, |found| compare::exit(&fail_on, found));
    let worst = [of_runs, of_sides]
        .into_iter()
        .max_by_key(|exit| exit.severity());
    if let Some(found) = &found {
        compare::print_failed_rules(&fail_on, found);
    }
    keep_open(page);
    match of_runs {
        Exit::Good => end_silently(series, worst.unwrap_or(Exit::Good)),
        Exit::CheckFailed
        | Exit::Failed
        | Exit::Invalid
        | Exit::Interrupted
        | Exit::NotKnown
        | Exit::CannotTell => end_of_series(series, worst.unwrap_or(Exit::Good), *trust),
    }
}

/// A run has a baseline; of two targets one is the other's.
fn refuse_baseline(run: &RunFlags) -> Result<()> {
    let regressions = &run.regressions;
    let given = [
        (regressions.baseline.is_some(), "--baseline"),
        (regressions.history.is_some(), "--history"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => bail!(
            "versus compares B with A, and has no {flag}; leave it out, or run one target by \
             itself."
        ),
        None => Ok(()),
    }
}

/// Fills in what differs from a run by itself, and refuses what has no meaning here.
fn with_defaults(mut run: RunFlags) -> Result<RunFlags> {
    let load = &mut run.load;
    if load.duration.is_none() && load.requests.is_none() && load.stages.is_none() {
        load.duration = Some(TURN);
    }
    let pairs = *load.repeat.get_or_insert(PAIRS);
    ensure!(
        pairs >= 2,
        "versus compares pairs of runs; give --repeat at least 2."
    );
    let (list, lines) = (&run.request.urls, &run.request.urls_inline);
    ensure!(
        list.is_none() && lines.is_none(),
        "versus sends the same request to both its targets, but a list names its own targets; \
         leave out --urls, or run each list by itself and compare the saved runs."
    );
    run.load
        .seed
        .get_or_insert_with(|| rand::random::<u32>().into());
    Ok(run)
}

/// The same run against each of the two URLs.
fn sides(run: RunFlags) -> Result<[Invocation; 2]> {
    let places = run.request.places.iter();
    let urls = places.filter_map(|place| match place {
        TargetWord::Url(url) => Some(url),
        // What it says is among the flags by now.
        TargetWord::Plan(_) => None,
    });
    let [base, with] = urls.collect::<Vec<_>>()[..] else {
        bail!("versus takes two URLs, A and B; the other flags are those of a run.");
    };
    let stdin = match run.request.body {
        Some(BodySource::Stdin) => read_stdin()?,
        _ => Vec::new(),
    };
    let side = |url: &loadline_plan::Target| {
        let mut run = run.clone();
        run.request.places = vec![TargetWord::Url(url.clone())];
        resolve_on_agents(
            run,
            RunEnvironment::of_this_machine(&mut Cursor::new(&stdin)),
        )
    };
    Ok([side(base)?, side(with)?])
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// This many pairs of runs. Both of a pair have the same seed, and so the same arrivals.
fn turns(plans: [&Plan; 2], pairs: u32) -> Vec<Planned> {
    let turn = |side: usize, pair: u32| Planned {
        plan: Plan {
            seed: plans[side].seed.wrapping_add(pair.into()),
            ..plans[side].clone()
        },
        role: Role {
            kind: RoleKind::Side,
            number: pair + 1,
            of: Some(pairs),
            name: Some(["A", "B"][side].to_owned()),
            search: None,
            spent_s: None,
        },
    };
    let orders = orders(pairs, plans[0].seed);
    let each = (0..pairs).zip(orders);
    each.flat_map(|(pair, first)| [turn(first, pair), turn(1 - first, pair)])
        .collect()
}

/// Returns the side that begins each pair: both equally often, in random order.
fn orders(pairs: u32, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let flip = (random.next_u32() % 2) as usize;
    let mut orders: Vec<usize> = (0..pairs as usize).map(|pair| (pair + flip) % 2).collect();
    for left in (1..orders.len()).rev() {
        let drawn = random.next_u32() as usize % (left + 1);
        orders.swap(left, drawn);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_begin_as_often_as_the_other() {
        for seed in 0..50 {
            let orders = orders(10, seed);
            assert_eq!(orders.iter().sum::<usize>(), 5, "{orders:?}");
            let odd: usize = super::orders(7, seed).iter().sum();
            assert!((3..=4).contains(&odd));
        }
    }

    #[test]
    fn the_order_is_random_and_the_seeds_own() {
        assert_eq!(orders(10, 1), orders(10, 1));
        let firsts = (0..100).filter(|seed| orders(10, *seed)[0] == 0).count();
        assert!((25..=75).contains(&firsts), "{firsts}");
        let alternating = |orders: &[usize]| orders.windows(2).all(|pair| pair[0] != pair[1]);
        let rare = (0..100).filter(|seed| alternating(&orders(10, *seed)));
        assert!(rare.count() < 10);
    }
}
