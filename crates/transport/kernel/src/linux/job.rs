//! A program and its descendants as one job: their TCP connections to other machines send by ebb in the kernel, and share what one would use.
//!
//! The job has a controller of its own, under a name of its own, and a control group. All of it ends with this process, whatever ends it; the
//! group's folder is removed by this process, or by the next one that makes a group.

use super::cgroup::Group;
use super::error::Error;
use super::layout::Layout;
use super::loaded::{check_kernel, is_of_a_job, OBJECT};
use super::names::OF_A_JOB;
use super::sockets::States;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, OpenObject};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// The parts of the object that a job uses: controller and maps.
const CONTROLLER: &str = "ebb_ops";
const CONNECTIONS: &str = "ebb_connections";
const COUNTS: &str = "cover_counts";
const SETTINGS: &str = ".rodata.settings";

/// Where the kernel's table of a controller has the name: after the pointers of `struct tcp_congestion_ops` in bpf/kernel.h.
const NAME_AT: usize = 9 * 8;
/// Bytes of a name, with the zero after it.
const NAME_LENGTH: usize = 16;

/// How many connections a job has had so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that send by the job's controller.
    pub covered: u64,
    /// Connections within this machine, which are left as they are.
    pub local: u64,
    /// Connections whose controller the kernel refused to set.
    pub refused: u64,
}

/// A job.
#[derive(Debug)]
pub struct Job {
    name: String,
    // In this order: no connection is to begin with a controller that is gone.
    _cover: Vec<Link>,
    _controller: Link,
    object: Object,
    group: Group,
}

impl Job {
    /// Makes a job, with no process in it. Packets of its connections bear `mark`, a byte of TOS.
    ///
    /// # Errors
    /// As [`super::Loaded::new`]; there is no cgroup v2, or it may not be written.
    pub fn new(mark: u8) -> Result<Job, Error> {
        check_kernel()?;
        let name = name().map_err(Error::system("a name at random"))?;
        let group = Group::new(&name)?;
        let mut object = ObjectBuilder::default().open_memory(OBJECT)?;
        prepare(&mut object, &name, mark)?;
        let mut object = object.load()?;
        let mut controllers = object.maps_mut().filter(|map| map.name() == CONTROLLER);
        let controller = controllers.next().ok_or(Error::Object(CONTROLLER))?.attach_struct_ops()?;
        drop(controllers);
        let mut cover = Vec::new();
        for program in object.progs_mut().filter(|program| is_of_a_job(program.name())) {
            cover.push(program.attach_cgroup(group.folder().as_raw_fd())?);
        }
        Ok(Job { name, _cover: cover, _controller: controller, object, group })
    }

    /// Returns the name of the controller.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file that takes the number of a process into the job, with its descendants to be.
    pub fn members(&self) -> PathBuf {
        self.group.members()
    }

    /// Returns how many connections there have been.
    pub fn counts(&self) -> Counts {
        let counts = self.object.maps().find(|map| map.name() == COUNTS);
        let count = |kind: u32| {
            let value = counts.as_ref()?.lookup(&kind.to_ne_bytes(), MapFlags::ANY).ok().flatten()?;
            Some(u64::from_ne_bytes(value.try_into().ok()?))
        };
        let [covered, local, refused] = [0, 1, 2].map(|kind| count(kind).unwrap_or(0));
        Counts { covered, local, refused }
    }

    /// Returns the map of its connections, for [`super::sockets::connections`].
    ///
    /// # Errors
    /// The kernel's.
    pub fn states(&self) -> Result<States, Error> {
        let name = OsStr::new(CONNECTIONS);
        let map = self.object.maps().find(|map| map.name() == name).ok_or(Error::Object(CONNECTIONS))?;
        let map = MapHandle::try_from(&map)?;
        let layout = Layout::of(name)?.ok_or(Error::Object(CONNECTIONS))?;
        Ok(States { id: map.info()?.info.id, map, layout })
    }
}

/// Returns a name that no other job of this kernel has.
fn name() -> io::Result<String> {
    let mut random = [0; 4];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(format!("{OF_A_JOB}{:08x}", u32::from_ne_bytes(random)))
}

/// Leaves the other controllers out, and sets names and mark.
fn prepare(object: &mut OpenObject, name: &str, mark: u8) -> Result<(), Error> {
    let mut padded = [0; NAME_LENGTH];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    for mut map in object.maps_mut() {
        if map.name() == CONTROLLER {
            let table = map.initial_value_mut().ok_or(Error::Object(CONTROLLER))?;
            table[NAME_AT..][..NAME_LENGTH].copy_from_slice(&padded);
        } else if map.name() == SETTINGS {
            let value = map.initial_value_mut().ok_or(Error::Object(SETTINGS))?;
            value[..NAME_LENGTH].copy_from_slice(&padded);
            value[NAME_LENGTH..][..4].copy_from_slice(&u32::from(mark).to_ne_bytes());
            value[NAME_LENGTH + 4..][..4].copy_from_slice(&1_u32.to_ne_bytes());
        } else if map.map_type() == MapType::StructOps {
            map.set_autocreate(false)?;
        }
    }
    Ok(())
}
