//! The report for people.

use super::super::arguments::Unit;
use super::super::distribution::{Distribution, Extremes, PERCENTILES};
use super::Measured;
use super::scale::data;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// The length of the longest bar of the histogram.
const BAR: u64 = 32;

/// Formats a run as text, with or without colours.
pub(in super::super) fn text(measured: &Measured, colours: bool) -> String {
    let slowest = measured.tally.latency.extremes().slowest();
    let page = Page {
        measured,
        unit: measured.unit.unwrap_or_else(|| Unit::below(slowest)),
        colours,
    };
    let mut out = page.summary();
    let mut sections = vec![page.times("", &measured.tally.latency)];
    if let Some(both) = &measured.tally.by_status {
        sections.push(page.times(" (2xx only)", &both[0]));
        sections.push(page.times(" (4xx + 5xx only)", &both[1]));
    }
    out += &sections.join("\n");
    out += "\n\n";
    out += &page.details();
    out += &page.statuses();
    out + &page.errors()
}

struct Page<'a> {
    measured: &'a Measured,
    unit: Unit,
    colours: bool,
}

impl Page<'_> {
    fn summary(&self) -> String {
        let measured = self.measured;
        let latency = measured.tally.latency.extremes();
        let rate = 100.0 * measured.success_rate();
        let yellow = self.style(AnsiColor::Yellow);
        let green = self.style(AnsiColor::Green);
        let cyan = self.style(AnsiColor::Cyan);
        let of_rate = match rate {
            100.0.. => green,
            99.0.. => yellow,
            _ => self.style(AnsiColor::Red),
        };
        let bold = of_rate.bold();
        let (on, off) = (bold.render(), bold.render_reset());
        let (on, off) = match self.colours {
            true => (on.to_string(), off.to_string()),
            false => (String::new(), String::new()),
        };
        let mut out = format!("{}\n", self.heading("Summary:"));
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "  {name}:\t{value}");
        };
        line("Success rate", format!("{on}{rate:.2}%{off}"));
        line("Total", self.time(measured.total));
        line(
            "Slowest",
            self.painted(yellow, &self.time(latency.slowest())),
        );
        line(
            "Fastest",
            self.painted(green, &self.time(latency.fastest())),
        );
        line("Average", self.painted(cyan, &self.time(latency.average())));
        line(
            "Requests/sec",
            format!("{:.4}", measured.requests_per_second()),
        );
        out.push('\n');
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "  {name}:\t{value}");
        };
        line("Total data", data(measured.tally.bytes as f64));
        let per_request = measured.bytes_per_request();
        line(
            "Size/request",
            per_request.map_or("NaN".to_owned(), |bytes| data(bytes as f64)),
        );
        line("Size/sec", data(measured.bytes_per_second()));
        out.push('\n');
        out
    }

    /// Formats the histogram and the percentiles of times.
    fn times(&self, which: &str, times: &Distribution) -> String {
        let title = format!("Response time histogram{which}:");
        let mut out = format!("{}\n{}\n", self.heading(&title), self.histogram(times));
        let title = format!("Response time distribution{which}:");
        let _ = writeln!(out, "{}", self.heading(&title));
        for percent in PERCENTILES {
            let time = times.percentile(percent);
            let line = format!("  {percent:.2}% in {}", self.time(time));
            let _ = writeln!(out, "{}", self.painted(self.of_time(time), &line));
        }
        out
    }

    fn histogram(&self, times: &Distribution) -> String {
        let bars = times.bars();
        let label = |time: f64| format!("{:.3}", self.unit.of_seconds(time));
        let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let whole = |time: f64| label(time).split('.').next().map_or(0, str::len);
        let widest = bars.iter().map(|(time, _)| whole(*time)).max().unwrap_or(0) + 4;
        let count_width = most.to_string().len() + 2;
        let mut out = String::new();
        for (time, count) in &bars {
            let length = (BAR * count).checked_div(most).unwrap_or(0) as usize;
            let line = format!(
                "  {:>widest$} {} {:<count_width$} |{}",
                label(*time),
                self.unit,
                format!("[{count}]"),
                "■".repeat(length)
            );
            let _ = writeln!(out, "{}", self.painted(self.of_time(*time), &line));
        }
        out
    }

    fn details(&self) -> String {
        let tally = &self.measured.tally;
        let title = self.heading("Details (average, fastest, slowest):");
        format!(
            "{title}\n  DNS+dialup:\t{}\n  DNS-lookup:\t{}\n\n",
            self.three(&tally.dial),
            self.three(&tally.lookup)
        )
    }

    fn three(&self, times: &Extremes) -> String {
        let each = [times.average(), times.fastest(), times.slowest()];
        each.map(|time| self.time(time)).join(", ")
    }

    fn statuses(&self) -> String {
        let mut out = format!("{}\n", self.heading("Status code distribution:"));
        let mut counts: Vec<(&u16, &u64)> = self.measured.tally.statuses.iter().collect();
        counts.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        for (status, count) in counts {
            let style = match status / 100 {
                2 => self.style(AnsiColor::Green),
                4 => self.style(AnsiColor::Yellow),
                5 => self.style(AnsiColor::Red),
                _ => self.style(AnsiColor::White),
            };
            let line = format!("  [{status}] {count} responses");
            let _ = writeln!(out, "{}", self.painted(style, &line));
        }
        out
    }

    fn errors(&self) -> String {
        let errors = self.measured.errors();
        if errors.is_empty() {
            return String::new();
        }
        let lines: String = errors
            .iter()
            .map(|(error, count)| format!("  [{count}] {}\n", error.replace('\n', " ")))
            .collect();
        format!("\nError distribution:\n{lines}")
    }

    fn time(&self, seconds: f64) -> String {
        format!("{:.4} {}", self.unit.of_seconds(seconds), self.unit)
    }

    fn of_time(&self, seconds: f64) -> Style {
        self.style(match seconds {
            ..=0.1 => AnsiColor::Green,
            ..=0.4 => AnsiColor::Yellow,
            _ => AnsiColor::Red,
        })
    }

    fn heading(&self, title: &str) -> String {
        self.painted(Style::new().bold().underline(), title)
    }

    fn style(&self, colour: AnsiColor) -> Style {
        colour.on_default()
    }

    fn painted(&self, style: Style, text: &str) -> String {
        match self.colours {
            true => format!("{}{text}{}", style.render(), style.render_reset()),
            false => text.to_owned(),
        }
    }
}
