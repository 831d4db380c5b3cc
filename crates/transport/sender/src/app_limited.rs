//! Application-limited periods: while the application gives too little, acks are no evidence about the window, and delivery
//! rates nothing about the path.
//!
//! Two rules end a period. The window is in full use again as soon as everything that was in flight when it had room
//! has been delivered. Acks of later packets may widen it (RFC 9002 §7.8). A rate needs an ack from beyond the bubble:
//! the mark holds until **more** has been delivered (draft-cheng-iccrg-delivery-rate-estimation-02 §3.3 and §3.4). So
//! the first flight after a pause gives no rate of the path.

/// Until when the sender counts as application-limited.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppLimited {
    /// The mark ends when this number of bytes has been delivered; 0: there is none.
    until: u64,
}

impl AppLimited {
    /// Marks that the window has room that is not used: the mark holds until the bytes in flight now have been delivered.
    pub fn mark(&mut self, delivered: u64, in_flight: u64) {
        self.until = delivered.saturating_add(in_flight).max(1);
    }

    /// Returns whether a packet that leaves after `delivered` bytes may not widen the window.
    pub fn limits_window(&self, delivered: u64) -> bool {
        self.until > delivered
    }

    /// Returns whether a packet that leaves after `delivered` bytes gives no rate of the path (C.app_limited is not 0).
    pub fn limits_rate(&self, delivered: u64) -> bool {
        self.until != 0 && self.until >= delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_holds_until_what_was_in_flight_is_delivered() {
        let mut limited = AppLimited::default();
        assert!(!limited.limits_window(0) && !limited.limits_rate(0));
        limited.mark(0, 0);
        assert!(limited.limits_window(0) && !limited.limits_window(1));
        limited.mark(1000, 500);
        assert!(limited.limits_window(1000) && limited.limits_window(1499) && !limited.limits_window(1500));
    }

    #[test]
    fn the_first_flight_after_a_pause_gives_no_rate_until_its_first_ack() {
        let mut limited = AppLimited::default();
        limited.mark(1000, 500);
        assert!(limited.limits_rate(1500) && !limited.limits_rate(1501));
    }
}
