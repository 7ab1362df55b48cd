//! Agents on a bus: those of a run, those that wait, and this process as one.

use super::Hired;
use super::commands;
use super::listing::{Listed, json, table};
use super::locust_part;
use super::watching::{OwnEye, Watchers};
use crate::exit::Exit;
use crate::flags::agent::{AgentFlags, AgentsFlags, BusFlags};
use crate::flags::run::machines::{LossFlag, MachineFlags};
use crate::floor;
use crate::publish::{print, write_listing};
use crate::terminal::print_line;
use anyhow::{Context, Result, anyhow};
use loadline_bus::{
    Bus, BusAddress, Card, GatherError, Hire, Host, Labels, MeasureFloor, Selector, Task,
    parse_label,
};
use loadline_cluster::{Line, OnLoss, PART_VARIABLE, Recruiter, Scout, start_child};
use loadline_reactor::raise_open_files;
use loadline_runner::{Fleet, worker_command};
use loadline_units::{counted, time};
use loadline_watch::{Target, environment};
use std::sync::OnceLock;
use std::thread::{self, available_parallelism};
use std::time::Duration;

/// The default time for which agents are awaited.
const AGENTS_TIMEOUT: Duration = Duration::from_secs(30);
/// The time in which agents become free after a run.
const FREE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time between two looks for a loss of the bus.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The reason why an agent runs no command.
const NO_COMMANDS: &str = "it was started without --allow-commands";
/// The most agents whose names are printed.
const MOST_NAMES: usize = 8;

/// The agents of this process's runs: they stay the same for all of them.
static HIRED: OnceLock<Hired> = OnceLock::new();

/// Has all runs of this command made by the agents of its flags, if they give any. Waits until
/// there are enough. `prints_wait` is true if the begin of each run is printed.
///
/// # Errors
/// The sentence about flags that contradict each other, a bus that can't be used, or too few
/// agents.
pub(crate) fn hire(
    flags: &MachineFlags,
    processes: u32,
    prints_wait: bool,
) -> Result<Option<Hired>, String> {
    let requested = requested(flags, processes)?;
    if let Some(hired) = HIRED.get() {
        return Ok(Some(*hired));
    }
    if requested.is_none() && flags.watch_agents.is_none() {
        return Ok(None);
    }
    let bus = Bus::connect(&flags.bus.address()?).map_err(|error| error.to_string())?;
    let timeout = flags.agents_timeout.unwrap_or(AGENTS_TIMEOUT);
    post_watchers(flags, &bus, timeout)?;
    let Some(requested) = requested else {
        return Ok(None);
    };
    let cards = loadline_bus::find(&bus, &requested, timeout).map_err(|error| error.to_string())?;
    let hired = hired(&cards);
    loadline_runner::hire(Box::new(Agents {
        bus,
        labels: requested.labels,
        timeout,
        prints_wait,
        is_elastic: flags.elastic,
        on_loss: match flags.on_loss {
            None | Some(LossFlag::Share) => OnLoss::Share,
            Some(LossFlag::Keep) => OnLoss::Keep,
        },
    }));
    Ok(Some(*HIRED.get_or_init(|| hired)))
}

/// Has the agents of the flags watch during all runs of this command, if they give any.
///
/// # Errors
/// The sentence about too few of them.
fn post_watchers(flags: &MachineFlags, bus: &Bus, timeout: Duration) -> Result<(), String> {
    let Some(agents) = &flags.watch_agents else {
        return Ok(());
    };
    let requested = agents.parse::<Selector>();
    let requested = requested.map_err(|error| format!("--watch-agents: {error}"))?;
    let cards = loadline_bus::find_watchers(bus, &requested, timeout);
    let cards = cards.map_err(|error| error.to_string())?;
    loadline_runner::post(Box::new(Watchers::new(bus, cards)));
    Ok(())
}

/// Returns the agents that the flags give, if they give any.
///
/// # Errors
/// The sentence about flags that contradict each other.
fn requested(flags: &MachineFlags, processes: u32) -> Result<Option<Selector>, String> {
    let Some(agents) = &flags.agents else {
        return match flags.bus.nats {
            Some(_) if flags.watch_agents.is_none() => {
                Err("--nats is the bus of --agents; give their number, too.".to_owned())
            }
            Some(_) => Ok(None),
            None => Ok(None),
        };
    };
    if flags.bus.nats.is_none() {
        return Err(format!(
            "--agents {agents} needs the bus on which they wait: add --nats nats://host:4222."
        ));
    }
    if processes > 1 {
        return Err("each agent has one process; leave out --processes, or --agents.".to_owned());
    }
    let requested = agents.parse::<Selector>();
    requested
        .map(Some)
        .map_err(|error| format!("--agents: {error}"))
}

/// Returns the description of the agents for the process of a locustfile, if the flags give any: it
/// gathers them itself.
///
/// # Errors
/// As for [`hire`], but for what the bus says.
pub(crate) fn of_locustfile(flags: &MachineFlags) -> Result<Option<String>, String> {
    let Some(requested) = requested(flags, 1)? else {
        return Ok(None);
    };
    let hire = Hire {
        bus: flags.bus.address()?,
        agents: requested.to_string(),
        timeout: flags.agents_timeout.unwrap_or(AGENTS_TIMEOUT),
        keeps_losses: flags.on_loss == Some(LossFlag::Keep),
        is_elastic: flags.elastic,
    };
    Ok(Some(hire.text()))
}

/// Returns the sum of what agents have, which get equal parts.
fn hired(cards: &[Card]) -> Hired {
    let parts = cards.len() as u32;
    let cores = cards.iter().map(|card| card.cores).min().unwrap_or(1);
    let open_files = cards.iter().map(|card| card.open_files).min();
    Hired {
        parts,
        cores: cores.max(1).saturating_mul(parts),
        open_files: open_files.unwrap_or(u64::MAX),
    }
}

/// The agents with these labels, as the fleet of runs.
struct Agents {
    bus: Bus,
    labels: Labels,
    timeout: Duration,
    prints_wait: bool,
    is_elastic: bool,
    on_loss: OnLoss,
}

impl Fleet for Agents {
    fn lines(&self, parts: u32) -> Result<Vec<Line>, String> {
        let requested = Selector {
            count: Some(parts),
            labels: self.labels.clone(),
        };
        let hosts = loadline_bus::gather(&self.bus, &requested, None, self.timeout);
        let hosts = hosts.map_err(|error| error.to_string())?;
        if self.prints_wait {
            print_line(&beginning(&hosts));
        }
        Ok(hosts.into_iter().map(|host| host.line).collect())
    }

    fn available(&self, most: u32) -> u32 {
        let requested = Selector {
            count: Some(most),
            labels: self.labels.clone(),
        };
        match loadline_bus::find(&self.bus, &requested, FREE_TIMEOUT) {
            Ok(cards) => cards.len() as u32,
            Err(GatherError::TooFew { usable, .. }) => usable as u32,
            Err(
                GatherError::Bus(_)
                | GatherError::NotAll { .. }
                | GatherError::TooMany { .. }
                | GatherError::TooFewWatchers { .. },
            ) => 0,
        }
    }

    fn recruiter(&self) -> Option<Recruiter> {
        if !self.is_elastic {
            return None;
        }
        let bus = self.bus.clone();
        let requested = Selector {
            count: Some(1),
            labels: self.labels.clone(),
        };
        Some(Box::new(move || {
            let hosts = loadline_bus::gather(&bus, &requested, None, Duration::ZERO).ok()?;
            hosts.into_iter().next().map(|host| host.line)
        }))
    }

    fn scout(&self) -> Scout {
        let bus = self.bus.clone();
        Box::new(move |lost| loadline_bus::free(&bus, lost).unwrap_or_default())
    }

    fn on_loss(&self) -> OnLoss {
        self.on_loss
    }
}

/// Returns the sentence about the agents of a run, and how well their clocks are known.
fn beginning(hosts: &[Host]) -> String {
    let error_ns = hosts.iter().map(|host| host.clock.error_ns).max();
    let names = hosts.iter().map(|host| host.card.name.as_str());
    let mut names: Vec<&str> = names.take(MOST_NAMES).collect();
    if hosts.len() > MOST_NAMES {
        names.push("…");
    }
    format!(
        "The load begins at one instant, known to within {}, on {}: {}.",
        time(error_ns.unwrap_or(0) as f64),
        counted(hosts.len() as u64, "agent"),
        names.join(", ")
    )
}

impl BusFlags {
    fn address(&self) -> Result<BusAddress, String> {
        let url = self.nats.clone();
        Ok(BusAddress {
            url: url.ok_or("give the bus of the agents with --nats nats://host:4222.")?,
            user: self.nats_user.clone(),
            password_file: self.nats_password_file.clone(),
            creds: self.nats_creds.clone(),
            ca: self.nats_ca.clone(),
            is_open: self.insecure_bus,
        })
    }
}

/// Waits for runs on a bus, and does the parts of them that coordinators offer, until the process
/// is ended. A bus that is gone is awaited.
///
/// # Errors
/// If the bus can't be used at the beginning.
pub(crate) fn serve(flags: &AgentFlags) -> Result<Exit> {
    let card = card(flags)?;
    let address = flags.bus.address().map_err(|sentence| anyhow!(sentence))?;
    let program = std::env::current_exe().context("this program can't be found")?;
    let bus = Bus::connect(&address)?;
    print(&format!(
        "Agent {} waits for runs until Ctrl-C.\n",
        card.name
    ))?;
    report_losses(bus.clone())?;
    if !flags.watch.is_empty() {
        loadline_bus::serve_looks(&bus, &card, OwnEye::new(&flags.watch))?;
    }
    loadline_bus::serve(&bus, &card, floor_of(&card), |task| match task {
        Task::Part => {
            let mut command = worker_command(&program);
            command.env(PART_VARIABLE, "1");
            let line = start_child(card.name.clone(), command);
            line.map_err(|error| error.to_string())
        }
        Task::PartOf(locust_part::TOOL) => locust_part::start(&card.name),
        Task::PartOf(other) => Err(format!("it runs no parts of {other}")),
        Task::Command(words) if flags.allow_commands => {
            let program = words.first().map_or("nothing", String::as_str);
            print_line(&format!("Runs {program} for a coordinator."));
            commands::start(words)
        }
        Task::Command(_) => Err(NO_COMMANDS.to_owned()),
    })?;
    Ok(Exit::Good)
}

/// Says when the bus is lost, and when it is back, as long as the process lasts.
///
/// # Errors
/// If the system gives no thread.
fn report_losses(bus: Bus) -> Result<()> {
    let report = move || {
        let mut was_lost = false;
        loop {
            let is_lost = bus.loss().is_some();
            match (was_lost, is_lost) {
                (false, true) => print_line("The bus is gone. The agent waits until it is back."),
                (true, false) => print_line("The bus is back."),
                (false, false) | (true, true) => {}
            }
            was_lost = is_lost;
            thread::sleep(LOOK_INTERVAL);
        }
    };
    let thread = thread::Builder::new().name("bus losses".to_owned());
    thread.spawn(report).context("the bus can't be watched")?;
    Ok(())
}

/// Returns what measures the floor of this machine; nothing where it has the target.
fn floor_of(card: &Card) -> Option<MeasureFloor> {
    let cores = card.cores;
    let measure = move || {
        let floor = floor::of_machine(cores)?;
        serde_json::to_string(&floor).map_err(|error| error.to_string())
    };
    card.watches.is_empty().then(|| Box::new(measure) as _)
}

/// Returns the description of this machine as an agent.
fn card(flags: &AgentFlags) -> Result<Card> {
    let labels = labels(&flags.labels)?;
    let name = flags.name.clone().unwrap_or_else(own_name);
    let cores = available_parallelism().map_or(1, |cores| cores.get() as u32);
    let open_files = raise_open_files().unwrap_or(u64::MAX);
    Ok(Card {
        watches: flags.watch.iter().map(Target::to_string).collect(),
        local_ports: environment().tcp.local_ports(),
        ..Card::new(name, cores, open_files, labels)
    })
}

/// Parses labels.
fn labels(texts: &[String]) -> Result<Labels> {
    let labels = texts.iter().map(|label| parse_label(label));
    let labels = labels.collect::<Result<Labels, String>>();
    labels.map_err(|error| anyhow!("--label: {error}"))
}

/// Returns the name of this machine with the number of this process.
fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim_end(), std::process::id())
}

/// Lists the agents of a bus.
///
/// # Errors
/// If the bus can't be used.
pub(crate) fn list(flags: &AgentsFlags) -> Result<Exit> {
    let address = flags.bus.address().map_err(|sentence| anyhow!(sentence))?;
    let requested = Selector {
        count: None,
        labels: labels(&flags.labels)?,
    };
    let bus = Bus::connect(&address)?;
    if let Some(on) = &flags.on {
        let card = only(loadline_bus::agents(&bus)?, on)?;
        return commands::run(&bus, &card, &flags.command);
    }
    let agents = listed(&bus, &requested)?;
    write_listing(
        &flags.output,
        || json(&agents),
        || table(&agents, &requested),
    )?;
    Ok(Exit::Good)
}

/// Returns the agents that are chosen, with what they can do. Clocks are measured after the floors,
/// while no machine is busy with one.
fn listed(bus: &Bus, requested: &Selector) -> Result<Vec<Listed>> {
    let mut cards = loadline_bus::agents(bus)?;
    cards.retain(|card| requested.fits(card));
    let floors = loadline_bus::floors(bus, &cards)?;
    let listed = cards.into_iter().zip(floors).map(|(card, floor)| {
        Ok(Listed {
            clock: loadline_bus::measure_clock(bus, &card)?,
            floor: floor.and_then(|floor| serde_json::from_str(&floor).ok()),
            card,
        })
    });
    listed.collect()
}

/// Returns the only agent of a name, or with a label.
fn only(mut cards: Vec<Card>, on: &str) -> Result<Card> {
    let label = parse_label(on).ok();
    cards.retain(|card| match &label {
        Some((key, value)) => card.labels.get(key) == Some(value),
        None => card.name == on,
    });
    let number = cards.len();
    match (cards.pop(), number) {
        (Some(card), 1) => Ok(card),
        (None, _) => Err(anyhow!(
            "--on {on}: no such agent waits on the bus; `loadline agents` lists those that do."
        )),
        (Some(_), number) => Err(anyhow!(
            "--on {on} is {number} agents, and a command runs on one: give its name."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_with_equal_parts_have_as_many_cores_as_the_smallest_of_them() {
        let card = |cores, open_files| Card::new("a".to_owned(), cores, open_files, Labels::new());
        let found = hired(&[card(8, 1_024), card(2, 65_536), card(4, 65_536)]);
        let expected = Hired {
            parts: 3,
            cores: 6,
            open_files: 1_024,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_bus_without_agents_and_agents_without_a_bus_are_refused() {
        let mut flags = MachineFlags::default();
        assert_eq!(hire(&flags, 4, false), Ok(None));
        flags.bus.nats = Some("nats://127.0.0.1:1".to_owned());
        let refusal = hire(&flags, 1, false).expect_err("a refusal");
        assert!(
            refusal.starts_with("--nats is the bus of --agents"),
            "{refusal}"
        );
        let alone = MachineFlags {
            agents: Some("2".to_owned()),
            ..MachineFlags::default()
        };
        let refusal = hire(&alone, 1, false).expect_err("a refusal");
        assert!(
            refusal.starts_with("--agents 2 needs the bus on which they wait: add --nats"),
            "{refusal}"
        );
        flags.agents = Some("many".to_owned());
        let refusal = hire(&flags, 1, false).expect_err("a refusal");
        assert!(
            refusal.starts_with("--agents: `many` names no agents"),
            "{refusal}"
        );
        flags.agents = Some("2".to_owned());
        let refusal = hire(&flags, 2, false).expect_err("a refusal");
        assert!(refusal.contains("--processes"), "{refusal}");
        let refusal = hire(&flags, 1, false).expect_err("a refusal");
        assert!(
            refusal.contains("is nats-server running there?"),
            "{refusal}"
        );
    }
}
