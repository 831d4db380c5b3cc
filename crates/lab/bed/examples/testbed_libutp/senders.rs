//! The senders under test, and scenarios with one of them.

use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;

pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Programs end this long before the run, s.
pub(super) const END: u64 = 2;

/// A sender under test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// The real one.
    Libutp,
    /// Ours, with the recovery of libutp.
    OursLikeLibutp,
    /// Ours, with the controller of libutp.
    Ours,
    /// Ours as it is by default.
    OursByDefault,
}

impl Sender {
    pub(super) fn name(self) -> &'static str {
        match self {
            Sender::Libutp => "the real libutp",
            Sender::OursLikeLibutp => "our uTP, libutp's controller and recovery",
            Sender::Ours => "our uTP, libutp's controller",
            Sender::OursByDefault => "our uTP, LEDBAT++",
        }
    }

    /// Returns the keys of its flow.
    fn keys(self, peer: &str) -> String {
        let ours = |controller: &str, transport: &str| {
            format!(
                "controller = {controller:?}
transport = {transport}
"
            )
        };
        match self {
            Sender::Libutp => format!(
                "traffic = {{ command = [{peer:?}, \"send\", \"{{peer}}:4000\"], \
                 server = [{peer:?}, \"receive\", \"{{own}}:4000\"] }}\n"
            ),
            Sender::OursLikeLibutp => {
                ours("libutp", "{ kind = \"utp\", recovery = \"libutp\", ack = \"every packet\" }")
            }
            Sender::Ours => ours("libutp", "\"utp\""),
            Sender::OursByDefault => ours("ledbat++", "\"utp\""),
        }
    }
}

pub(super) fn flow(sender: Sender, peer: &str, rtt: u32, seconds: u64) -> String {
    let packet = "packet = { payload = \"1382 B\", overhead = \"48 B\" }";
    let keys = sender.keys(peer);
    format!("[[flow]]\nname = \"utp\"\nrole = \"background\"\nrtt = \"{rtt} ms\"\nstop = \"{seconds} s\"\n{packet}\n{keys}")
}

pub(super) fn scenario(link: &str, flows: &str, seconds: u64) -> Result<Checked, Failure> {
    let duration = seconds + END;
    let text = format!("duration = \"{duration} s\"\n[link]\n{link}{flows}");
    let experiment = Experiment::parse(&text, "libutp.toml", &[])?;
    Ok(experiment.runs(None, Some(1))?.pop().ok_or("a file without a run")?.scenario)
}
