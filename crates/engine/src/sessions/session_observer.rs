//! A user's handling of a response.

use super::step::Step;
use crate::observer::{Answer, Carrier, Observer, Refusal};
use loadline_client::{
    Authenticator, ContentCoding, CookieJar, DecodeError, Decoder, LONGEST_DECODED, NextRequest,
    RedirectProblem, follow, is_redirect,
};
use loadline_plan::Client;
use loadline_record::{ErrorKind, Exchange};
use loadline_transport::{Agreed, Blocked};
use loadline_wire::{Sink, h2};
use std::cell::RefCell;
use std::mem;
use url::Url;

/// The status with which a server requests credentials.
const UNAUTHORIZED: u16 = 401;

/// The step after a response.
#[derive(Debug)]
pub(super) enum Next {
    /// No further request.
    Nothing,
    /// The same request, signed.
    Signed,
    /// The request to which the redirect leads.
    Redirected(NextRequest),
}

/// Decoders that no response uses at the moment. There are as many as responses arrive at a time,
/// not as many as users.
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

/// The state that a user keeps from one response to the next request.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) jar: Option<CookieJar>,
    pub(super) authenticator: Option<Authenticator>,
    /// The most redirects to follow in a row.
    pub(super) most_redirects: u32,
}

impl SessionState {
    /// Creates the state that `client` requires, without cookies or challenges.
    pub(super) fn new(client: &Client) -> Self {
        let authenticator = client.digest.as_ref().map(|credentials| {
            let (user, password) = credentials.user_and_password();
            Authenticator::new(user, password)
        });
        SessionState {
            jar: client.cookies.then(CookieJar::default),
            authenticator,
            most_redirects: client.follow_redirects,
        }
    }

    /// Signs the request that is about to be sent, if a server has requested that.
    pub(super) fn sign(&mut self, step: &mut Step<'_>) {
        step.authorization = None;
        if let Some(authenticator) = &mut self.authenticator
            && step.may_authorize()
        {
            let body = step.body().unwrap_or_default();
            step.authorization = authenticator.sign(step.method(), step.url(), body);
        }
    }

    /// Returns the cookies for a request to this URL.
    pub(super) fn cookies(&mut self, to: &Url) -> Option<&str> {
        self.jar.as_mut()?.header(to)
    }
}

/// Receives the response to one request, and passes it to the observer: with its body decoded, if
/// it `DECODES`.
#[derive(Debug)]
pub(super) struct SessionObserver<'a, O, const DECODES: bool> {
    step: &'a Step<'a>,
    kept: &'a RefCell<SessionState>,
    observer: &'a mut O,
    decoders: &'a Decoders,
    status: u16,
    locations: Vec<Vec<u8>>,
    challenges: Vec<Vec<u8>>,
    decoder: Option<Decoder>,
    problem: Option<Refusal>,
    next: Next,
}

impl<'a, O: Observer, const DECODES: bool> SessionObserver<'a, O, DECODES> {
    pub(super) fn new(
        step: &'a Step<'a>,
        kept: &'a RefCell<SessionState>,
        decoders: &'a Decoders,
        observer: &'a mut O,
    ) -> Self {
        SessionObserver {
            step,
            kept,
            observer,
            decoders,
            status: 0,
            locations: Vec::new(),
            challenges: Vec::new(),
            decoder: None,
            problem: None,
            next: Next::Nothing,
        }
    }

    /// Returns the step after the response, whose exchange has ended.
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
            Ok(Some(_)) if self.decoder.is_some() => {
                let value = String::from_utf8_lossy(value).into_owned();
                let several = DecodeError::Unknown(format!("{value} after another one"));
                self.refuse(ErrorKind::Content, several);
            }
            Ok(Some(coding)) => self.decoder = Some(self.decoders.take(coding)),
            Ok(None) => {}
            Err(problem) => self.refuse(ErrorKind::Content, problem),
        }
    }

    /// Determines the next step from the whole response.
    fn conclude(&mut self) {
        let cut = self.decoder.as_ref().map(Decoder::finish);
        if let Some(Err(problem)) = cut {
            return self.refuse(ErrorKind::Content, problem);
        }
        if is_redirect(self.status) && self.most_redirects() > 0 {
            match self.redirect() {
                Ok(Some(next)) => self.next = Next::Redirected(next),
                Ok(None) => {}
                Err(problem) => self.refuse(ErrorKind::Redirect, problem),
            }
        } else if self.status == UNAUTHORIZED && self.step.may_be_challenged() {
            self.answer_challenge();
        }
    }

    /// Returns the request to which the redirect leads. A redirect without a Location is a response
    /// like others.
    fn redirect(&self) -> Result<Option<NextRequest>, RedirectProblem> {
        let [location, others @ ..] = &self.locations[..] else {
            return Ok(None);
        };
        if others.iter().any(|other| other != location) {
            return Err(RedirectProblem::SeveralUrls);
        }
        let most = self.most_redirects();
        if self.step.redirects >= most {
            return Err(RedirectProblem::TooMany(most));
        }
        let step = self.step;
        follow(self.status, step.method(), step.url(), location).map(Some)
    }

    fn most_redirects(&self) -> u32 {
        self.kept.borrow().most_redirects
    }

    fn answer_challenge(&mut self) {
        let mut kept = self.kept.borrow_mut();
        let Some(authenticator) = &mut kept.authenticator else {
            return;
        };
        let challenges = self.challenges.iter().map(Vec::as_slice);
        let is_answer = self.step.authorization.is_some();
        let challenged = authenticator.challenged(self.step.url(), challenges, is_answer);
        drop(kept);
        match challenged {
            Ok(true) => self.next = Next::Signed,
            Ok(false) => {}
            Err(problem) => self.refuse(ErrorKind::Challenge, problem),
        }
    }
}

impl<O: Observer, const DECODES: bool> Sink for SessionObserver<'_, O, DECODES> {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = DECODES || O::NEEDS_BODY;

    fn head(&mut self, bytes: &[u8]) {
        self.observer.head(bytes);
    }

    fn status(&mut self, status: u16) {
        self.status = status;
        self.observer.status(status);
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        self.observer.header(name, value);
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        // Most fields differ in their length.
        match name.len() {
            8 if is("Location") => self.locations.push(value.to_vec()),
            10 if is("Set-Cookie") => {
                if let Some(jar) = &mut self.kept.borrow_mut().jar {
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
        let Some(decoder) = &mut self.decoder else {
            return self.observer.body(part);
        };
        let observer = &mut *self.observer;
        if let Err(problem) = decoder.feed(part, |decoded| observer.body(decoded)) {
            self.refuse(ErrorKind::Content, problem);
        }
    }
}

impl<O: Observer, const DECODES: bool> Observer for SessionObserver<'_, O, DECODES> {
    const NEEDS_TLS: bool = O::NEEDS_TLS;
    const NEEDS_CARRIER: bool = O::NEEDS_CARRIER;
    const NEEDS_SENT: bool = O::NEEDS_SENT;
    const MAY_REFUSE: bool = true;

    fn secured(&mut self, agreed: &Agreed) {
        self.observer.secured(agreed);
    }

    fn blocked(&mut self, by: &Blocked) {
        self.observer.blocked(by);
    }

    fn carried(&mut self, carrier: &Carrier<'_>) {
        self.observer.carried(carrier);
    }

    fn refusal(&mut self, is_whole: bool) -> Option<Refusal> {
        if O::MAY_REFUSE
            && let Some(refusal) = self.observer.refusal(is_whole)
        {
            return Some(refusal);
        }
        if is_whole && self.problem.is_none() {
            self.conclude();
        }
        mem::take(&mut self.problem)
    }

    fn answered(&mut self, answer: &Answer) {
        self.observer.answered(answer);
    }

    fn given_up(&mut self, code: h2::ErrorCode) {
        self.observer.given_up(code);
    }

    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.observer.failed(reason, os_error);
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.observer.ended(exchange);
    }
}
