//! Words of a command line, parsed as Go's pflag does: `-u 3`, `-u3`, `--vus=3`, `--`.

use super::flags::{FLAGS, Flag, Sets, Takes};
use super::{Command, Invocation, Refusal};
use crate::keys::Kind;
use crate::meaning::{is_pattern, is_range};
use crate::time::GoDuration;
use crate::values;
use serde_json::{Map, Value, json};

/// Parses a command line.
pub(crate) fn read(words: &[String]) -> Result<Invocation, Refusal> {
    let mut reader = Reader {
        read: Invocation::default(),
        command: None,
        stages: Vec::new(),
    };
    let mut words = words.iter();
    let mut are_flags = true;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" if are_flags => are_flags = false,
            word if are_flags && word.starts_with("--") => reader.long(&word[2..], &mut words)?,
            word if are_flags && word.len() > 1 && word.starts_with('-') => {
                reader.short(&word[1..], &mut words)?;
            }
            word => reader.argument(word)?,
        }
    }
    reader.end()
}

type Words<'a> = std::slice::Iter<'a, String>;

struct Reader {
    read: Invocation,
    command: Option<String>,
    /// Values of `--stage`, which make one option together.
    stages: Vec<String>,
}

impl Reader {
    fn command(&self) -> &str {
        self.command.as_deref().unwrap_or_default()
    }

    fn argument(&mut self, word: &str) -> Result<(), Refusal> {
        if self.command.is_some() {
            self.read.arguments.push(word.to_owned());
            return Ok(());
        }
        self.read.command = match word {
            "run" => Command::Run,
            "inspect" => Command::Inspect,
            "archive" => Command::Archive,
            "new" => Command::New,
            "version" => Command::Version,
            "pause" => Command::Pause,
            "resume" => Command::Resume,
            "status" => Command::Status,
            "stats" => Command::Stats,
            "scale" => Command::Scale,
            "help" => Command::Help,
            "cloud" | "login" | "completion" | "deps" | "x" => Command::Absent(word.to_owned()),
            other => return Err(format!("unknown command \"{other}\" for \"k6\"")),
        };
        self.command = Some(word.to_owned());
        Ok(())
    }

    fn long(&mut self, word: &str, words: &mut Words<'_>) -> Result<(), Refusal> {
        let (name, given) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        if name == "version" && self.command.is_none() {
            return self.argument(name);
        }
        let flag = self.find(|flag| flag.long == name);
        let flag = flag.ok_or_else(|| format!("unknown flag: --{name}"))?;
        let missing = || format!("flag needs an argument: --{name}");
        let value = match (given, flag.takes) {
            (Some(value), _) => value,
            (None, Takes::Nothing) => "true".to_owned(),
            (None, Takes::Perhaps(value)) => value.to_owned(),
            (None, Takes::Value(_)) => words.next().cloned().ok_or_else(missing)?,
        };
        self.set(flag, value)
    }

    /// Parses short flags in one word: the first one with a value takes the rest as its value.
    fn short(&mut self, word: &str, words: &mut Words<'_>) -> Result<(), Refusal> {
        for (index, letter) in word.char_indices() {
            let flag = self.find(|flag| flag.short == Some(letter));
            let flag = flag.ok_or_else(|| {
                format!("unknown shorthand flag: {letter:?} in -{}", &word[index..])
            })?;
            if flag.takes == Takes::Nothing {
                self.set(flag, "true".to_owned())?;
                continue;
            }
            let rest = &word[index + letter.len_utf8()..];
            let rest = rest.strip_prefix('=').unwrap_or(rest);
            let missing = || format!("flag needs an argument: {letter:?} in -{}", &word[index..]);
            let value = match rest.is_empty() {
                true => words.next().cloned().ok_or_else(missing)?,
                false => rest.to_owned(),
            };
            return self.set(flag, value);
        }
        Ok(())
    }

    /// Returns the flag of the command; before the command is known, that of any command.
    fn find(&self, is: impl Fn(&Flag) -> bool) -> Option<&'static Flag> {
        let command = self.command();
        let mut known = FLAGS.iter().filter(|flag| is(flag));
        match command {
            "" => known.next(),
            command => known.find(|flag| flag.is_of(command)),
        }
    }

    fn set(&mut self, flag: &'static Flag, value: String) -> Result<(), Refusal> {
        let invalid = |problem: String| {
            format!(
                "invalid argument {value:?} for {:?} flag: {problem}",
                flag.named()
            )
        };
        if flag.takes == Takes::Nothing && values::from_text(Kind::Bool, &value).is_err() {
            return Err(invalid(format!(
                "strconv.ParseBool: parsing {value:?}: invalid syntax"
            )));
        }
        match flag.sets {
            Sets::Option(_, Kind::Stages) => self.stages.push(value),
            Sets::Option("tags", _) => self.tag(&value)?,
            Sets::Option(key, kind @ (Kind::Int | Kind::Duration | Kind::Bool)) => {
                if kind == Kind::Duration {
                    let time = GoDuration::parse_with_unit(&value);
                    time.map_err(|problem| invalid(problem.to_string()))?;
                }
                let value = values::from_text(kind, &value).map_err(invalid)?;
                self.read.options.set(key, value);
            }
            Sets::Option(key, kind) => self.option(key, kind, &value)?,
            Sets::Itself => self.own(flag, value),
        }
        Ok(())
    }

    fn option(&mut self, key: &'static str, kind: Kind, text: &str) -> Result<(), Refusal> {
        let value = values::from_text(kind, text)?;
        let known = self.read.options.get(key).cloned();
        let value = match (known, value) {
            (Some(Value::Array(mut known)), Value::Array(new)) => {
                known.extend(new);
                Value::Array(known)
            }
            (_, value) => value,
        };
        check(key, &value)?;
        self.read.options.set(key, value);
        Ok(())
    }

    fn tag(&mut self, text: &str) -> Result<(), Refusal> {
        let refuse = |why: &str| format!("error parsing tag '{text}': {why}");
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| refuse("invalid tag, empty value"))?;
        if name.is_empty() {
            return Err(refuse("invalid tag, empty name"));
        }
        if value.is_empty() {
            return Err(refuse("invalid tag, empty value"));
        }
        let known = self.read.options.get("tags").and_then(Value::as_object);
        let mut tags: Map<String, Value> = known.cloned().unwrap_or_default();
        tags.insert(name.to_owned(), json!(value));
        self.read.options.set("tags", Value::Object(tags));
        Ok(())
    }

    fn own(&mut self, flag: &'static Flag, value: String) {
        if flag.long == "no-summary" {
            self.read.warnings.push(
                "Flag --no-summary has been deprecated, use --summary-mode=disabled instead"
                    .to_owned(),
            );
        }
        self.read.flags.entry(flag.long).or_default().push(value);
    }

    fn end(mut self) -> Result<Invocation, Refusal> {
        for (index, stage) in self.stages.iter().enumerate() {
            values::stages_of(std::iter::once(stage.as_str()))
                .map_err(|problem| format!("error for stage {index}: {problem}"))?;
        }
        if !self.stages.is_empty() {
            let stages = values::stages_of(self.stages.iter().map(String::as_str))?;
            self.read.options.set("stages", stages);
        }
        Ok(self.read)
    }
}

/// Refuses values that a script may set, but the command line may not.
fn check(key: &str, value: &Value) -> Result<(), Refusal> {
    let texts = || {
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    };
    match key {
        "summaryTimeUnit" if !["s", "ms", "us", ""].contains(&value.as_str().unwrap_or("")) => {
            Err(format!(
                "invalid summary time unit '{}', use 's', 'ms' or 'us'",
                value.as_str().unwrap_or_default()
            ))
        }
        "blacklistIPs" => texts().find(|text| !is_range(text)).map_or(Ok(()), |text| {
            Err(format!(
                "error parsing blacklist-ip '{text}': invalid CIDR address: {text}"
            ))
        }),
        "blockHostnames" => texts()
            .find(|text| !is_pattern(text))
            .map_or(Ok(()), |text| {
                Err(format!("invalid hostname pattern '{text}'"))
            }),
        _ => Ok(()),
    }
}
