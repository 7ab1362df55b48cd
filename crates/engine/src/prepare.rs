//! Everything that is done once, before a worker starts: names, certificates, requests, limits.

use crate::StartError;
use crate::event::Detail;
use crate::http2::http2_config;
use crate::pacer::{most_users, most_users_at};
use crate::written_list::{WrittenList, is_written_by_line};
use crate::written_request::WrittenRequest;
use loadline_metrics::{Key, SeriesId, SeriesTable};
use loadline_plan::{Connection, HttpVersion, Level, Plan, Tls};
use loadline_reactor::{Address, Kernel, ensure_open_files, raise_open_files};
use loadline_transport::{Dialler, Endpoint, TlsSetup};
use loadline_wire::h2;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroU32;
use std::sync::Arc;
use url::{Origin, Url};

/// The number of descriptors in addition to the connections: streams, event loops, files of the
/// run.
pub const OTHER_FILES: u64 = 16;
/// The length of an interval, in nanoseconds.
const INTERVAL_NS: u64 = 1_000_000_000;

/// A plan with everything that its workers need to run it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) tls: Option<TlsSetup>,
    /// The limits of connections of HTTP/2.
    pub(crate) http2: h2::Config,
    pub(crate) requests: Vec<WrittenRequest>,
    /// The long list that is sent, if the requests are its templates.
    pub(crate) list: Option<WrittenList>,
    /// The series of the requests.
    pub(crate) series: SeriesTable,
    /// True if requests are counted in series. If all have one name, the totals are its series.
    pub(crate) has_series: bool,
    pub(crate) detail: Detail,
    pub(crate) interval_ns: u64,
    /// The most connections that a user keeps, each to another endpoint: as many as there are
    /// endpoints, or as descriptors allow.
    pub(crate) most_kept: usize,
    /// The most connections that a worker may leave open for their servers to close.
    pub(crate) most_lingering: u32,
    /// The addresses of names that do not respond, while others of the same name do.
    pub(crate) left_out: Vec<Address>,
    /// The number of the scenario in the run, from 0.
    pub(crate) scenario: usize,
    /// True if it is the only scenario.
    pub(crate) is_alone: bool,
}

impl Prepared {
    /// Prepares each scenario of a plan for this many of its workers; the plan itself if it has no
    /// scenarios. `composes` returns true for a scenario whose users compose requests to other
    /// endpoints. All scenarios use the same version of HTTP.
    ///
    /// # Errors
    /// If something that the plan names can't be used, or so many files can't be open.
    pub(crate) fn all(
        plan: &Plan,
        detail: Detail,
        composes: impl Fn(usize) -> bool,
        workers: u32,
    ) -> Result<Vec<Arc<Self>>, StartError> {
        let parts = plan.parts();
        let connections = parts.iter().map(most_connections);
        let connections = connections.map(|all| share(all, workers, plan.threads));
        let connections = connections.fold(0, u32::saturating_add);
        ensure_open_files(u64::from(connections) + OTHER_FILES)?;
        let is_alone = parts.len() == 1;
        let prepare = |(scenario, part): (usize, Plan)| {
            let mut prepared = Prepared::new(part, detail, composes(scenario), connections)?;
            prepared.most_lingering /= workers.max(1);
            let before = plan.scenarios.iter().take(scenario);
            prepared.number_requests(before.map(|one| one.requests.len()).sum());
            Ok(Arc::new(Prepared {
                scenario,
                is_alone,
                ..prepared
            }))
        };
        let each = parts.into_iter().enumerate().map(prepare);
        let each: Vec<Arc<Prepared>> = each.collect::<Result<_, StartError>>()?;
        let http = |prepared: &Arc<Prepared>| prepared.plan.connection.http;
        if each.iter().all(|one| http(one) == http(&each[0])) {
            return Ok(each);
        }
        // Not every server of the plan chooses HTTP/2.
        let one_version = |mut part: Plan| {
            part.connection.http = HttpVersion::V1_1;
            part
        };
        let parts = plan.parts().into_iter().map(one_version);
        parts.enumerate().map(prepare).collect()
    }

    /// Reads, resolves and writes everything that the plan names. Blocks; sends nothing but the
    /// probes of addresses. `composes` is true if requests to other endpoints will be composed;
    /// `connections` is the most connections of the prepared workers.
    fn new(
        mut plan: Plan,
        detail: Detail,
        composes: bool,
        connections: u32,
    ) -> Result<Self, StartError> {
        let mut endpoints = Endpoints::default();
        for request in &plan.requests {
            endpoints.index_of(&request.url, &plan)?;
        }
        let is_tls = endpoints.list.iter().any(|endpoint| endpoint.tls);
        let tls = read_tls(&plan.connection.tls, is_tls, composes)?;
        plan.connection.http = chosen_http(&plan.connection, &endpoints.list, tls.as_ref())?;
        let tls = tls.map(|tls| tls.offering(plan.connection.http));
        if plan.list.is_some() && !is_written_by_line(&plan, &plan.connection) {
            plan = plan.written_out();
        }
        let mut requests = Vec::new();
        let (series, has_series, ids) = series_of(&plan)?;
        for (request, id) in plan.requests.iter().zip(ids.iter().copied()) {
            let endpoint = endpoints.index_of(&request.url, &plan)?;
            let written = WrittenRequest::new(request, endpoint, id, &plan.connection);
            requests.push(written.map_err(|problem| StartError::Request {
                url: request.url.to_string(),
                problem,
            })?);
        }
        let list = WrittenList::new(&plan, ids);
        let endpoints = endpoints.list;
        let open_files = raise_open_files().unwrap_or(u64::MAX);
        let mut prepared = Prepared {
            http2: http2_config(&plan.connection),
            plan,
            endpoints,
            tls,
            requests,
            list,
            series,
            has_series,
            detail,
            interval_ns: INTERVAL_NS,
            most_kept: most_kept(open_files, connections),
            most_lingering: spare(open_files, connections),
            left_out: Vec::new(),
            scenario: 0,
            is_alone: true,
        };
        prepared.probe()?;
        Ok(prepared)
    }

    /// Assigns its requests their indices among those of all scenarios.
    fn number_requests(&mut self, first: usize) {
        for (index, request) in (first..).zip(&mut self.requests) {
            request.part.request = u32::try_from(index).ok();
        }
    }

    /// Returns the addresses of all endpoints.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let addresses = self
            .endpoints
            .iter()
            .flat_map(|endpoint| &endpoint.addresses);
        addresses.cloned().collect()
    }

    /// Probes the addresses that dialling ahead of the run will not have tried: those of a name
    /// with several addresses (silent ones are left out), the only address if each request has a
    /// connection of its own, and those of several endpoints. Fails if no endpoint responds at all;
    /// if only some do, nothing is dialled ahead, and requests to the others fail in the run. If
    /// dialling ahead is off anyway, only the addresses of names with several are probed, and it is
    /// not a failure yet if none responds.
    fn probe(&mut self) -> Result<(), StartError> {
        let settings = &self.plan.connection;
        let kernel = Kernel::new()?;
        let dialler = Dialler::new(kernel.clone(), Vec::new(), settings, self.tls.as_ref(), 0);
        let mut first_error = None;
        let mut hopeful = false;
        let is_tried_later = !settings.ahead || settings.keepalive && self.endpoints.len() == 1;
        for endpoint in &mut self.endpoints {
            if is_tried_later && endpoint.addresses.len() == 1 {
                hopeful = true;
                continue;
            }
            match kernel.block_on(dialler.probe(endpoint))? {
                Ok(answering) => {
                    let answers = |address: &Address| answering.addresses.contains(address);
                    let silent = endpoint
                        .addresses
                        .iter()
                        .filter(|address| !answers(address));
                    self.left_out.extend(silent.cloned());
                    *endpoint = answering;
                    hopeful = true;
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match first_error {
            Some(error) if !hopeful && settings.ahead => Err(StartError::Unreachable { error }),
            Some(_) => {
                self.plan.connection.ahead = false;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Returns the version of HTTP for a run: for `auto`, HTTP/2 if every server chooses it by ALPN. An
/// unreachable server does not prevent it: the run will report the failure.
fn chosen_http(
    settings: &Connection,
    endpoints: &[Endpoint],
    tls: Option<&TlsSetup>,
) -> Result<HttpVersion, StartError> {
    if settings.http != HttpVersion::Auto {
        return Ok(settings.http);
    }
    // Without an endpoint there is no server that could choose.
    let is_needed = settings.keepalive && !endpoints.is_empty();
    let Some(tls) = tls.filter(|_| is_needed) else {
        return Ok(HttpVersion::V1_1);
    };
    let tls = tls.clone().offering(HttpVersion::Auto);
    let kernel = Kernel::new()?;
    let dialler = Dialler::new(kernel.clone(), Vec::new(), settings, Some(&tls), 0);
    for endpoint in endpoints {
        let chosen = kernel.block_on(dialler.chooses_http2(endpoint))?;
        if !endpoint.tls || !chosen.unwrap_or(true) {
            return Ok(HttpVersion::V1_1);
        }
    }
    Ok(HttpVersion::V2)
}

/// Returns the most files that each process has open in a run of the plan whose load is changed to
/// this level. A level for several scenarios applies to each.
pub fn open_files_at(plan: &Plan, level: Level) -> u64 {
    let parts = plan.parts();
    let connections = parts
        .iter()
        .map(|part| connections_of(part, most_users_at(part, level)))
        .map(|all| share(all, plan.threads.div_ceil(plan.processes), plan.threads))
        .fold(0, u32::saturating_add);
    u64::from(connections) + OTHER_FILES
}

/// Returns the most connections of a load that `workers` of its `of` workers have.
fn share(connections: u32, workers: u32, of: u32) -> u32 {
    let each = connections.div_ceil(of.max(1));
    each.saturating_mul(workers).min(connections)
}

/// Returns the most connections that a load has at once.
fn most_connections(plan: &Plan) -> u32 {
    connections_of(plan, most_users(plan))
}

/// Returns the most connections that this many users of a load have at once.
fn connections_of(plan: &Plan, users: u32) -> u32 {
    let users = users.max(plan.load.max_users);
    let shared = plan.connection.shared.map_or(u32::MAX, NonZeroU32::get);
    let connections = users.div_ceil(plan.connection.streams);
    connections.min(shared.max(plan.threads))
}

/// Returns the series of a plan's requests, true if requests are counted in them, and the series of
/// each request. They are not counted if all requests have one name, unless the plan is one
/// scenario of several: the totals are that series.
pub(crate) fn series_of(plan: &Plan) -> Result<(SeriesTable, bool, Vec<SeriesId>), StartError> {
    let mut table = SeriesTable::new(plan.max_series);
    let mut ids = Vec::with_capacity(usize::try_from(plan.request_count()).unwrap_or(0));
    let tags = plan.part.as_ref().map(|part| part.series_tags());
    let mut refused = None;
    plan.each_series_name(|name| {
        let key = Key::tagged(name, tags.clone().unwrap_or_default());
        match key {
            Ok(key) => ids.push(table.intern(&key)),
            Err(problem) => {
                refused.get_or_insert(problem);
            }
        }
    });
    if let Some(problem) = refused {
        return Err(StartError::Name { problem });
    }
    let is_one = tags.is_none() && ids.iter().all(|id| *id == ids[0]);
    Ok((table, !is_one, ids))
}

/// Returns the most connections that each of this many users may keep at the same time: at least
/// the one that it uses, which has a descriptor.
fn most_kept(open_files: u64, users: u32) -> usize {
    let room = open_files.saturating_sub(OTHER_FILES) / u64::from(users.max(1));
    usize::try_from(room.max(1)).unwrap_or(usize::MAX)
}

/// Returns the number of descriptors that remain in addition to these connections.
fn spare(open_files: u64, connections: u32) -> u32 {
    let room = open_files.saturating_sub(OTHER_FILES + u64::from(connections));
    u32::try_from(room).unwrap_or(u32::MAX)
}

/// Reads the TLS setup if it is needed, or may be. Files that are not needed must be usable
/// nevertheless.
fn read_tls(
    tls: &Tls,
    is_needed: bool,
    may_be_needed: bool,
) -> Result<Option<TlsSetup>, StartError> {
    if is_needed {
        return Ok(Some(TlsSetup::read(tls)?));
    }
    if may_be_needed {
        return Ok(Some(TlsSetup::read_in_case(tls)?));
    }
    TlsSetup::check_files(tls)?;
    Ok(None)
}

/// The endpoints of the requests, without duplicates.
#[derive(Debug, Default)]
struct Endpoints {
    list: Vec<Endpoint>,
    /// The indices by scheme, host and port: a list of URLs may contain thousands.
    by_origin: HashMap<Origin, usize>,
}

impl Endpoints {
    /// Returns the index of the endpoint that serves this URL, which is resolved on its first
    /// occurrence.
    fn index_of(&mut self, url: &Url, plan: &Plan) -> Result<usize, StartError> {
        match self.by_origin.entry(url.origin()) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(new) => {
                self.list.push(Endpoint::resolve(url, &plan.connection)?);
                Ok(*new.insert(self.list.len() - 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::plans::{SECOND, closed};
    use loadline_reactor::Address;
    use std::net::{SocketAddr, TcpListener};

    /// Returns the remaining addresses of an endpoint with these addresses when nothing is dialled
    /// ahead.
    fn left_of(addresses: &[SocketAddr]) -> Vec<Address> {
        let mut plan = closed(1, SECOND);
        plan.connection.ahead = false;
        let mut prepared =
            Prepared::new(plan, Detail::default(), false, 1).expect("a plan that needs nothing");
        prepared.endpoints[0].addresses = addresses.iter().copied().map(Address::Ip).collect();
        prepared.probe().expect("no failure");
        prepared.endpoints.remove(0).addresses
    }

    #[test]
    fn users_keep_as_many_connections_as_there_are_descriptors_for() {
        assert_eq!(most_kept(OTHER_FILES + 200, 20), 10);
        assert_eq!(most_kept(OTHER_FILES + 199, 20), 9);
        assert_eq!(most_kept(8, 20), 1);
        assert_eq!(most_kept(1_024, 0), 1_008);
    }

    #[test]
    fn more_users_need_more_open_files_unless_they_share_connections() {
        let mut plan = closed(100, SECOND);
        let at = |plan: &Plan, level| open_files_at(plan, level) - OTHER_FILES;
        assert_eq!(at(&plan, Level::Share(1_050)), 105);
        assert_eq!(at(&plan, Level::Users(700)), 700);
        assert_eq!(at(&plan, Level::Users(7)), 100);
        assert_eq!(at(&plan, Level::Paused), 100);
        plan.connection.streams = 10;
        assert_eq!(at(&plan, Level::Users(700)), 70);
    }

    #[test]
    fn each_process_opens_the_files_of_its_own_workers() {
        let mut plan = closed(800, SECOND);
        (plan.threads, plan.processes) = (4, 4);
        assert_eq!(open_files_at(&plan, Level::Paused), 200 + OTHER_FILES);
        assert_eq!(share(800, 1, 4), 200);
        assert_eq!(share(801, 1, 4), 201);
        assert_eq!(share(801, 4, 4), 801);
        assert_eq!(share(3, 2, 4), 2);
        assert_eq!(share(0, 1, 1), 0);
    }

    #[test]
    fn what_lingers_has_the_descriptors_that_are_left() {
        assert_eq!(spare(64, 40), 8);
        assert_eq!(spare(64, 60), 0);
        assert_eq!(spare(u64::MAX, 60), u32::MAX);
    }

    fn address(listener: &TcpListener) -> SocketAddr {
        listener.local_addr().expect("an address")
    }

    #[test]
    fn without_dialling_ahead_several_addresses_are_tried_all_the_same() {
        let listener = || TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (up, down) = (listener(), address(&listener()));
        assert_eq!(left_of(&[down, address(&up)]), [Address::Ip(address(&up))]);
        assert_eq!(left_of(&[down]), [Address::Ip(down)]);
        assert_eq!(left_of(&[down, down]).len(), 2);
    }
}
