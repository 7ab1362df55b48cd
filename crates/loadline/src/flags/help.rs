//! The two lengths of help: `-h` shows the ten most used flags of a long command, `--help` all of
//! them, in groups of at most a screen. The manual page has the details of each.

use clap::Command;
use std::ffi::OsString;

/// The part of the flags that `-h` shows for a command that has more than fit a screen.
struct MostUsed {
    /// The subcommand; a run has none.
    command: Option<&'static str>,
    /// The ids of the flags.
    flags: [&'static str; 10],
    /// A command line that uses some of them.
    example: &'static str,
}

/// A run, with or without the word `run`.
const RUN: [&str; 10] = [
    "connections",
    "threads",
    "rate",
    "duration",
    "requests",
    "method",
    "header",
    "body",
    "check",
    "output",
];
const RUN_EXAMPLE: &str = "loadline -c 100 -r 2k -d 30s --check 'p99<50ms' http://127.0.0.1:8080/";

const MOST_USED: [MostUsed; 5] = [
    MostUsed {
        command: None,
        flags: RUN,
        example: RUN_EXAMPLE,
    },
    MostUsed {
        command: Some("run"),
        flags: RUN,
        example: RUN_EXAMPLE,
    },
    MostUsed {
        command: Some("capacity"),
        flags: [
            "users",
            "locustfile",
            "max_rate",
            "precision",
            "budget",
            "duration",
            "header",
            "body",
            "check",
            "output",
        ],
        example: "loadline capacity --check 'p99<50ms' --max-rate 20k http://127.0.0.1:8080/",
    },
    MostUsed {
        command: Some("versus"),
        flags: [
            "fail_on",
            "connections",
            "rate",
            "duration",
            "repeat",
            "header",
            "body",
            "check",
            "save",
            "output",
        ],
        example: "loadline versus -r 500 --repeat 6 http://127.0.0.1:8080/ http://127.0.0.1:8081/",
    },
    MostUsed {
        command: Some("serve"),
        flags: [
            "listen",
            "threads",
            "tls",
            "freeze",
            "limit",
            "ignore_options",
            "size",
            "status",
            "delay",
            "fault",
        ],
        example: "loadline serve --listen 127.0.0.1:8080 --delay exp:5ms --freeze 1s@5s",
    },
];

/// True if these words are `help` with a flag for help, which clap takes for a command's name.
pub(super) fn is_of_help(words: &[OsString]) -> bool {
    let is_flag = |word: &OsString| word == "--help" || word == "-h";
    words.get(1).is_some_and(|word| word == "help") && words.iter().skip(2).any(is_flag)
}

/// Returns the help that these words request, the program's name first.
pub(super) fn text(words: &[OsString]) -> String {
    let mut line = super::command();
    line.build();
    let is_help_command = words.get(1).is_some_and(|word| word == "help");
    let name = words.get(if is_help_command { 2 } else { 1 });
    let subcommand = name.and_then(|name| line.find_subcommand(name)).cloned();
    let name = subcommand
        .as_ref()
        .map(|command| command.get_name().to_owned());
    let command = subcommand.unwrap_or(line);
    let most_used = MOST_USED
        .iter()
        .find(|some| some.command == name.as_deref());
    let is_whole = is_help_command || words.iter().any(|word| word == "--help");
    match most_used {
        Some(most_used) if !is_whole => most_used.of(command),
        _ => whole(command, name.as_deref()),
    }
}

impl MostUsed {
    fn of(&self, mut command: Command) -> String {
        // Hidden flags change the usage too.
        let usage = command.render_usage();
        let commands = match self.command {
            None => format!("{}\n\n", names(&command)),
            Some(_) => String::new(),
        };
        let word = self
            .command
            .map(|name| format!(" {name}"))
            .unwrap_or_default();
        let template = format!(
            "{{about}}\n\n{usage}\n\n{commands}Most used options:\n{{options}}\n\n\
             Example: {}\n\nAll options: `loadline{word} --help`. Each in detail: \
             `loadline man{word} | man -l -`.\n",
            self.example
        );
        let is_shown = |id: &str| id == "help" || self.flags.contains(&id);
        let shortened = command.mut_args(|argument| {
            let is_shown = is_shown(argument.get_id().as_str());
            let order = self
                .flags
                .iter()
                .position(|id| *id == argument.get_id().as_str());
            argument
                .hide(!is_shown)
                .display_order(order.unwrap_or(self.flags.len()))
        });
        let about = |help: clap::Arg| help.help("Print this help; --help: with all options");
        shortened
            .mut_arg("help", about)
            .help_template(template)
            .render_help()
            .to_string()
    }
}

/// The names of the subcommands, in two lines.
fn names(command: &Command) -> String {
    let is_other = |command: &&Command| !["run", "help"].contains(&command.get_name());
    let mut commands: Vec<_> = command.get_subcommands().filter(is_other).collect();
    commands.sort_by_key(|command| command.get_display_order());
    let names: Vec<_> = commands.iter().map(|command| command.get_name()).collect();
    let (first, second) = names.split_at(names.len().div_ceil(2));
    format!(
        "Commands: {},\n          {}",
        first.join(", "),
        second.join(", ")
    )
}

/// Every flag in its group, a line or two each.
fn whole(command: Command, name: Option<&str>) -> String {
    let word = name.map(|name| format!(" {name}")).unwrap_or_default();
    let has_more = MOST_USED.iter().any(|some| some.command == name);
    let about = match has_more {
        true => "Print this help; -h: the most used options alone",
        false => "Print this help",
    };
    let command = command.mut_args(|argument| match argument.get_id() == "help" {
        true => argument.help(about),
        false => argument,
    });
    let detail = format!("Each option in detail: `loadline man{word} | man -l -`.");
    let end = match (command.get_after_help(), has_more) {
        (Some(text), _) => format!("{text}\n\n{detail}"),
        (None, true) => detail,
        (None, false) => String::new(),
    };
    command.after_help(end).render_help().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most lines of a group, its heading among them.
    const SCREEN: usize = 24;

    fn help(line: &str) -> String {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        text(&words)
    }

    fn commands() -> Vec<String> {
        let line = crate::flags::command();
        let names = line
            .get_subcommands()
            .map(|command| format!("loadline {}", command.get_name()));
        std::iter::once("loadline".to_owned())
            .chain(names)
            .collect()
    }

    #[test]
    fn every_help_lists_the_commands_in_one_order() {
        let line = crate::flags::command();
        let mut commands: Vec<_> = line.get_subcommands().collect();
        let as_declared: Vec<_> = commands.iter().map(|command| command.get_name()).collect();
        commands.sort_by_key(|command| command.get_display_order());
        let as_shown: Vec<_> = commands.iter().map(|command| command.get_name()).collect();
        assert_eq!(as_declared, as_shown);
    }

    #[test]
    fn a_group_of_the_whole_help_fits_a_screen() {
        for command in commands() {
            for group in help(&format!("{command} --help")).split("\n\n") {
                let lines = group.lines().count();
                assert!(lines <= SCREEN, "{command}: {lines} lines\n{group}");
            }
        }
    }

    #[test]
    fn the_short_help_is_ten_flags_an_example_and_where_to_read_on() {
        for some in &MOST_USED {
            let word = some.command.unwrap_or_default();
            let text = help(&format!("loadline {word} -h"));
            let is_flag = |line: &&str| {
                line.trim_start().starts_with('-') && !line.starts_with(&" ".repeat(7))
            };
            let flags = text.lines().filter(is_flag);
            assert_eq!(flags.count(), 11, "ten and --help:\n{text}");
            assert!(
                text.contains("Example: ") && text.contains("--help`"),
                "{text}"
            );
            assert!(text.lines().count() <= 35, "{text}");
        }
    }

    #[test]
    fn every_example_is_a_command_line() {
        for some in &MOST_USED {
            let words = some.example.replace('\'', "");
            let words = words.split_whitespace().map(OsString::from);
            assert!(crate::flags::parse(words).is_ok(), "{}", some.example);
        }
    }

    #[test]
    fn every_flag_is_in_the_whole_help() {
        let text = help("loadline --help");
        for argument in crate::flags::command().get_arguments() {
            let long = argument.get_long().unwrap_or("PLAN");
            let is_there = text.contains(&format!("--{long}")) || long == "PLAN";
            assert!(is_there || argument.is_hide_set(), "--{long} is missing");
        }
    }
}
