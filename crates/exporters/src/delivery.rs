//! What became of the messages of an exporter.

/// What became of the messages to one receiver in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The receiver, without secrets: `prometheus-rw (http://127.0.0.1:9090/api/v1/write)`.
    pub receiver: String,
    /// The messages that were written.
    pub messages: u64,
    /// Those of them that were not delivered.
    pub undelivered: u64,
    /// The reason of the last refusal of a message that was not delivered.
    pub reason: String,
    /// The messages that were delivered after they had been refused.
    pub late: u64,
    /// The single values that found no room while the receiver was away.
    pub points_left_out: u64,
    /// True if there were more series than have room: the others share one series.
    pub has_overflowed: bool,
}

impl Delivery {
    /// Says what was not delivered, or not as it was measured, in one sentence; `None` if there is
    /// nothing to say.
    pub fn sentence(&self) -> Option<String> {
        let Delivery {
            messages,
            undelivered,
            reason,
            ..
        } = self;
        let mut parts = Vec::new();
        if *undelivered > 0 {
            let verb = if *messages == 1 { "was" } else { "were" };
            parts.push(format!(
                "{undelivered} of {messages} batches {verb} not delivered: {reason}"
            ));
        }
        if self.points_left_out > 0 {
            let count = self.points_left_out;
            parts.push(format!("{count} values found no room while it was away"));
        }
        if self.has_overflowed {
            parts.push(format!(
                "more than {} series: the others are added to the series `(other)`; give requests \
                 names that do not contain ids",
                crate::MOST_SERIES
            ));
        }
        (!parts.is_empty()).then(|| format!("{}: {}.", self.receiver, parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_is_missing_and_why() {
        let mut delivery = Delivery {
            receiver: "statsd (a:1)".to_owned(),
            messages: 60,
            ..Delivery::default()
        };
        assert_eq!(delivery.sentence(), None);
        delivery.undelivered = 4;
        delivery.reason = "nothing listens there".to_owned();
        let reason = "statsd (a:1): 4 of 60 batches were not delivered: nothing listens there.";
        assert_eq!(delivery.sentence().as_deref(), Some(reason));
    }
}
