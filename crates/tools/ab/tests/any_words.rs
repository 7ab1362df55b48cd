//! Any words as arguments: either they are refused in the tool's manner, or the command sends
//! exactly the request that the words describe. The fuzz target `dialect_arguments` checks the
//! same.

use loadline_tool_ab::request;
use proptest::prelude::*;

/// Words with a meaning for one of the tools, and words without any.
fn words() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        "-[a-zA-Z]{1,3}[0-9]{0,3}",
        "--[a-z_]{1,12}(=[0-9a-z]{0,4})?",
        "[0-9]{1,6}[kKmsh]?",
        "https?://[a-z0-9.]{1,9}(:[0-9]{1,5})?(/[!-~]{0,9})?",
        "[A-Za-z-]{1,9}: ?[ -~]{0,9}",
        "\\PC{0,9}",
    ];
    prop::collection::vec(word, 0..8)
}

proptest! {
    #[test]
    fn ab_takes_words_or_refuses_them(words in words()) {
        let body = b"body";
        match request(&words, |_| Ok(body.to_vec())) {
            Ok(bytes) => {
                let head = bytes.strip_suffix(body).unwrap_or(&bytes);
                prop_assert!(head.ends_with(b"\r\n\r\n") && head.len() < 8192);
                let text = String::from_utf8_lossy(head);
                let first = text.split("\r\n").next().unwrap_or_default();
                prop_assert!(first.ends_with(" HTTP/1.0"), "{first}");
            }
            Err(code) => prop_assert!(matches!(code, 0 | 1 | 22), "{code}"),
        }
    }
}
