"""The linker that places functions, on a program of three."""

import platform
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINKER = ROOT / "scripts" / "link-in-order"
PROGRAM = """
#[inline(never)] fn first(n: u64) -> u64 { std::hint::black_box(n) + 1 }
#[inline(never)] fn second(n: u64) -> u64 { std::hint::black_box(n) + 2 }
#[inline(never)] fn third(n: u64) -> u64 { std::hint::black_box(n) + 3 }
fn main() { println!("{}", first(1) + second(1) + third(1)); }
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="packages are in order on x86-64 alone")
@pytest.mark.parametrize("order", [["third", "first", "second"], ["second", "third", "first"]])
def test_functions_lie_in_the_order_of_a_list_without_hashes(tmp_path, order):
    scripts, lists = tmp_path / "scripts", tmp_path / "packaging"
    scripts.mkdir()
    lists.mkdir()
    linker = shutil.copy(LINKER, scripts)
    digests = [f"{zlib.crc32(f'program::{name}'.encode()):08x}00" for name in order]
    (lists / "order.txt").write_text("\n".join(["not_there", *digests, "main"]) + "\n")
    (tmp_path / "program.rs").write_text(PROGRAM)
    subprocess.run(
        ["rustc", "-O", "-C", "target-feature=+crt-static", "-C", "lto=fat",
         "-C", "symbol-mangling-version=v0", "-C", "codegen-units=1",
         "-C", f"linker={linker}", "program.rs"],
        cwd=tmp_path, check=True)
    names = subprocess.run(["nm", "-n", "--demangle", "program"], cwd=tmp_path, check=True,
                           capture_output=True, text=True).stdout
    placed = re.findall(r" program::(first|second|third)$", names, re.MULTILINE)
    assert placed == order
    ran = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    assert ran.stdout == "9\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="commands are in order on x86-64 alone")
def test_the_command_has_the_functions_of_usual_runs_side_by_side():
    program = os.environ.get("LOADLINE_PROGRAM", "")
    if not program.endswith("/release/loadline"):
        pytest.skip("what `make build` makes is in order, and LOADLINE_PROGRAM is no such command")
    listed = set((ROOT / "packaging" / "order.txt").read_text().split())
    symbols, names = functions_of(program), functions_of(program, "--demangle")
    # Of an instance that another crate made in this build, the part for the name is listed alone.
    similar = {word[:8] for word in listed if re.fullmatch("[0-9a-f]{10}", word)}
    digests = [digest(*both) for both in list(zip(symbols, names))[:4000]]
    first = [one in listed or one[:8] in similar for one in digests]
    assert sum(first) > 0.9 * len(first), sum(first)


def functions_of(program, *options):
    """The functions of a program in their order."""
    nm = ["nm", "-n", *options, program]
    listed = subprocess.run(nm, check=True, capture_output=True, text=True).stdout
    lines = [line.split(" ", 2) for line in listed.splitlines()]
    return [line[2] for line in lines if line[1] in "tT"]


def digest(symbol, name):
    """What the list has for a function: a symbol, and its name in the source."""
    symbol, name = (re.sub(r"(\.llvm)?\.\d+$| \[clone .*\]$", "", text) for text in (symbol, name))
    if not symbol.startswith(("_R", "_ZN")):
        return symbol
    end = re.search(r"Cs[0-9A-Za-z]*_(\d+)_?([a-z][a-z0-9_]*)$", symbol)
    crate = end[2] if end and len(end[2]) == int(end[1]) else ""
    return f"{zlib.crc32(name.encode()):08x}{zlib.crc32(crate.encode()) & 0xff:02x}"
