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
    symbols = [f"_RNvC7program{len(name)}{name}" for name in order]
    digests = [f"{zlib.crc32(symbol.encode()):08x}" for symbol in symbols]
    (lists / "order.txt").write_text("\n".join(["not_there", *digests, "main"]) + "\n")
    (tmp_path / "program.rs").write_text(PROGRAM)
    subprocess.run(
        ["rustc", "-O", "-C", "target-feature=+crt-static", "-C", "lto=fat",
         "-C", "symbol-mangling-version=v0", "-C", "codegen-units=1",
         "-C", f"linker={linker}", "program.rs"],
        cwd=tmp_path, check=True)
    names = subprocess.run(["nm", "-n", "program"], cwd=tmp_path, check=True,
                           capture_output=True, text=True).stdout.split()
    placed = [re.sub("Cs[0-9A-Za-z]*_", "C", name) for name in names]
    assert [name for name in placed if name in symbols] == symbols
    ran = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True)
    assert ran.stdout == "9\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="commands are in order on x86-64 alone")
def test_the_command_has_the_functions_of_usual_runs_side_by_side():
    program = os.environ.get("LOADLINE_PROGRAM", "")
    if not program.endswith("/release/loadline"):
        pytest.skip("what `make build` makes is in order, and LOADLINE_PROGRAM is no such command")
    listed = set((ROOT / "packaging" / "order.txt").read_text().split())
    symbols = subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True)
    code = [line.split()[2] for line in symbols.stdout.splitlines() if line.split()[1] in "tT"]
    first = [digest(name) in listed for name in code[:4000]]
    assert sum(first) > 0.9 * len(first), sum(first)


def digest(name):
    """What the list has for a function."""
    plain = re.sub(r"(?<=C)s[0-9A-Za-z]*_(?=\d)|17h[0-9a-f]{16}E(?=$|\.)|(\.llvm)?\.\d+$", "", name)
    return f"{zlib.crc32(plain.encode()):08x}" if name.startswith(("_R", "_ZN")) else name
