//! The report as HTML tables, which have fewer figures than the text.

use super::options::Html;
use super::report::Report;
use super::times::{Spreads, ms};

impl Report<'_> {
    /// Formats the table, with the given attributes.
    pub(super) fn html(&self, html: &Html) -> String {
        let mut table = Table {
            html,
            text: format!("\n\n<table {}>\n", html.table),
        };
        self.html_server(&mut table);
        self.html_counts(&mut table);
        self.html_rates(&mut table);
        if self.tally.done() > 0 {
            table.times(&Spreads::of(&self.tally.times));
        }
        table.text + "</table>\n"
    }

    fn html_server(&self, table: &mut Table<'_>) {
        let target = &self.options.target;
        table.row("Server Software:", &self.tally.server);
        table.row("Server Hostname:", &target.host);
        table.row("Server Port:", &target.port.to_string());
        table.row("Document Path:", &target.path);
        let length = match self.options.variable_length {
            true => "Variable".to_owned(),
            false => format!("{} bytes", self.tally.document_bytes.unwrap_or(0)),
        };
        table.row("Document Length:", &length);
    }

    fn html_counts(&self, table: &mut Table<'_>) {
        let tally = self.tally;
        table.row("Concurrency Level:", &self.options.concurrency.to_string());
        table.row(
            "Time taken for tests:",
            &format!("{:.3} seconds", self.seconds()),
        );
        table.row("Complete requests:", &tally.done().to_string());
        table.row("Failed requests:", &tally.failures.sum().to_string());
        if tally.failures.sum() > 0 {
            let failures = &tally.failures;
            table.wide(&format!(
                "   (Connect: {}, Length: {}, Exceptions: {})",
                failures.connect, failures.length, failures.exceptions
            ));
        }
        if tally.non_2xx > 0 {
            table.row("Non-2xx responses:", &tally.non_2xx.to_string());
        }
        if self.options.keepalive {
            table.row("Keep-Alive requests:", &tally.kept.to_string());
        }
        table.row("Total transferred:", &format!("{} bytes", tally.bytes_in));
        if self.options.body.is_some() {
            table.row("Total body sent:", &tally.bytes_out.to_string());
        }
        table.row("HTML transferred:", &format!("{} bytes", tally.body_bytes));
    }

    fn html_rates(&self, table: &mut Table<'_>) {
        if self.elapsed_us == 0 {
            return;
        }
        let (received, sent) = (self.tally.bytes_in, self.tally.bytes_out);
        let rate = self.tally.done() as f64 / self.seconds();
        table.row("Requests per second:", &format!("{rate:.2}"));
        table.row(
            "Transfer rate:",
            &format!("{:.2} kb/s received", self.kilobytes(received)),
        );
        if self.options.body.is_some() {
            table.beneath(&format!("{:.2} kb/s sent", self.kilobytes(sent)));
            table.beneath(&format!(
                "{:.2} kb/s total",
                self.kilobytes(received + sent)
            ));
        }
    }
}

/// A table that is being written.
struct Table<'a> {
    html: &'a Html,
    text: String,
}

impl Table<'_> {
    fn line(&mut self, cells: &str) {
        let row = &self.html.row;
        self.text.push_str(&format!("<tr {row}>{cells}</tr>\n"));
    }

    fn row(&mut self, name: &str, value: &str) {
        let cell = &self.html.cell;
        self.line(&format!(
            "<th colspan=2 {cell}>{name}</th><td colspan=2 {cell}>{value}</td>"
        ));
    }

    /// Adds a second value for the name in the row above.
    fn beneath(&mut self, value: &str) {
        let cell = &self.html.cell;
        self.line(&format!(
            "<td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value}</td>"
        ));
    }

    fn wide(&mut self, text: &str) {
        let cell = &self.html.cell;
        self.line(&format!("<td colspan=4 {cell} >{text}</td>"));
    }

    fn times(&mut self, spreads: &Spreads) {
        let cell = &self.html.cell;
        self.line(&format!("<th {cell} colspan=4>Connection Times (ms)</th>"));
        let names = ["&nbsp;</th> ", "min</th>   ", "avg</th>   ", "max</th>"];
        let names = names.map(|name| format!("<th {cell}>{name}"));
        self.line(&names.concat());
        for (name, spread) in [
            ("Connect:", &spreads.connect),
            ("Processing:", &spreads.processing),
            ("Total:", &spreads.total),
        ] {
            let figures = [spread.min_us, spread.mean_us, spread.max_us];
            let figures = figures.map(|us| format!("<td {cell}>{:5}</td>", ms(us)));
            self.line(&format!("<th {cell}>{name}</th>{}", figures.concat()));
        }
    }
}
