//! The page as a document, and what browsers may do with what is served beside it.

use loadline_page::{LivePage, Page, TemplateMissing, html_with_nonce};
use loadline_web::Answer;
use loadline_web::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// The field that says what a document may load and do.
pub(crate) const POLICY: HeaderName = CONTENT_SECURITY_POLICY;
/// The part of the policy that is the same for all documents of this server.
const NEVER: &str = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Returns the live page, and the policy that lets only its own scripts and styles run.
pub(crate) fn document() -> Result<(String, HeaderValue), TemplateMissing> {
    of_page(&Page::Live(LivePage {
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }))
}

/// Returns a page, and the policy that lets only its own scripts and styles run.
pub(crate) fn of_page(page: &Page) -> Result<(String, HeaderValue), TemplateMissing> {
    let nonce = nonce();
    let html = html_with_nonce(page, &nonce)?;
    let policy = format!(
        "default-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         img-src 'self' data: blob:; {NEVER}"
    );
    let policy = HeaderValue::from_str(&policy).expect("a nonce is hexadecimal digits");
    Ok((html, policy))
}

/// A number that is used once: scripts with it are those of the document.
fn nonce() -> String {
    let mut bytes = [0; 16];
    // Without random bytes nothing else can be served either, and the scripts are refused.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds what holds for everything that is served.
pub(crate) fn guarded(mut answer: Answer) -> Answer {
    let fields = &mut answer.fields;
    if !fields.contains_key(POLICY) {
        let policy = HeaderValue::from_static(
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        );
        fields.insert(POLICY, policy);
    }
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        fields.insert(name, HeaderValue::from_static(value));
    }
    answer
}
