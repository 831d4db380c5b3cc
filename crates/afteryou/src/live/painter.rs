//! The live view on a terminal: a picture that is painted over in place.
//!
//! The cursor moves relative to its position, so the terminal is never asked for that position. A question would need a
//! terminal at stdout and at stdin. It would also need raw mode, which takes Ctrl-C away.

use super::look::Look;
use super::picture::{picture, LARGEST};
use super::{Frame, View};
use crossterm::cursor::{MoveToColumn, MoveUp};
use crossterm::style::{Attribute, Color, SetAttribute, SetForegroundColor};
use crossterm::terminal::{self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use crossterm::Command;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color as Paint, Modifier};
use ratatui::text::Span;
use std::io::{self, Write};

/// Size of a terminal that reports none.
const USUAL: (u16, u16) = (80, 24);

/// The view on stderr.
pub struct OnTerminal {
    look: Look,
    painter: Painter<io::Stderr>,
}

impl OnTerminal {
    /// Creates a view that has painted nothing yet.
    pub fn new(colour: bool) -> OnTerminal {
        OnTerminal { look: Look { colour }, painter: Painter::new(io::stderr()) }
    }
}

impl View for OnTerminal {
    fn draw(&mut self, frame: &Frame) {
        let screen = terminal::size().ok().filter(|size| size.0 > 0 && size.1 > 0).unwrap_or(USUAL);
        // The cursor's line is below the picture.
        let picture = picture(frame, self.look, screen.0, screen.1.saturating_sub(1).min(LARGEST.1));
        // If nobody sees it there is nobody to report it to.
        let _ = self.painter.paint(&picture, screen);
    }

    fn finish(&mut self) {
        let _ = self.painter.out.flush();
    }
}

/// A line as it was written.
#[derive(PartialEq)]
struct Painted {
    codes: String,
    width: u16,
}

/// Paints pictures over one another.
pub struct Painter<W> {
    pub(super) out: W,
    lines: Vec<Painted>,
    screen: (u16, u16),
}

impl<W: Write> Painter<W> {
    /// Creates a painter that has painted nothing yet.
    pub fn new(out: W) -> Painter<W> {
        Painter { out, lines: Vec::new(), screen: (0, 0) }
    }

    /// Paints `picture` over the one before, on a terminal of `screen` columns and lines.
    pub fn paint(&mut self, picture: &Buffer, screen: (u16, u16)) -> io::Result<()> {
        let lines = encode(picture);
        let mut codes = String::new();
        put(&mut codes, BeginSynchronizedUpdate);
        put(&mut codes, MoveToColumn(0));
        let up = self.height_on(screen);
        if up > 0 {
            put(&mut codes, MoveUp(up));
        }
        let in_place = self.screen == screen && self.lines.len() == lines.len();
        for (i, line) in lines.iter().enumerate() {
            if !in_place || self.lines.get(i) != Some(line) {
                codes.push_str(&line.codes);
                // A full line leaves the cursor on its last character, which would be erased.
                if line.width < screen.0 {
                    put(&mut codes, Clear(ClearType::UntilNewLine));
                }
            }
            codes.push_str("\r\n");
        }
        // What was typed meanwhile, and what is left of a larger picture. Never from the top: some terminals take that
        // for a cleared screen and save all of it to the scrollback.
        put(&mut codes, Clear(ClearType::FromCursorDown));
        put(&mut codes, EndSynchronizedUpdate);
        (self.lines, self.screen) = (lines, screen);
        // In one piece, so that a terminal seldom shows half of it.
        self.out.write_all(codes.as_bytes())?;
        self.out.flush()
    }

    /// Returns the number of lines that the last picture takes now: a terminal that became narrower has wrapped its lines.
    fn height_on(&self, (columns, rows): (u16, u16)) -> u16 {
        let height = |line: &Painted| line.width.div_ceil(columns.max(1)).max(1);
        let lines: u16 = self.lines.iter().map(height).sum();
        lines.min(rows.saturating_sub(1))
    }
}

fn put(codes: &mut String, command: impl Command) {
    // Writing into a string cannot fail.
    let _ = command.write_ansi(codes);
}

fn encode(picture: &Buffer) -> Vec<Painted> {
    let width = usize::from(picture.area.width).max(1);
    picture.content.chunks(width).map(line).collect()
}

/// Returns one line, without the blanks at its end.
fn line(cells: &[Cell]) -> Painted {
    let used = cells.iter().rposition(|cell| cell.symbol() != " ").map_or(0, |last| last + 1);
    let mut codes = String::new();
    let mut style = PLAIN;
    let mut covered = 0;
    for cell in &cells[..used] {
        // The right half of a wide character.
        if covered > 0 {
            covered -= 1;
            continue;
        }
        covered = Span::raw(cell.symbol()).width().saturating_sub(1);
        let own = (cell.fg, cell.modifier);
        if style != own {
            restyle(&mut codes, own);
            style = own;
        }
        codes.push_str(cell.symbol());
    }
    if style != PLAIN {
        restyle(&mut codes, PLAIN);
    }
    Painted { codes, width: (used + covered) as u16 }
}

/// How every line begins and ends.
const PLAIN: (Paint, Modifier) = (Paint::Reset, Modifier::empty());

/// Writes the colours and modifiers that `look` uses; it uses no others.
fn restyle(codes: &mut String, (colour, modifier): (Paint, Modifier)) {
    put(codes, SetAttribute(Attribute::Reset));
    if let Paint::Indexed(index) = colour {
        put(codes, SetForegroundColor(Color::AnsiValue(index)));
    }
    for (wanted, attribute) in [(Modifier::BOLD, Attribute::Bold), (Modifier::DIM, Attribute::Dim)] {
        if modifier.contains(wanted) {
            put(codes, SetAttribute(attribute));
        }
    }
}
