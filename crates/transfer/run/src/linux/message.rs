//! Lines from the process that steers to the one in front of it: JSON, one a line.

use afteryou_outside::linux::{Note, Original, Place};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The program runs.
    Started {
        /// Process number.
        pid: i32,
    },
    /// A socket is steered. Its earlier settings:
    Steered {
        /// Process, descriptor and cookie.
        at: (i32, i32, u64),
        /// Bound of its window, bytes.
        window_clamp: Option<u32>,
        /// Largest rate, bytes a second.
        pacing_rate: u64,
        /// Congestion control that was replaced.
        congestion_control: Option<String>,
    },
    /// A socket is gone.
    Gone {
        /// The socket's cookie.
        cookie: u64,
    },
    /// The program has ended, with the code to exit with.
    Ended {
        /// Exit code.
        code: u8,
    },
    /// The program did not start: the message has been printed.
    Failed {
        /// Exit code.
        code: u8,
    },
}

impl From<Note> for Message {
    fn from(note: Note) -> Message {
        match note {
            Note::Steered(place, original) => Message::Steered {
                at: (place.pid, place.fd, place.cookie),
                window_clamp: original.window_clamp,
                pacing_rate: original.pacing_rate,
                congestion_control: original.congestion_control,
            },
            Note::Gone(cookie) => Message::Gone { cookie },
        }
    }
}

/// The sockets that are steered, by their cookies.
#[derive(Debug, Default)]
pub struct Ledger(HashMap<u64, (Place, Original)>);

impl Ledger {
    /// Takes a line in.
    pub fn take(&mut self, message: &Message) {
        match message {
            Message::Steered { at: (pid, fd, cookie), window_clamp, pacing_rate, congestion_control } => {
                let original = Original {
                    window_clamp: *window_clamp,
                    pacing_rate: *pacing_rate,
                    congestion_control: congestion_control.clone(),
                };
                self.0.insert(*cookie, (Place { pid: *pid, fd: *fd, cookie: *cookie }, original));
            }
            Message::Gone { cookie } => {
                self.0.remove(cookie);
            }
            _ => {}
        }
    }

    /// Returns the sockets.
    pub fn into_sockets(self) -> Vec<(Place, Original)> {
        self.0.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_has_what_is_steered_and_not_gone() {
        let steered = |cookie| {
            let original = Original {
                window_clamp: None,
                pacing_rate: u64::MAX,
                congestion_control: Some("bbr".to_owned()),
            };
            Message::from(Note::Steered(Place { pid: 5, fd: 3, cookie }, original))
        };
        let mut ledger = Ledger::default();
        for message in [steered(1), steered(2), Message::Gone { cookie: 1 }] {
            let line = serde_json::to_string(&message).unwrap();
            ledger.take(&serde_json::from_str(&line).unwrap());
        }
        let sockets = ledger.into_sockets();
        assert_eq!(sockets.len(), 1);
        assert_eq!(sockets[0].0, Place { pid: 5, fd: 3, cookie: 2 });
        assert_eq!(sockets[0].1.pacing_rate, u64::MAX);
    }
}
