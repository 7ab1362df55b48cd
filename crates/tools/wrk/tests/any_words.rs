//! Any words as arguments: either they are refused in the tool's manner, or the command sends
//! exactly the request that the words describe. The fuzz target `dialect_arguments` checks the
//! same.

use loadline_tool_wrk::{Arguments, Tool};
use proptest::prelude::*;
use std::ffi::OsString;

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
    fn wrk_takes_words_or_refuses_them(words in words(), is_wrk2: bool) {
        let tool = if is_wrk2 { Tool::Wrk2 } else { Tool::Wrk };
        match Arguments::parse(tool, words.iter().map(OsString::from)) {
            Ok(arguments) => {
                prop_assert!(arguments.threads > 0);
                prop_assert!(arguments.connections >= arguments.threads);
                prop_assert_eq!(arguments.rate.is_some(), is_wrk2);
                if let Ok(plan) = arguments.plan() {
                    let url = &plan.requests[0].url;
                    prop_assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
                }
                // Headers that define the body's length can't be sent without a body, which is an
                // error.
                let _ = arguments.repetition();
            }
            Err(refusal) => prop_assert!(refusal.stdout.contains("Usage: wrk <options> <url>")),
        }
    }
}
