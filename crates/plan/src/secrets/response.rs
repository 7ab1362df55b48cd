//! Texts of servers, without secrets: a server may repeat what it was sent, or give new ones.

use super::{MASKED, is_secret_name, without, without_userinfo};

/// Returns a text that a server wrote with its secrets masked: these ones, users and passwords in
/// URLs, and the values whose names are secret, of members of JSON (`"token": "…"`) and of forms
/// (`token=…`).
pub fn mask_response(text: &str, secrets: &[String]) -> String {
    let masked = without(text, secrets).unwrap_or_else(|| text.to_owned());
    let masked = without_userinfo(&masked).unwrap_or(masked);
    without_named(&masked)
}

/// Returns the text with the values whose names are secret masked.
fn without_named(text: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (mut masked, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find(is_of_name) {
        let length = rest[begin..].find(|c| !is_of_name(c));
        let end = length.map_or(rest.len(), |length| begin + length);
        let (name, behind) = (&rest[begin..end], &rest[end..]);
        let is_quoted = rest[..begin].ends_with('"');
        let value = is_secret_name(name).then(|| value(behind, is_quoted));
        masked.push_str(&rest[..end]);
        rest = behind;
        if let Some((gap, length)) = value.flatten() {
            masked.push_str(&behind[..gap]);
            masked.push_str(MASKED);
            rest = &behind[gap + length..];
        }
    }
    masked + rest
}

/// Returns the place and the length of the value of a name that ends before this text, if there is
/// one that is not empty.
fn value(behind: &str, is_quoted: bool) -> Option<(usize, usize)> {
    let rest = match is_quoted {
        true => behind.strip_prefix('"')?.trim_start().strip_prefix(':')?,
        false => behind.strip_prefix('=')?,
    };
    let rest = rest.trim_start();
    let (rest, length) = match rest.strip_prefix('"') {
        Some(text) => (text, length_in_quotes(text)),
        None => {
            let ends =
                |c: char| matches!(c, ',' | ';' | '&' | '}' | ']' | '<') || c.is_whitespace();
            (rest, rest.find(ends).unwrap_or(rest.len()))
        }
    };
    (length > 0).then(|| (behind.len() - rest.len(), length))
}

/// Returns the number of bytes before the quote that ends a text of JSON.
fn length_in_quotes(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_plan_told_the_server_is_masked() {
        let secrets = ["hunter 2".to_owned()];
        assert_eq!(
            mask_response("no user for hunter 2 (?k=hunter%202)", &secrets),
            "no user for **** (?k=****)"
        );
        assert_eq!(
            mask_response("see postgres://me:pw@db/x", &[]),
            "see postgres://****:****@db/x"
        );
    }

    #[test]
    fn values_with_secret_names_are_masked() {
        for (text, masked) in [
            (
                r#"{"access_token": "a\"b", "n": 1}"#,
                r#"{"access_token": "****", "n": 1}"#,
            ),
            (
                r#"{"password":null,"user":"me"}"#,
                r#"{"password":****,"user":"me"}"#,
            ),
            ("retry?session_id=17&x=2", "retry?session_id=****&x=2"),
            ("Set-Cookie=a; Path=/", "Set-Cookie=****; Path=/"),
            (r#"{"token": "cut off her"#, r#"{"token": "****"#),
        ] {
            assert_eq!(mask_response(text, &[]), masked);
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "authentication: failed",
            r#"{"error":"token expired","code":401}"#,
            "<h1>Unauthorized</h1>",
            "token=",
            r#"{"token":""}"#,
            "größer = token",
        ] {
            assert_eq!(mask_response(text, &[]), text);
        }
    }
}
