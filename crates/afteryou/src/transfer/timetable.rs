//! Keeps a job to --max-rate.

use super::limit::MaxRate;
use super::tally::Tally;
use afteryou_transfer::pace::{Limit, Owner, Pace};
use std::sync::{Arc, Mutex};

/// Sets the pace now.
pub fn follow(max_rate: MaxRate, pace: Pace, _tally: Arc<Mutex<Tally>>) -> tokio::task::JoinHandle<()> {
    let MaxRate(limit) = max_rate;
    pace.set(Owner::User, Limit { max_rate: limit, paused: false });
    tokio::spawn(async {})
}
