//! The grammar of checks: `[TIME.]STATISTIC`, `errors`, `non2xx`, `5xx`, `status:503` or `rate`,
//! perhaps `{name:NAME}`, a comparison, a bound.
//!
//! ```text
//! p99<50ms   p99.9 <= 1s   service.mean<2ms   blocked.p99<1ms   lateness.max<5ms
//! errors<0.1%   errors<=3   non2xx<1%   5xx<1%   status:200>99%   rate>=990   rate>=2.5k
//! p99{name:login}<50ms   errors{name:GET /a}<1%
//! ```
//! A check that nothing could meet, or that nothing could break, is refused: it was meant
//! otherwise.

use super::{Bound, Check, Clocked, Comparison, Metric, Statistic, Statuses};
use crate::{Error, Rate, parse_count, parse_percentile};
use loadline_units::{parse_duration_with_unit, parse_share};
use std::fmt;
use std::str::FromStr;

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckProblem {
    /// Every result would pass.
    #[error("it always passes, whatever is measured.")]
    AlwaysHolds,
    /// No comparison, or one that is not known.
    #[error("it needs a metric, one of <, <=, > and >=, and a bound, such as p99<50ms.")]
    Comparison,
    /// The number of errors, or of statuses, is neither a count nor a share.
    #[error("{0} is compared with a whole number or a percentage up to 100%, such as {0}<0.1%.")]
    CountBound(String),
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
    /// What stands in braces is no name.
    #[error("`{0}` does not name requests; write {{name:NAME}} behind the metric.")]
    Name(String),
    /// A time that is recorded of all requests alone.
    #[error(
        "`{0}` is not recorded by name; of a name, write the response time, errors, non2xx, \
         statuses or rate."
    )]
    TimeOfName(String),
    /// The percentile is outside of its range.
    #[error("`{0}` is not a percentile; write one above p0, up to p100.")]
    Percentile(String),
    /// No response has such a status.
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
            problem,
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
    let (figure, name) = split_name(figure)?;
    let metric = parse_metric(figure)?;
    let is_recorded = !matches!(metric, Metric::Time(clocked, _) if clocked != Clocked::Response);
    if name.is_some() && !is_recorded {
        return Err(CheckProblem::TimeOfName(figure.to_owned()));
    }
    let bound = parse_bound(metric, figure, bound)?;
    refuse_certainty(metric, comparison, bound)?;
    Ok(Check {
        text: text.trim().to_owned(),
        name: name.map(str::to_owned),
        metric,
        comparison,
        bound,
    })
}

/// Splits a condition into its three parts. A name in braces may hold any of the signs.
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

/// Splits off the name in braces, if there is one.
fn split_name(figure: &str) -> Result<(&str, Option<&str>), CheckProblem> {
    let Some((figure, braces)) = figure.split_once('{') else {
        return Ok((figure, None));
    };
    let name = braces
        .strip_suffix('}')
        .and_then(|tag| tag.strip_prefix("name:"));
    match name.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Ok((figure.trim(), Some(name))),
        None => Err(CheckProblem::Name(format!("{{{braces}"))),
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

/// Splits off which time is meant; the response time where nothing is said.
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

/// Refuses a comparison that no result, or every result, would meet.
fn refuse_certainty(
    metric: Metric,
    comparison: Comparison,
    bound: Bound,
) -> Result<(), CheckProblem> {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    match (comparison, Place::of(metric, bound)) {
        (Less, Place::Lowest | Place::Below)
        | (LessOrEqual, Place::Below)
        | (Greater, Place::Highest) => Err(CheckProblem::NeverHolds),
        (GreaterOrEqual, Place::Lowest | Place::Below)
        | (Greater, Place::Below)
        | (LessOrEqual, Place::Highest) => Err(CheckProblem::AlwaysHolds),
        _ => Ok(()),
    }
}

/// Where a bound stands among the values that its metric can take.
enum Place {
    /// Under all of them: zero, for a time that is always longer.
    Below,
    /// At the lowest of them: zero.
    Lowest,
    /// In between.
    Inside,
    /// At the highest of them: all exchanges.
    Highest,
}

impl Place {
    fn of(metric: Metric, bound: Bound) -> Self {
        match bound {
            Bound::TimeNs(0) if always_takes_time(metric) => Place::Below,
            Bound::TimeNs(0) | Bound::Count(0) => Place::Lowest,
            Bound::Share(bound) | Bound::PerSecond(bound) if bound == 0.0 => Place::Lowest,
            Bound::Share(1.0) => Place::Highest,
            _ => Place::Inside,
        }
    }
}

/// Whether the metric is a time that no exchange has without some of it passing.
fn always_takes_time(metric: Metric) -> bool {
    match metric {
        Metric::Time(Clocked::Response | Clocked::Service, statistic) => {
            statistic != Statistic::Stdev
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    use proptest::prelude::*;

    fn check(text: &str) -> Check {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn problem(text: &str) -> CheckProblem {
        match text.parse::<Check>() {
            Err(Error::Check { problem, .. }) => problem,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn assert_read(text: &str, metric: Metric, comparison: Comparison, bound: Bound) {
        let expected = Check {
            text: text.to_owned(),
            name: None,
            metric,
            comparison,
            bound,
        };
        assert_eq!(check(text), expected, "{text}");
    }

    #[test]
    fn conditions_are_read() {
        let response = |statistic| Metric::Time(Clocked::Response, statistic);
        let percentile = Statistic::Percentile;
        for (text, metric, comparison, bound) in [
            (
                "p99<50ms",
                response(percentile(99.0)),
                Less,
                Bound::TimeNs(50_000_000),
            ),
            (
                "p99.9 <= 1s",
                response(percentile(99.9)),
                LessOrEqual,
                Bound::TimeNs(1_000_000_000),
            ),
            (
                "response.p100<1m30s",
                response(percentile(100.0)),
                Less,
                Bound::TimeNs(90_000_000_000),
            ),
            (
                "mean<1.5ms",
                response(Statistic::Mean),
                Less,
                Bound::TimeNs(1_500_000),
            ),
            (
                "min>10us",
                response(Statistic::Min),
                Greater,
                Bound::TimeNs(10_000),
            ),
            (
                "stdev<=0ms",
                response(Statistic::Stdev),
                LessOrEqual,
                Bound::TimeNs(0),
            ),
            (
                "service.p99<2ms",
                Metric::Time(Clocked::Service, percentile(99.0)),
                Less,
                Bound::TimeNs(2_000_000),
            ),
            (
                "blocked.p99.99 <= 0ms",
                Metric::Time(Clocked::Blocked, percentile(99.99)),
                LessOrEqual,
                Bound::TimeNs(0),
            ),
            (
                "lateness.max<5ms",
                Metric::Time(Clocked::Lateness, Statistic::Max),
                Less,
                Bound::TimeNs(5_000_000),
            ),
        ] {
            assert_read(text, metric, comparison, bound);
        }
    }

    #[test]
    fn a_condition_may_look_at_the_requests_of_one_name() {
        for (text, name) in [
            ("p99{name:login}<50ms", "login"),
            ("errors {name: a < b} <1%", "a < b"),
            ("rate{name:http://a/{id}?x>1}>=10", "http://a/{id}?x>1"),
            ("status:503{name:GET /}<=3", "GET /"),
        ] {
            assert_eq!(check(text).name.as_deref(), Some(name), "{text}");
            let plain: String = text.replace(&text[text.find('{').unwrap()..], "");
            let plain = match plain.trim() {
                "p99" => "p99<50ms",
                "errors" => "errors<1%",
                "rate" => "rate>=10",
                _ => "status:503<=3",
            };
            assert_eq!(check(text).metric, check(plain).metric);
            assert_eq!(check(text).bound, check(plain).bound);
        }
        let no_name = CheckProblem::Name("{user:new}".to_owned());
        assert_eq!(problem("p99{user:new}<1ms"), no_name);
        assert_eq!(
            problem("p99{name:}<1ms"),
            CheckProblem::Name("{name:}".to_owned())
        );
        assert_eq!(problem("p99{name:a<1ms"), CheckProblem::Comparison);
        let blocked = CheckProblem::TimeOfName("blocked.p99".to_owned());
        assert_eq!(problem("blocked.p99{name:a}<1ms"), blocked);
    }

    #[test]
    fn conditions_on_counts_and_rates_are_read() {
        for (text, metric, comparison, bound) in [
            ("errors<0.1%", Metric::Errors, Less, Bound::Share(0.001)),
            ("errors<1%", Metric::Errors, Less, Bound::Share(0.01)),
            ("non2xx<1%", Metric::Non2xx, Less, Bound::Share(0.01)),
            ("non2xx<=3", Metric::Non2xx, LessOrEqual, Bound::Count(3)),
            (
                "5xx<1%",
                Metric::Statuses(Statuses::Class(5)),
                Less,
                Bound::Share(0.01),
            ),
            (
                "1xx<=3",
                Metric::Statuses(Statuses::Class(1)),
                LessOrEqual,
                Bound::Count(3),
            ),
            (
                "status:200>99%",
                Metric::Statuses(Statuses::Code(200)),
                Greater,
                Bound::Share(0.99),
            ),
            ("errors<=3", Metric::Errors, LessOrEqual, Bound::Count(3)),
            ("errors<=0", Metric::Errors, LessOrEqual, Bound::Count(0)),
            ("errors<=0%", Metric::Errors, LessOrEqual, Bound::Share(0.0)),
            (
                "rate>=990",
                Metric::Rate,
                GreaterOrEqual,
                Bound::PerSecond(990.0),
            ),
            (
                "rate>=2.5k",
                Metric::Rate,
                GreaterOrEqual,
                Bound::PerSecond(2_500.0),
            ),
            ("rate > 90/m", Metric::Rate, Greater, Bound::PerSecond(1.5)),
        ] {
            assert_read(text, metric, comparison, bound);
        }
    }

    #[test]
    fn the_text_is_kept_as_typed() {
        assert_eq!(check(" p99 < 50ms ").to_string(), "p99 < 50ms");
    }

    #[test]
    fn what_can_never_hold_is_refused() {
        for text in [
            "p99<0ms",
            "mean<=0s",
            "errors<0",
            "errors<0%",
            "errors>100%",
            "rate<0",
            "blocked.max<0ms",
        ] {
            assert_eq!(problem(text), CheckProblem::NeverHolds, "{text}");
        }
    }

    #[test]
    fn what_always_holds_is_refused() {
        for text in [
            "p99>0ms",
            "p99>=0ms",
            "errors>=0",
            "errors<=100%",
            "rate>=0",
            "blocked.p50>=0s",
        ] {
            assert_eq!(problem(text), CheckProblem::AlwaysHolds, "{text}");
        }
    }

    #[test]
    fn broken_conditions_name_the_broken_part() {
        let metric = |text: &str| CheckProblem::Metric(text.to_owned());
        let percentile = |text: &str| CheckProblem::Percentile(text.to_owned());
        let time = |text: &str| CheckProblem::TimeBound(text.to_owned());
        let count = |text: &str| CheckProblem::CountBound(text.to_owned());
        let status = |text: &str| CheckProblem::Status(text.to_owned());
        for (text, expected) in [
            ("", CheckProblem::Comparison),
            ("p99", CheckProblem::Comparison),
            ("p99=50ms", CheckProblem::Comparison),
            ("p99<>50ms", CheckProblem::Comparison),
            ("p99<", CheckProblem::Comparison),
            ("<50ms", CheckProblem::Comparison),
            ("p99==50ms", CheckProblem::Comparison),
            ("latency<50ms", metric("latency")),
            ("connect.p99<50ms", metric("connect.p99")),
            ("service.errors<1", metric("service.errors")),
            ("service.<1ms", metric("service.")),
            ("p<1ms", metric("p")),
            ("P99<1ms", metric("P99")),
            ("p0<1ms", percentile("p0")),
            ("p101<1ms", percentile("p101")),
            ("p99.<1ms", percentile("p99.")),
            ("p99<50", time("50")),
            ("p99<fast", time("fast")),
            ("p99<-5ms", time("-5ms")),
            ("p99<5%", time("5%")),
            ("non2xx<5ms", count("non2xx")),
            ("errors<0.5", count("errors")),
            ("errors<101%", count("errors")),
            ("errors<50ms", count("errors")),
            ("errors<-1", count("errors")),
            ("5xx<5ms", count("5xx")),
            ("status:503<101%", count("status:503")),
            ("status:99<1%", status("status:99")),
            ("status:1000<1%", status("status:1000")),
            ("status:ok<1%", status("status:ok")),
            ("status:<1%", status("status:")),
            ("6xx<1%", status("6xx")),
            ("0xx<1%", status("0xx")),
            ("status:+503<1%", status("status:+503")),
            ("status:0503<1%", status("status:0503")),
            ("+5xx<1%", metric("+5xx")),
            ("05xx<1%", metric("05xx")),
            ("xx<1%", metric("xx")),
            ("5XX<1%", metric("5XX")),
            ("service.5xx<1%", metric("service.5xx")),
            ("rate>=fast", CheckProblem::RateBound("fast".into())),
            ("rate>=1%", CheckProblem::RateBound("1%".into())),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    #[test]
    fn refusals_are_whole_sentences() {
        let error = "p99<50".parse::<Check>().expect_err("no unit").to_string();
        assert_eq!(
            error,
            "`p99<50` is not a check: `50` is not a time with its unit, such as 50ms or 1.5s."
        );
    }

    proptest! {
        #[test]
        fn no_text_upsets_the_parser(text in "\\PC*") {
            let _ = text.parse::<Check>();
        }

        #[test]
        fn what_is_printed_reads_back(
            percentile in 1..=100u32,
            bound_ms in 1..100_000u64,
            sign in prop::sample::select(vec!["<", "<=", ">", ">="]),
        ) {
            let check = check(&format!("service.p{percentile} {sign} {bound_ms}ms"));
            prop_assert_eq!(check.to_string().parse(), Ok(check));
        }
    }
}
