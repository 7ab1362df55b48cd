//! The whole view on screens of several sizes, as a terminal would show it.

use crate::samples::{Shown, busy_second, changed, failing_second, named_second, plan};
use crate::{Action, Keys, State, ViewStyle, draw};
use loadline_plan::Plan;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use std::time::{Duration, Instant};

const COLOURED: ViewStyle = ViewStyle {
    color: true,
    ascii: false,
};
const PLAIN: ViewStyle = ViewStyle {
    color: false,
    ascii: false,
};

fn buffer(state: &State, now: Instant, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, now, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn screen(shown: &Shown, width: u16, height: u16) -> String {
    text(&buffer(&shown.state, shown.now, width, height))
}

fn text(buffer: &Buffer) -> String {
    let columns = usize::from(buffer.area.width);
    let lines = buffer.content.chunks(columns.max(1));
    let line = |cells: &[ratatui::buffer::Cell]| {
        let line: String = cells.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    };
    lines.map(line).collect()
}

/// Returns a run of this many seconds.
fn run(plan: &Plan, seconds: u64, second: impl Fn(u64) -> loadline_record::Snapshot) -> Shown {
    let mut shown = Shown::begun(plan, COLOURED);
    (0..seconds).for_each(|index| shown.second(&second(index)));
    shown
}

#[test]
fn the_least_screen_has_all_panels() {
    let shown = run(&plan(), 12, busy_second);
    insta::assert_snapshot!(screen(&shown, 80, 24));
}

#[test]
fn a_larger_screen_has_more_of_each() {
    let mut shown = run(&plan(), 12, |index| named_second(index, 4));
    for said in [
        "The load is 105 % of the plan.",
        "The load is 110 % of the plan.",
    ] {
        shown.state.add_message(said);
    }
    shown.summary.changes.push(changed(1_100));
    shown.second(&named_second(12, 4));
    insta::assert_snapshot!(screen(&shown, 120, 40));
}

#[test]
fn before_the_first_interval_there_are_no_figures() {
    let mut shown = Shown::begun(&plan(), COLOURED);
    shown.now += Duration::from_millis(400);
    insta::assert_snapshot!(screen(&shown, 80, 24));
}

#[test]
fn errors_have_their_examples() {
    let shown = run(&plan(), 8, failing_second);
    insta::assert_snapshot!(screen(&shown, 100, 30));
}

#[test]
fn of_many_names_the_busiest_are_shown() {
    let shown = run(&plan(), 5, |index| named_second(index, 60));
    insta::assert_snapshot!(screen(&shown, 80, 24));
}

#[test]
fn a_very_long_run_is_shown_by_the_hour() {
    let endless = Plan {
        duration: None,
        ..plan()
    };
    let mut shown = Shown::begun(&endless, COLOURED);
    let second = |index| crate::samples::second(index, 1_000 + index % 600, 3);
    (0..30_000).for_each(|index| shown.unseen(&second(index)));
    shown.second(&second(30_000));
    insta::assert_snapshot!(screen(&shown, 100, 30));
}

#[test]
fn a_tiny_window_has_the_most_important_lines() {
    let shown = run(&plan(), 12, failing_second);
    insta::assert_snapshot!(screen(&shown, 50, 8));
}

#[test]
fn the_help_stands_over_the_view() {
    let mut shown = run(&plan(), 12, busy_second);
    assert!(shown.state.act(Action::Help));
    insta::assert_snapshot!(screen(&shown, 80, 24));
    assert!(shown.state.act(Action::Help));
    assert!(!screen(&shown, 80, 24).contains("Help"));
}

#[test]
fn a_screen_of_any_size_does_no_harm() {
    let mut shown = run(&plan(), 12, |index| named_second(index, 3));
    shown.state.add_message("The load is paused.");
    for help in [false, true] {
        shown.state.shows_help = help;
        for width in [0, 1, 2, 7, 20, 79, 80, 81, 300] {
            for height in [0, 1, 2, 3, 9, 23, 24, 25, 100] {
                screen(&shown, width, height);
            }
        }
    }
}

#[test]
fn without_colours_no_cell_has_one_and_the_text_is_the_same() {
    let mut shown = run(&plan(), 12, failing_second);
    let coloured = buffer(&shown.state, shown.now, 80, 24);
    assert!(coloured.content.iter().any(|cell| cell.fg == Color::Red));
    shown.state.look = PLAIN;
    let plain = buffer(&shown.state, shown.now, 80, 24);
    let is_plain =
        |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
    assert!(plain.content.iter().all(is_plain));
    assert_eq!(text(&plain), text(&coloured));
}

#[test]
fn a_terminal_that_has_only_ascii_gets_nothing_else() {
    let mut shown = run(&plan(), 12, failing_second);
    shown.state.look.ascii = true;
    shown.state.shows_help = true;
    let screen = screen(&shown, 80, 24);
    assert!(screen.is_ascii(), "{screen}");
    assert!(
        screen.contains("* ") || screen.contains("**"),
        "no plot: {screen}"
    );
}

#[test]
fn the_clock_goes_on_between_two_intervals() {
    let shown = run(&plan(), 12, busy_second);
    let at = |seconds| {
        text(&buffer(
            &shown.state,
            shown.now + Duration::from_secs(seconds),
            80,
            24,
        ))
    };
    assert!(at(0).contains("12 s of 30 s, 18 s left"), "{}", at(0));
    assert!(at(3).contains("15 s of 30 s, 15 s left"), "{}", at(3));
}

#[test]
fn a_picture_is_the_same_until_something_happens_or_a_second_passes() {
    let mut shown = run(&plan(), 2, busy_second);
    let now = shown.now;
    let before = shown.state.picture(now);
    assert_eq!(
        before,
        shown.state.picture(now + Duration::from_millis(900))
    );
    assert_ne!(
        before,
        shown.state.picture(now + Duration::from_millis(1_100))
    );
    shown.state.add_message("something");
    assert_ne!(before, shown.state.picture(now));
}

#[test]
fn a_run_that_has_ended_has_a_clock_that_stands() {
    let mut shown = run(&plan(), 12, busy_second);
    shown.state.ended(&shown.summary);
    let later = shown.now + Duration::from_secs(60);
    assert_eq!(
        shown.state.progress(later).unwrap().elapsed,
        Duration::from_secs(12)
    );
}

#[test]
fn keys_of_the_time_scale_change_what_the_plots_show() {
    let mut shown = run(&plan(), 12, busy_second);
    shown.state.read_keys(Keys::Scale);
    assert!(screen(&shown, 80, 24).contains("time scale: 10 sec, automatic"));
    assert!(shown.state.act(Action::Finer));
    let finer = screen(&shown, 80, 24);
    assert!(finer.contains("time scale: 1 sec\n"), "{finer}");
    assert!(shown.state.act(Action::Coarser) && shown.state.act(Action::Coarser));
    assert!(screen(&shown, 80, 24).contains("time scale: 1 min\n"));
    assert!(shown.state.act(Action::AutomaticScale) && shown.state.has_automatic_scale());
    assert!(!shown.state.act(Action::MoreLoad), "that is the run's");
}

#[test]
fn the_next_run_of_several_begins_with_nothing_but_the_messages() {
    let mut shown = run(&plan(), 12, busy_second);
    shown.state.add_message("run 1 of 3: done");
    let header = loadline_record::Header::new(
        &plan(),
        loadline_record::Environment::default(),
        std::time::SystemTime::UNIX_EPOCH,
    );
    shown.state.begun(&header, "run 2 of 3: ", shown.now);
    let screen = screen(&shown, 80, 24);
    assert!(screen.starts_with("run 2 of 3: GET http"), "{screen}");
    assert!(screen.contains("run 1 of 3: done") && screen.contains("no figures yet"));
}
