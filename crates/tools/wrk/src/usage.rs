//! The version and usage of wrk and wrk2.

use super::Tool;

/// Returns the line of `-v`. It names Loadline; its beginning is the part that scripts check.
pub(super) fn version(tool: Tool) -> String {
    let own = env!("CARGO_PKG_VERSION");
    format!(
        "wrk {} [epoll] compatibility mode of Loadline {own}\n",
        tool.version()
    )
}

/// Returns the page of options, as wide as the original's.
pub(super) fn usage(tool: Tool) -> String {
    let lines = match tool {
        Tool::Wrk => WRK,
        Tool::Wrk2 => WRK2,
    };
    let (page, last) = lines.split_once(LAST_BUT_ONE).unwrap_or((lines, ""));
    let padded: String = page.lines().map(|line| format!("{line:<54}\n")).collect();
    format!("{padded}{LAST_BUT_ONE}{last}")
}

/// The first line from which on lines are not padded with blanks.
const LAST_BUT_ONE: &str = "  Numeric arguments";

const WRK: &str = "\
Usage: wrk <options> <url>
  Options:
    -c, --connections <N>  Connections to keep open
    -d, --duration    <T>  Duration of test
    -t, --threads     <N>  Number of threads to use

    -s, --script      <S>  Load Lua script file
    -H, --header      <H>  Add header to request
        --latency          Print latency statistics
        --timeout     <T>  Socket/request timeout
    -v, --version          Print version details

  Numeric arguments may include a SI unit (1k, 1M, 1G)
  Time arguments may include a time unit (2s, 2m, 2h)
";

const WRK2: &str = "\
Usage: wrk <options> <url>
  Options:
    -c, --connections <N>  Connections to keep open
    -d, --duration    <T>  Duration of test
    -t, --threads     <N>  Number of threads to use

    -s, --script      <S>  Load Lua script file
    -H, --header      <H>  Add header to request
    -L  --latency          Print latency statistics
    -U  --u_latency        Print uncorrected latency statistics
        --timeout     <T>  Socket/request timeout
    -B, --batch_latency    Measure latency of whole
                           batches of pipelined ops
                           (as opposed to each op)
    -v, --version          Print version details
    -R, --rate        <T>  work rate (throughput)
                           in requests/sec (total)
                           [Required Parameter]


  Numeric arguments may include a SI unit (1k, 1M, 1G)
  Time arguments may include a time unit (2s, 2m, 2h)
";
