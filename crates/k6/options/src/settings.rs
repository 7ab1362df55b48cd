//! The options that do not define the load.

use crate::error::OptionsError;
use crate::local_ips::LocalIps;
use crate::segment::Segment;
use crate::tier::Tier;
use crate::time::GoDuration;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The default system tags.
pub(crate) const SYSTEM_TAGS: [&str; 14] = [
    "check",
    "error",
    "error_code",
    "expected_response",
    "group",
    "method",
    "name",
    "proto",
    "scenario",
    "service",
    "status",
    "subproto",
    "tls_version",
    "url",
];

/// The default statistics of trends.
pub(crate) const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// The default timeout of `setup()` and `teardown()`.
const LIFECYCLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The options that do not define the load, with k6's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// True if the run begins paused.
    pub is_paused: bool,
    /// The part of the execution to run.
    pub segment: Segment,
    /// True if `setup()` is called.
    pub has_setup: bool,
    /// True if `teardown()` is called.
    pub has_teardown: bool,
    /// The timeout of `setup()`.
    pub setup_timeout: Duration,
    /// The timeout of `teardown()`.
    pub teardown_timeout: Duration,
    /// The maximum number of requests per second.
    pub rps: Option<u64>,
    /// The options of name resolution.
    pub dns: Dns,
    /// The maximum number of redirects to follow, if it is set.
    pub max_redirects: Option<u32>,
    /// The field `User-Agent`, if it is set.
    pub user_agent: Option<String>,
    /// The maximum number of concurrent requests of a batch: in total, and to one host.
    pub batch: (usize, usize),
    /// The debug output of requests: `headers` or `full`.
    pub http_debug: Option<String>,
    /// True if certificates are not verified.
    pub is_insecure: bool,
    /// Cipher suites, by their names in IANA's registry.
    pub tls_cipher_suites: Vec<String>,
    /// The first and the last version of TLS; empty if not set.
    pub tls_versions: (String, String),
    /// Client certificates.
    pub tls_auth: Vec<TlsAuth>,
    /// True if failed requests throw.
    pub throws: bool,
    /// Thresholds by metric, as JSON.
    pub thresholds: BTreeMap<String, Vec<Value>>,
    /// Ranges of addresses to which no requests are sent.
    pub blocked_addresses: Vec<String>,
    /// Names of hosts to which no requests are sent.
    pub blocked_hosts: Vec<String>,
    /// Addresses by host.
    pub hosts: BTreeMap<String, String>,
    /// True if connections are closed after each request.
    pub has_no_reuse: bool,
    /// True if connections are closed after each iteration.
    pub has_no_reuse_by_users: bool,
    /// The minimum duration of an iteration.
    pub min_iteration: Duration,
    /// The statistics of trends to print.
    pub trend_stats: Vec<String>,
    /// The unit of times: `s`, `ms` or `us`; chosen for each time if `None`.
    pub time_unit: Option<String>,
    /// The system tags to set.
    pub system_tags: Vec<String>,
    /// Tags of all samples.
    pub tags: BTreeMap<String, String>,
    /// True if cookies are kept from one iteration to the next.
    pub keeps_cookies: bool,
    /// True if bodies are discarded.
    pub discards_bodies: bool,
    /// The output file of the console.
    pub console_output: Option<String>,
    /// The local addresses of users.
    pub local_ips: Option<LocalIps>,
}

/// The options of name resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dns {
    /// The time for which addresses are kept; forever if `None`.
    pub ttl: Option<Duration>,
    /// `first`, `random` or `roundRobin`.
    pub select: String,
    /// `preferIPv4`, `preferIPv6`, `onlyIPv4`, `onlyIPv6` or `any`.
    pub policy: String,
}

/// A client certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAuth {
    /// The certificate, as PEM.
    pub cert: String,
    /// Its key, as PEM.
    pub key: String,
    /// The password of the key, if it is encrypted.
    pub password: Option<String>,
    /// The hosts for which it is used; all if empty.
    pub domains: Vec<String>,
}

impl Settings {
    pub(crate) fn of(tier: &Tier) -> Result<Settings, OptionsError> {
        let read = Reader(tier);
        Ok(Settings {
            is_paused: read.is("paused"),
            segment: read.segment()?,
            has_setup: !read.is("noSetup"),
            has_teardown: !read.is("noTeardown"),
            setup_timeout: read.time("setupTimeout", LIFECYCLE_TIMEOUT),
            teardown_timeout: read.time("teardownTimeout", LIFECYCLE_TIMEOUT),
            rps: read.int("rps").filter(|rps| *rps > 0).map(|rps| rps as u64),
            dns: read.dns(),
            max_redirects: read.int("maxRedirects").map(|most| most.max(0) as u32),
            user_agent: read.text("userAgent"),
            batch: (read.count("batch", 20), read.count("batchPerHost", 6)),
            http_debug: read.text("httpDebug").filter(|debug| !debug.is_empty()),
            is_insecure: read.is("insecureSkipTLSVerify"),
            tls_cipher_suites: read.texts("tlsCipherSuites"),
            tls_versions: read.tls_versions(),
            tls_auth: read.tls_auth(),
            throws: read.is("throw"),
            thresholds: read.thresholds(),
            blocked_addresses: read.texts("blacklistIPs"),
            blocked_hosts: read.texts("blockHostnames"),
            hosts: read.pairs("hosts"),
            has_no_reuse: read.is("noConnectionReuse"),
            has_no_reuse_by_users: read.is("noVUConnectionReuse"),
            min_iteration: read.time("minIterationDuration", Duration::ZERO),
            trend_stats: read.trend_stats()?,
            time_unit: read.text("summaryTimeUnit").filter(|unit| !unit.is_empty()),
            system_tags: read.texts_or("systemTags", &SYSTEM_TAGS),
            tags: read.pairs("tags"),
            keeps_cookies: read.is("noCookiesReset"),
            discards_bodies: read.is("discardResponseBodies"),
            console_output: read.text("consoleOutput"),
            local_ips: LocalIps::parse(&read.text("localIPs").unwrap_or_default())
                .map_err(OptionsError::refused)?,
        })
    }
}

struct Reader<'a>(&'a Tier);

impl Reader<'_> {
    fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }

    fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    fn count(&self, name: &str, default: i64) -> usize {
        usize::try_from(self.int(name).unwrap_or(default)).unwrap_or(0)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    fn time(&self, name: &str, default: Duration) -> Duration {
        let time = self
            .text(name)
            .and_then(|text| GoDuration::parse(&text).ok());
        time.map_or(default, GoDuration::duration)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    fn texts_or(&self, name: &str, default: &[&str]) -> Vec<String> {
        match self.0.get(name) {
            Some(_) => self.texts(name),
            None => default.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    fn pairs(&self, name: &str) -> BTreeMap<String, String> {
        let fields = self.0.get(name).and_then(Value::as_object);
        let pairs = fields.into_iter().flatten();
        let pairs = pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?)));
        pairs
            .map(|(name, value)| (name, value.to_owned()))
            .collect()
    }

    fn segment(&self) -> Result<Segment, OptionsError> {
        let text = self.text("executionSegment");
        let segment = text.map(|text| Segment::parse(&text)).transpose();
        Ok(segment.map_err(OptionsError::invalid)?.unwrap_or_default())
    }

    fn dns(&self) -> Dns {
        let field = |name: &str| {
            let value = self.0.get("dns").and_then(|dns| dns.get(name));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        let ttl = field("ttl").unwrap_or_else(|| "5m".to_owned());
        Dns {
            ttl: GoDuration::parse(&ttl).ok().map(GoDuration::duration),
            select: field("select").unwrap_or_else(|| "random".to_owned()),
            policy: field("policy").unwrap_or_else(|| "preferIPv4".to_owned()),
        }
    }

    fn tls_versions(&self) -> (String, String) {
        let versions = self.0.get("tlsVersion");
        let version = |name: &str| {
            let version = versions.and_then(|versions| versions[name].as_str());
            version.unwrap_or_default().to_owned()
        };
        (version("min"), version("max"))
    }

    fn tls_auth(&self) -> Vec<TlsAuth> {
        let list = self.0.get("tlsAuth").and_then(Value::as_array);
        let one = |value: &Value| {
            let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
            let domains = value["domains"].as_array().into_iter().flatten();
            TlsAuth {
                cert: text("cert"),
                key: text("key"),
                password: value["password"].as_str().map(str::to_owned),
                domains: domains
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            }
        };
        list.into_iter().flatten().map(one).collect()
    }

    fn thresholds(&self) -> BTreeMap<String, Vec<Value>> {
        let fields = self.0.get("thresholds").and_then(Value::as_object);
        let of_metrics = fields.into_iter().flatten();
        let of_metrics = of_metrics
            .filter_map(|(metric, list)| Some((metric.clone(), list.as_array()?.clone())));
        of_metrics.collect()
    }

    fn trend_stats(&self) -> Result<Vec<String>, OptionsError> {
        let stats = self.texts_or("summaryTrendStats", &TREND_STATS);
        match stats.iter().find(|stat| !is_stat(stat)) {
            Some(wrong) if wrong.starts_with("p(") && wrong.ends_with(')') => {
                Err(OptionsError::refused(format!(
                    "invalid percentile trend stat value '{wrong}', provide a number between 0 and \
                     100"
                )))
            }
            Some(wrong) => Err(OptionsError::refused(format!(
                "invalid trend stat '{wrong}', unknown format"
            ))),
            None => Ok(stats),
        }
    }
}

fn is_stat(text: &str) -> bool {
    let percent = text
        .strip_prefix("p(")
        .and_then(|rest| rest.strip_suffix(')'));
    let percent = percent.and_then(|percent| percent.parse::<f64>().ok());
    let is_percentile = percent.is_some_and(|percent| (0.0..=100.0).contains(&percent));
    is_percentile || matches!(text, "avg" | "min" | "med" | "max" | "count")
}
