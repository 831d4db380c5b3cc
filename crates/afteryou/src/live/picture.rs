//! A frame as a grid of characters.
//!
//! ```text
//! 12 of 30 s ━━━━━━━━━━━━━────────────────────
//! the stage
//! the verdict's numbers so far
//! Mbit/s  ◆ backup 18.9  ● video upload 0.0
//! (chart of the rates)
//!                   ↑ upload arrives
//!     ms  ▲ queue 58.0  ┈ target 60.0
//! (chart of the queuing delay)
//! ```

use super::charts::{column, highest, round_up, value_width, Plot, LARGEST as LARGEST_VALUE};
use super::look::Look;
use super::{figure, Curve, Frame};
use afteryou_terminal::cut;
use afteryou_terminal::output::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::line::{HORIZONTAL, THICK_HORIZONTAL};
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Widget};

/// The picture never gets larger: wider and higher curves show no more.
pub const LARGEST: (u16, u16) = (120, 36);
/// Smaller pictures have neither the numbers so far nor words at the events.
const LEAST_FOR_WORDS: u16 = 16;
/// A legend does not eat the charts.
const LEGEND_LINES: usize = 3;
/// Charts of fewer lines show nothing.
const LEAST_CHART: u16 = 3;
/// Lines of times below the lower chart.
const TIMES: u16 = 2;
/// The delay's axis does not follow noise below this, ms.
const LEAST_DELAY: f64 = 20.0;
const UNIT_WIDTH: usize = 6;
const APART: &str = "  ";

/// Draws `frame` on at most `width` by `height` characters.
pub fn picture(frame: &Frame, look: Look, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width.clamp(1, LARGEST.0), height.clamp(1, LARGEST.1));
    let mut buffer = Buffer::empty(area);
    let mut room = Room { left: area };
    if let Some(area) = room.take(1) {
        gauge(frame, look, area, &mut buffer);
    }
    if let Some(area) = room.take(1) {
        Line::styled(cut(&frame.stage, area.width), look.strong()).render(area, &mut buffer);
    }
    if let Some(area) = room.take(u16::from(area.height >= LEAST_FOR_WORDS)) {
        Line::raw(cut(&frame.so_far, area.width)).render(area, &mut buffer);
    }
    curves(frame, look, room, &mut buffer);
    buffer
}

/// The area that is not used yet, from the top.
#[derive(Clone, Copy)]
struct Room {
    left: Rect,
}

impl Room {
    fn take(&mut self, lines: u16) -> Option<Rect> {
        if self.left.height < lines || lines == 0 {
            return None;
        }
        let taken = Rect { height: lines, ..self.left };
        self.left.y += lines;
        self.left.height -= lines;
        Some(taken)
    }
}

fn gauge(frame: &Frame, look: Look, area: Rect, buffer: &mut Buffer) {
    let ratio = frame.elapsed_s / frame.total_s;
    let ratio = if ratio.is_finite() { ratio.clamp(0.0, 1.0) } else { 0.0 };
    let total = format!("{:.0}", frame.total_s);
    let elapsed = format!("{:.0}", frame.elapsed_s.floor());
    LineGauge::default()
        .ratio(ratio)
        .label(cut(&format!("{elapsed:>width$} of {total} s", width = total.len()), area.width))
        .filled_symbol(THICK_HORIZONTAL)
        .unfilled_symbol(HORIZONTAL)
        .unfilled_style(look.faint())
        .render(area, buffer);
}

/// Draws legends and charts in what is left.
fn curves(frame: &Frame, look: Look, mut room: Room, buffer: &mut Buffer) {
    let width = usize::from(room.left.width);
    let rates = legend("Mbit/s", &frame.rates, look, width);
    let queue = std::slice::from_ref(&frame.queue);
    let mut delay = legend("ms", queue, look, width);
    if let (Some(line), Some(ms)) = (delay.last_mut(), frame.target_ms) {
        let target = format!("{APART}┈ target {}", figure(Some(ms)));
        let is_room = line.width() + Span::raw(&target).width() <= width;
        line.spans.extend(is_room.then(|| Span::styled(target, look.faint())));
    }
    let words = u16::from(buffer.area.height >= LEAST_FOR_WORDS && !frame.marks.is_empty());
    let legends = (rates.len() + delay.len()) as u16 + words;
    let (upper, lower) = heights(room.left.height.saturating_sub(legends));

    let rates_ceiling = rates_ceiling(frame);
    let delay_ceiling = round_up(highest(&frame.queue), LEAST_DELAY);
    let until_s = until_s(frame);
    let value_width = value_width(&[rates_ceiling, delay_ceiling]);
    let marks = &frame.marks;
    let plot =
        |curves, ceiling, times, level| Plot { curves, ceiling, until_s, times, value_width, level, marks };

    write(&rates, &mut room, buffer);
    if let Some(area) = room.take(upper) {
        plot(&frame.rates, rates_ceiling, lower == 0, None).render(look, area, buffer);
    }
    if let Some(area) = room.take(words) {
        events(frame, until_s, area.x + value_width as u16 + 1, area, look, buffer);
    }
    write(&delay, &mut room, buffer);
    if let Some(area) = room.take(lower) {
        plot(queue, delay_ceiling, true, frame.target_ms).render(look, area, buffer);
    }
}

/// Writes the words of the events below their lines; those without room are left out.
fn events(frame: &Frame, until_s: f64, left: u16, area: Rect, look: Look, buffer: &mut Buffer) {
    let mut free = left;
    for mark in &frame.marks {
        let text = format!("↑ {}", mark.text);
        let width = Span::raw(&text).width() as u16;
        let x = column(mark.at_s, until_s, left, area.right());
        let Some(x) = x.filter(|x| *x >= free && x + width <= area.right()) else { continue };
        buffer.set_string(x, area.y, &text, look.faint());
        free = x + width + 1;
    }
}

/// Returns the link's capacity; larger values are drawn as this. If it is not known, room for what was seen.
fn rates_ceiling(frame: &Frame) -> f64 {
    match frame.capacity_mbit {
        capacity if capacity.is_finite() && capacity > 0.0 => capacity.clamp(0.001, LARGEST_VALUE),
        _ => round_up(frame.rates.iter().map(highest).fold(0.0, f64::max), 1.0),
    }
}

/// Returns the right end of the time axis: it gives way, in whole seconds, if the run takes longer than it should.
fn until_s(frame: &Frame) -> f64 {
    let times = [frame.total_s, frame.elapsed_s.floor()];
    times.into_iter().filter(|s| s.is_finite()).fold(1.0, f64::max).min(LARGEST_VALUE)
}

/// Returns the number of lines that the upper and the lower chart get of `lines`. The rates come first.
fn heights(lines: u16) -> (u16, u16) {
    if lines < LEAST_CHART + TIMES {
        return (0, 0);
    }
    if lines < 2 * LEAST_CHART + TIMES {
        return (lines, 0);
    }
    // Two fifths, rounded.
    let lower = ((lines - TIMES) * 2).div_ceil(5).max(LEAST_CHART) + TIMES;
    (lines - lower, lower)
}

fn write(lines: &[Line<'_>], room: &mut Room, buffer: &mut Buffer) {
    for line in lines {
        if let Some(area) = room.take(1) {
            line.render(area, buffer);
        }
    }
}

/// Returns the names and newest values of `curves`, in as few lines as they fit.
fn legend<'a>(unit: &'a str, curves: &'a [Curve], look: Look, width: usize) -> Vec<Line<'a>> {
    let mut lines = vec![Line::from(Span::styled(format!("{unit:>UNIT_WIDTH$}"), look.faint()))];
    for (i, curve) in curves.iter().enumerate() {
        let pen = look.pen(curves, i);
        let value = figure(curve.latest);
        let taken = UNIT_WIDTH + APART.len() + Span::raw(pen.mark).width() + 2 + value.len();
        let name = cut(&printable(&curve.name), width.saturating_sub(taken) as u16);
        let item = [
            Span::raw(APART),
            Span::styled(format!("{} {name} ", pen.mark), pen.style),
            Span::styled(value, look.strong()),
        ];
        let item_width: usize = item.iter().map(Span::width).sum();
        let full = lines.last().is_some_and(|line| line.width() + item_width > width);
        if full && lines.len() < LEGEND_LINES {
            lines.push(Line::from(" ".repeat(UNIT_WIDTH)));
        }
        if let Some(line) = lines.last_mut() {
            line.spans.extend(item);
        }
    }
    lines
}
