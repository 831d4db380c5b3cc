//! Man pages and completions, made from the command line's own description.

use afteryou_terminal::output;
use afteryou_terminal::Failure;
use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `afteryou completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Arguments of `afteryou man`.
#[derive(Args, Clone, Debug)]
#[command(after_help = MAN_HELP)]
pub struct ManArgs {
    /// Of which subcommand; without it, of afteryou itself
    #[arg(value_name = "SUBCOMMAND")]
    pub subcommand: Option<String>,

    /// Write all pages into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
    pub out: Option<PathBuf>,
}

/// At the foot of each page.
const SOURCE: &str = concat!("afteryou ", env!("CARGO_PKG_VERSION"));

const COMPLETIONS_HELP: &str = "\
Examples:
  afteryou completions bash > ~/.local/share/bash-completion/completions/afteryou
  afteryou completions fish > ~/.config/fish/completions/afteryou.fish
  afteryou completions zsh > \"${fpath[1]}/_afteryou\"";

const MAN_HELP: &str = "\
Examples:
  afteryou man | man -l -
  afteryou man send | man -l -
  afteryou man --out ~/.local/share/man/man1";

/// A file and its content.
pub type Page = (String, Vec<u8>);

/// Runs `afteryou completions`; `command` is the whole command line.
///
/// # Errors
/// A standard output that cannot be written.
pub fn completions(args: &CompletionsArgs, command: Command) -> Result<(), Failure> {
    output::print(&String::from_utf8_lossy(&completion(command, args.shell)))
}

/// Runs `afteryou man`; `command` is the whole command line.
///
/// # Errors
/// A subcommand that does not exist, a folder or file that cannot be written.
pub fn man(args: &ManArgs, command: Command) -> Result<(), Failure> {
    let pages = man_pages(command)?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for (name, page) in pages {
            let path = folder.join(name);
            afteryou_files::write_file(&path, &page)?;
        }
        return Ok(());
    }
    let wanted = match &args.subcommand {
        Some(subcommand) => format!("afteryou-{subcommand}.1"),
        None => "afteryou.1".to_owned(),
    };
    match pages.iter().find(|(name, _)| *name == wanted) {
        Some((_, page)) => output::print(&String::from_utf8_lossy(page)),
        None => {
            Err(Failure::usage(format!("there is no page {wanted}: `afteryou --help` lists the subcommands")))
        }
    }
}

/// Returns the script that completes words of `command` in a shell.
pub fn completion(mut command: Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "afteryou", &mut script);
    script
}

/// Returns the page of `command` and one of each subcommand.
///
/// # Errors
/// None so far: a page is written to memory, whose interface may fail.
pub fn man_pages(command: Command) -> std::io::Result<Vec<Page>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect("afteryou".to_owned(), &command, &mut pages)?;
    Ok(pages)
}

fn collect(name: String, command: &Command, pages: &mut Vec<Page>) -> std::io::Result<()> {
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    for subcommand in subcommands {
        collect(format!("{name}-{}", subcommand.get_name()), subcommand, pages)?;
    }
    // Names of pages are not allowed to change with what a program calls itself.
    let titled = command.clone().name(leak(&name)).display_name(leak(&name)).disable_help_flag(true);
    let mut page = Vec::new();
    clap_mangen::Man::new(titled)
        .title(name.to_uppercase())
        .manual("afteryou")
        .source(SOURCE)
        .render(&mut page)?;
    pages.push((format!("{name}.1"), page));
    Ok(())
}

/// Leaks a name: clap requires names with a static lifetime. There are a dozen, and the program ends soon.
fn leak(name: &str) -> &'static str {
    Box::leak(name.to_owned().into_boxed_str())
}
