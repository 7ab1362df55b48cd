//! The observer that hands the intervals of a run to its exporters.

use loadline_exporters::native::{self, Naming};
use loadline_exporters::{
    Delivery, Dialect, Exporter, FinalReport, Format, PrintLine, Requested, RunningExporters, ns_of,
};
use loadline_plan::Plan;
use loadline_runner::{End, Feed, Inbox, Interests, News, Observed, Observer, QUEUE, feed};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};

/// The exporters of a command's runs.
pub(crate) struct Exporters {
    requested: Vec<Requested>,
    variables: BTreeMap<String, String>,
    print: PrintLine,
    /// Returns the report of a run.
    render: fn(&End<'_>) -> String,
    /// True if the series are those of single agents.
    per_agent: bool,
    report: FinalReport,
    ready: Vec<Exporter>,
    sending: Option<Sending>,
    /// What became of the messages of the last run.
    deliveries: Vec<Delivery>,
}

impl Exporters {
    /// Creates the exporters that were requested; `variables` are those of the environment.
    pub(crate) fn new(
        requested: &[Requested],
        variables: BTreeMap<String, String>,
        print: PrintLine,
        render: fn(&End<'_>) -> String,
    ) -> Exporters {
        Exporters {
            requested: requested.to_vec(),
            variables,
            print,
            render,
            per_agent: false,
            report: FinalReport::default(),
            ready: Vec::new(),
            sending: None,
            deliveries: Vec::new(),
        }
    }

    /// Returns the same exporters, whose series are those of single agents if this is true.
    pub(crate) fn per_agent(self, per_agent: bool) -> Exporters {
        Exporters { per_agent, ..self }
    }

    /// Returns what became of the messages of the last run.
    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }
}

impl Observer for Exporters {
    fn interests(&self) -> Interests {
        Interests {
            news: true,
            agents: self.per_agent,
            ..Interests::default()
        }
    }

    fn prepare(&mut self) -> Observed {
        let open =
            |requested: &Requested| requested.open(Dialect::Native, &self.variables, &self.report);
        let opened: Result<Vec<Exporter>, _> = self.requested.iter().map(open).collect();
        self.ready = opened.map_err(|error| format!("{error}."))?;
        Ok(())
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        let posts = |requested: &Requested| requested.format() == Format::Webhook;
        if self.requested.iter().any(posts) {
            let report = Some((self.render)(end));
            *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
        }
        Ok(())
    }

    fn news(&mut self, news: &News) -> Observed {
        if matches!(news, News::Begun(_)) {
            let exporters = std::mem::take(&mut self.ready);
            self.sending = Some(Sending::start(exporters, self.per_agent, &self.print)?);
        }
        if let Some(sending) = &mut self.sending {
            sending.feed.news(news)?;
        }
        if matches!(news, News::Ended(_))
            && let Some(sending) = self.sending.take()
        {
            self.deliveries = sending.end();
        }
        Ok(())
    }
}

/// The exporters of one run, with the thread that makes batches of its intervals.
struct Sending {
    feed: Feed,
    thread: JoinHandle<Vec<Delivery>>,
}

impl Sending {
    fn start(exporters: Vec<Exporter>, per_agent: bool, print: &PrintLine) -> io::Result<Sending> {
        let (feed, inbox) = feed(QUEUE);
        let running = RunningExporters::start(exporters, print)?;
        let print = Arc::clone(print);
        let body = move || {
            hand_on(&inbox, per_agent, &running);
            running.end(&print)
        };
        let thread = thread::Builder::new().name("batches".to_owned());
        Ok(Sending {
            feed,
            thread: thread.spawn(body)?,
        })
    }

    /// Waits until all is delivered, for at most some seconds. Dropping the feed hands over what
    /// waits in it.
    fn end(self) -> Vec<Delivery> {
        drop(self.feed);
        self.thread.join().unwrap_or_default()
    }
}

/// Hands the intervals of a run, or of each of its agents, to its exporters, until it ends.
fn hand_on(inbox: &Inbox, per_agent: bool, running: &RunningExporters) {
    let mut naming = Naming::default();
    while let Some(news) = inbox.wait() {
        match news {
            News::Begun(header) => naming = naming_of(&header.plan),
            News::Interval(stretch) => {
                let at_ns = ns_of(stretch.run.started_at) + stretch.snapshot.end_ns;
                let whole = &stretch.snapshot;
                let batch = Arc::new(match per_agent {
                    true => {
                        let agents = stretch.agents.iter();
                        let agents = agents.map(|one| (one.agent.as_str(), &one.snapshot));
                        native::batch_of_agents(whole, agents, &naming, at_ns)
                    }
                    false => native::batch(whole, &naming, at_ns),
                });
                running.put(|_| Arc::clone(&batch));
            }
            News::Ended(_) => return,
        }
    }
}

/// Returns the name of all requests, where the plan has only one. With several there are series.
fn naming_of(plan: &Plan) -> Naming {
    let first = plan.requests.first();
    Naming {
        only_name: first.map_or_else(String::new, |request| request.series_name().to_string()),
        labels: Vec::new(),
    }
}

/// Returns the variables of the environment, as far as they are texts.
pub(crate) fn variables() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
