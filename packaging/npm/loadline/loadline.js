#!/usr/bin/env node
// Becomes the command of this platform, as far as Node.js can: its input and output, the signals
// that it gets, and its end are those of the command.
"use strict";

const { spawn } = require("node:child_process");

const PLATFORM = `@loadline/${process.platform}-${process.arch}`;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const OF_TERMINALS = ["SIGINT", "SIGHUP", "SIGQUIT"];
const hasTerminal = [0, 1, 2].some((number) => require("node:tty").isatty(number));

function program() {
  try {
    return require.resolve(`${PLATFORM}/loadline`);
  } catch {
    const supported = Object.keys(require("./package.json").optionalDependencies);
    const advice = supported.includes(PLATFORM)
      ? "install loadline again, with its optional dependencies"
      : `there is one for ${supported.join(" and ").replaceAll("@loadline/", "")} alone`;
    console.error(`loadline: the package ${PLATFORM} is not there: ${advice}.`);
    process.exit(2);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of SIGNALS) {
  // One from the terminal has reached the command as well, which takes a second one as "at once".
  const hasIt = hasTerminal && OF_TERMINALS.includes(signal);
  process.on(signal, () => hasIt || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`loadline: the command can't be started: ${error.message}.`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
