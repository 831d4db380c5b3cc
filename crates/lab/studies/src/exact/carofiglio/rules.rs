//! Our controllers, fed with acks by hand: the window grows to a given size on an empty queue, and then the queue has a given delay.

use afteryou_base::param::Value;
use afteryou_cc::script::{Driver, Event};
use afteryou_cc::{list, Ack, Controller, Loss, Sent, Setup, Span, Time};

const MSS: u64 = 1500;
const TARGET_MS: u64 = 25;
/// One-way base delay, µs.
const BASE_US: f64 = 25_000.0;
const RTT: Span = Span::from_millis(50);
/// A window of the paper's size takes one ack of a window for each packet that it grows by.
const MOST_ACKS: u32 = 1_000;

/// Hands events to a controller, each a little later than the one before.
struct Feed<'a> {
    driver: Driver<'a>,
    now: Time,
}

impl Feed<'_> {
    /// Returns the window, packets.
    fn window(&self) -> f64 {
        self.driver.state().directive.cwnd as f64 / MSS as f64
    }

    fn apply(&mut self, event: impl FnOnce(Time) -> Event) {
        self.now += Span::from_millis(1);
        self.driver.apply(&event(self.now)).unwrap_or_else(|error| unreachable!("bug: {error}"));
    }

    /// Handles an ack of `bytes` whose packet met a queue of `queue_ms`.
    fn ack(&mut self, bytes: u64, queue_ms: f64) {
        let window = self.driver.state().directive.cwnd;
        self.apply(|now| {
            Event::Ack(Ack {
                now,
                newly_acked: bytes,
                flightsize: window,
                in_flight: window,
                smoothed_rtt: Some(RTT),
                one_way_delay: Some((BASE_US + queue_ms * 1e3) as u32),
                ..Ack::default()
            })
        });
    }

    /// Grows the window on an empty queue.
    fn grow_to(&mut self, window: f64) {
        for _ in 0..MOST_ACKS {
            let missing = window - self.window();
            if missing < 0.5 / MSS as f64 {
                return;
            }
            // A whole window's ack adds a packet, and a part of one that part of a packet.
            let whole = self.driver.state().directive.cwnd;
            let part = (whole as f64 * missing.min(1.0)).ceil() as u64;
            self.ack(part, 0.0);
        }
    }
}

fn with<T>(controller: &str, window: f64, then: impl FnOnce(&mut Feed) -> T) -> Option<T> {
    let settings = [
        ("target", Value::Time(Span::from_millis(TARGET_MS))),
        ("current_filter", Value::Count(1)),
        ("clock_skew", Value::Choice("none")),
    ];
    let mut controller: Box<dyn Controller> =
        list::find(controller)?.build(&settings, Setup::of(MSS as u32)).ok()?;
    let mut feed = Feed { driver: Driver::new(controller.as_mut()), now: Time::ZERO };
    feed.grow_to(window);
    Some(then(&mut feed))
}

/// Returns the change of a window of `window` packets by the ack of one packet that met a queue of `queue_ms`, packets.
pub fn step(controller: &str, window: f64, queue_ms: f64) -> f64 {
    let change = |feed: &mut Feed| {
        let before = feed.window();
        feed.ack(MSS, queue_ms);
        feed.window() - before
    };
    with(controller, window, change).unwrap_or(f64::NAN)
}

/// Returns the growth of a window of 40 packets by the acks of one round trip at a queue of `queue_ms`, packets.
pub fn growth(controller: &str, queue_ms: f64) -> f64 {
    let change = |feed: &mut Feed| {
        let before = feed.window();
        for _ in 0..before.round() as u64 {
            feed.ack(MSS, queue_ms);
        }
        feed.window() - before
    };
    with(controller, 40.0, change).unwrap_or(f64::NAN)
}

/// Returns the window after a loss that found `window` packets, packets.
pub fn after_loss(controller: &str, window: f64) -> f64 {
    let change = |feed: &mut Feed| {
        let flightsize = feed.driver.state().directive.cwnd;
        feed.apply(|now| {
            let sent = Sent { now, bytes: MSS, packet_number: 1, in_flight: flightsize, ..Sent::default() };
            Event::Loss(Loss { now, sent, flightsize, ..Loss::default() })
        });
        feed.window()
    };
    with(controller, window, change).unwrap_or(f64::NAN)
}
