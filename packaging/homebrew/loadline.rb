# Homebrew's formula, on Linux. It is published in a tap: brew install loadline/tap/loadline
class Loadline < Formula
  desc "Load tester for HTTP services whose figures can be believed"
  homepage "@SITE@"
  url "@SITE@/releases/download/v@VERSION@/loadline-@TARGET@.tar.gz"
  version "@VERSION@"
  sha256 "@SUM@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "loadline"
    man1.install "man/loadline.1"
    bash_completion.install "completions/loadline.bash" => "loadline"
    zsh_completion.install "completions/_loadline"
    fish_completion.install "completions/loadline.fish"
    doc.install "THIRD-PARTY-LICENCES.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/loadline --version")
  end
end
