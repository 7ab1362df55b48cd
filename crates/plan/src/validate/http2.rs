//! Options that contradict HTTP/2, and options that need it.

use super::Rule;
use crate::{Contradiction, HttpVersion, Plan};

/// The largest flow-control window of HTTP/2 (RFC 9113, section 6.9.1).
const MAX_WINDOW: u32 = (1 << 31) - 1;

impl Plan {
    /// Returns the rules for options that contradict HTTP/2, and for options that need it.
    pub(super) fn http2_rules(&self) -> Vec<Rule> {
        let (connection, windows) = (&self.connection, self.connection.windows);
        let (http, is_2) = (connection.http, connection.http == HttpVersion::V2);
        let may_be_2 = http != HttpVersion::V1_1;
        let mut requests = self.requests.iter();
        let is_plain = requests.any(|request| request.url.scheme() == "http");
        let mut rules = vec![
            (connection.streams == 0, Contradiction::NoStreams),
            (
                connection.streams > 1 && !is_2,
                Contradiction::StreamsWithoutHttp2,
            ),
            (
                connection.pipeline > 1 && may_be_2,
                Contradiction::PipelineAndHttp2,
            ),
            (
                connection.shared.is_some() && may_be_2,
                Contradiction::SharedAndHttp2,
            ),
            (
                !connection.keepalive && is_2,
                Contradiction::Http2WithoutKeepalive,
            ),
            (
                connection.proxy.is_some() && is_plain && is_2,
                Contradiction::Http2ThroughProxy,
            ),
            (
                self.scripts().next().is_some() && may_be_2,
                Contradiction::ScriptAndHttp2,
            ),
            (
                connection.kernel_timestamps.is_some() && may_be_2,
                Contradiction::KernelTimestampsAndHttp2,
            ),
        ];
        for (name, window) in [
            ("stream", windows.stream),
            ("connection", windows.connection),
        ] {
            let is_out = window.is_some_and(|bytes| bytes == 0 || bytes > MAX_WINDOW);
            rules.push((
                window.is_some() && !may_be_2,
                Contradiction::WindowWithoutHttp2(name),
            ));
            rules.push((is_out, Contradiction::WindowOutOfRange(name)));
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tests::{allowed, refusal};
    use std::num::NonZeroU32;

    /// Returns the message about a plan with this version of HTTP after a change.
    fn refused(http: HttpVersion, change: impl FnOnce(&mut Plan)) -> String {
        refusal(|plan| {
            plan.connection.http = http;
            change(plan);
        })
    }

    #[test]
    fn streams_and_windows_are_for_http2() {
        let v1 = HttpVersion::V1_1;
        let streams = refused(v1, |plan| plan.connection.streams = 2);
        assert_eq!(streams, "--streams is for HTTP/2; give --http 2.");
        let auto = refused(HttpVersion::Auto, |plan| plan.connection.streams = 2);
        assert_eq!(auto, streams);
        let window = refused(v1, |plan| plan.connection.windows.stream = Some(1));
        assert_eq!(window, "--stream-window is for HTTP/2; give --http 2.");
        let none = refused(HttpVersion::V2, |plan| plan.connection.streams = 0);
        assert!(none.starts_with("--streams 0 sends nothing"), "{none}");
        for bytes in [0, 1 << 31] {
            let window = refused(HttpVersion::V2, |plan| {
                plan.connection.windows.connection = Some(bytes);
            });
            assert!(window.starts_with("--connection-window must"), "{window}");
        }
        allowed(|plan| {
            plan.connection.http = HttpVersion::V2;
            plan.connection.streams = 10;
            plan.connection.windows.stream = Some(MAX_WINDOW);
        });
    }

    #[test]
    fn what_http1_alone_has_is_refused_with_http2() {
        let v2 = HttpVersion::V2;
        let pipeline = refused(v2, |plan| plan.connection.pipeline = 4);
        assert!(pipeline.ends_with("give --streams."), "{pipeline}");
        let short = refused(v2, |plan| plan.connection.keepalive = false);
        assert!(short.ends_with("leave out --no-keepalive."), "{short}");
        let stamps = refused(v2, |plan| {
            plan.connection.kernel_timestamps = NonZeroU32::new(100);
        });
        assert!(stamps.starts_with("--kernel-timestamps"), "{stamps}");
    }
}
