//! What a user takes from a response, and what it makes of it.

use super::step::Step;
use crate::behaviour::{Observer, Refusal};
use loadline_client::{
    Authenticator, ContentCoding, CookieJar, Decoder, LONGEST_DECODED, NextRequest,
    RedirectProblem, follow, is_redirect,
};
use loadline_record::ErrorKind;
use loadline_wire::Sink;
use std::cell::RefCell;
use std::mem;

/// The status by which a server asks who is there.
const UNAUTHORIZED: u16 = 401;

/// What follows on a response.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// The same request, signed.
    Signed,
    /// Where its redirect leads.
    Redirected(NextRequest),
}

/// Decoders that no response needs at the moment. There are as many as responses come at a time,
/// not as there are users.
#[derive(Debug, Default)]
pub(super) struct Decoders(RefCell<Vec<Decoder>>);

impl Decoders {
    fn take(&self, coding: ContentCoding) -> Decoder {
        let mut idle = self.0.borrow_mut();
        let Some(index) = idle.iter().position(|decoder| decoder.coding() == coding) else {
            return Decoder::new(coding, LONGEST_DECODED);
        };
        let mut decoder = idle.swap_remove(index);
        decoder.restart();
        decoder
    }

    fn give_back(&self, decoder: Decoder) {
        self.0.borrow_mut().push(decoder);
    }
}

/// What a user keeps of responses from one request to the next.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) jar: Option<CookieJar>,
    pub(super) authenticator: Option<Authenticator>,
    /// How many redirects it follows in a row.
    pub(super) most_redirects: u32,
}

/// Takes the response to one request. `DECODES` says whether its body is looked at.
#[derive(Debug)]
pub(super) struct Hearing<'a, const DECODES: bool> {
    step: &'a Step<'a>,
    kept: &'a mut Kept,
    decoders: &'a Decoders,
    status: u16,
    locations: Vec<Vec<u8>>,
    challenges: Vec<Vec<u8>>,
    decoder: Option<Decoder>,
    problem: Option<Refusal>,
    next: Next,
}

impl<'a, const DECODES: bool> Hearing<'a, DECODES> {
    pub(super) fn new(step: &'a Step<'a>, kept: &'a mut Kept, decoders: &'a Decoders) -> Self {
        Hearing {
            step,
            kept,
            decoders,
            status: 0,
            locations: Vec::new(),
            challenges: Vec::new(),
            decoder: None,
            problem: None,
            next: Next::Nothing,
        }
    }

    /// What follows on the response, whose exchange has ended.
    pub(super) fn into_next(mut self) -> Next {
        if let Some(decoder) = self.decoder.take() {
            self.decoders.give_back(decoder);
        }
        self.next
    }

    fn refuse(&mut self, kind: ErrorKind, problem: impl ToString) {
        let reason = problem.to_string();
        self.problem.get_or_insert(Refusal { kind, reason });
    }

    fn encoded(&mut self, value: &[u8]) {
        match ContentCoding::parse(value) {
            Ok(Some(coding)) => self.decoder = Some(self.decoders.take(coding)),
            Ok(None) => {}
            Err(problem) => self.refuse(ErrorKind::Content, problem),
        }
    }

    /// The response is whole: makes of it what follows.
    fn conclude(&mut self) {
        let cut = self.decoder.as_ref().map(Decoder::finish);
        if let Some(Err(problem)) = cut {
            return self.refuse(ErrorKind::Content, problem);
        }
        if is_redirect(self.status) && self.kept.most_redirects > 0 {
            match self.redirect() {
                Ok(Some(next)) => self.next = Next::Redirected(next),
                Ok(None) => {}
                Err(problem) => self.refuse(ErrorKind::Redirect, problem),
            }
        } else if self.status == UNAUTHORIZED && self.step.may_authorize() {
            self.answer_challenge();
        }
    }

    /// Where the redirect leads. One without a Location is a response like others.
    fn redirect(&self) -> Result<Option<NextRequest>, RedirectProblem> {
        let [location, others @ ..] = &self.locations[..] else {
            return Ok(None);
        };
        if others.iter().any(|other| other != location) {
            return Err(RedirectProblem::SeveralUrls);
        }
        if self.step.redirects >= self.kept.most_redirects {
            return Err(RedirectProblem::TooMany(self.kept.most_redirects));
        }
        let step = self.step;
        follow(self.status, step.method(), step.url(), location).map(Some)
    }

    fn answer_challenge(&mut self) {
        let Some(authenticator) = &mut self.kept.authenticator else {
            return;
        };
        let challenges = self.challenges.iter().map(Vec::as_slice);
        let is_answer = self.step.authorization.is_some();
        match authenticator.challenged(challenges, is_answer) {
            Ok(true) => self.next = Next::Signed,
            Ok(false) => {}
            Err(problem) => self.refuse(ErrorKind::Challenge, problem),
        }
    }
}

impl<const DECODES: bool> Sink for Hearing<'_, DECODES> {
    const WANTS_HEAD: bool = true;
    const WANTS_BODY: bool = DECODES;

    fn status(&mut self, status: u16) {
        self.status = status;
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        // Most fields are told apart by their length.
        match name.len() {
            8 if is("Location") => self.locations.push(value.to_vec()),
            10 if is("Set-Cookie") => {
                if let Some(jar) = &mut self.kept.jar {
                    jar.store(self.step.url(), value);
                }
            }
            16 if DECODES && is("Content-Encoding") => self.encoded(value),
            16 if is("WWW-Authenticate") => self.challenges.push(value.to_vec()),
            _ => {}
        }
    }

    fn body(&mut self, part: &[u8]) {
        if self.problem.is_some() {
            return;
        }
        let fed = self
            .decoder
            .as_mut()
            .map(|decoder| decoder.feed(part, |_| ()));
        if let Some(Err(problem)) = fed {
            self.refuse(ErrorKind::Content, problem);
        }
    }
}

impl<const DECODES: bool> Observer for Hearing<'_, DECODES> {
    const MAY_REFUSE: bool = true;

    fn refusal(&mut self, is_whole: bool) -> Option<Refusal> {
        if is_whole && self.problem.is_none() {
            self.conclude();
        }
        mem::take(&mut self.problem)
    }
}
