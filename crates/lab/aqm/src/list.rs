//! Every queue discipline by name. To add one: its file, its `mod` line, its line here.

use crate::backlog::Limit;
use crate::error::Error;
use crate::queue::Queue;
use crate::site::Site;
use crate::{
    cake, choke, codel, droptail, drr, dualpi2, fq_codel, fq_pie, le_fq_codel, le_pie, le_red, le_threshold,
    le_two_queues, pie, red, sfq,
};
use afteryou_base::param::{Settings, Value};
use afteryou_base::About;
use rand_core::Rng;
use std::ops::Deref;

/// A discipline in the list. The buffer's limit is not among its parameters, since every discipline has one.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, parameters, presets and source; read as if they were the entry's own.
    pub about: About,
}

impl Deref for Entry {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

/// Declares the list and the function that makes a queue from it: name, module (with `PARAMS` and `PRESETS`), constructor,
/// summary, source.
macro_rules! disciplines {
    ($($name:literal, $module:ident, $new:expr, $summary:literal, $source:literal;)*) => {
        /// All disciplines.
        pub const QUEUES: &[Entry] = &[$(Entry {
            about: About {
                name: $name,
                summary: $summary,
                source: $source,
                params: $module::PARAMS,
                presets: $module::PRESETS,
            },
        }),*];

        fn make<T: Send + 'static>(
            name: &str,
            settings: &Settings<'_>,
            site: Site<impl Rng + Send + 'static>,
        ) -> Result<Box<dyn Queue<T>>, Error> {
            Ok(match name {
                $($name => Box::new($new(settings, site)?),)*
                _ => unreachable!("bug: {name} is not in QUEUES"),
            })
        }
    };
}

disciplines! {
    "droptail", droptail, |_, site: Site<_>| Ok::<_, Error>(droptail::DropTail::new(site.limit)),
        "first in, first out; what does not fit is dropped", "the plain queue of most devices";
    "red", red, red::Red::new,
        "drops at random on arrival, the more often the longer the queue on average", "ns-2 red.cc; Floyd and Jacobson 1993";
    "choke", choke, choke::Choke::new,
        "RED that first drops packets of a flow that fills the queue, by comparing with one at random", "Pan, Prabhakar and Psounis 2000; Linux sch_choke";
    "sfq", sfq, sfq::Sfq::new,
        "the buckets of a hash take turns", "McKenney 1990, Linux sch_sfq.c";
    "drr", drr, drr::Drr::new,
        "classes take turns of a quantum of bytes", "Shreedhar and Varghese 1995, Linux sch_drr.c";
    "codel", codel, codel::Codel::new,
        "drops from the head once packets have waited too long for too long", "RFC 8289";
    "fq_codel", fq_codel, fq_codel::FqCodel::new,
        "a CoDel for every flow, which take turns, those that send little first", "RFC 8290";
    "pie", pie, pie::Pie::new,
        "drops on arrival with a probability that keeps the delay at a target", "RFC 8033";
    "fq_pie", fq_pie, fq_pie::FqPie::new,
        "a PIE for every flow, which take turns, those that send little first", "Linux sch_fq_pie.c, FreeBSD dn_sched_fq_pie.c";
    "cake", cake, cake::Cake::new,
        "fair to hosts and to their flows, in tins by code point, behind a shaper", "Høiland-Jørgensen, Täht and Morton 2018; Linux sch_cake.c";
    "dualpi2", dualpi2, dualpi2::DualPi2::new,
        "a shallow queue for L4S senders beside a classic one, with coupled probabilities", "RFC 9332";
    "le_threshold", le_threshold, le_threshold::LeThreshold::new,
        "one FIFO, CoDel or DropTail, that takes lower effort only while it is short", "own proposal after RFC 8622 §2";
    "le_two_queues", le_two_queues, le_two_queues::LeTwoQueues::new,
        "a queue for lower effort behind one for all others", "own proposal after RFC 8622";
    "le_red", le_red, le_red::LeRed::new,
        "RED that drops lower effort some times as often as the rest", "own proposal after RFC 8622";
    "le_pie", le_pie, le_pie::LePie::new,
        "PIE that drops lower effort some times as often as the rest", "own proposal after RFC 8622";
    "le_fq_codel", le_fq_codel, le_fq_codel::LeFqCodel::new,
        "FQ-CoDel with lower effort behind all others", "own proposal after RFC 8290 and RFC 8622";
}

/// Returns the discipline of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    QUEUES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Makes a queue at `site` with some parameters overridden.
    ///
    /// # Errors
    /// A value out of its range, two that do not go together, or a site whose limit holds no packet.
    pub fn build<T: Send + 'static>(
        &self,
        overrides: &[(&'static str, Value)],
        site: Site<impl Rng + Send + 'static>,
    ) -> Result<Box<dyn Queue<T>>, Error> {
        match site.limit.resolved() {
            Limit::Packets(0) | Limit::Bytes(0) => return Err(Error::NoRoom),
            _ => {}
        }
        let settings = Settings::new(self.params, overrides)?;
        make(self.name, &settings.with_preset(self.presets), site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::Kind;

    #[test]
    fn every_entry_builds_from_its_own_table_and_each_of_its_presets() {
        for entry in QUEUES {
            let build = |overrides: &[_]| entry.build::<()>(overrides, Site::test(Limit::Packets(10)));
            assert!(build(&[]).is_ok(), "{}", entry.name);
            for preset in entry.presets {
                let built = build(&[("preset", Value::Choice(preset.name))]);
                assert!(built.is_ok(), "{}, {}: {:?}", entry.name, preset.name, built.err());
            }
            assert!(find(entry.name).is_some());
        }
    }

    #[test]
    fn presets_say_only_what_the_table_knows_and_takes() {
        for entry in QUEUES {
            let names: Vec<_> = entry.presets.iter().map(|preset| preset.name).collect();
            let row = entry.params.iter().find(|param| param.name == "preset");
            let words = row.map(|row| match row.kind {
                Kind::Choice(words) => words.to_vec(),
                other => panic!("{}: preset is {other}", entry.name),
            });
            assert_eq!(words.unwrap_or_default(), names, "{}", entry.name);
            for (name, value) in entry.presets.iter().flat_map(|preset| preset.rows) {
                let param = entry.params.iter().find(|param| param.name == *name);
                let param = param.unwrap_or_else(|| panic!("{}: {name} is not in the table", entry.name));
                assert_eq!(param.check(*value), Ok(()), "{}", entry.name);
            }
        }
    }

    #[test]
    fn a_buffer_that_holds_nothing_is_refused() {
        for limit in [Limit::Packets(0), Limit::Bytes(0)] {
            let error = QUEUES[0].build::<()>(&[], Site::test(limit)).err().unwrap().to_string();
            assert!(error.contains("holds nothing: use at least 1 packet"), "{error}");
        }
    }
}
