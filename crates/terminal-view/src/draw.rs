//! Draws the view: arranges the panels.
//!
//! From the top: the head, a row of plots, a row of response times and counts, the requests by name
//! if there are several names, a row of outcomes, usage and checks, and at the bottom the latest
//! messages and the keys. Smaller screens have fewer lines in each; a screen below the smallest
//! size has a short list instead.

use crate::panels::{
    checks, counts, foot, head, help, histogram, names, outcomes, percentiles, rate, response,
    small, usage,
};
use crate::plain;
use crate::state::State;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use std::time::Instant;

/// The columns that all panels need.
pub const MIN_WIDTH: u16 = 80;
/// The lines that all panels need.
pub const MIN_HEIGHT: u16 = 24;
/// Lines of the head.
const HEAD: u16 = 3;
/// The lines from which there is room for several messages.
const TALL: u16 = 30;
/// The most messages of a tall screen.
const MOST_MESSAGES: u16 = 4;

/// Draws the state at this instant.
pub fn draw(state: &State, now: Instant, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < MIN_WIDTH || area.height < MIN_HEIGHT {
        small::draw(state, now, area, frame);
    } else {
        panels(state, now, area, frame);
        if state.shows_help {
            help::draw(state, area, frame);
        }
    }
    if !state.look.color {
        plain::without_colours(frame.buffer_mut());
    }
    if state.look.ascii {
        plain::in_ascii(frame.buffer_mut());
    }
}

fn panels(state: &State, now: Instant, area: Rect, frame: &mut Frame<'_>) {
    let messages = match state.messages.len() as u16 {
        messages if area.height >= TALL => messages.clamp(1, MOST_MESSAGES),
        _ => 1,
    };
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(HEAD),
        Constraint::Fill(1),
        Constraint::Length(messages + 1),
    ])
    .areas(area);
    head::draw(state, now, top, frame);
    let [plots, times, by_name, rest] = rows(body, !state.report.names.is_empty());
    draw_plots(state, plots, frame);
    draw_times(state, times, frame);
    if by_name.height > 0 {
        names::draw(state, by_name, frame);
    }
    draw_rest(state, rest, frame);
    foot::draw(state, bottom, frame);
}

/// Returns the four rows of panels; the row of names is empty if there are no names.
fn rows(body: Rect, has_names: bool) -> [Rect; 4] {
    let lines = body.height;
    let (plots, by_name, rest) = match has_names {
        true => (lines / 3, (lines / 5).max(4), (lines / 5).max(4)),
        false => (lines * 2 / 5, 0, (lines / 4).max(4)),
    };
    Layout::vertical([
        Constraint::Length(plots),
        Constraint::Fill(1),
        Constraint::Length(by_name),
        Constraint::Length(rest),
    ])
    .areas(body)
}

fn draw_plots(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let [left, right] = columns(area, [1, 1]);
    rate::draw(state, left, frame);
    response::draw(state, right, frame);
}

fn draw_times(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let [left, middle, right] = columns(area, [11, 15, 9]);
    percentiles::draw(state, left, frame);
    histogram::draw(state, middle, frame);
    counts::draw(state, right, frame);
}

fn draw_rest(state: &State, area: Rect, frame: &mut Frame<'_>) {
    let [left, middle, right] = columns(area, [1, 1, 1]);
    outcomes::draw(state, left, frame);
    usage::draw(state, middle, frame);
    checks::draw(state, right, frame);
}

/// Returns columns with these shares of the width, with a blank between two.
fn columns<const N: usize>(area: Rect, shares: [u16; N]) -> [Rect; N] {
    Layout::horizontal(shares.map(Constraint::Fill))
        .spacing(1)
        .areas(area)
}
