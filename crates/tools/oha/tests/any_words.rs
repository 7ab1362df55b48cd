//! Any words as arguments: either they are refused in the tool's manner, or the command sends
//! exactly the request that the words describe.

use loadline_tool_oha::request;
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
    fn oha_takes_words_or_refuses_them(words in words(), seed: u64) {
        match request(&words, seed) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let first = text.split("\r\n").next().unwrap_or_default();
                prop_assert!(first.contains(" HTTP/1."), "{first}");
                prop_assert!(text.contains("\r\nhost: "), "{text}");
            }
            Err(code) => prop_assert!(matches!(code, 0..=2), "{code}"),
        }
    }
}
