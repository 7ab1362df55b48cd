//! Decoding of bodies from their content coding.

use crate::fetched::Failure;
use loadline_client::{ContentCoding, DecodeError, Decoder, LONGEST_DECODED};
use loadline_record::ErrorKind;

/// Decodes a body from its content codings, the last one first. Unknown codings are skipped.
pub(crate) fn decoded(mut body: Vec<u8>, codings: Option<&[u8]>) -> Result<Vec<u8>, Failure> {
    let Some(codings) = codings.filter(|_| !body.is_empty()) else {
        return Ok(body);
    };
    for coding in codings.rsplit(|byte| *byte == b',') {
        if let Ok(Some(coding)) = ContentCoding::parse(coding.trim_ascii()) {
            body = without(coding, &body).map_err(corrupt)?;
        }
    }
    Ok(body)
}

fn without(coding: ContentCoding, body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut decoder = Decoder::new(coding, LONGEST_DECODED);
    let mut output = Vec::new();
    decoder.feed(body, |part| output.extend_from_slice(part))?;
    decoder.finish()?;
    Ok(output)
}

fn corrupt(problem: DecodeError) -> Failure {
    Failure::of(ErrorKind::Content.name(), problem.to_string())
}
