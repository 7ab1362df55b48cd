//! A machine in ten lines.

use super::*;
use loadline_record::TcpSettings;

/// A virtual machine of two cores, as one rents it.
pub(crate) fn good() -> Machine {
    let environment = Environment {
        kernel: Some("6.1.0".to_owned()),
        cpu_model: Some("Fast CPU @ 3 GHz".to_owned()),
        cores: Some(2),
        usable_cores: Some(2),
        memory_bytes: Some(8 << 30),
        open_files: Some(1_024),
        open_files_hard: Some(524_288),
        load_average: Some([0.25, 0.5, 1.0]),
        clock_source: Some("kvm-clock".to_owned()),
        clock_reading_ns: Some(38.5),
        governor: None,
        is_virtual: Some(true),
        tcp: TcpSettings {
            ip_local_port_range: Some([32_768, 60_999]),
            tcp_tw_reuse: Some(2),
            somaxconn: Some(4_096),
            tcp_max_syn_backlog: Some(1_024),
            tcp_rmem_max: Some(6_291_456),
            tcp_wmem_max: Some(4_194_304),
        },
        ..Environment::default()
    };
    machine(environment, 1)
}

/// A machine of which nothing can be read.
pub(crate) fn unknown() -> Machine {
    Machine {
        meanwhile: HostCounters::default(),
        ..machine(Environment::default(), 0)
    }
}

fn machine(environment: Environment, steal_ticks: u64) -> Machine {
    let meanwhile = HostCounters {
        cpu_ticks: 100,
        steal_ticks,
        ..HostCounters::default()
    };
    Machine {
        problems: loadline_verdict::machine_problems(&environment, &meanwhile),
        environment,
        meanwhile,
        other_files: 64,
    }
}

/// A machine with which everything is wrong.
fn bad() -> Machine {
    let environment = Environment {
        cores: Some(2),
        usable_cores: Some(1),
        cpu_quota: Some(0.5),
        open_files: Some(256),
        open_files_hard: Some(256),
        load_average: Some([8.0, 4.0, 2.0]),
        clock_source: Some("hpet".to_owned()),
        clock_reading_ns: Some(1_230.0),
        governor: Some("powersave".to_owned()),
        is_virtual: Some(true),
        tcp: TcpSettings {
            ip_local_port_range: Some([32_768, 33_000]),
            tcp_tw_reuse: Some(0),
            somaxconn: Some(100),
            tcp_max_syn_backlog: Some(64),
            tcp_rmem_max: Some(212_992),
            tcp_wmem_max: Some(212_992),
        },
        ..Environment::default()
    };
    machine(environment, 20)
}

#[test]
fn a_good_machine_has_nothing_to_change() {
    insta::assert_snapshot!(machine_text(&good()));
}

#[test]
fn a_bad_machine_is_told_what_to_change_in_each_line() {
    insta::assert_snapshot!(machine_text(&bad()));
}

#[test]
fn what_is_not_known_is_said_to_be() {
    let text = machine_text(&unknown());
    let unknown = text.lines().filter(|line| line.ends_with(NOT_KNOWN));
    assert_eq!(unknown.count(), PARTS.len(), "{text}");
    assert!(text.ends_with("\nNothing to change.\n"), "{text}");
}

#[test]
fn a_machine_has_ten_lines_of_at_most_110_columns() {
    for machine in [good(), bad(), unknown()] {
        let text = machine_text(&machine);
        assert_eq!(text.lines().count(), 10, "{text}");
        let widest = text.lines().map(layout::width).max();
        assert!(widest <= Some(110), "{widest:?} columns in\n{text}");
    }
}

#[test]
fn every_problem_has_the_line_of_its_part() {
    let bad = bad();
    let mut parts: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
    let mut named: Vec<&str> = bad.problems.iter().map(MachineProblem::name).collect();
    parts.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, parts);
}

#[test]
fn programs_read_how_much_a_machine_carries() {
    let json = machine_json(&good());
    assert_eq!(json["connections"], 524_288 - 64);
    assert_eq!(json["connections_to_a_target"], 28_232);
    assert_eq!(json["new_connections_per_s"], 470.0);
    assert_eq!(json["steal"], 0.01);
    assert_eq!(json["environment"]["tcp"]["somaxconn"], 4_096);
    assert_eq!(json["changes"], serde_json::json!([]));
    let mut reused = good();
    reused.environment.tcp.tcp_tw_reuse = Some(1);
    let json = machine_json(&reused);
    assert!(json["new_connections_per_s"].is_null(), "{json:#}");
    let json = machine_json(&bad());
    assert_eq!(json["changes"].as_array().map(Vec::len), Some(PARTS.len()));
    assert!(machine_json(&unknown())["steal"].is_null());
}
