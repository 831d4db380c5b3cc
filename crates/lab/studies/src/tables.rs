//! Verdicts as tables.

use crate::entry::Band;
use crate::verdict::{EntryVerdict, Finding, Verdict};
use afteryou_report::table::{Cell, Column, Table, Tone};

/// Words below a table of real packets.
const WIDENED: &str = "One run on real packets. Each band is wider on both sides by what sim may differ: two standard deviations of its seeds.";

/// Returns the findings of an entry: published | band | ours | verdict; of real packets the simulator's values, too.
pub fn findings(verdict: &EntryVerdict) -> Table {
    let is_real = verdict.findings.iter().any(|finding| finding.simulated.is_some());
    let beside = if is_real { Column::numbers("sim") } else { Column::numbers("seeds").spare() };
    let columns = vec![
        Column::words("what"),
        Column::words("at"),
        Column::words("published"),
        Column::numbers("band"),
        Column::numbers("ours"),
        beside,
        Column::words("verdict"),
    ];
    let title = format!("{}: {}", verdict.name(), verdict.entry.claim);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for of_check in verdict.findings.chunk_by(|one, next| one.check == next.check) {
        let (elsewhere, here): (Vec<&Finding>, Vec<&Finding>) = of_check.iter().partition(|f| f.elsewhere);
        rows.extend(here.into_iter().map(row));
        rows.extend(range(&elsewhere));
    }
    Table { title, note: if is_real { WIDENED } else { "" }, grouped: 1, columns, rows }
}

/// Returns the outcomes over the range of settings that the paper does not state, in one row.
fn range(findings: &[&Finding]) -> Option<Vec<Cell>> {
    let first = findings.first()?;
    let values = || findings.iter().filter_map(|finding| finding.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let met = findings.iter().filter(|finding| finding.verdict == Verdict::Met).count();
    let mut cells = row(first);
    cells[1] = Cell::new(format!("over the range not stated ({})", findings.len()));
    cells[4] = Cell::new(format!("{} to {}", number(low), number(high)));
    let words =
        if first.band.judges() { format!("{met} of {} inside", findings.len()) } else { String::new() };
    cells[6] = Cell::new(words);
    Some(cells.into_iter().map(|cell| cell.toned(Tone::Faint)).collect())
}

fn row(finding: &Finding) -> Vec<Cell> {
    let what = match &*finding.unit {
        "" => finding.what.clone(),
        unit => format!("{}, {unit}", finding.what),
    };
    let or_dash = |text: &str| Cell::maybe((!text.is_empty()).then_some(text), str::to_owned);
    let seeds = (finding.seeds > 0).then(|| finding.seeds.to_string());
    let simulated = finding.simulated.map(|sim| format!("{} ± {}", number(sim.mean), digits(sim.spread, 2)));
    vec![
        Cell::new(what),
        or_dash(&finding.at),
        Cell::maybe(finding.published.as_deref(), str::to_owned),
        or_dash(&band_words(finding.band)),
        Cell::new(ours(finding)),
        Cell::maybe(simulated.or(seeds), |words| words),
        Cell::new(word(finding)).toned(tone(finding)),
    ]
}

/// Returns the band in words: "350 to 450", "≥ 0.98", or nothing.
pub fn band_words(band: Band) -> String {
    match (band.min, band.max) {
        (None, None) => String::new(),
        (Some(min), None) => format!("≥ {}", number(min)),
        (None, Some(max)) => format!("≤ {}", number(max)),
        (Some(min), Some(max)) if min == max => number(min),
        (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
    }
}

/// Returns our value in words, "391 ± 4", or the reason that there is nothing.
pub fn ours(finding: &Finding) -> String {
    match (finding.value, finding.half_width) {
        (Some(value), Some(half)) => format!("{} ± {}", number(value), digits(half, 2)),
        (Some(value), None) => number(value),
        (None, _) => finding.trouble.clone().unwrap_or_default(),
    }
}

/// Formats a number with four digits, without a tail of zeros.
pub fn number(value: f64) -> String {
    digits(value, 4)
}

fn digits(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "none".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        0.0 => 0,
        _ if size >= 1000.0 => 0,
        _ => (digits - 1 - libm::floor(libm::log10(size)) as i32).clamp(0, 12) as usize,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn word(finding: &Finding) -> String {
    let word = match finding.explains {
        true => format!("{} (explains)", finding.verdict.word()),
        false => finding.verdict.word().to_owned(),
    };
    let missed = finding.published_met == Some(false) && finding.verdict == Verdict::Met;
    let edge = finding.on_the_edge.is_some();
    let more = [(missed, ", published number missed"), (edge, ", on the edge")];
    more.into_iter().filter(|(is_so, _)| *is_so).fold(word, |word, (_, more)| word + more)
}

fn tone(finding: &Finding) -> Tone {
    match finding.verdict {
        _ if !finding.decides() => Tone::Faint,
        Verdict::Met => Tone::Good,
        Verdict::Missed => Tone::Bad,
        Verdict::Explained | Verdict::Reported => Tone::Plain,
    }
}

/// Returns the notes below a table, a paragraph each: causes of misses, private data, a note, checks that a quick run leaves
/// out.
pub fn remarks(verdict: &EntryVerdict) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (cause, why) in verdict.findings.iter().filter_map(|finding| finding.explained.as_ref()) {
        let line = format!("Explained by {}: {why}", cause.words());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(verdict.findings.iter().filter_map(edge));
    lines.extend(verdict.entry.stand_in.as_ref().map(|words| format!("Private data: {words}")));
    lines.extend(verdict.entry.note.clone());
    let elsewhere = "Met elsewhere in the range of settings that the paper does not state.";
    lines.extend(verdict.met_elsewhere().then(|| elsewhere.to_owned()));
    lines.extend((verdict.left_out > 0).then(|| format!("{} checks need the whole run.", verdict.left_out)));
    lines.extend(verdict.stale.iter().map(|stale| format!("Stale explanation: {stale}")));
    lines
}

/// Returns the words "On the edge: …", if the verdict hangs on the seeds.
fn edge(finding: &Finding) -> Option<String> {
    let at = if finding.at.is_empty() { String::new() } else { format!(" ({})", finding.at) };
    let second = number(finding.on_the_edge?);
    Some(format!(
        "On the edge: {}{at} is {second} with the second set of seeds, another verdict.",
        finding.what
    ))
}

/// Returns one row for each paper: entries, met, reported, missed and explained, missed.
pub fn summary(verdicts: &[EntryVerdict]) -> Table {
    let mut papers: Vec<&str> = verdicts.iter().map(|verdict| verdict.paper).collect();
    papers.dedup();
    let columns = vec![
        Column::words("paper"),
        Column::numbers("entries"),
        Column::numbers("met"),
        Column::numbers("reported"),
        Column::numbers("missed, explained"),
        Column::numbers("missed"),
        Column::numbers("CPU time").spare(),
    ];
    let row = |name: &str, of: &[&EntryVerdict]| {
        let count = |wanted: Verdict| of.iter().filter(|verdict| verdict.verdict() == wanted).count();
        let missed = count(Verdict::Missed);
        let cpu_s: f64 = of.iter().map(|verdict| verdict.cpu_s).sum();
        let tone = if missed > 0 { Tone::Bad } else { Tone::Good };
        vec![
            Cell::new(name),
            Cell::new(of.len().to_string()),
            Cell::new(count(Verdict::Met).to_string()),
            Cell::new(count(Verdict::Reported).to_string()),
            Cell::new(count(Verdict::Explained).to_string()),
            Cell::new(missed.to_string()).toned(tone),
            Cell::new(format!("{cpu_s:.0} s")),
        ]
    };
    let of = |paper: &&str| verdicts.iter().filter(|verdict| verdict.paper == *paper).collect::<Vec<_>>();
    let mut rows: Vec<Vec<Cell>> = papers.iter().map(|paper| row(paper, &of(paper))).collect();
    if papers.len() > 1 {
        rows.push(row("all", &verdicts.iter().collect::<Vec<_>>()));
    }
    Table { title: "Studies".to_owned(), note: "", grouped: 0, columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_no_tail() {
        let words = [391.26, 0.95467, 5.0, 0.0, 1135.0, 2.88e-4, -0.15, f64::NAN].map(number);
        assert_eq!(words, ["391.3", "0.9547", "5", "0", "1135", "0.000288", "-0.15", "none"]);
    }
}
