//! The coordinator's line to a part that an agent has.

use crate::connection::{Bus, Subscription};
use crate::error::BusError;
use crate::line_end::LineEnd;
use crate::parcel::{BundleName, Parcel, is_sign_of_life};
use crate::protocol;
use loadline_cluster::{Bundle, Frame, Hash, Remote, Sink, Source};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The time that the last message may take to the bus.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// A line to a part that has not begun.
pub(crate) struct FarLine {
    up: Subscription,
    shared: Arc<Mutex<Shared>>,
}

/// The ends of a line whose part has begun.
pub(crate) struct Ends {
    pub(crate) sink: Sink,
    pub(crate) source: Box<dyn Source>,
    pub(crate) remote: Box<dyn Remote>,
}

/// The state that the two directions of a line share.
struct Shared {
    line: LineEnd,
    /// The number of the subscription to what the part sends.
    up: u64,
    /// The bundle that was named, until the part has begun.
    bundle: Option<Bundle>,
    /// The end of the part, once it has ended.
    ending: Option<String>,
}

impl FarLine {
    /// Creates the line to the part that an agent may have.
    ///
    /// # Errors
    /// If the bus can't be used.
    pub(crate) fn new(bus: &Bus, run: &str, id: &str) -> Result<Self, BusError> {
        let up = bus.subscribe(&protocol::up(run, id))?;
        Ok(FarLine {
            shared: Arc::new(Mutex::new(Shared {
                line: LineEnd::new(bus, protocol::down(run, id)),
                up: up.number(),
                bundle: None,
                ending: None,
            })),
            up,
        })
    }

    /// Begins the line: the agent has accepted the part. From now on it receives signs of life.
    pub(crate) fn begin(self) -> Ends {
        let FarLine { up, shared } = self;
        let line = Arc::downgrade(&shared);
        let bus = lock(&shared).line.bus.clone();
        let other = Weak::clone(&line);
        bus.take_at_once(up.number(), move |message| acknowledge(&other, message));
        bus.heartbeats().add(move || beat(&line));
        let sending = Arc::clone(&shared);
        Ends {
            sink: Box::new(move |frame| lock(&sending).send(frame)),
            source: Box::new(FarSource {
                up,
                shared: Arc::clone(&shared),
            }),
            remote: Box::new(FarRemote(shared)),
        }
    }
}

impl Shared {
    /// Sends a frame; of a bundle its name, in case the agent has it.
    fn send(&mut self, frame: Frame) {
        let parcel = match frame {
            Frame::Bundle(bundle) => {
                let name = BundleName::of(&bundle);
                self.bundle = Some(bundle);
                Parcel::Bundle(name)
            }
            frame @ (Frame::Message(_)
            | Frame::Report(_)
            | Frame::Script(_)
            | Frame::Agent(_)
            | Frame::Merged(_)) => Parcel::Frame(frame),
        };
        self.line.send(parcel);
    }

    /// Sends the bundle that the agent has not got.
    fn send_bundle(&mut self, hash: Hash) -> io::Result<()> {
        let bundle = self.bundle.take().filter(|bundle| bundle.hash() == hash);
        let bundle = bundle.ok_or_else(|| io::Error::other("a request for an unknown bundle"))?;
        self.line.send(Parcel::Frame(Frame::Bundle(bundle)));
        Ok(())
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a sign of life; returns false once the line is gone.
fn beat(shared: &Weak<Mutex<Shared>>) -> bool {
    let shared = shared.upgrade();
    // A line that is being ended may wait for the bus, for which the others don't.
    if let Some(Ok(mut shared)) = shared.as_ref().map(|shared| shared.try_lock()) {
        shared.line.beat();
    }
    shared.is_some()
}

/// Takes a message that is a sign of life, which need not wake the thread that receives what a part
/// sends; returns false for any other one, and where the line is in use.
fn acknowledge(shared: &Weak<Mutex<Shared>>, message: &[u8]) -> bool {
    if !is_sign_of_life(message) {
        return false;
    }
    let shared = shared.upgrade();
    match shared.as_ref().map(|shared| shared.try_lock()) {
        Some(Ok(mut shared)) => shared.line.take(message).is_ok(),
        Some(Err(_)) | None => false,
    }
}

/// Receives what a part sends.
struct FarSource {
    up: Subscription,
    shared: Arc<Mutex<Shared>>,
}

impl Source for FarSource {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            // The subscription ends with the line.
            let Ok(message) = self.up.messages.recv() else {
                return Ok(None);
            };
            let mut shared = lock(&self.shared);
            match shared.line.take(&message.contents)? {
                Some(Parcel::Frame(frame)) => return Ok(Some(frame)),
                Some(Parcel::Request(hash)) => shared.send_bundle(hash)?,
                Some(Parcel::Bundle(_)) => return Err(io::Error::other("the name of a bundle")),
                Some(Parcel::End(ending)) => {
                    shared.ending.get_or_insert(ending);
                    // The command may end right after this, and the agent waits for its receipt.
                    shared.line.beat();
                    return Ok(None);
                }
                None => {}
            }
        }
    }
}

/// The process of a part.
struct FarRemote(Arc<Mutex<Shared>>);

impl Remote for FarRemote {
    fn kill(&mut self) {
        let mut shared = lock(&self.0);
        if shared.ending.is_none() {
            let end = Parcel::End("the coordinator has ended it".to_owned());
            shared.line.send(end);
            shared.ending = Some("was ended".to_owned());
            shared.line.bus.end(shared.up);
            // The command may end right after this.
            shared.line.bus.flush(FLUSH_TIMEOUT);
        }
    }

    fn ending(&mut self) -> Option<String> {
        lock(&self.0).ending.clone()
    }
}

impl Drop for FarRemote {
    fn drop(&mut self) {
        self.kill();
    }
}
