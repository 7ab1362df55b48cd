//! From options to a plan: a closed load with a number of users, which ends after its requests or
//! its duration.

use super::arguments::reason;
use super::names;
use super::options::{Options, Protocol};
use super::request::basic;
use super::usage::Output;
use loadline_plan::{
    Body, Connection, Load, Plan, Proxy, Request, ServerName, Shape, Tls, TlsVersion,
};
use loadline_tool_host::threads;
use std::fs::File;
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;
use url::Url;

/// The timeout if `-s` sets no limit: longer than any run.
const UNLIMITED: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns the plan of an ab command line, on this many cores and processes.
pub(super) fn plan(options: &Options, cores: u32, processes: u32) -> Result<Plan, Output> {
    let connections = options.concurrency;
    Ok(Plan {
        requests: vec![request(options)?],
        load: Load {
            users: connections,
            max_users: connections,
            shape: Shape::Closed,
        },
        threads: threads(connections, cores).max(processes),
        processes,
        duration: options.time_limit,
        request_limit: Some(u64::from(options.requests)),
        connection: connection(options)?,
        ..Plan::default()
    })
}

/// Returns the request that gives connections their destination; the message itself is written as
/// ab writes it.
fn request(options: &Options) -> Result<Request, Output> {
    let target = &options.target;
    let scheme = if target.tls { "https" } else { "http" };
    let origin = format!("{scheme}://{}:{}/", target.bracketed(), target.port);
    Ok(Request {
        method: options.method.clone(),
        url: Url::parse(&origin).map_err(|_| unknown_host(&target.host))?,
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    })
}

/// Returns the message for an unknown host name, with the portable runtime's number for it.
pub(super) fn unknown_host(host: &str) -> Output {
    let problem = format!("apr_sockaddr_info_get() for {host}: Name or service not known (670002)");
    Output {
        code: (670_002 & 0xff) as u8,
        ..Output::sentence(&problem)
    }
}

fn connection(options: &Options) -> Result<Connection, Output> {
    let timeout = options.timeout.unwrap_or(UNLIMITED);
    Ok(Connection {
        keepalive: options.keepalive,
        timeout,
        connect_timeout: timeout,
        tls: tls(options)?,
        proxy: proxy(options)?,
        local_addresses: options
            .bind
            .as_deref()
            .map(local_address)
            .transpose()?
            .into_iter()
            .collect(),
        ahead: false,
        socket_buffer: options.socket_buffer,
        ..Connection::default()
    })
}

fn proxy(options: &Options) -> Result<Option<Proxy>, Output> {
    let Some((host, port)) = &options.proxy else {
        return Ok(None);
    };
    if *port == 0 {
        let problem = format!("ab: -X {host} has no port to connect to; write -X {host}:PORT.");
        return Err(Output::sentence(&problem));
    }
    let url = format!("http://{host}:{port}/");
    let place: Proxy = url.parse().map_err(|_| unknown_host(host))?;
    Ok(Some(Proxy {
        authorization: options.proxy_users.last().map(|user| basic(user)),
        ..place
    }))
}

/// Looks up the address to bind, and checks that this machine has it.
fn local_address(text: &str) -> Result<IpAddr, Output> {
    let found = loadline_reactor::look_up(text, 0).map_err(|_| unknown_host(text))?;
    let address = found.first().ok_or_else(|| unknown_host(text))?.ip();
    UdpSocket::bind((address, 0)).map_err(|error| {
        let code = error.raw_os_error().unwrap_or(1);
        let reason = reason(&error);
        Output {
            code: code as u8,
            ..Output::sentence(&format!("bind: {reason} ({code})"))
        }
    })?;
    Ok(address)
}

/// Returns the TLS settings of ab: no certificate is verified, and each connection makes a full
/// handshake.
fn tls(options: &Options) -> Result<Tls, Output> {
    let (versions, suites) = match options.target.tls {
        true => (versions(options.protocol)?, suites(options)?),
        false => (Vec::new(), Vec::new()),
    };
    Ok(Tls {
        insecure: true,
        cert: options.certificate.as_ref().map(Into::into),
        server_name: options
            .tls_server_name()
            .map_or(ServerName::Untold, ServerName::Other),
        versions,
        suites,
        never_resume: true,
        ..Tls::default()
    })
}

/// Checks the TLS settings. ab reports their errors before anything else.
pub(super) fn check_tls(options: &Options) -> Result<(), Output> {
    tls(options)?;
    let Some(file) = &options.certificate else {
        return Ok(());
    };
    let opened = File::open(file).map(drop);
    opened.map_err(|error| no_certificate(file, &reason(&error)))
}

/// Returns the message for a file without the client's certificate and key.
pub(super) fn no_certificate(file: &str, problem: &str) -> Output {
    Output::sentence(&format!(
        "unable to get certificate from '{file}'\nab: {problem}"
    ))
}

fn versions(protocol: Protocol) -> Result<Vec<TlsVersion>, Output> {
    match protocol {
        Protocol::All => Ok(Vec::new()),
        Protocol::Tls12 => Ok(vec![TlsVersion::V1_2]),
        Protocol::Tls13 => Ok(vec![TlsVersion::V1_3]),
        Protocol::Gone(name) => Err(Output::sentence(&format!(
            "ab: {name} is not supported any more; give -f TLS1.2, -f TLS1.3 or -f ALL."
        ))),
    }
}

fn suites(options: &Options) -> Result<Vec<String>, Output> {
    let Some(list) = &options.ciphers else {
        return Ok(Vec::new());
    };
    let is_tls13 = options.protocol == Protocol::Tls13;
    names::suites_in(list, is_tls13).ok_or_else(|| {
        let spoken = names::spoken(is_tls13);
        Output::sentence(&format!(
            "error setting ciphersuite list [{list}]\nab: none of these is supported; choose from \
             {spoken}."
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::parse;

    fn planned(line: &str) -> Result<Plan, Output> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        plan(&parse(&words, |_| Ok(Vec::new())).expect("a run"), 4, 1)
    }

    fn plan_of(line: &str) -> Plan {
        planned(line).expect("a plan")
    }

    #[test]
    fn every_plan_can_be_run() {
        for line in [
            "http://a/",
            "-n 10 -c 10 -k a/",
            "-t 5 -c 3 https://a/",
            "-s 0 -b 4096 -B 127.0.0.1 -X p:1 -P a:b https://[::1]:8443/x",
        ] {
            assert_eq!(plan_of(line).validate(), Ok(()), "{line}");
        }
    }

    #[test]
    fn nothing_is_dialled_ahead_and_no_certificate_checked() {
        let connection = plan_of("-k https://a.example/").connection;
        assert!(connection.keepalive && !connection.ahead);
        assert!(connection.tls.insecure && connection.tls.never_resume);
        let told = ServerName::Other("a.example".to_owned());
        assert_eq!(connection.tls.server_name, told);
    }

    #[test]
    fn the_name_told_is_that_of_the_host_header_and_never_an_address() {
        let told = |line| plan_of(line).connection.tls.server_name;
        let other = |name: &str| ServerName::Other(name.to_owned());
        assert_eq!(told("-H Host:b:81 https://a/"), other("b"));
        assert_eq!(told("-I https://a/"), ServerName::Untold);
        assert_eq!(told("https://127.0.0.1/"), ServerName::Untold);
        assert_eq!(told("https://[::1]:1/"), ServerName::Untold);
    }

    #[test]
    fn what_tls_can_not_do_is_said_in_a_sentence() {
        for (line, start) in [
            ("-f TLS1 https://a/", "ab: TLS1 is not supported any more"),
            (
                "-Z foo https://a/",
                "error setting ciphersuite list [foo]\nab: none of these",
            ),
            ("-X p https://a/", "ab: -X p has no port"),
            (
                "-B nobody.invalid https://a/",
                "apr_sockaddr_info_get() for nobody.invalid",
            ),
            (
                "-B 192.0.2.1 http://a/",
                "bind: Cannot assign requested address (99)",
            ),
        ] {
            let output = planned(line).expect_err("a problem");
            assert!(
                output.stderr.starts_with(start),
                "{line}: {}",
                output.stderr
            );
            assert_ne!(output.code, 0);
        }
        assert_eq!(
            plan_of("-f TLS1 -Z foo http://a/").connection.tls.versions,
            []
        );
    }

    #[test]
    fn a_certificate_that_is_not_there_is_missed_without_tls_as_well() {
        for url in ["http://a/", "https://a/"] {
            let words = ["-E", "/no/such.pem", url].map(str::to_owned);
            let options = parse(&words, |_| Ok(Vec::new())).expect("a run");
            let output = check_tls(&options).expect_err("a problem");
            assert_eq!(output.code, 1);
            assert_eq!(
                output.stderr,
                "unable to get certificate from '/no/such.pem'\nab: No such file or directory\n"
            );
        }
    }

    #[test]
    fn who_asks_a_proxy_for_a_tunnel_is_the_last_said() {
        let proxy = plan_of("-X p:1 -P x:y -P a:b https://a/").connection.proxy;
        let authorization = proxy.expect("a proxy").authorization;
        assert_eq!(authorization.as_deref(), Some("Basic YTpi"));
    }
}
