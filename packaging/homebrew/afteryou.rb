# Not run: no Homebrew was at hand. The address is that of `repository` in Cargo.toml, the checksum that of a release's SHA256SUMS.
class Afteryou < Formula
  desc "Background transport that yields to everything else: files, and experiments"
  homepage "https://afteryou.invalid"
  url "https://afteryou.invalid/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/afteryou")
    system bin/"afteryou", "man", "--out", man1
    generate_completions_from_executable(bin/"afteryou", "completions", shells: [:bash, :fish, :zsh])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/afteryou --version")
    (testpath/"one.toml").write <<~EOS
      duration = "5 s"
      link = { rate = "10 Mbit/s", buffer = "100 ms" }
      flow = { name = "a", controller = "ledbat++", rtt = "20 ms" }
    EOS
    system bin/"afteryou", "sim", "one.toml"
  end
end
