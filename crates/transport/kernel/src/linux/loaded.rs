//! The controllers in the running kernel.

use super::error::Error;
use super::names::BTF;
use crate::release::is_older;
use libbpf_rs::{Link, MapCore, MapType, Object, ObjectBuilder};
use std::ffi::OsStr;
use std::path::Path;

/// The compiled eBPF programs, for little-endian machines.
pub(crate) const OBJECT: &[u8] = include_bytes!("../../bpf/afteryou.bpf.o");

/// The programs that choose the controller for the connections of a control group.
const OF_A_JOB: [&str; 2] = ["cover", "cover_keeps"];

/// The controllers, registered with the kernel. Dropping it unregisters them; connections that use one keep it to their end.
#[derive(Debug)]
pub struct Loaded {
    links: Vec<Link>,
    object: Object,
}

impl Loaded {
    /// Loads and registers the controllers.
    ///
    /// # Errors
    /// The kernel has no BTF, is too old or has the names already, or the process lacks the privileges.
    pub fn new() -> Result<Loaded, Error> {
        check_kernel()?;
        let mut object = ObjectBuilder::default().open_memory(OBJECT)?;
        for mut program in object.progs_mut().filter(|program| is_of_a_job(program.name())) {
            program.set_autoload(false);
        }
        let mut object = object.load()?;
        let mut links = Vec::new();
        for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            links.push(map.attach_struct_ops()?);
        }
        Ok(Loaded { links, object })
    }

    /// Keeps links and maps of connections loaded by pins in a folder of bpffs, under the names of their maps in the object.
    pub(crate) fn pin(mut self, folder: &Path) -> Result<(), Error> {
        let mut links = self.links.iter_mut();
        for mut map in self.object.maps_mut() {
            let path = folder.join(map.name());
            match map.map_type() {
                MapType::StructOps => links.next().map_or(Ok(()), |link| link.pin(path))?,
                MapType::SkStorage => map.pin(path)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the rule of a map of connections, by the map's name in the object.
pub(crate) fn rule_of(map: &OsStr) -> Option<&str> {
    map.to_str()?.strip_suffix("_connections")
}

/// Returns whether a program is of a job alone.
pub(crate) fn is_of_a_job(program: &OsStr) -> bool {
    OF_A_JOB.iter().any(|name| program == *name)
}

/// Tests whether this kernel can run the programs.
///
/// # Errors
/// It has no BTF or is too old.
pub(crate) fn check_kernel() -> Result<(), Error> {
    let release = release();
    if is_older(&release) {
        return Err(Error::TooOld(release));
    }
    match Path::new(BTF).exists() {
        true => Ok(()),
        false => Err(Error::NoBtf),
    }
}

/// Returns the running kernel's release; empty if it cannot be read.
pub fn release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}
