//! A child: some of the workers of a run, for a coordinator at the other end of its pipes.

use crate::bundle::Contents;
use crate::frame::Frame;
use crate::message::{Command, FromChild, Job, PROTOCOL, Ready, ToChild};
use loadline_engine::{ConveyError, Handle, Launch, NextReport, Order, ReportWriter, RunPart};
use loadline_plan::Plan;
use loadline_reactor::stamps_received;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time without a message: a child that has nothing to report for so long sends a sign
/// of life. A load is reported once a second.
const HEARTBEAT: Duration = Duration::from_millis(1_100);
/// The time for which a report is awaited at once.
const REPORT_TIMEOUT: Duration = Duration::from_millis(100);

/// The reason why a child could not do its part.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// No coordinator sent an assignment.
    #[error("this command is for Loadline itself, which starts it for --processes")]
    NoCoordinator,
    /// The coordinator sent another message than the one that was due.
    #[error("the coordinator sent another message than was due")]
    OutOfTurn,
    /// The coordinator is gone, or sent an invalid message.
    #[error("the coordinator can't be heard: {0}")]
    Pipe(#[from] io::Error),
    /// A report can't be sent.
    #[error("{0}")]
    Report(#[from] ConveyError),
}

/// Does the part of a child, and returns at the end of the run; earlier if the coordinator is gone.
/// `launches` creates the users of a job on the child's own workers, one launch for each scenario
/// of the plan, or returns the reason why it can't; without a job users send the requests of the
/// plan.
///
/// Signals that end a command are ignored: the coordinator handles them, and sends commands to its
/// children.
///
/// # Errors
/// If a message of the coordinator is invalid, or can't be sent to it.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    launches: impl FnOnce(&Plan, &Job, Range<u32>) -> Result<Vec<Launch>, String>,
) -> Result<(), ChildError> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    serve_on(stamps_received(), input, output, launches)
}

/// Does the part of a child on a kernel that timestamps what arrives, or does not.
fn serve_on(
    stamps: bool,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    launches: impl FnOnce(&Plan, &Job, Range<u32>) -> Result<Vec<Launch>, String>,
) -> Result<(), ChildError> {
    let mut input = BufReader::new(input);
    let voice = ToCoordinator::new(output);
    voice.report(&FromChild::Hello { protocol: PROTOCOL })?;
    // A plan with large bodies takes a while to read.
    voice.beat(|| std::process::exit(1));
    let Ok(Some(Frame::Bundle(bundle))) = Frame::read(&mut input) else {
        return Err(ChildError::NoCoordinator);
    };
    let assigned = Frame::read(&mut input)?.ok_or(ChildError::NoCoordinator)?;
    let ToChild::Assign {
        mut plan,
        own: _,
        detail,
        workers,
    } = assigned.message()?
    else {
        return Err(ChildError::OutOfTurn);
    };
    let job = Contents::unpack(&bundle)?.put_into(&mut plan)?;
    drop(bundle);
    if !stamps && plan.connection.do_without_stamps() {
        voice.report(&FromChild::Unstamped)?;
    }
    let launches = match &job {
        None => Ok(Launch::of_plan(&plan)),
        Some(job) => launches(&plan, job, workers.clone()),
    };
    let launched = launches.and_then(|launches| {
        let part = RunPart::launch(&plan, detail, &launches, workers);
        part.map_err(|error| error.to_string())
    });
    let part = match launched {
        Ok(part) => part,
        Err(reason) => return Ok(voice.report(&FromChild::Failed { reason })?),
    };
    voice.report(&FromChild::Ready(Ready::from(part.ready())))?;
    run(part, input, &voice)
}

/// Runs the load when the coordinator orders it, and sends its reports.
fn run(
    mut part: RunPart,
    mut input: impl Read + Send + 'static,
    voice: &ToCoordinator,
) -> Result<(), ChildError> {
    let Some(frame) = Frame::read(&mut input)? else {
        // There is no run, because another child can't begin its part.
        return Ok(());
    };
    match frame.message()? {
        ToChild::StartAt { begin_ns, before } => {
            let handle = part.handle();
            before.changes.into_iter().for_each(|change| {
                handle.carry_out(change);
            });
            before
                .takeovers
                .into_iter()
                .for_each(|takeover| handle.take_over(takeover));
            part.begin(begin_ns);
        }
        ToChild::Assign { .. } | ToChild::Command(_) => return Err(ChildError::OutOfTurn),
    }
    let obeying = part.handle();
    thread::spawn(move || obey(&mut input, &obeying));
    report(part, voice)
}

/// Sends the reports of a part whose load has begun, up to its last one, to the run of its
/// [`Parts`](crate::Parts). No command reaches the part this way.
///
/// # Errors
/// If a report can't be sent; the part is aborted then.
pub fn send_reports(part: RunPart, output: impl Write + Send + 'static) -> Result<(), ChildError> {
    report(part, &ToCoordinator::new(output))
}

/// Sends the reports of a part, and that they were all.
fn report(mut part: RunPart, voice: &ToCoordinator) -> Result<(), ChildError> {
    let handle = part.handle();
    let mut reports = ReportWriter::default();
    let mut has_begun = false;
    loop {
        let passed = match part.next_report(REPORT_TIMEOUT) {
            NextReport::Report(report) => voice.send(&Frame::Report(reports.write(&report)?)),
            NextReport::Nothing => Ok(()),
            NextReport::Over => return Ok(voice.report(&FromChild::Done)?),
        };
        let passed = passed.and_then(|()| report_begin(&part, &mut has_begun, voice));
        if let Err(error) = passed {
            handle.abort();
            return Err(error.into());
        }
    }
}

/// Sends once that the load has begun, when it has.
fn report_begin(part: &RunPart, is_sent: &mut bool, voice: &ToCoordinator) -> io::Result<()> {
    match part.begin_late_ns() {
        Some(late_ns) if !*is_sent => {
            *is_sent = true;
            voice.report(&FromChild::Begun { late_ns })
        }
        _ => Ok(()),
    }
}

/// Obeys the coordinator's commands until it is gone.
fn obey(input: &mut impl Read, handle: &Handle) {
    loop {
        let frame = Frame::read(input).ok().flatten();
        match frame.map(|frame| frame.message()) {
            Some(Ok(ToChild::Command(Command::Order(Order::Stop)))) => handle.stop(),
            Some(Ok(ToChild::Command(Command::Change(change)))) => {
                handle.carry_out(change);
            }
            Some(Ok(ToChild::Command(Command::TakeOver(takeover)))) => {
                handle.take_over(takeover);
            }
            // After anything else, there is no coordinator to report to.
            _ => return handle.abort(),
        }
    }
}

/// Sends messages to the coordinator, from several threads.
#[derive(Clone)]
pub(crate) struct ToCoordinator(Arc<Mutex<Channel>>);

struct Channel {
    output: Box<dyn Write + Send>,
    /// The instant of the last message.
    last_sent: Instant,
}

impl ToCoordinator {
    pub(crate) fn new(output: impl Write + Send + 'static) -> ToCoordinator {
        ToCoordinator(Arc::new(Mutex::new(Channel {
            output: Box::new(output),
            last_sent: Instant::now(),
        })))
    }

    fn channel(&self) -> MutexGuard<'_, Channel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn report(&self, message: &FromChild) -> io::Result<()> {
        self.send(&Frame::of(message)?)
    }

    pub(crate) fn send(&self, frame: &Frame) -> io::Result<()> {
        let mut channel = self.channel();
        frame.write(&mut channel.output)?;
        channel.last_sent = Instant::now();
        Ok(())
    }

    /// Starts to send signs of life where nothing else is sent. If they can't be sent, the
    /// coordinator is gone, and `give_up` is called whatever the process is doing.
    pub(crate) fn beat(&self, give_up: impl FnOnce() + Send + 'static) {
        let voice = self.clone();
        thread::spawn(move || {
            loop {
                let silence = voice.channel().last_sent.elapsed();
                if let Some(left) = HEARTBEAT.checked_sub(silence) {
                    thread::sleep(left.max(Duration::from_millis(1)));
                } else if voice.report(&FromChild::Alive).is_err() {
                    return give_up();
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::Detail;
    use loadline_plan::Clock;

    /// The bytes that a child sends.
    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<u8>>>);

    impl Write for Heard {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Heard {
        fn messages(&self) -> Vec<FromChild> {
            let bytes = self.0.lock().expect("no panic").clone();
            let mut rest = bytes.as_slice();
            let next = || Frame::read(&mut rest).expect("a frame");
            let frames = std::iter::from_fn(next);
            frames.map(|frame| frame.message().expect("JSON")).collect()
        }
    }

    /// Returns the clock by which a child measures on such a kernel, and what it sends before it
    /// says that it can't begin.
    fn clock_on(stamps: bool, clock: Clock) -> (Clock, Vec<FromChild>) {
        let mut plan = Box::new(Plan::default());
        plan.connection.clock = clock;
        let job = Job::new("tool", &()).expect("a job");
        let bundle = Contents::take(&mut plan, Some(job)).pack().expect("JSON");
        let assign = ToChild::Assign {
            plan,
            own: None,
            detail: Detail::default(),
            workers: 0..1,
        };
        let mut input = Vec::new();
        Frame::Bundle(bundle).write(&mut input).expect("bytes");
        let frame = Frame::of(&assign).expect("JSON");
        frame.write(&mut input).expect("bytes");
        let (heard, mut found) = (Heard::default(), clock);
        let served = serve_on(
            stamps,
            io::Cursor::new(input),
            heard.clone(),
            |plan, _, _| {
                found = plan.connection.clock;
                Err("enough".to_owned())
            },
        );
        served.expect("a part");
        let mut messages = heard.messages();
        assert!(matches!(messages.remove(0), FromChild::Hello { .. }));
        assert!(matches!(messages.pop(), Some(FromChild::Failed { .. })));
        (found, messages)
    }

    #[test]
    fn a_kernel_without_timestamps_makes_the_part_go_by_our_clock_and_say_so() {
        let (clock, said) = clock_on(false, Clock::Kernel);
        assert_eq!(clock, Clock::User);
        assert!(matches!(said[..], [FromChild::Unstamped]), "{said:?}");
        for (stamps, clock) in [(true, Clock::Kernel), (false, Clock::User)] {
            let (found, said) = clock_on(stamps, clock);
            assert_eq!(found, clock);
            assert!(said.is_empty(), "{said:?}");
        }
    }
}
