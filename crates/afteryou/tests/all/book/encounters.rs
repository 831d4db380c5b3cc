//! What each queue does to background traffic: a background flow meets one CUBIC, unmarked and marked as lower effort.

use super::words::{cell, class, tenths, transport};
use super::THREADS;
use afteryou_aqm::list::{Entry, QUEUES};
use afteryou_aqm::Class;
use afteryou_cc::list::{find, Entry as Controller};
use afteryou_engines::each;
use afteryou_scenario::outcome::{class_name, Quantiles};
use afteryou_scenario::{Algorithm, Buffer, Dscp, Duration, Flow, Link, Rate, Role, Scenario, Window};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;

const RATE: Rate = Rate::from_mbit(20);
const RTT: Duration = Duration::from_millis(40);
const BUFFER: Duration = Duration::from_millis(200);
const DURATION: Duration = Duration::from_millis(60_000);
/// Who must not notice. It comes when the background flow has seen the empty path.
const FOREGROUND: &str = "cubic";
const COMES: Duration = Duration::from_millis(5_000);
const MEASURED_FROM: Duration = Duration::from_millis(10_000);
/// Who steps aside for nobody.
const CONTROL: &str = "cubic";
/// Who plays the background flow.
const PLAYERS: [&str; 3] = ["ledbat++", "ledbat", CONTROL];
/// Who keeps its low priority leaves the foreground at least so much, in tenths of a per cent.
const KEPT_TENTHS: u64 = 800;

/// A flow of the background, and what its packets claim to be.
#[derive(Clone, Copy, PartialEq)]
pub struct Player {
    pub controller: &'static str,
    pub is_marked: bool,
}

/// Returns every player, unmarked and marked.
pub fn players() -> impl Iterator<Item = Player> {
    let both = |controller| [false, true].map(|is_marked| Player { controller, is_marked });
    PLAYERS.into_iter().flat_map(both)
}

/// A run with a queue.
pub struct Encounter {
    queue: &'static str,
    /// Nobody: the foreground is alone.
    player: Option<Player>,
    /// The foreground's part of all goodput, in tenths of a per cent.
    share: u64,
    /// What the link sent, in tenths of a per cent of what it could.
    utilisation: u64,
    /// Time in the queue of all packets.
    all: Quantiles,
    /// The same of the foreground's packets, where they are a class of their own.
    foreground: Option<Quantiles>,
}

/// Returns all runs, made once.
pub fn runs() -> &'static [Encounter] {
    static RUNS: OnceLock<Vec<Encounter>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let cast = || std::iter::once(None).chain(players().map(Some));
        let jobs = QUEUES.iter().flat_map(|queue| cast().map(move |player| (queue, player)));
        each(&jobs.collect::<Vec<_>>(), THREADS, |(queue, player)| run(queue, *player))
    })
}

fn run(queue: &'static Entry, player: Option<Player>) -> Encounter {
    let scenario = scenario(queue, player).checked().expect("a scenario");
    let outcome = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()));
    let mut outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    let link = outcome.run.windows.remove(0).links.remove(0);
    let per_mille = |ratio: f64| (ratio * 1000.0).round() as u64;
    let of_foreground = match player {
        None => link.queuing_delay,
        Some(_) => {
            let own = link.classes.iter().find(|class| class.class == class_name(Class::BestEffort));
            own.and_then(|class| class.queuing_delay)
        }
    };
    Encounter {
        queue: queue.name,
        player,
        share: per_mille(link.foreground_share.unwrap_or_default()),
        utilisation: per_mille(link.utilisation),
        all: link.queuing_delay.unwrap_or_default(),
        foreground: of_foreground,
    }
}

fn scenario(queue: &Entry, player: Option<Player>) -> Scenario {
    let link = Link { queue: Algorithm::named(queue.name), ..Link::new(RATE, Buffer::Time(BUFFER)) };
    let background = player.map(|Player { controller, is_marked }| Flow {
        transport: transport(known(controller)),
        dscp: Some(if is_marked { Dscp::LE } else { Dscp::DEFAULT }),
        ..Flow::new("background", Role::Background, controller, RTT)
    });
    let foreground = Flow { start: COMES, ..Flow::new("foreground", Role::Foreground, FOREGROUND, RTT) };
    Scenario {
        measure: vec![Window { name: "together".to_owned(), from: MEASURED_FROM, to: DURATION }],
        flow: background.into_iter().chain([foreground]).collect(),
        ..Scenario::new(queue.name, DURATION, link)
    }
}

fn known(controller: &str) -> &'static Controller {
    find(controller).unwrap_or_else(|| panic!("{controller} is not in the list of controllers"))
}

/// Returns the foreground's share in a queue, in tenths of a per cent.
pub fn share(runs: &[Encounter], queue: &str, player: Player) -> u64 {
    let run = runs.iter().find(|run| run.queue == queue && run.player == Some(player));
    run.map_or(0, |run| run.share)
}

/// Returns in one word whether a background flow stays behind in this queue: always, if it is marked, or not.
pub fn keeps_priority(runs: &[Encounter], queue: &str) -> &'static str {
    let background = |player: &Player| class(known(player.controller)) == "background";
    let all_keep = |is_marked| {
        let mut players = players().filter(background).filter(|player| player.is_marked == is_marked);
        players.all(|player| share(runs, queue, player) >= KEPT_TENTHS)
    };
    match (all_keep(false), all_keep(true)) {
        (true, _) => "yes",
        (false, true) => "marked",
        (false, false) => "no",
    }
}

/// Returns the meaning of a queue's word.
pub fn legend() -> String {
    format!(
        "**Priority** is whether a background flow still yields there. It is *yes* if every background controller of the \
         table below leaves the foreground at least {} % of all goodput. It is *marked* if that takes packets marked as lower \
         effort, and *no* otherwise.",
        KEPT_TENTHS / 10,
    )
}

/// Returns the experiment in words.
pub fn setting() -> String {
    format!(
        "The link has {RATE}, a round trip of {RTT} and a buffer of {BUFFER}. A background flow runs from the start, over \
         the transport that its controller was made for. The foreground is one {FOREGROUND} over tcp that comes at {COMES}. \
         Measured in the simulator from {MEASURED_FROM} to {DURATION}, one run each, with seed 1. The background flow with \
         {CONTROL} is the control: it yields to nobody by itself."
    )
}

/// Returns the table of one queue.
pub fn table(runs: &[Encounter], queue: &str) -> String {
    let mut text =
        "| background | marked | foreground's share | in the queue, mean | p95 | foreground's packets, mean | p95 | \
         utilisation |\n|---|---|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for run in runs.iter().filter(|run| run.queue == queue) {
        let (name, mark) = match run.player {
            None => ("nobody", "–"),
            Some(Player { controller, is_marked }) => (controller, if is_marked { "le" } else { "no" }),
        };
        let [mean, p95] = in_ms(Some(run.all));
        let [own_mean, own_p95] = in_ms(run.foreground);
        let (share, used) = (tenths(run.share), tenths(run.utilisation));
        let _ = writeln!(
            text,
            "| {} | {mark} | {share} % | {mean} | {p95} | {own_mean} | {own_p95} | {used} % |",
            cell(name)
        );
    }
    text
}

fn in_ms(delays: Option<Quantiles>) -> [String; 2] {
    let words = |delays: Quantiles| [delays.mean_ms, delays.p95_ms].map(|ms| format!("{ms:.1} ms"));
    delays.map_or_else(|| ["–", "–"].map(str::to_owned), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_with(share: fn(Player) -> u64) -> Vec<Encounter> {
        let run = |player| Encounter {
            queue: "q",
            player: Some(player),
            share: share(player),
            utilisation: 1000,
            all: Quantiles::default(),
            foreground: None,
        };
        players().map(run).collect()
    }

    #[test]
    fn the_word_is_about_background_controllers_and_says_what_a_mark_changes() {
        let word = |share| keeps_priority(&runs_with(share), "q");
        // The control takes half of everything, which does not count.
        assert_eq!(word(|player| if player.controller == "cubic" { 500 } else { 950 }), "yes");
        assert_eq!(word(|player| if player.is_marked { 800 } else { 799 }), "marked");
        assert_eq!(word(|player| if player.controller == "ledbat" { 500 } else { 950 }), "no");
        assert_eq!(word(|_| 500), "no");
    }
}
