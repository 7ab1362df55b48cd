//! The cases of a page of specifications.

/// A case of a page.
#[derive(Debug, Default)]
pub(super) struct Case {
    /// The page and the heading.
    pub(super) place: String,
    /// Names of files, the script's among them, and what is in them.
    pub(super) files: Vec<(String, String)>,
    pub(super) words: String,
    pub(super) code: i32,
    pub(super) requests: Option<Vec<String>>,
    pub(super) stdout: Option<Vec<String>>,
    pub(super) stderr: Option<Vec<String>>,
}

impl Case {
    /// Whether it has anything of a case: a heading alone is a part of the prose.
    fn has_begun(&self) -> bool {
        !self.files.is_empty() || !self.words.is_empty()
    }

    fn is_whole(&self) -> bool {
        let has_outcome = self.requests.is_some() || self.stdout.is_some() || self.stderr.is_some();
        self.has_script() && !self.words.is_empty() && has_outcome
    }

    fn has_script(&self) -> bool {
        self.files
            .iter()
            .any(|(name, _)| name.starts_with("script."))
    }

    fn take(&mut self, kind: &str, lines: &[&str]) {
        let text = || lines.join("\n") + "\n";
        let owned = || lines.iter().map(|line| (*line).to_owned()).collect();
        match kind {
            "lua" | "js" | "ts" => self.files.push((format!("script.{kind}"), text())),
            "console" => self.command(lines),
            "requests" => self.requests = Some(owned()),
            "stdout" => self.stdout = Some(owned()),
            "stderr" => self.stderr = Some(owned()),
            other => match other.split_once(' ') {
                Some((_, name)) => self.files.push((name.to_owned(), text())),
                None => panic!("{}: there are no blocks of `{other}`", self.place),
            },
        }
    }

    fn command(&mut self, lines: &[&str]) {
        for line in lines {
            match (line.strip_prefix("$ loadline "), line.strip_prefix("? ")) {
                (Some(words), _) => self.words = words.to_owned(),
                (_, Some(code)) => self.code = code.parse().expect("an exit code"),
                _ => panic!("{}: neither a command nor a code: {line}", self.place),
            }
        }
    }
}

/// The cases of a page, all of them whole.
pub(super) fn cases(name: &str, page: &str) -> Vec<Case> {
    let mut cases = vec![Case::default()];
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            cases.push(Case {
                place: format!("{name}: {}", line.trim_start_matches(['#', ' '])),
                ..Case::default()
            });
        }
        if let Some(kind) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            cases.last_mut().expect("there is one").take(kind, &block);
        }
    }
    cases.retain(Case::has_begun);
    for case in &cases {
        assert!(case.is_whole(), "{} lacks a block", case.place);
    }
    cases
}

#[test]
fn a_page_is_read_case_by_case() {
    let page = "# Title\nprose\n## One\n```lua\nx = 1\n```\n```text data.txt\nd\n```\n\
                ```console\n$ loadline a b\n? 2\n```\n```stderr\n```\n## Prose\n";
    let read = cases("page", page);
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].words.as_str(), read[0].code), ("a b", 2));
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [file("script.lua", "x = 1\n"), file("data.txt", "d\n")];
    assert_eq!(read[0].files, files);
    assert_eq!(read[0].stderr, Some(Vec::new()));
}
