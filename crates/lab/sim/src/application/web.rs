//! Closed loop: users who think, fetch a page, and think again.
//!
//! A page is some objects. A user opens as many connections as there are objects, up to a limit, and fetches the objects one
//! after another over each: the next one is sent when the last one is acknowledged, which is when a request for it would
//! arrive. A page is complete when its last object has arrived; its connections close then or soon after. Users begin with a
//! time of thinking. Requests themselves are not sent, and objects do not depend on each other.

use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::traffic::Web as Words;
use afteryou_scenario::{Flow as Spec, Scenario};
use rand_pcg::Pcg64;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Such an application.
pub(super) struct Web {
    words: Words,
    thoughts: Pcg64,
    sizes: Pcg64,
    stop: Time,
    has_begun: bool,
    /// When users have thought.
    thinking: BinaryHeap<Reverse<(Time, usize)>>,
    pages: Vec<Page>,
    /// For which user's page, and which one, a connection was opened.
    owners: BTreeMap<usize, (usize, u64)>,
}

/// The objects that a user fetches.
#[derive(Clone, Default)]
struct Page {
    /// Counts the user's pages.
    number: u64,
    transfer: Option<Transfer>,
    /// Objects that have not been asked for.
    waiting: u32,
    /// Objects that were asked for and have not arrived.
    under_way: u32,
}

impl Web {
    pub(super) fn new(scenario: &Scenario, spec: &Spec, words: &Words) -> Web {
        Web {
            words: words.clone(),
            thoughts: Dialer::random(scenario, spec, "thoughts"),
            sizes: Dialer::random(scenario, spec, "sizes"),
            stop: Time(spec.stop.unwrap_or(scenario.duration).0 .0),
            has_begun: false,
            thinking: BinaryHeap::new(),
            pages: vec![Page::default(); words.users as usize],
            owners: BTreeMap::new(),
        }
    }

    /// Lets users who have thought fetch their pages; returns when the next one does.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        if stage.now >= self.stop {
            dialer.stop(stage);
            return None;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            (0..self.pages.len()).for_each(|user| self.think(stage.now, user));
        }
        while self.thinking.peek().is_some_and(|Reverse((at, _))| *at <= stage.now) {
            if let Some(Reverse((_, user))) = self.thinking.pop() {
                self.fetch(dialer, stage, user);
            }
        }
        Some(self.next())
    }

    fn next(&self) -> Time {
        self.thinking.peek().map_or(self.stop, |Reverse((at, _))| (*at).min(self.stop))
    }

    fn think(&mut self, now: Time, user: usize) {
        // Never no time at all, or a run might not get on.
        let thought = self.words.think.draw(&mut self.thoughts).0.max(Span(1));
        self.thinking.push(Reverse((now + thought, user)));
    }

    fn size(&mut self) -> u64 {
        self.words.size.draw(&mut self.sizes).bytes().max(1)
    }

    fn fetch(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>, user: usize) {
        let Words { objects, connections, .. } = self.words;
        let transfer = Some(dialer.transfers.begin(stage.now, 0));
        let number = self.pages[user].number + 1;
        self.pages[user] = Page { number, transfer, waiting: objects, under_way: 0 };
        for _ in 0..objects.min(connections) {
            let bytes = self.ask(user);
            let connection = dialer.dial_with(stage, bytes);
            self.owners.insert(connection, (user, number));
        }
    }

    /// Takes the next object of a page; returns its size.
    fn ask(&mut self, user: usize) -> u64 {
        let bytes = self.size();
        let page = &mut self.pages[user];
        (page.waiting, page.under_way) = (page.waiting - 1, page.under_way + 1);
        if let Some(transfer) = &mut page.transfer {
            transfer.bytes += bytes;
        }
        bytes
    }

    /// Returns when the next user has thought, if somebody begins to think.
    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) -> Option<Time> {
        let (user, number) = *self.owners.get(&connection)?;
        match news {
            News::Flushed if self.pages[user].number == number && self.pages[user].waiting > 0 => {
                let bytes = self.ask(user);
                dialer.send(stage, connection, bytes);
                None
            }
            News::Flushed => {
                self.owners.remove(&connection);
                dialer.hang_up(stage, connection);
                None
            }
            News::Arrived => {
                let page = &mut self.pages[user];
                page.under_way -= 1;
                if page.under_way + page.waiting > 0 {
                    return None;
                }
                dialer.transfers.complete(stage.now, page.transfer.take()?);
                self.think(stage.now, user);
                Some(self.next())
            }
        }
    }
}
