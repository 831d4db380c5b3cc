//! An experiment of your own: two backups share a link with a call, on real sockets. Writes a report.
//!
//! `cargo run --release --example experiment`

use afteryou_bed::run::{run, Options};
use afteryou_scenario::{Flow, Link, Role, Scenario, Transport, Window};
use std::ops::ControlFlow;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rtt = "30 ms".parse()?;
    let backup = |name: &str| Flow {
        transport: Transport::utp(),
        ..Flow::new(name, Role::Background, "ledbat++", rtt)
    };
    let second = Flow { controller: Some("ledbat++,target=30ms".parse()?), ..backup("second backup") };
    let call = Flow::cbr("call", Role::Foreground, "64 kbit/s".parse()?, "160 B".parse()?, rtt);
    let link = Link::new("10 Mbit/s".parse()?, "300 ms".parse()?);
    let scenario = Scenario {
        measure: vec![Window { name: "settled".to_owned(), from: "4 s".parse()?, to: "12 s".parse()? }],
        flow: vec![backup("first backup"), second, call],
        ..Scenario::new("two backups and a call", "12 s".parse()?, link)
    };
    let outcome = run(&scenario.checked()?, &Options::default(), &mut |progress| {
        eprint!("\r{:4.1} s ", progress.elapsed_s);
        ControlFlow::Continue(())
    })?;
    eprintln!();
    println!("{}", afteryou_report::text(&outcome, 100, false));
    let written = afteryou_report::write_folder(&outcome, Path::new("two-backups"))?;
    println!("Report: {}", written.report.display());
    Ok(())
}
