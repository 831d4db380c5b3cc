//! The demo's run.

use crate::demo_args::DemoArgs;
use crate::failure::Failure;

/// Runs the demo.
pub fn run(_args: DemoArgs) -> Result<(), Failure> {
    Err(Failure::Failed(anyhow::anyhow!("the demo is not built yet")))
}
