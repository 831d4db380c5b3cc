//! Round trips, counted by packets: a round ends when a packet arrives that was sent after the round began
//! (draft-ietf-ccwg-bbr §5.5.1, RFC 9406 §4.2).

/// The current round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Transmissions from this number on belong to a later round.
    end: u64,
}

impl Rounds {
    /// Notes that transmission `number` has arrived, where `next` is the next one's number. Returns whether a round begins.
    pub fn starts(&mut self, number: u64, next: u64) -> bool {
        let starts = number >= self.end;
        if starts {
            self.end = next;
        }
        starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_begins_with_the_first_packet_sent_after_the_last_one_began() {
        let mut rounds = Rounds::default();
        // Ten in flight, each arrival lets one more go.
        let starts: Vec<u64> = (0..40).filter(|number| rounds.starts(*number, number + 10)).collect();
        assert_eq!(starts, [0, 10, 20, 30]);
    }
}
