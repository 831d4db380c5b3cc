//! Controllers that are wrong on purpose, and small leagues.

use afteryou_base::{About, Span, Time};
use afteryou_cc::list::{find, Class, Entry};
use afteryou_cc::{
    Ack, Controller, Directive, Idle, Loss, Needs, Pacing, Setup, Snapshot, SpuriousLoss, Timeout,
};
use afteryou_engines::{find as engine, Cache};
use afteryou_league::{
    directly, draw, entrants, play, Cell, Kept, Scores, Season, Set, Setting, GOALS, QUICK,
};
use afteryou_notation::catalogue;
use afteryou_scenario::content::ContentHash;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is wrong with a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The window is four times as large.
    Gain,
    /// Losses and timeouts are not heard of.
    Deaf,
    /// Every window leaves in one burst.
    Unpaced,
    /// It never sends more than a packet at a time, and that slowly.
    Silent,
    /// It panics at the hundredth acknowledgement.
    Panics,
    /// It never returns from the hundredth acknowledgement.
    Hangs,
    /// Its window has no limit.
    RunsAway,
}

/// LEDBAT++ with something wrong.
#[derive(Debug)]
struct Broken {
    inner: Box<dyn Controller>,
    wrong: Wrong,
    acks: u32,
    /// The smoothed one.
    round_trip: Span,
    mss: u64,
}

impl Controller for Broken {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.acks += 1;
        self.round_trip = ack.smoothed_rtt.unwrap_or(self.round_trip);
        match self.wrong {
            Wrong::Panics if self.acks == 100 => panic!("broken on purpose"),
            Wrong::Hangs if self.acks == 100 => loop {
                std::thread::sleep(Duration::from_millis(10));
            },
            _ => self.inner.on_ack(ack),
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.wrong != Wrong::Deaf {
            self.inner.on_loss(loss);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if self.wrong != Wrong::Deaf {
            self.inner.on_spurious_loss(spurious);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if self.wrong != Wrong::Deaf {
            self.inner.on_timeout(timeout);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.inner.on_idle(idle);
    }

    fn on_mtu(&mut self, mss: u32) {
        self.inner.on_mtu(mss);
    }

    fn on_wake(&mut self, now: Time) {
        self.inner.on_wake(now);
    }

    fn directive(&self) -> Directive {
        let directive = self.inner.directive();
        match self.wrong {
            Wrong::Gain => Directive { cwnd: directive.cwnd * 4, ..directive },
            Wrong::Unpaced => {
                let packets = (directive.cwnd / self.mss).max(1) as u32;
                Directive {
                    pacing: Pacing::Together { packets, apart_us: 0, every: self.round_trip },
                    ..directive
                }
            }
            Wrong::Silent => Directive { pacing: Pacing::Rate(100), ..Directive::window(1) },
            Wrong::RunsAway => Directive { pacing: Pacing::Rate(1 << 40), ..Directive::window(1 << 50) },
            _ => directive,
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}

macro_rules! broken {
    ($($name:literal $wrong:ident),*) => {
        /// The entries of all of them.
        static ENTRIES: &[Entry] = &[$(Entry {
            about: About {
                name: $name,
                summary: "wrong on purpose",
                source: "a test",
                params: &[],
                presets: &[],
            },
            class: Class::Background,
            make: |_, setup| make(Wrong::$wrong, setup),
        }),*];
    };
}

broken!(
    "gain" Gain, "deaf" Deaf, "unpaced" Unpaced, "silent" Silent, "panics" Panics, "hangs" Hangs, "runs-away" RunsAway
);

fn make(wrong: Wrong, setup: &Setup) -> Box<dyn Controller> {
    let ledbatpp = find("ledbat++").unwrap();
    let round_trip = Span::from_millis(1);
    Box::new(Broken {
        inner: ledbatpp.build(&[], *setup).unwrap(),
        wrong,
        acks: 0,
        round_trip,
        mss: setup.mss.into(),
    })
}

/// Returns every `step`-th cell of the quick grid.
pub fn cells(step: usize) -> Vec<Cell> {
    draw(QUICK, Set::Train, 1).into_iter().step_by(step).collect()
}

/// Runs a league of these controllers.
pub fn played(names: &[&str], cells: Vec<Cell>, patience: Duration) -> Season {
    played_with(names, cells, patience, 2, &mut Cache::in_memory())
}

/// Runs a league with a cache.
pub fn played_with(
    names: &[&str],
    cells: Vec<Cell>,
    patience: Duration,
    threads: usize,
    cache: &mut Cache<Kept>,
) -> Season {
    ENTRIES.iter().for_each(|entry| catalogue::register(entry).unwrap());
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let stop = AtomicBool::new(false);
    let setting = Setting {
        engine: engine("sim").unwrap(),
        threads,
        build: ContentHash::of_text("test"),
        patience,
        around: directly,
        failure: || None,
        stop: &stop,
    };
    play(cells, entrants(&names).unwrap(), &setting, cache, &mut |_| ()).unwrap()
}

/// Returns the score of each goal, by entrant.
pub fn goals_of(season: &Season) -> Vec<Vec<f64>> {
    let scores = Scores::of(season, &[1.0; GOALS.len()]);
    let mut all = vec![Vec::new(); season.entrants.len()];
    for standing in scores.standings {
        all[standing.entrant] =
            standing.goals.iter().map(|score| score.map_or(1.0, |score| score.mean)).collect();
    }
    all
}
