//! A queue's page and the overview: made from the list of queues and the simulator.

use super::encounters::{self, players, Encounter};
use super::header;
use super::page::{in_file, lab_link, notes, parameters, parameters_follow, Chapter};
use super::words::{cell, page, sentence, tenths};
use afteryou::list::changes_in_words;
use afteryou_aqm::list::{Entry, QUEUES};
use afteryou_base::param::{Param, Preset};
use afteryou_engines::coverage;
use std::fmt::Write;
use std::path::Path;

/// Returns the chapter in the list of pages.
pub fn chapter() -> Chapter {
    Chapter {
        line: "- [Queues](queues/README.md)",
        folder: "queues",
        names: QUEUES.iter().map(|entry| entry.name).collect(),
        more: &[],
    }
}

/// Returns a queue's page. `by_hand` is what somebody wrote about it.
pub fn queue_page(entry: &Entry, sources: &Path, by_hand: Option<&str>, runs: &[Encounter]) -> String {
    format!(
        "# {name}\n\n{}\n\n\
         | priority of background traffic is kept | engines | source |\n|---|---|---|\n| [{}](README.md) | {} | {} |\n\n\
         ## How to use it\n\n{}\n\
         ## Background traffic in this queue\n\n{}\n{}\n\
         ## Parameters\n\n{}{}\n## The algorithm\n\n{}\n{}",
        sentence(entry.summary),
        encounters::keeps_priority(runs, entry.name),
        coverage::of_queue(entry.name).join(", "),
        cell(entry.source),
        usage(entry),
        encounters::table(runs, entry.name),
        below_the_table(),
        parameters(entry.params),
        presets(entry),
        header::of_queue(sources, entry.name).trim_end(),
        notes(by_hand),
        name = entry.name,
    )
}

fn below_the_table() -> String {
    format!(
        "{}\n\n\
         Share is the part of all goodput. Times are sojourn times of packets in the queue. The second one is that of the foreground's packets, \
         if the queue can distinguish them by their mark. The [overview](README.md) has the shares in every \
         queue and defines *kept*.\n",
        encounters::setting()
    )
}

fn usage(entry: &Entry) -> String {
    let name = entry.name;
    let with_parameter = example(entry).map(|param| {
        let line = format!("queue = {}", in_file(name, param));
        parameters_follow("--queue", name, &line, param)
    });
    format!(
        "```sh\nafteryou demo --queue {name}\nafteryou sim backup.toml\n```\n\n\
         with, for the second, a `backup.toml` such as\n\n```toml\n{}```\n\n{}{}\
         \nPackets of a background flow are marked as lower effort (LE, RFC 8622); with `dscp = \"default\"` on the flow they are \
         not.\n",
        scenarios(entry)[0],
        lab_link(&scenarios(entry)[0]),
        with_parameter.unwrap_or_default(),
    )
}

/// Returns the parameter to show how they are written; presets have a section of their own.
fn example(entry: &Entry) -> Option<&'static Param> {
    entry.params.iter().find(|param| param.name != "preset")
}

/// Returns scenario files with this queue: plain, and with a parameter if it has any.
pub fn scenarios(entry: &Entry) -> Vec<String> {
    let name = entry.name;
    let with_parameter = example(entry).map(|param| in_file(name, param));
    let queues = std::iter::once(format!("{name:?}")).chain(with_parameter);
    let backup = "role       = \"background\"\ncontroller = \"ledbat++\"\n";
    let file = |queue| {
        let link = format!("queue  = {queue}\n");
        super::page::scenario(&format!("a backup and an upload in {name}"), &link, backup)
    };
    queues.map(file).collect()
}

/// Returns the section about presets, if there are any.
fn presets(entry: &Entry) -> String {
    let Some(last) = entry.presets.last() else { return String::new() };
    let mut text = format!(
        "\n## Presets\n\n\
         A preset is a set of other defaults: `--queue {},preset={}`, for example. Parameters given beside it override it.\n\n\
         | preset | whose values | what it changes |\n|---|---|---|\n",
        entry.name, last.name
    );
    for preset in entry.presets {
        let changes = changes(entry, preset);
        let _ = writeln!(text, "| `{}` | {} | {} |", preset.name, cell(preset.help), cell(&changes));
    }
    text
}

fn changes(entry: &Entry, preset: &Preset) -> String {
    match preset.rows {
        [] => "nothing".to_owned(),
        _ => changes_in_words(entry.params, preset).join(", "),
    }
}

/// Returns the overview of all queues.
pub fn overview(runs: &[Encounter]) -> String {
    format!(
        "# Queues\n\n\
         A background controller yields because it measures a growing queue. A queue that is kept short, or \
         that gives each flow its own turn, hides that growth from the controller. All flows then get an \
         equal share, and the low priority is lost. Marks restore it in queues that honour them.\n\n\
         {}\n{}\n\n\
         ## What the foreground gets\n\n\
         Its part of all goodput, per cent. Half is an equal share. *le* is the same flow with its packets marked \
         as lower effort.\n\n\
         {}\n{}\n",
        list(runs),
        encounters::legend(),
        shares(runs),
        encounters::setting(),
    )
}

fn list(runs: &[Encounter]) -> String {
    let mut text = "| name | what it is | source | priority |\n|---|---|---|---|\n".to_owned();
    for entry in QUEUES {
        let (what, source) = (cell(&sentence(entry.summary)), cell(entry.source));
        let priority = encounters::keeps_priority(runs, entry.name);
        let _ = writeln!(text, "| {} | {what} | {source} | {priority} |", link(entry));
    }
    text
}

fn shares(runs: &[Encounter]) -> String {
    let head = players().map(|player| {
        let mark = if player.is_marked { ", le" } else { "" };
        format!(" {}{mark} |", player.controller)
    });
    let lines = "--:|".repeat(players().count());
    let mut text = format!("| queue |{}\n|---|{lines}\n", head.collect::<String>());
    for entry in QUEUES {
        let shares = players().map(|player| encounters::share(runs, entry.name, player));
        let shares: String = shares.map(|share| format!(" {} |", tenths(share))).collect();
        let _ = writeln!(text, "| {} |{shares}", link(entry));
    }
    text
}

fn link(entry: &Entry) -> String {
    format!("[{}]({}.md)", entry.name, page(entry.name))
}
