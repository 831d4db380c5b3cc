//! An experiment of your own: two backups share a link with a call, on real sockets. Writes a report.
//!
//! `cargo run --release --example experiment`

use afteryou_bed::run::{run, Options};
use afteryou_scenario::scenario::{Flow, Link, Role, Scenario, Traffic, Transport, Window};
use afteryou_scenario::{Algorithm, Duration};
use std::path::Path;

fn flow(
    name: &str,
    role: Role,
    controller: Option<&str>,
    traffic: Traffic,
) -> Result<Flow, afteryou_scenario::Error> {
    Ok(Flow {
        name: name.to_owned(),
        role,
        transport: if controller.is_some() { Transport::Utp } else { Transport::Udp },
        controller: controller.map(str::parse::<Algorithm>).transpose()?,
        rtt: "30 ms".parse()?,
        start: Duration::default(),
        stop: None,
        traffic,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let call = Traffic::Cbr { rate: "64 kbit/s".parse()?, payload: "160 B".parse()? };
    let scenario = Scenario {
        name: "two backups and a call".to_owned(),
        duration: "12 s".parse()?,
        seed: 1,
        measure: vec![Window { name: "settled".to_owned(), from: "4 s".parse()?, to: "12 s".parse()? }],
        baseline: false,
        link: Link {
            rate: "10 Mbit/s".parse()?,
            buffer: "300 ms".parse()?,
            queue: "droptail".parse()?,
            loss: "0 %".parse()?,
        },
        flow: vec![
            flow("first backup", Role::Background, Some("ledbat++"), Traffic::Bulk)?,
            flow("second backup", Role::Background, Some("ledbat++,target=30ms"), Traffic::Bulk)?,
            flow("call", Role::Foreground, None, call)?,
        ],
    };
    let outcome =
        run(&scenario, &Options::default(), &mut |progress| eprint!("\r{:4.1} s ", progress.elapsed_s))?;
    eprintln!();
    println!("{}", afteryou_report::text(&outcome, 100, false));
    let written = afteryou_report::write_folder(&outcome, Path::new("two-backups"))?;
    println!("Report: {}", written.report.display());
    Ok(())
}
