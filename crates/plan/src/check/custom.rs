//! Conditions on metrics that a script counts by itself.
//!
//! ```text
//! metric:cache_hits.share>90%    metric:logins.sum>=100   metric:logins.rate>5
//! metric:payload.p95<20000       metric:queue.max<=10     metric:render.p99{page:home}<50ms
//! ```

use super::grammar::CheckProblem;
use super::{Bound, Metric};
use loadline_units::{parse_duration_with_unit, parse_percentile, parse_share};
use serde::{Deserialize, Serialize};

/// The prefix of a condition on a custom metric.
const PREFIX: &str = "metric:";

/// A figure of a custom metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomFigure {
    /// The number of values that were added; of a counter, a rate or a trend.
    Count,
    /// The sum of the values; of a counter.
    Sum,
    /// The sum of the values that were added in the window, per second; of a counter.
    Rate,
    /// The share of values that are not zero; of a rate.
    Share,
    /// The value that was set last; of a gauge.
    Last,
    /// The smallest value; of a gauge or a trend.
    Min,
    /// The largest value; of a gauge or a trend.
    Max,
    /// The arithmetic mean; of a trend.
    Mean,
    /// The percentile, above 0 and at most 100; of a trend.
    Percentile(f64),
}

/// Reads the name and the figure of a condition on a custom metric; `None` if the condition is on
/// something else.
pub(super) fn parse(figure: &str) -> Option<Result<(String, Metric), CheckProblem>> {
    let text = figure.strip_prefix(PREFIX)?;
    let unknown = || CheckProblem::Custom(figure.to_owned());
    Some(parse_figure(text).map_or_else(
        || Err(unknown()),
        |(name, figure)| Ok((name.to_owned(), Metric::Custom(figure))),
    ))
}

fn parse_figure(text: &str) -> Option<(&str, CustomFigure)> {
    // A percentile may contain a point, so only the first one separates name and figure.
    let (name, figure) = text.split_once('.')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let figure = match figure.trim() {
        "count" => CustomFigure::Count,
        "sum" => CustomFigure::Sum,
        "rate" => CustomFigure::Rate,
        "share" => CustomFigure::Share,
        "last" => CustomFigure::Last,
        "min" => CustomFigure::Min,
        "max" => CustomFigure::Max,
        "mean" => CustomFigure::Mean,
        other if other.starts_with('p') => CustomFigure::Percentile(parse_percentile(other).ok()?),
        _ => return None,
    };
    Some((name, figure))
}

/// Reads the bound of a condition on a custom metric: a share such as `90%`, a time, which is
/// converted to milliseconds, or a number, which may be negative.
pub(super) fn parse_bound(text: &str) -> Result<Bound, CheckProblem> {
    let number = || CheckProblem::NumberBound(text.to_owned());
    if text.ends_with('%') {
        return parse_share(text).map(Bound::Share).ok_or_else(number);
    }
    if let Some(time) = parse_duration_with_unit(text) {
        return Ok(Bound::Number(time.as_nanos() as f64 / 1e6));
    }
    let parsed = text.parse::<f64>().ok().filter(|number| number.is_finite());
    parsed.map(Bound::Number).ok_or_else(number)
}

#[cfg(test)]
mod tests {
    use super::super::{Check, Comparison};
    use super::*;

    fn read(text: &str) -> (String, Metric, Comparison, Bound) {
        let check: Check = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(!check.is_of_part(), "{text}");
        (
            check.custom.unwrap(),
            check.metric,
            check.comparison,
            check.bound,
        )
    }

    #[test]
    fn conditions_on_custom_metrics_are_read() {
        use Comparison::{Greater, GreaterOrEqual, Less};
        use CustomFigure::{Last, Percentile, Share, Sum};
        for (text, name, figure, comparison, bound) in [
            (
                "metric:hits.share>90%",
                "hits",
                Share,
                Greater,
                Bound::Share(0.9),
            ),
            (
                "metric:logins.sum>=100",
                "logins",
                Sum,
                GreaterOrEqual,
                Bound::Number(100.0),
            ),
            (
                "metric:x.p99.9 < 1.5s",
                "x",
                Percentile(99.9),
                Less,
                Bound::Number(1_500.0),
            ),
            (
                "metric:x.p95{size:big}<-2e3",
                "x",
                Percentile(95.0),
                Less,
                Bound::Number(-2e3),
            ),
            (
                "metric:queue.last<7",
                "queue",
                Last,
                Less,
                Bound::Number(7.0),
            ),
        ] {
            let metric = Metric::Custom(figure);
            assert_eq!(
                read(text),
                (name.to_owned(), metric, comparison, bound),
                "{text}"
            );
        }
        let tagged: Check = "metric:x.p95{size:big}<2".parse().unwrap();
        assert_eq!(tagged.tags["size"], "big");
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "metric:hits>1",
            "metric:.sum>1",
            "metric:a b.sum>1",
            "metric:hits.p0>1",
            "metric:hits.median>1",
            "metric:hits.sum>x",
            "metric:hits.sum>inf",
            "metric:hits.sum{name:a}>1",
        ] {
            assert!(text.parse::<Check>().is_err(), "{text}");
        }
    }
}
