//! The grammar of checks: `[TIME.]STATISTIC`, `errors`, `non2xx`, `5xx`, `status:503` or `rate`,
//! optionally `{TAG:VALUE,name:NAME}`, a comparison, a bound.
//!
//! ```text
//! p99<50ms   p99.9 <= 1s   service.mean<2ms   blocked.p99<1ms   lateness.max<5ms
//! errors<0.1%   errors<=3   non2xx<1%   5xx<1%   status:200>99%   rate>=990   rate>=2.5k
//! p99{name:login}<50ms   errors{name:GET /a}<1%   p99{scenario:browse}<80ms
//! p99{scenario:browse,name:GET /a}<80ms
//! ```
//! A check that no result could pass, or that no result could fail, is refused: it is a mistake.

use super::{Bound, Check, Clocked, Comparison, Metric, Statistic, Statuses, custom};
use crate::{Error, Rate, parse_count, parse_percentile};
use loadline_units::{parse_duration_with_unit, parse_share};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A reason why a condition is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckProblem {
    /// Every result would pass.
    #[error("it always passes, whatever is measured.")]
    AlwaysHolds,
    /// No comparison, or an unknown one.
    #[error("it needs a metric, one of <, <=, > and >=, and a bound, such as p99<50ms.")]
    Comparison,
    /// The number of errors, or of statuses, is neither a count nor a share.
    #[error("{0} is compared with a whole number or a percentage up to 100%, such as {0}<0.1%.")]
    CountBound(String),
    /// The figure of a custom metric is not known.
    #[error(
        "`{0}` is no figure of a script's metric; write metric:NAME. and one of count, sum, rate, \
         share, last, min, max, mean, or p99 or another percentile."
    )]
    Custom(String),
    /// The bound of a custom metric is not a number, a share or a time.
    #[error("`{0}` is not a number, a percentage up to 100%, or a time such as 50ms.")]
    NumberBound(String),
    /// A threshold in k6's syntax.
    #[error("it is written as in k6; write {0} here.")]
    K6(String),
    /// The metric is not known.
    #[error(
        "`{0}` is not a metric. Write p50, p99.9 or any percentile, mean, min, max or stdev (of \
         the response time, or with service., blocked. or lateness. before it), errors, non2xx, \
         5xx or another class, status:503 or another status, or rate."
    )]
    Metric(String),
    /// No result could pass.
    #[error("it can never pass; give it another bound.")]
    NeverHolds,
    /// The text in braces is neither a name nor a tag.
    #[error(
        "`{0}` does not say which requests; write {{name:NAME}} or {{scenario:NAME}} after the \
         metric, or both: {{scenario:NAME,name:NAME}}."
    )]
    Braces(String),
    /// A time that is not recorded by name or tag, only for all requests together.
    #[error(
        "`{0}` is not recorded by name or tag; of these, write the response time, errors, non2xx, \
         statuses or rate."
    )]
    TimeOfPart(String),
    /// The percentile is out of range.
    #[error("`{0}` is not a percentile; write one above p0, up to p100.")]
    Percentile(String),
    /// A status or class of statuses that no response has.
    #[error(
        "no response has the status `{0}`; write a class from 1xx to 5xx, or a status of three \
         digits, such as status:503."
    )]
    Status(String),
    /// The rate's bound is not a rate.
    #[error("`{0}` is not a rate; write one such as 990, 2.5k or 90/m.")]
    RateBound(String),
    /// The time's bound is not a duration with its unit.
    #[error("`{0}` is not a time with its unit, such as 50ms or 1.5s.")]
    TimeBound(String),
}

impl FromStr for Check {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|problem| Error::Check {
            text: text.to_owned(),
            problem: of_k6(text).map_or(problem, CheckProblem::K6),
        })
    }
}

impl fmt::Display for Check {
    /// Prints the condition as typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse(text: &str) -> Result<Check, CheckProblem> {
    let (figure, comparison, bound) = split(text).ok_or(CheckProblem::Comparison)?;
    let (figure, part) = split_braces(figure)?;
    if let Some(custom) = custom::parse(figure) {
        return custom_check(text, custom?, part.unwrap_or_default(), (comparison, bound));
    }
    let metric = parse_metric(figure)?;
    let is_recorded = !matches!(metric, Metric::Time(clocked, _) if clocked != Clocked::Response);
    if part.is_some() && !is_recorded {
        return Err(CheckProblem::TimeOfPart(figure.to_owned()));
    }
    let Part { name, tags } = part.unwrap_or_default();
    let bound = parse_bound(metric, figure, bound)?;
    refuse_certainty(metric, comparison, bound)?;
    Ok(Check {
        text: text.trim().to_owned(),
        name,
        custom: None,
        tags,
        metric,
        comparison,
        bound,
    })
}

/// Translates a threshold of k6: `p95<200ms` for `http_req_duration{p(95)}<200` or `p(95)<200`;
/// `None` if the text is not a threshold of k6.
fn of_k6(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let at = text.find(['<', '>'])?;
    let (figure, bound) = text.split_at(at);
    let sign = bound.len() - bound.trim_start_matches(['<', '>', '=']).len();
    let (sign, bound) = bound.split_at(sign);
    let metric = ["http_req_duration", "http_req_failed", "http_reqs"]
        .into_iter()
        .find(|metric| figure.starts_with(metric));
    let rest = figure.strip_prefix(metric.unwrap_or_default())?;
    let statistic = rest.trim_matches([':', '{', '}', '.']);
    let number: f64 = bound.parse().ok()?;
    match (metric, statistic) {
        (Some("http_req_failed"), "rate" | "") => {
            Some(format!("errors{sign}{}%", (number * 1e8).round() / 1e6))
        }
        (Some("http_reqs"), "rate" | "") => Some(format!("rate{sign}{bound}")),
        (Some("http_req_duration") | None, _) => {
            let percentile = statistic
                .strip_prefix("p(")
                .and_then(|p| p.strip_suffix(')'));
            let ours = match (percentile, statistic) {
                (Some(percentile), _) => format!("p{percentile}"),
                (None, "avg") => "mean".to_owned(),
                (None, "med") => "p50".to_owned(),
                (None, "min" | "max") if metric.is_some() => statistic.to_owned(),
                _ => return None,
            };
            Some(format!("{ours}{sign}{bound}ms"))
        }
        _ => None,
    }
}

fn custom_check(
    text: &str,
    (custom, metric): (String, Metric),
    part: Part,
    (comparison, bound): (Comparison, &str),
) -> Result<Check, CheckProblem> {
    if let Some(name) = part.name {
        return Err(CheckProblem::Braces(format!("{{name:{name}}}")));
    }
    Ok(Check {
        text: text.trim().to_owned(),
        name: None,
        custom: Some(custom),
        tags: part.tags,
        metric,
        comparison,
        bound: custom::parse_bound(bound)?,
    })
}

/// Splits a condition into figure, comparison and bound. A name in braces may contain any of the
/// signs of comparison.
fn split(text: &str) -> Option<(&str, Comparison, &str)> {
    let is_sign = |at: &usize| text[*at..].starts_with(['<', '>']);
    let braces = text.match_indices('}').map(|(at, _)| at + 1);
    let after = |at: usize| at + (text[at..].len() - text[at..].trim_start().len());
    let named = braces.map(after).find(is_sign);
    let at = match text.find(['<', '>', '{']) {
        Some(at) if text[at..].starts_with('{') => named?,
        found => found?,
    };
    let (metric, rest) = text.split_at(at);
    let (comparison, bound) = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ]
    .into_iter()
    .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?.trim())))?;
    let metric = metric.trim();
    let whole = !metric.is_empty() && !bound.is_empty() && !bound.starts_with(['<', '>', '=']);
    whole.then_some((metric, comparison, bound))
}

/// The requests that a check covers: those of a name, of tags, or both.
#[derive(Default)]
struct Part {
    name: Option<String>,
    tags: BTreeMap<String, String>,
}

/// Splits off the part in braces, if there is one.
fn split_braces(figure: &str) -> Result<(&str, Option<Part>), CheckProblem> {
    let Some((figure, braces)) = figure.split_once('{') else {
        return Ok((figure, None));
    };
    let part = braces.strip_suffix('}').and_then(parse_part);
    let unknown = || CheckProblem::Braces(format!("{{{braces}"));
    Ok((figure.trim(), Some(part.ok_or_else(unknown)?)))
}

/// Reads tags with their values, and after them a name, which may contain commas.
fn parse_part(mut text: &str) -> Option<Part> {
    let mut part = Part::default();
    loop {
        if let Some(name) = text.trim_start().strip_prefix("name:") {
            part.name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
            return part.name.is_some().then_some(part);
        }
        let (own, rest) = match text.split_once(',') {
            Some((own, rest)) => (own, Some(rest)),
            None => (text, None),
        };
        let (tag, value) = own.split_once(':')?;
        let (tag, value) = (tag.trim(), value.trim());
        let is_new = part.tags.insert(tag.to_owned(), value.to_owned()).is_none();
        if tag.is_empty() || value.is_empty() || !is_new {
            return None;
        }
        match rest {
            Some(rest) => text = rest,
            None => return Some(part),
        }
    }
}

fn parse_metric(text: &str) -> Result<Metric, CheckProblem> {
    if let Some(statuses) = Statuses::parse(text) {
        let unknown = |()| CheckProblem::Status(text.to_owned());
        return statuses.map(Metric::Statuses).map_err(unknown);
    }
    match text {
        "errors" => Ok(Metric::Errors),
        "non2xx" => Ok(Metric::Non2xx),
        "rate" => Ok(Metric::Rate),
        _ => {
            let (clocked, statistic) = split_clocked(text);
            let unknown = || CheckProblem::Metric(text.to_owned());
            Ok(Metric::Time(
                clocked,
                parse_statistic(statistic)?.ok_or_else(unknown)?,
            ))
        }
    }
}

/// Splits off the prefix that selects a time; the default is the response time.
fn split_clocked(text: &str) -> (Clocked, &str) {
    [
        ("response.", Clocked::Response),
        ("service.", Clocked::Service),
        ("blocked.", Clocked::Blocked),
        ("lateness.", Clocked::Lateness),
    ]
    .into_iter()
    .find_map(|(prefix, clocked)| Some((clocked, text.strip_prefix(prefix)?)))
    .unwrap_or((Clocked::Response, text))
}

/// Reads a statistic; `None` for an unknown word.
fn parse_statistic(text: &str) -> Result<Option<Statistic>, CheckProblem> {
    Ok(Some(match text {
        "mean" => Statistic::Mean,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "stdev" => Statistic::Stdev,
        _ if is_percentile_like(text) => Statistic::Percentile(
            parse_percentile(text).map_err(|_| CheckProblem::Percentile(text.to_owned()))?,
        ),
        _ => return Ok(None),
    }))
}

fn is_percentile_like(text: &str) -> bool {
    text.strip_prefix('p')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn parse_bound(metric: Metric, name: &str, text: &str) -> Result<Bound, CheckProblem> {
    match metric {
        Metric::Time(..) => parse_time_bound(text),
        Metric::Errors | Metric::Non2xx | Metric::Statuses(_) => {
            parse_count_bound(text).ok_or_else(|| CheckProblem::CountBound(name.to_owned()))
        }
        Metric::Custom(_) => custom::parse_bound(text),
        Metric::Rate => match text.parse::<Rate>() {
            Ok(rate) => Ok(Bound::PerSecond(rate.per_second())),
            Err(_) => Err(CheckProblem::RateBound(text.to_owned())),
        },
    }
}

fn parse_time_bound(text: &str) -> Result<Bound, CheckProblem> {
    let bound_ns =
        parse_duration_with_unit(text).and_then(|bound| u64::try_from(bound.as_nanos()).ok());
    bound_ns
        .map(Bound::TimeNs)
        .ok_or_else(|| CheckProblem::TimeBound(text.to_owned()))
}

fn parse_count_bound(text: &str) -> Option<Bound> {
    if text.ends_with('%') {
        return parse_share(text).map(Bound::Share);
    }
    parse_count(text).ok().map(Bound::Count)
}

/// Refuses a comparison that no result could pass, or that every result would pass.
fn refuse_certainty(
    metric: Metric,
    comparison: Comparison,
    bound: Bound,
) -> Result<(), CheckProblem> {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    match (comparison, BoundPosition::of(metric, bound)) {
        (Less, BoundPosition::Lowest | BoundPosition::Below)
        | (LessOrEqual, BoundPosition::Below)
        | (Greater, BoundPosition::Highest) => Err(CheckProblem::NeverHolds),
        (GreaterOrEqual, BoundPosition::Lowest | BoundPosition::Below)
        | (Greater, BoundPosition::Below)
        | (LessOrEqual, BoundPosition::Highest) => Err(CheckProblem::AlwaysHolds),
        _ => Ok(()),
    }
}

/// The position of a bound among the values that its metric can take.
enum BoundPosition {
    /// Below all of them: zero, for a time that is always longer.
    Below,
    /// At the lowest of them: zero.
    Lowest,
    /// Between the lowest and the highest.
    Inside,
    /// At the highest of them: all exchanges.
    Highest,
}

impl BoundPosition {
    fn of(metric: Metric, bound: Bound) -> Self {
        match bound {
            Bound::TimeNs(0) if always_takes_time(metric) => BoundPosition::Below,
            Bound::TimeNs(0) | Bound::Count(0) => BoundPosition::Lowest,
            Bound::Share(bound) | Bound::PerSecond(bound) if bound == 0.0 => BoundPosition::Lowest,
            Bound::Share(1.0) => BoundPosition::Highest,
            Bound::TimeNs(_)
            | Bound::Share(_)
            | Bound::Count(_)
            | Bound::PerSecond(_)
            | Bound::Number(_) => BoundPosition::Inside,
        }
    }
}

/// True if the metric is a time that is greater than zero in every exchange.
fn always_takes_time(metric: Metric) -> bool {
    match metric {
        Metric::Time(Clocked::Response | Clocked::Service, statistic) => {
            statistic != Statistic::Stdev
        }
        Metric::Time(Clocked::Blocked | Clocked::Lateness, _)
        | Metric::Errors
        | Metric::Non2xx
        | Metric::Statuses(_)
        | Metric::Rate
        | Metric::Custom(_) => false,
    }
}

#[cfg(test)]
mod tests;
