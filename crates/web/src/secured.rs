//! Requests in the clear to a server that speaks TLS, as of an address that was typed without
//! `https`: they get a sentence, and browsers are led on.

use crate::hosts::named;
use crate::service::Answer;
use hyper::header::{CONNECTION, HeaderValue, LOCATION};
use hyper::{Method, Request, StatusCode};
use tokio::net::TcpStream;

/// The first byte of TLS: the record of a handshake.
const HANDSHAKE: u8 = 22;

/// Waits for the first byte of a connection; true if it is none of TLS.
pub(crate) async fn is_clear(stream: &TcpStream) -> bool {
    let mut first = [HANDSHAKE];
    matches!(stream.peek(&mut first).await, Ok(1)) && first != [HANDSHAKE]
}

/// Answers a request that names this server.
pub(crate) fn lead<B>(request: &Request<B>) -> Answer {
    let uri = request.uri();
    let host = named(uri, request.headers()).unwrap_or_default();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let secured = match host {
        "" => "https".to_owned(),
        host => format!("https://{host}{path}"),
    };
    let text = format!("This page is served over HTTPS: open {secured}\n");
    let closing = HeaderValue::from_static("close");
    let answer = Answer::plain(StatusCode::BAD_REQUEST, &text).with(CONNECTION, closing);
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match HeaderValue::from_str(&secured) {
        Ok(location) if is_read && !host.is_empty() => Answer {
            status: StatusCode::TEMPORARY_REDIRECT,
            ..answer.with(LOCATION, location)
        },
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HOST;

    fn led(method: &Method, target: &str, host: Option<&str>) -> (u16, Option<String>) {
        let mut request = Request::new(());
        *request.method_mut() = method.clone();
        *request.uri_mut() = target.parse().unwrap();
        if let Some(host) = host {
            let host = HeaderValue::from_str(host).unwrap();
            request.headers_mut().insert(HOST, host);
        }
        let answer = lead(&request);
        let location = answer.fields.get(LOCATION);
        let location = location.map(|text| text.to_str().unwrap().to_owned());
        (answer.status.as_u16(), location)
    }

    #[test]
    fn who_reads_is_led_on_and_who_changes_is_refused() {
        let place = Some("https://localhost:5623/x?a=1".to_owned());
        let host = Some("localhost:5623");
        assert_eq!(led(&Method::GET, "/x?a=1", host), (307, place));
        assert_eq!(led(&Method::POST, "/x", host), (400, None));
        assert_eq!(led(&Method::GET, "/x", None), (400, None));
    }
}
