//! The script of a wrk command.

use super::conduct::{Console, Measured};
use super::{Arguments, Tool, refusal};
use loadline_runner::has_fleet;
use loadline_script_lua::{Broken, Figures, Flavour, Options, Samples, Script};

/// Loads the script if there is one. One that can't be loaded is complained of, and the run goes
/// on with what it defined until then.
///
/// # Errors
/// The message for stderr.
pub(super) fn load(
    arguments: &Arguments,
    processes: u32,
    console: &mut Console,
) -> Result<Option<Script>, String> {
    let Some(path) = &arguments.script else {
        return Ok(None);
    };
    let options = Options {
        is_elsewhere: processes > 1 || has_fleet(),
        ..options(arguments)
    };
    let script = Script::load(path, &options)
        .map_err(|error| refusal::of_script(&arguments.place(), &error))?;
    for complaint in script.complaints() {
        console.print_error(&refusal::of_load(path, complaint));
    }
    Ok(Some(script))
}

fn options(arguments: &Arguments) -> Options {
    let headers = arguments.headers.iter();
    Options {
        flavour: match arguments.tool {
            Tool::Wrk => Flavour::Wrk,
            Tool::Wrk2 => Flavour::Wrk2,
        },
        args: arguments.rest.clone(),
        headers: headers
            .map(|field| (field.name.clone(), field.value.clone()))
            .collect(),
        threads: arguments.threads,
        broken: Broken::Tolerated,
        ..Options::new(arguments.url.as_str())
    }
}

/// Returns the arguments of `done`: the latencies of the report, and its rates and failures.
pub(super) fn figures(measured: &Measured) -> Figures {
    let mut figures = Figures::of(&measured.summary);
    let rates = measured.rates.samples().iter();
    figures.rates = Samples::counted(rates.map(|&rate| (rate, 1)));
    figures
}
