//! Runs the first point of scenario files natively and prints a line for each: hash of `result.json`, milliseconds, file. Files that the
//! page refuses have the reason in place of the hash. Run at the project's root.

mod support;

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = support::files()?;
    // Scenarios in `scenarios/gallery` name files of the folder above.
    let above: Vec<_> = files.iter().map(|(name, content)| (format!("../{name}"), content.clone())).collect();
    files.extend(above);
    for file in std::env::args().skip(1) {
        let scenario = serde_json::json!({ "text": std::fs::read_to_string(&file)?, "files": files });
        let request = serde_json::json!({ "ask": "run", "scenario": scenario });
        let began = Instant::now();
        let answer: serde_json::Value =
            serde_json::from_str(&afteryou_page::answer(&request.to_string(), &mut |_| {}))?;
        let words = answer["hash"].as_str().or(answer["message"].as_str()).unwrap_or_default();
        println!("{}\t{}\t{file}", words.replace('\n', " "), began.elapsed().as_millis());
    }
    Ok(())
}
