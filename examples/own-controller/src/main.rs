//! The `afteryou` command with one more controller: `polite`.

fn main() -> std::process::ExitCode {
    afteryou::cli::main_with(std::env::args_os(), &[&own_controller::POLITE])
}
