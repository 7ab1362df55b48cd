//! `loadline man`: the manual page, from the declarations of the flags.

use crate::flags::{self, man::ManFlags};
use anyhow::{Context, Result};
use clap_mangen::Man;

/// The page of the whole command, or of one subcommand, in roff.
pub(crate) fn page(flags: &ManFlags) -> Result<String> {
    let mut command = flags::command();
    command.build();
    if let Some(name) = &flags.subcommand {
        let found = command.find_subcommand(name).cloned();
        command = found.with_context(|| format!("there is no command {name}."))?;
    }
    let mut page = Vec::new();
    Man::new(command)
        .render(&mut page)
        .context("the page can't be made.")?;
    let page = String::from_utf8_lossy(&page);
    // After all flags there are the exit codes alone, for which man-pages(7) has a name.
    Ok(page.replace(".SH EXTRA\n", ".SH \"EXIT STATUS\"\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(subcommand: Option<&str>) -> Result<String> {
        page(&ManFlags {
            subcommand: subcommand.map(str::to_owned),
        })
    }

    #[test]
    fn the_page_has_every_flag_under_its_heading() {
        let page = page_of(None).expect("a page");
        let command = flags::command();
        for argument in command
            .get_arguments()
            .filter(|argument| !argument.is_hide_set())
        {
            let long = argument.get_long().unwrap_or("URL").replace('-', "\\-");
            assert!(page.contains(&long), "{long} is not in the page");
        }
        assert!(page.contains(".SH \"EXIT STATUS\"\n"), "{page}");
        for heading in [
            "LOAD",
            "LENGTH",
            "REQUEST",
            "CONNECTION",
            "TLS",
            "JUDGEMENT",
            "OUTPUT",
        ] {
            assert!(
                page.contains(&format!(".SH {heading}\n")),
                "{heading} is not in the page"
            );
        }
    }

    #[test]
    fn subcommands_have_pages_of_their_own() {
        let page = page_of(Some("serve")).expect("a page");
        assert!(
            page.contains("loadline\\-serve") && page.contains("freeze"),
            "{page}"
        );
        let error = page_of(Some("fly")).expect_err("no such command");
        assert_eq!(error.to_string(), "there is no command fly.");
    }
}
