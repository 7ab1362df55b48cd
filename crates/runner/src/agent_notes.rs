//! The notes of a run about its agents: when they begin, are lost and are back, who can't join, and
//! by which clock they measure.

use crate::source::Source;
use loadline_cluster::{Loss, Outsider, Return};
use loadline_record::Note;

/// Returns the note about when agents begin, and how well that is known.
pub(crate) fn of_begin(source: &dyn Source) -> Option<Note> {
    let agents = source.agents().len();
    let error_ms = source.begin_error_ns() as f64 / 1e6;
    let begin = match agents {
        1 => "1 agent begins".to_owned(),
        _ => format!("{agents} agents begin"),
    };
    let text = format!("{begin} at one instant, known to within {error_ms:.3} ms");
    (agents > 0).then(|| Note::new(0, &text)).flatten()
}

/// Returns the note of agents whose kernels timestamp nothing that arrives, at this instant from
/// the run's zero; nothing if there are none.
pub(crate) fn of_unstamped(agents: &[String], at_ns: u64) -> Option<Note> {
    let (kernels, their) = match agents {
        [] => return None,
        [agent] => (format!("The kernel of agent {agent} does"), "its"),
        agents => {
            let names = agents.join(", ");
            (format!("The kernels of agents {names} do"), "their")
        }
    };
    let text = format!(
        "{kernels} not timestamp what arrives (SO_TIMESTAMPNS): {their} response times end when \
         they were read, as with --clock user"
    );
    Note::new(at_ns, &text)
}

/// Returns the note of a loss after which so many agents are there.
pub(crate) fn of_loss(loss: &Loss, present: usize) -> Option<Note> {
    let agent = &loss.agent;
    let left = match present {
        0 => "none is left".to_owned(),
        1 => "1 agent".to_owned(),
        _ => format!("{present} agents"),
    };
    Note::new(loss.until_ns, &format!("Agent {agent} is lost, {left}"))
}

/// Returns the note of the instant from which the others send the load of a lost agent, if they do.
pub(crate) fn of_takeover(loss: &Loss) -> Option<Note> {
    let text = format!("The other agents send the load of {}", loss.agent);
    Note::new(loss.taken_from_ns?, &text)
}

/// Returns the sentence about a run that ended because so many of its agents were lost, if these
/// are all.
pub(crate) fn of_all_lost(agents: usize, lost: usize) -> &'static str {
    match agents {
        0 => "",
        1 if lost == 1 => " It was the only agent, so the run ended.",
        agents if lost >= agents => " No agent was left, so the run ended.",
        _ => "",
    }
}

/// Returns the note of a lost agent that is back.
pub(crate) fn of_return(back: &Return) -> Option<Note> {
    let agent = &back.loss.agent;
    let load = match back.loss.taken_from_ns {
        Some(_) => "the others keep its load",
        None => "nobody sends its load",
    };
    let after_s = after_s(back);
    let text = format!("Agent {agent} is back after {after_s:.1} s; {load}");
    Note::new(back.at_ns, &text)
}

/// Returns the note of an agent that can't join.
pub(crate) fn of_outsider(outsider: &Outsider) -> Option<Note> {
    let Outsider {
        agent,
        reason,
        at_ns,
    } = outsider;
    Note::new(*at_ns, &format!("Agent {agent} can't join: {reason}"))
}

/// Returns the sentence about a lost agent that was back before the run ended.
pub(crate) fn sentence(back: &Return) -> String {
    let (agent, after_s) = (&back.loss.agent, after_s(back));
    format!("agent {agent} was back {after_s:.1} s later, and had no part of the run any more.")
}

/// Returns the time for which an agent was away: since the last interval of it that counts.
fn after_s(back: &Return) -> f64 {
    back.at_ns.saturating_sub(back.loss.until_ns) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(taken_from_ns: Option<u64>) -> Return {
        Return {
            loss: Loss {
                agent: "web-2".to_owned(),
                workers: 1..2,
                until_ns: 2_000_000_000,
                taken_from_ns,
            },
            at_ns: 11_840_000_000,
        }
    }

    #[test]
    fn a_return_says_for_how_long_and_who_has_the_load() {
        let note = of_return(&back(Some(6_000_000_000))).expect("a note");
        assert_eq!(note.at_ns, 11_840_000_000);
        assert_eq!(
            note.text,
            "Agent web-2 is back after 9.8 s; the others keep its load"
        );
        let note = of_return(&back(None)).expect("a note");
        assert_eq!(
            note.text,
            "Agent web-2 is back after 9.8 s; nobody sends its load"
        );
        assert_eq!(
            sentence(&back(None)),
            "agent web-2 was back 9.8 s later, and had no part of the run any more."
        );
    }

    #[test]
    fn a_loss_has_a_note_for_each_instant() {
        let texts = |loss: &Loss, present| {
            let notes = of_loss(loss, present).into_iter().chain(of_takeover(loss));
            let notes = notes.map(|note| (note.at_ns, note.text));
            notes.collect::<Vec<(u64, String)>>()
        };
        let lost = |present: &str| (2_000_000_000, format!("Agent web-2 is lost, {present}"));
        assert_eq!(texts(&back(None).loss, 1), [lost("1 agent")]);
        assert_eq!(texts(&back(None).loss, 0), [lost("none is left")]);
        let taken = (
            6_000_000_000,
            "The other agents send the load of web-2".to_owned(),
        );
        assert_eq!(
            texts(&back(Some(6_000_000_000)).loss, 3),
            [lost("3 agents"), taken]
        );
    }
}
