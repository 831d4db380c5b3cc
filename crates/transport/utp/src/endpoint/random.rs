//! Numbers that a stranger cannot guess: connection ids and first sequence numbers.

use std::cell::RefCell;

/// Numbers taken from the system at a time. A connection needs six, and a system call for each would cost more than its table.
const NUMBERS: usize = 128;

thread_local! {
    static AHEAD: RefCell<Vec<u16>> = const { RefCell::new(Vec::new()) };
}

/// Returns a random number, which is used only once.
pub(super) fn random_u16() -> u16 {
    AHEAD.with_borrow_mut(|ahead| {
        if ahead.is_empty() {
            let mut bytes = [0; 2 * NUMBERS];
            // Without entropy the protocol still works, it is only easier to disturb.
            let _ = getrandom::fill(&mut bytes);
            ahead.extend(bytes.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])));
        }
        ahead.pop().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_beyond_those_that_were_taken_at_once() {
        let numbers: Vec<u16> = (0..3 * NUMBERS).map(|_| random_u16()).collect();
        let parts: Vec<&[u16]> = numbers.chunks(NUMBERS).collect();
        assert!(parts[0] != parts[1] && parts[1] != parts[2]);
        assert!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len() > 2 * NUMBERS);
    }
}
