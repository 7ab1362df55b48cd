"""The linker of the static command, on a program of three functions."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

LINKER = Path(__file__).parents[2] / "scripts" / "link-in-order"
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
    (lists / "order.txt").write_text("\n".join(["_not_there", *symbols]) + "\n")
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
