//! The objects that serving a connection needs.

use crate::alarm::Alarm;
use crate::state::State;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The state that all threads share, and the alarm and TLS of the connection's own thread.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) state: Arc<State>,
    pub(crate) alarm: Alarm,
    pub(crate) tls: Option<TlsAcceptor>,
}
