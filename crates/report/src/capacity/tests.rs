mod searches;

use super::*;
use crate::capacity_json;
use loadline_capacity::{Breaking, Inconclusive, Ladder, OwnLimit, Purpose};
use loadline_page::{AnswerKind, Page, TrialEnd};
use searches::*;

#[test]
fn a_load_line_comes_with_its_ladder_and_its_picture() {
    let (plan, outcome) = (plan(), found());
    let text = capacity(&report(&plan, &outcome), &TextOptions::default());
    let line = "load line: 4900 req/s (4880 … 4961); p99 fails first; target CPU 98 %;";
    assert!(text.contains(line), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn trials_too_short_for_a_backlog_are_named_with_the_length_that_would_do() {
    let (plan, mut outcome) = (plan(), found());
    let long = capacity(&report(&plan, &outcome), &TextOptions::default());
    assert!(!long.contains("too short"), "{long}");
    for trial in &mut outcome.trials {
        (trial.seconds, trial.seen.mean_s) = (2.5, 0.15);
        trial.purpose = Purpose::Confirmation;
    }
    let shown = report(&plan, &outcome);
    let text = capacity(&shown, &TextOptions::default()).replace('\n', " ");
    let sentence = "Trials of 500 ms are too short to see a backlog grow when a response takes \
                    150 ms, so this may be too high or too low; give --duration 1s.";
    assert!(text.contains(sentence), "{text}");
    let found = &capacity_json(&shown)["trials_too_short"];
    assert_eq!(
        (&found["needed_s"], &found["text"]),
        (&0.6.into(), &sentence.into())
    );
    let users = CapacityReport {
        users: true,
        ..shown
    };
    assert!(capacity_json(&users)["trials_too_short"].is_null());
}

#[test]
fn every_other_answer_says_what_to_change() {
    let plan = plan();
    let line = |answer: Conclusion| words::answer_line(&report(&plan, &outcome(answer)));
    let lines: Vec<String> = other_answers().into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Searches as JSON: one with all that it may have, and one with each other answer.
pub(crate) fn documents() -> Vec<(String, serde_json::Value)> {
    let plan = plan();
    let mut found = found();
    for trial in &mut found.trials {
        (trial.seconds, trial.seen.mean_s) = (2.5, 0.15);
        trial.purpose = Purpose::Confirmation;
    }
    let others = other_answers().into_iter().enumerate();
    let others = others.map(|(index, answer)| (format!("answer_{index}"), outcome(answer)));
    std::iter::once(("found".to_owned(), found))
        .chain(others)
        .map(|(name, outcome)| (name, capacity_json(&report(&plan, &outcome))))
        .collect()
}

#[test]
fn programs_find_the_answer_and_every_trial() {
    let (plan, outcome) = (plan(), found());
    let json = capacity_json(&report(&plan, &outcome));
    assert_eq!(json["capacity_schema"], loadline_json::SEARCH_SCHEMA);
    assert_eq!(json["answer"]["kind"], "found");
    assert_eq!(json["answer"]["level"], 4_900.0);
    assert_eq!(json["answer"]["lower_bound"], 4_900.0);
    assert_eq!(json["answer"]["upper_bound"], 5_000.0);
    assert_eq!(json["answer"]["conditional_throughput"], 4_897.0);
    let goal = &json["goal"];
    assert_eq!(
        (&goal["trial_s"], &goal["duration_sum_s"]),
        (&2.0.into(), &10.0.into())
    );
    assert_eq!(
        (&goal["exceed_ratio"], &goal["width"]),
        (&0.5.into(), &0.05.into())
    );
    assert_eq!(
        (&goal["budget_s"], &goal["trials"]),
        (&120.0.into(), &5.into())
    );
    assert_eq!(
        goal["checks"],
        serde_json::json!(["p99<50ms", "errors<0.1%"])
    );
    assert_eq!(json["answer"]["breaks"][0], "p99<50ms");
    assert_eq!(json["ladder"].as_array().unwrap().len(), 6);
    assert_eq!(json["recovery"]["after_s"], 2.0);
    assert_eq!(json["floor"]["connections"], 50);
    assert_eq!(
        json["trials"].as_array().unwrap().len(),
        outcome.trials.len()
    );
    assert_eq!(json["trials"][3]["held"], false);
    assert_eq!(json["trials"][3]["checks"][0]["held"], false);
}

#[test]
fn a_trial_is_one_line() {
    let plan = plan();
    let lines = [trial(3, 3_200.0, 4), trial(4, 6_400.0, 900)]
        .map(|trial| trial_line(&trial, &plan.checks, false));
    assert_eq!(
        lines,
        [
            "trial   3 search            3200 req/s  p50    300 µs  p99   4.00 ms  passed",
            "trial   4 search            6400 req/s  p50    300 µs  p99    900 ms  p99<50ms failed",
        ]
    );
}

#[test]
fn a_time_of_a_trial_that_is_a_lower_bound_is_shown_as_one() {
    let (plan, mut outcome) = (plan(), found());
    let cut = &mut outcome.trials[3].seen;
    (cut.p99_at_least, cut.undecided) = (true, vec![true, false]);
    let line = trial_line(&outcome.trials[3], &plan.checks, false);
    assert!(
        line.ends_with("p99  > 900 ms  p99<50ms undecided"),
        "{line}"
    );
    let shown = report(&plan, &outcome);
    let json = &capacity_json(&shown)["trials"][3];
    assert_eq!(json["p99_at_least"], true);
    assert_eq!(json["p50_at_least"], false);
    let checks = (&json["checks"][0], &json["checks"][1]["outcome"]);
    assert_eq!(
        (&checks.0["outcome"], &checks.0["held"], checks.1),
        (&"not_known".into(), &false.into(), &"kept".into())
    );
    let text = capacity(&shown, &TextOptions::default());
    assert!(text.contains("- p50, ^ at least"), "{text}");
    assert!(text.lines().any(|line| line.ends_with('^')), "{text}");
    let page = search_page(&shown);
    assert_eq!(page.trials[3].cells[3], "> 900 ms");
    let chart = page.plots.response_over_load();
    let bound = chart
        .series
        .iter()
        .find(|series| series.name == "p99, a lower bound");
    let drawn = bound.map(|series| series.y.iter().flatten().collect::<Vec<_>>());
    assert_eq!(drawn, Some(vec![&900_000.0]));
}

/// Certain failures are named first, whatever the order of the checks.
#[test]
fn a_trial_names_what_failed_before_what_is_undecided() {
    let (plan, mut outcome) = (plan(), found());
    let cut = &mut outcome.trials[3].seen;
    (cut.checks, cut.undecided) = (vec![false, false], vec![true, false]);
    let line = trial_line(&outcome.trials[3], &plan.checks, false);
    assert!(line.ends_with("errors<0.1% failed"), "{line}");
}

#[test]
fn a_load_line_of_a_disturbed_machine_says_so() {
    let mut outcome = found();
    if let Conclusion::Found(line) = &mut outcome.conclusion {
        line.disturbance = Some(OwnLimit::Others { cores: 1.7 });
    }
    let plan = plan();
    let text = capacity(&report(&plan, &outcome), &TextOptions::default());
    let mind = "The load line may be higher, because the trials just above it were disturbed: \
                other \
                processes of its machine used 170 % of a core. Stop them, or use another machine.";
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(mind), "{text}");
    let json = capacity_json(&report(&plan, &outcome));
    assert_eq!(json["answer"]["disturbance"]["cpu_percent"], 170.0);
}

#[test]
fn a_rung_that_failed_on_a_disturbed_machine_does_not_blame_the_target() {
    let mut outcome = found();
    let stolen = Some(OwnLimit::Stolen { share: 0.3 });
    for rung in &mut outcome.ladder.rungs {
        rung.trial.seen.disturbance = stolen;
    }
    outcome.ladder.recovery = Some(Recovery::NotWithin { seconds: 5.0 });
    let plan = plan();
    let report = report(&plan, &outcome);
    let text = capacity(&report, &TextOptions::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let recovery = "After 110 % the checks did not pass again within 5 s at 90 %.";
    assert!(text.contains(recovery), "{text}");
    let sentence = "The check at the step \"back at 90 %\" may have failed because of the \
                  generator or its machine: the hypervisor gave 30.0 % of this machine's CPU time \
                  to other machines. Measure again";
    assert!(text.contains(sentence), "{text}");
    assert_eq!(text.matches("may have failed").count(), 1, "{text}");
    let json = capacity_json(&report);
    assert_eq!(json["ladder"][5]["disturbance"]["kind"], "stolen");
    assert_eq!(json["ladder"][5]["lost_time"], false);
}

#[test]
fn the_page_of_a_search_in_full() {
    let (plan, outcome) = (plan(), found());
    let page = search_page(&report(&plan, &outcome));
    assert_eq!(page.answer.kind, AnswerKind::Found);
    insta::assert_json_snapshot!(Page::Search(Box::new(page)));
}

#[test]
fn the_page_has_every_sentence_of_the_text() {
    let mut outcome = found();
    if let Conclusion::Found(line) = &mut outcome.conclusion {
        line.disturbance = Some(OwnLimit::Others { cores: 1.7 });
    }
    for trial in &mut outcome.trials {
        (trial.seconds, trial.seen.mean_s) = (2.5, 0.15);
        trial.purpose = Purpose::Confirmation;
    }
    let stolen = &mut outcome.ladder.rungs[5].trial.seen;
    stolen.disturbance = Some(OwnLimit::Stolen { share: 0.3 });
    let plan = plan();
    let report = CapacityReport {
        interrupted: true,
        ..report(&plan, &outcome)
    };
    let page = search_page(&report);
    let text = capacity(&report, &TextOptions::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!((page.answer.notes.len(), page.ladder_notes.len()), (4, 2));
    let sentences = [&page.title, &page.course, &page.answer.text];
    let notes = page.answer.notes.iter().chain(&page.ladder_notes);
    for sentence in sentences.into_iter().chain(notes).chain(&page.floor) {
        assert!(text.contains(sentence.as_str()), "{sentence}: {text}");
    }
}

#[test]
fn what_failed_because_of_the_generator_is_not_blamed_on_the_target_by_the_page() {
    let (plan, limit) = (plan(), OwnLimit::Late { share: 0.8 });
    let kind = |own_limit| {
        let level = 1.0;
        let breaks = vec![Breaking::Check(0)];
        let outcome = self::outcome(Conclusion::NothingHolds {
            level,
            breaks,
            own_limit,
        });
        let page = search_page(&report(&plan, &outcome));
        assert_eq!(page.plots.response_over_load().reference_lines, []);
        page.answer.kind
    };
    assert_eq!(kind(None), AnswerKind::NothingHolds);
    assert_eq!(kind(Some(limit)), AnswerKind::NotKnown);
}

#[test]
fn a_trial_that_was_discarded_or_not_answered_has_no_place_among_those_that_tell() {
    let (plan, mut outcome) = (plan(), found());
    outcome.trials[0].purpose = Purpose::WarmUp;
    outcome.trials[3].discarded = true;
    (outcome.trials[5].seen.p50_ns, outcome.trials[5].seen.p99_ns) = (0, 0);
    let page = search_page(&report(&plan, &outcome));
    let ends: Vec<_> = page.trials.iter().map(|trial| trial.ended).collect();
    let (passed, failed) = (TrialEnd::Passed, TrialEnd::Failed);
    assert_eq!(
        ends,
        [
            TrialEnd::WarmUp,
            passed,
            passed,
            TrialEnd::Discarded,
            passed,
            failed
        ]
    );
    assert_eq!((page.trials[5].p50_us, page.trials[5].p99_us), (None, None));
}

#[test]
fn discarded_trials_are_counted_and_not_drawn() {
    let (plan, mut outcome) = (plan(), found());
    let highest = &mut outcome.trials[3];
    highest.discarded = true;
    highest.seen.disturbance = Some(OwnLimit::Stolen { share: 0.3 });
    let line = trial_line(&outcome.trials[3], &plan.checks, false);
    let end = "p99<50ms failed; discarded, because the machine was disturbed";
    assert!(line.ends_with(end), "{line}");
    let text = capacity(&report(&plan, &outcome), &TextOptions::default());
    let course = "searched in 6 trials (1 of them discarded, because the machine was disturbed), \
                  by";
    assert!(text.replace('\n', " ").contains(course), "{text}");
    assert!(
        text.contains("5000 req/s"),
        "the picture ends there: {text}"
    );
    let json = capacity_json(&report(&plan, &outcome));
    let aside = json["trials"].as_array().unwrap().iter();
    let aside: Vec<_> = aside.map(|trial| trial["set_aside"] == true).collect();
    assert_eq!(aside, [false, false, false, true, false, false]);
}

#[test]
fn who_falls_behind_is_the_target() {
    let (plan, mut outcome) = (plan(), found());
    if let Conclusion::Found(line) = &mut outcome.conclusion {
        line.breaks = vec![Breaking::KeepingUp];
    }
    let line = words::answer_line(&report(&plan, &outcome));
    assert!(line.contains("; the target falls behind first; "), "{line}");
}

#[test]
fn an_answer_that_was_not_confirmed_to_the_end_says_so() {
    let (plan, outcome) = (plan(), found());
    let told = |interrupted| {
        let report = CapacityReport {
            interrupted,
            ..report(&plan, &outcome)
        };
        capacity(&report, &TextOptions::default()).replace('\n', " ")
    };
    let words = "ended before all of its trials were made";
    assert!(told(true).contains(words) && !told(false).contains(words));
}

#[test]
fn who_asked_for_little_is_not_told_to_ask_for_less() {
    let (plan, outcome) = (
        plan(),
        outcome(Conclusion::Inconclusive(Inconclusive::default())),
    );
    let line = |width| {
        let settings = Settings { width, ..SETTINGS };
        let report = CapacityReport {
            settings: &settings,
            ..report(&plan, &outcome)
        };
        words::answer_line(&report)
    };
    assert!(
        line(0.05).contains("ask for less (--precision 10%)"),
        "{}",
        line(0.05)
    );
    assert!(
        line(0.1).contains("ask for less (--precision 20%)"),
        "{}",
        line(0.1)
    );
    assert!(
        line(0.2).ends_with("was over; give it more (--budget 240s)."),
        "{}",
        line(0.2)
    );
}

#[test]
fn a_check_that_nobody_asked_for_is_told_with_its_figure() {
    let (plan, outcome) = (plan(), found());
    let report = CapacityReport {
        errors_added: true,
        ..report(&plan, &outcome)
    };
    let text = capacity(&report, &TextOptions::default()).replace('\n', " ");
    assert!(text.contains("errors<1% was added to the checks"), "{text}");
    assert_eq!(capacity_json(&report)["goal"]["errors_check_added"], true);
}

#[test]
fn a_load_line_that_left_no_time_for_its_ladder_says_so() {
    let (plan, mut outcome) = (plan(), found());
    outcome.ladder = Ladder::default();
    let text = capacity(&report(&plan, &outcome), &TextOptions::default());
    assert!(text.contains("No time was left for the ladder"), "{text}");
}

#[test]
fn where_users_lose_their_pace_it_is_said_what_that_means() {
    let (plan, mut outcome) = (plan(), found());
    let Conclusion::Found(line) = &mut outcome.conclusion else {
        panic!("{:?}", outcome.conclusion);
    };
    line.breaks.reverse();
    let settings = Settings {
        users_keep_pace: true,
        ..SETTINGS
    };
    let of_users = CapacityReport {
        users: true,
        settings: &settings,
        ..report(&plan, &outcome)
    };
    let text =
        |report: &CapacityReport<'_>| capacity(report, &TextOptions::default()).replace('\n', " ");
    let shown = text(&of_users);
    assert!(shown.contains("; the target falls behind first"), "{shown}");
    assert!(shown.contains("less than 90 % of the requests that it makes at low load"));
    let of_rates = text(&report(&plan, &outcome));
    assert!(!of_rates.contains("at low load"), "{of_rates}");
}
