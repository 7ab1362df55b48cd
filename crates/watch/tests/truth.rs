//! Real processes with known usage: this binary starts itself again in a role, and the child
//! reports the usage that it caused.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what a test takes for granted, and how its child answers"
)]

use loadline_record::watched::{Change, Figure, Watched, WatchedTree, Why};
use loadline_watch::{Proc, Target, Watcher};
use rustix::time::{ClockId, clock_gettime};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "LOADLINE_WATCH_ROLE";
/// The user without any rights.
const NOBODY: u32 = 65_534;
const MEGABYTE: u64 = 1_000_000;
const HELD: u64 = 100 * MEGABYTE;

/// A child in a role. It takes each step on command, and reports its end.
struct Subject {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Subject {
    fn start(role: &str) -> Self {
        Subject::start_with(Command::new(std::env::current_exe().unwrap()), role)
    }

    fn start_with(mut command: Command, role: &str) -> Self {
        command
            .args(["--exact", "subject", "--ignored", "--nocapture", "--quiet"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = spawn(&mut command);
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut subject = Subject {
            child,
            orders,
            answers,
        };
        subject.answer();
        subject
    }

    fn pid(&self) -> Target {
        Target::Pid(self.child.id())
    }

    /// Makes the child take its next step, and waits for the result.
    fn step(&mut self) -> String {
        self.orders.write_all(b"\n").unwrap();
        self.answer()
    }

    /// Returns the next line that is a response; the test harness prints lines too.
    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).unwrap();
            assert!(read > 0, "the child ended before it answered");
            if let Some((_, answer)) = line.split_once("did: ") {
                return answer.trim().to_owned();
            }
        }
    }
}

/// Starts a program that may just have been copied. Another test's child, between its fork and its
/// exec, may still have the copy open for writing.
fn spawn(command: &mut Command) -> Child {
    for _ in 0..6_000 {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result.expect("this binary can be started again"),
        }
    }
    panic!("the program stays open for writing");
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child's side.
#[test]
#[ignore = "it is the child that the other tests start"]
fn subject() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    did("begin");
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("burn", _) => burn(),
        ("hold", _) => hold(),
        ("fork", _) => fork(),
        ("listen", address) => listen(address),
        ("look", _) => look_at_init(),
        ("wait", _) => wait(),
        other => panic!("there is no role {other:?}"),
    }
    wait();
}

fn wait() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

fn did(what: &str) {
    println!("\ndid: {what}");
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Burns half of a core until half a second of CPU time is used, and reports the exact time.
fn burn() {
    wait();
    let begin = cpu_time();
    while cpu_time() - begin < Duration::from_millis(500) {
        let (busy, wall) = (cpu_time(), Instant::now());
        while cpu_time() - busy < Duration::from_millis(10) {}
        std::thread::sleep(wall.elapsed());
    }
    did(&(cpu_time() - begin).as_nanos().to_string());
}

/// Holds 100 MB and 50 sockets: a listener, both ends of 24 connections, and one for datagrams.
fn hold() {
    wait();
    let memory = vec![1_u8; HELD as usize];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    let mut sockets = Vec::new();
    for _ in 0..24 {
        sockets.push(TcpStream::connect(to).unwrap());
        sockets.push(listener.accept().unwrap().0);
    }
    let datagram = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    did(&memory.len().to_string());
    wait();
    drop((memory, sockets, datagram));
}

/// Starts a child that burns, waits for its end, and reports the time that both used.
fn fork() {
    wait();
    let mut burner = Subject::start("burn");
    did(&burner.step());
    wait();
    drop(burner);
    did("buried");
    wait();
}

/// Listens, and reports the port.
fn listen(address: &str) {
    wait();
    let listener = TcpListener::bind(address).unwrap();
    did(&listener.local_addr().unwrap().port().to_string());
    wait();
    drop(listener);
}

/// Reports which figures of the first process it can read.
fn look_at_init() {
    wait();
    let mut watching = Watching::of(&[Target::Pid(1)]);
    let mut tree = watching.watcher.look(3_600_000_000_000).trees.remove(0);
    let usage = tree.usage;
    tree.missing.retain(|missing| missing.why == Why::Rights);
    tree.missing.sort_by_key(|missing| missing.figure);
    let refused: Vec<Figure> = tree.missing.iter().map(|missing| missing.figure).collect();
    did(&format!(
        "{} {} {:?} {:?} {:?} {refused:?}",
        usage.cpu_ns.is_some(),
        usage.rss_bytes.is_some(),
        usage.pss_bytes,
        usage.open_files,
        usage.sockets,
    ));
}

struct Watching {
    watcher: Watcher,
    begun: Instant,
}

impl Watching {
    fn of(targets: &[Target]) -> Self {
        let mut watcher = Watcher::new(Proc::default());
        for target in targets {
            watcher.watch(target).unwrap();
        }
        watcher.begin(0);
        Watching {
            watcher,
            begun: Instant::now(),
        }
    }

    fn look(&mut self) -> Watched {
        self.watcher.look(self.begun.elapsed().as_nanos() as u64)
    }

    fn tree(&mut self) -> WatchedTree {
        self.look().trees.remove(0)
    }
}

/// The kernel counts in ticks of 10 ms; the child does a little in addition to what it measures,
/// and time that a hypervisor takes from its core counts as its own.
fn assert_about(measured_ns: u64, known_ns: u64) {
    let (low, high) = (known_ns - 30_000_000, known_ns + 400_000_000);
    assert!(
        (low..=high).contains(&measured_ns),
        "{measured_ns} instead of {known_ns}"
    );
}

#[test]
fn a_child_that_burns_half_a_core() {
    let mut subject = Subject::start("burn");
    let mut watching = Watching::of(&[subject.pid()]);
    let known_ns: u64 = subject.step().parse().unwrap();
    let seen = watching.look();
    let usage = seen.trees[0].usage;
    assert_about(usage.cpu_ns.unwrap(), known_ns);
    let share = usage.cpu_ns.unwrap() as f64 / seen.length_ns as f64;
    assert!(share < 0.8, "half a core, and it was {share}");
    assert!(
        usage.voluntary_switches_per_s.unwrap() > 1.0,
        "it slept between"
    );
    // For the host, time that a hypervisor took does not count.
    assert!(seen.host.usage.cpu_ns.unwrap() > known_ns / 4);
    let idle = watching.tree().usage.cpu_ns.unwrap();
    assert!(idle < known_ns / 2, "{idle}");
}

#[test]
fn a_child_that_holds_memory_and_sockets() {
    let mut subject = Subject::start("hold");
    let mut watching = Watching::of(&[subject.pid()]);
    let before = watching.tree().usage;
    subject.step();
    // The first readings are long ago on this clock, so all spaced readings are due.
    let after = watching.watcher.look(3_600_000_000_000).trees.remove(0);
    let usage = after.usage;
    let grew = usage.rss_bytes.unwrap() - before.rss_bytes.unwrap();
    // The kernel keeps this count in batches for each core, and calls it inaccurate (proc(5),
    // statm).
    let held = HELD - MEGABYTE;
    assert!((held..HELD + 10 * MEGABYTE).contains(&grew), "{grew}");
    let pss = usage.pss_bytes.unwrap();
    let rss = usage.rss_bytes.unwrap();
    assert!((held..=rss + MEGABYTE).contains(&pss), "{pss} of {rss}");
    assert_eq!(usage.sockets, Some(50));
    assert_eq!(before.sockets, Some(0));
    assert_eq!(usage.open_files.unwrap() - before.open_files.unwrap(), 50);
    let tcp = usage.tcp.unwrap();
    assert_eq!((tcp.established, tcp.listening), (48, 1));
    assert_eq!(after.missing, []);
}

#[test]
fn a_child_that_dies() {
    let mut subject = Subject::start("wait");
    let mut watching = Watching::of(&[subject.pid()]);
    assert_eq!(watching.tree().change, None);
    subject.child.kill().unwrap();
    subject.child.wait().unwrap();
    let tree = watching.tree();
    assert_eq!(tree.change, Some(Change::Ended));
    assert_eq!(
        (tree.pid, tree.usage.processes),
        (Some(subject.child.id()), 0)
    );
    assert_eq!(tree.usage.rss_bytes, None);
}

#[test]
fn a_child_that_forks_is_a_tree_and_its_time_counts_once() {
    let mut subject = Subject::start("fork");
    let mut watching = Watching::of(&[subject.pid()]);
    let known_ns: u64 = subject.step().parse().unwrap();
    let usage = watching.tree().usage;
    assert_eq!(usage.processes, 2);
    assert_about(usage.cpu_ns.unwrap(), known_ns);
    subject.step();
    let usage = watching.tree().usage;
    assert_eq!(usage.processes, 1);
    let more = usage.cpu_ns.unwrap();
    assert!(more < known_ns / 2, "what was counted came again: {more}");
}

#[test]
fn a_listener_is_found_by_its_port_in_both_versions() {
    for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
        let mut subject = Subject::start(&format!("listen {address}"));
        let port: u16 = subject.step().parse().unwrap();
        let mut watching = Watching::of(&[Target::Port(port)]);
        assert_eq!(watching.tree().pid, Some(subject.child.id()), "{address}");
    }
}

#[test]
fn a_port_that_nobody_listens_on_is_said_so() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let error = Watcher::new(Proc::default()).watch(&Target::Port(port));
    let expected = format!("no process listens on port {port} of this host");
    assert!(error.unwrap_err().to_string().starts_with(&expected));
}

/// The child becomes user nobody if the test runs as root, and samples the first process.
#[test]
fn without_rights_figures_are_absent_and_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("truth");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut command = Command::new(copy);
    if std::fs::read_dir("/proc/1/fd").is_ok() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut subject = Subject::start_with(command, "look");
    let expected = "true true None None None [OpenFiles, Pss, Sockets, TcpStates]";
    assert_eq!(subject.step(), expected);
}

/// Ten processes, one sample each second: under half a percent of a core. The cheapest of several
/// minutes counts: in the others, a hypervisor took time that was not spent on sampling.
#[test]
fn a_look_at_ten_processes_is_cheap() {
    let subjects: Vec<Subject> = (0..10).map(|_| Subject::start("wait")).collect();
    let targets: Vec<Target> = subjects.iter().map(Subject::pid).collect();
    let mut watching = Watching::of(&targets);
    let minute = |minute: u64| {
        let begin = clock_gettime(ClockId::ThreadCPUTime);
        for second in 1..=60 {
            watching
                .watcher
                .look((minute * 60 + second) * 1_000_000_000);
        }
        let end = clock_gettime(ClockId::ThreadCPUTime);
        let spent = (end.tv_sec - begin.tv_sec) as f64 + (end.tv_nsec - begin.tv_nsec) as f64 / 1e9;
        spent / 60.0
    };
    let share = (0..10).map(minute).fold(f64::INFINITY, f64::min);
    println!("{:.3} % of a core", share * 100.0);
    assert!(share < 0.005, "{share} of a core");
}
