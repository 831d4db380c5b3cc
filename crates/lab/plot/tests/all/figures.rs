//! Figures of saved rows.

use afteryou_plot::{Data, Figure, Kind};
use std::path::Path;

/// Returns a table: two settings, three repetitions, two controllers.
fn rows() -> String {
    let mut text = "link.rate_bit_s,flow.backup.rtt_s,repetition,controller,window,kept\n".to_owned();
    for (r, rate) in [1e6, 1e7, 1e8].iter().enumerate() {
        for (t, rtt) in [0.01, 0.1].iter().enumerate() {
            for repetition in 1..=3 {
                for (c, controller) in ["ledbat++", "cubic"].iter().enumerate() {
                    let kept = 1.0 / (1.0 + r as f64 + 2.0 * t as f64 + 4.0 * c as f64)
                        + 0.01 * f64::from(repetition);
                    text += &format!("{rate},{rtt},{repetition},{controller},measured,{kept}\n");
                }
            }
        }
    }
    text
}

fn figure(kind: Kind) -> Figure {
    let by = if kind == Kind::Heat { "flow.backup.rtt_s" } else { "controller" };
    Figure {
        kind: Some(kind),
        x: Some("link.rate_bit_s".to_owned()),
        y: "kept".to_owned(),
        by: vec![by.to_owned()],
        ..Figure::default()
    }
}

fn drawn(figure: &Figure) -> Result<String, String> {
    let data = Data::parse(&rows(), Path::new("flows.csv")).map_err(|error| error.to_string())?;
    figure.draw_of(data).map_err(|error| error.to_string())
}

/// Returns the words of a drawing, in order.
fn words(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("a drawing");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn every_kind_names_its_columns_and_draws_the_same_bytes_again() {
    for (name, kind) in Kind::ALL {
        let svg = drawn(&figure(kind)).expect(name);
        assert_eq!(svg, drawn(&figure(kind)).expect(name));
        let words = words(&svg);
        let has = |word: &str| words.iter().any(|said| said.contains(word));
        assert!(has("Kept"), "{name}: {words:?}");
        match kind {
            Kind::Heat => assert!(has("link.rate (Mbit/s)") && has("flow.backup.rtt (ms)") && has("100")),
            Kind::Line => assert!(has("link.rate (Mbit/s)") && has("ledbat++") && has("cubic")),
            Kind::Bar | Kind::Cdf => assert!(has("ledbat++") && has("cubic")),
        }
    }
}

#[test]
fn a_map_has_the_mean_of_each_pair_of_settings() {
    let one = Figure { only: vec![("controller".to_owned(), "cubic".to_owned())], ..figure(Kind::Heat) };
    let words = words(&drawn(&one).unwrap());
    // 1 / (1 + 4) + 0.02, and so on: three digits of six means.
    for mean in ["0.22", "0.187", "0.163", "0.163", "0.145", "0.131"] {
        let shown = words.iter().any(|word| {
            word.parse::<f64>().is_ok_and(|number| (number - mean.parse::<f64>().unwrap()).abs() < 0.006)
        });
        assert!(shown, "{mean} in {words:?}");
    }
    assert!(words.iter().any(|word| word == "controller = cubic"));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_the_nearest_word() {
    let wrong = |change: fn(&mut Figure)| {
        let mut figure = figure(Kind::Line);
        change(&mut figure);
        drawn(&figure).unwrap_err()
    };
    let said = wrong(|figure| figure.y = "kep".to_owned());
    assert!(said.contains("there is no column \"kep\": did you mean \"kept\"?"), "{said}");
    let said = wrong(|figure| figure.y = "controller".to_owned());
    assert!(said.contains("has words") && said.contains("repetition"), "{said}");
    let said = wrong(|figure| figure.only = vec![("controller".to_owned(), "cubik".to_owned())]);
    assert!(said.contains("did you mean \"cubic\"?"), "{said}");
    let said = wrong(|figure| (figure.kind, figure.by) = (Some(Kind::Heat), Vec::new()));
    assert!(said.contains("--by"), "{said}");
    assert!(Data::parse("a,b\n", Path::new("t.csv")).unwrap_err().to_string().contains("it has no rows"));
    assert!(Data::parse("a,b\n1\n", Path::new("t.csv")).is_err());
}

#[test]
fn a_sweeps_folder_is_drawn_from_whole_runs_where_they_have_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let runs = "controller,kept,link.buffer_s\nledbat,0.9,0.1\n";
    let flows = "controller,kept,link.buffer_s,window\ncubic,0.9,0.1,shared\n";
    std::fs::write(folder.path().join("runs.csv"), runs).unwrap();
    std::fs::write(folder.path().join("flows.csv"), flows).unwrap();
    let by = |columns: &[&str]| {
        let by = columns.iter().map(|name| (*name).to_owned()).collect();
        let figure =
            Figure { x: Some("link.buffer_s".to_owned()), y: "kept".to_owned(), by, ..Figure::default() };
        words(&figure.draw(folder.path()).unwrap()).concat()
    };
    assert!(by(&["controller"]).contains("ledbat"));
    assert!(by(&["controller", "window"]).contains("cubic"));
}
