//! The scenarios of a plan file: their own keys, and the keys of the whole run that apply to them.

use super::{Error, RunEnvironment, limit_connections, requests};
use crate::flags::run::load::LoadFlags;
use crate::flags::run::request::{RequestFlags, TargetWord};
use crate::flags::run::{RunFlags, ScenarioFlags};
use loadline_plan::{Load, LoadOptions, Scenario, StageList};

/// Refuses flags of the whole run that each scenario sets itself.
pub(super) fn refuse_contradictions(flags: &RunFlags) -> Result<(), Error> {
    if flags.scenarios.is_empty() {
        return Ok(());
    }
    let load = &flags.load;
    let own = [
        (
            "connections",
            load.connections.is_some() && !has_weights(flags),
        ),
        ("max-connections", load.max_connections.is_some()),
        ("rate", load.rate.is_some()),
        ("arrivals", load.arrivals.is_some()),
        ("stages", load.stages.is_some() && !has_weights(flags)),
        ("burst", load.burst.is_some()),
        ("requests", load.requests.is_some()),
    ];
    if let Some((name, _)) = own.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::Flags(format!(
            "--{name} contradicts the plan's scenarios, each of which has its own load; leave it \
             out, or give it to a [[scenario]] in the file."
        )));
    }
    let takes_duration = |scenario: &ScenarioFlags| {
        scenario.load.duration.is_none() && scenario.load.stages.is_none()
    };
    if load.duration.is_some() && !flags.scenarios.iter().any(takes_duration) {
        let text = "--duration contradicts the plan's scenarios, each of which says how long it \
                    lasts; leave it out, or out of a [[scenario]] in the file.";
        return Err(Error::Flags(text.to_owned()));
    }
    let of_scenarios = flags.scenarios.iter().map(|own| &own.request);
    let mut lists = of_scenarios
        .chain([&flags.request])
        .filter_map(|own| own.urls.as_ref());
    if lists.any(|path| path.as_os_str() == "-") {
        let text = "--urls - reads stdin, which several scenarios can't; give a file.";
        return Err(Error::Flags(text.to_owned()));
    }
    refuse_unused_url(flags)
}

/// Refuses a URL of the whole run that no scenario takes.
fn refuse_unused_url(flags: &RunFlags) -> Result<(), Error> {
    let urls = flags.request.places.iter().find_map(|place| match place {
        TargetWord::Url(target) => Some(&target.url),
        TargetWord::Plan(_) => None,
    });
    match urls {
        Some(url) if flags.scenarios.iter().all(|own| names_urls(&own.request)) => {
            Err(Error::Flags(format!(
                "no scenario takes the URL {url}, as each has its own; leave it out, or leave out \
                 those of a [[scenario]] in the file."
            )))
        }
        _ => Ok(()),
    }
}

/// True if a scenario sets the URLs of its requests itself.
fn names_urls(own: &RequestFlags) -> bool {
    !own.places.is_empty() || own.urls.is_some() || own.urls_inline.is_some()
}

/// True if some of the scenarios receive their users by weight.
fn has_weights(flags: &RunFlags) -> bool {
    flags.scenarios.iter().any(|own| own.weight.is_some())
}

/// The load of each scenario that takes its part of the whole run's users, by its weight.
fn loads_by_weight(flags: &RunFlags) -> Result<Vec<Option<Load>>, Error> {
    let weights = flags.scenarios.iter().map(|own| own.weight);
    let weights: Vec<u32> = weights.map(Option::unwrap_or_default).collect();
    let (whole, _) = LoadOptions {
        connections: flags.load.connections,
        duration: flags.load.duration,
        stages: flags.load.stages.clone(),
        ..LoadOptions::default()
    }
    .resolve()?;
    let loads = flags.scenarios.iter().zip(whole.split_by_weight(&weights));
    let own = loads.map(|(own, load)| match own.weight {
        Some(_) if load.users == 0 => Err(Error::Scenario {
            name: own.part.name.clone(),
            error: Box::new(Error::Flags(
                "its weight leaves it no user; give more --connections.".to_owned(),
            )),
        }),
        Some(_) => has_own_load(&own.load).map_or(Ok(Some(load)), |key| {
            let text = format!(
                "a scenario with a weight takes its users of the run's connections; leave out \
                 {key}, or the weight."
            );
            Err(Error::Scenario {
                name: own.part.name.clone(),
                error: Box::new(Error::Flags(text)),
            })
        }),
        None => Ok(None),
    });
    own.collect()
}

/// Returns the first key of a load that sets the number of users or arrivals.
fn has_own_load(load: &LoadFlags) -> Option<&'static str> {
    let keys = [
        ("connections", load.connections.is_some()),
        ("max_connections", load.max_connections.is_some()),
        ("rate", load.rate.is_some()),
        ("stages", load.stages.is_some()),
        ("burst", load.burst.is_some()),
    ];
    let given = keys.into_iter().find(|(_, is_given)| *is_given);
    given.map(|(key, _)| key)
}

/// Returns the scenarios of a plan file. Keys of requests and of the length that a scenario lacks
/// are those of the whole run.
pub(super) fn scenarios(
    flags: &RunFlags,
    seed: u64,
    surroundings: &mut RunEnvironment<'_>,
) -> Result<Vec<Scenario>, Error> {
    let loads = loads_by_weight(flags)?;
    let each = flags.scenarios.iter().zip(loads).map(|(own, load)| {
        let scenario = scenario(own, load, flags, seed, surroundings);
        scenario.map_err(|error| Error::Scenario {
            name: own.part.name.clone(),
            error: Box::new(error),
        })
    });
    each.collect()
}

fn scenario(
    own: &ScenarioFlags,
    by_weight: Option<Load>,
    whole: &RunFlags,
    seed: u64,
    surroundings: &mut RunEnvironment<'_>,
) -> Result<Scenario, Error> {
    let mut options = own.load.options();
    let is_counted = options.requests.is_some() || own.part.iterations_per_user.is_some();
    if options.duration.is_none() && options.stages.is_none() {
        options.duration = whole.load.duration;
    }
    if by_weight.is_some() && options.duration.is_none() {
        options.duration = whole.load.stages.as_ref().map(StageList::duration);
    }
    let (own_load, mut duration) = options.resolve()?;
    let mut load = by_weight.unwrap_or(own_load);
    if is_counted {
        duration = options.duration;
    }
    if own.load.max_connections.is_none() {
        limit_connections(&mut load, surroundings.open_files, whole.load.processes);
    }
    let request = completed(&own.request, &whole.request);
    Ok(Scenario {
        part: own.part.clone(),
        requests: requests::requests(&request, seed, surroundings.stdin)?,
        script: requests::script(&request)?,
        order: request.urls_order,
        client: requests::client(&request)?,
        think: own.load.think.or(whole.load.think),
        load: load.with_streams(whole.connection.options().streams),
        duration,
        request_limit: own.load.requests,
    })
}

/// Returns the keys of a scenario's requests, completed by those of the whole run.
fn completed(own: &RequestFlags, whole: &RequestFlags) -> RequestFlags {
    let mut flags = own.clone();
    if !names_urls(own) {
        let is_url = |place: &&TargetWord| matches!(place, TargetWord::Url(_));
        flags.places = whole.places.iter().filter(is_url).cloned().collect();
        flags.urls = whole.urls.clone();
        flags.urls_inline = whole.urls_inline.clone();
    }
    let has_list = flags.urls.is_some() || flags.urls_inline.is_some();
    let base_url = whole.base_url.clone().filter(|_| has_list);
    flags.base_url = flags.base_url.or(base_url);
    if own.header.is_empty() {
        flags.header = whole.header.clone();
    }
    if own.body.is_none() && own.form.is_empty() {
        flags.body = whole.body.clone();
        flags.form = whole.form.clone();
    }
    if own.script.is_none() && own.script_arg.is_empty() {
        flags.script_arg = whole.script_arg.clone();
    }
    flags.script = flags.script.or_else(|| whole.script.clone());
    flags.method = flags.method.or_else(|| whole.method.clone());
    flags.user = flags.user.or_else(|| whole.user.clone());
    flags.digest |= whole.digest;
    flags.cookies |= whole.cookies;
    flags.compressed |= whole.compressed;
    if own.follow_redirects == 0 {
        flags.follow_redirects = whole.follow_redirects;
    }
    flags
}
