//! A ticket as a picture, for the camera of another machine.

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// Returns the code in half blocks, dark on light whatever the terminal's colours; `None` for a ticket that is too long for
/// one.
pub fn code(ticket: &str) -> Option<String> {
    // A code has a mode for capital letters that takes less room, and tickets may be written in them.
    let code = QrCode::with_error_correction_level(ticket.to_ascii_uppercase(), EcLevel::L).ok()?;
    Some(code.render::<Dense1x2>().dark_color(Dense1x2::Dark).light_color(Dense1x2::Light).build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::line;
    use afteryou_transfer::ticket::{Role, Ticket};

    #[test]
    fn capital_letters_are_the_same_ticket_and_take_less_room() {
        let ticket = line(Role::Receive);
        assert!(ticket.to_ascii_uppercase().parse::<Ticket>().is_ok());
        let lines = |text: &str| text.lines().count();
        let small = QrCode::with_error_correction_level(&ticket, EcLevel::L).unwrap();
        assert!(lines(&code(&ticket).unwrap()) < lines(&small.render::<Dense1x2>().build()));
        assert!(code(&"a".repeat(10_000)).is_none());
    }
}
