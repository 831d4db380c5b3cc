//! Controllers that are pinned: in a mount namespace of the test's own, with which the pins go whatever happens.

use crate::turn::{are_gone, Turn};
use afteryou_kernel::{pinned, settings, sockets, Error, NAMES};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::MapHandle;
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sched::{unshare, CloneFlags};
use rustix::process::Uid;
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A user without privileges.
pub const NOBODY: u32 = 65534;
/// What a connection has queued arrives within this time of its last write.
const MOST_STUCK: Duration = Duration::from_secs(3);
/// Load and unload this many times; the environment's `CYCLES` has precedence.
const CYCLES: u32 = 8;

/// Runs a test where bpffs is not mounted, in its turn, or prints why it cannot run.
pub fn alone(test: impl FnOnce() + Send + 'static) {
    let _turn = Turn::wait();
    let prepared = move || {
        unshare(CloneFlags::CLONE_NEWNS).map_err(|error| format!("a mount namespace: {error}"))?;
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>).map_err(|error| error.to_string())?;
        while pinned::has_bpffs() {
            umount2(pinned::BPFFS, MntFlags::MNT_DETACH).map_err(|error| error.to_string())?;
        }
        match pinned::load(false).and_then(|()| pinned::unload()) {
            Ok(()) => {}
            Err(error @ (Error::NoBtf | Error::TooOld(_) | Error::NotPermitted)) => {
                return Err(error.to_string())
            }
            Err(error) => panic!("{error}"),
        }
        // With its file system the pins go, though a thread of a failed test may still be in the namespace.
        let outcome = catch_unwind(AssertUnwindSafe(test));
        umount2(pinned::BPFFS, MntFlags::MNT_DETACH).expect("bpffs is mounted");
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
        Ok(())
    };
    match thread::spawn(prepared).join() {
        Ok(Ok(())) => {}
        Ok(Err(reason)) => eprintln!("SKIPPED: pinned controllers: {reason}"),
        Err(panic) => resume_unwind(panic),
    }
    assert!(are_gone());
}

/// Runs `task` as a user without privileges.
pub fn as_nobody<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let nobody = Uid::from_raw(NOBODY);
    thread::scope(|threads| {
        let thread = threads.spawn(|| {
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            task()
        });
        thread.join().unwrap()
    })
}

fn choose(name: &str) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_tcp_congestion(name.as_bytes())?;
    Ok(socket)
}

#[test]
fn pins_and_maps_are_their_owners_alone() {
    alone(|| {
        pinned::load(false).unwrap();
        assert!(matches!(pinned::load(false), Err(Error::Pinned)));
        let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(Path::new(pinned::BPFFS)) & 0o777, mode(Path::new(pinned::FOLDER))), (0o700, 0o700));
        let pins: Vec<_> =
            std::fs::read_dir(pinned::FOLDER).unwrap().map(|entry| entry.unwrap().path()).collect();
        let pins: Vec<_> = pins.into_iter().filter(|path| !path.is_symlink()).collect();
        assert_eq!(pins.len(), 2 * NAMES.len());
        assert!(
            pins.iter().all(|path| mode(path) == 0o600 && path.metadata().unwrap().uid() == 0),
            "{pins:?}"
        );
        let states = pinned::states().unwrap();
        assert_eq!(states.len(), NAMES.len());
        as_nobody(|| {
            for path in &pins {
                assert_eq!(std::fs::metadata(path).unwrap_err().kind(), ErrorKind::PermissionDenied);
                assert_eq!(
                    MapHandle::from_pinned_path(path).unwrap_err().kind(),
                    libbpf_rs::ErrorKind::PermissionDenied
                );
            }
            for states in &states {
                let opened = MapHandle::from_map_id(states.id);
                assert_eq!(opened.unwrap_err().kind(), libbpf_rs::ErrorKind::PermissionDenied);
            }
            assert!(matches!(pinned::load(true), Err(Error::NotPermitted)));
            assert!(matches!(pinned::unload(), Err(Error::NotPermitted)));
        });
        pinned::unload().unwrap();
        assert!(!Path::new(pinned::FOLDER).exists());
        assert!(matches!(pinned::unload(), Err(Error::NotPinned)));
    });
}

#[test]
fn users_choose_what_root_has_offered_and_nothing_else() {
    alone(|| {
        let before = settings::allowed();
        pinned::load(false).unwrap();
        for name in NAMES {
            choose(name).unwrap();
            let refused = as_nobody(|| choose(name)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{name}");
        }
        assert_eq!(settings::allowed(), before);
        pinned::unload().unwrap();
        pinned::load(true).unwrap();
        NAMES.iter().for_each(|name| drop(as_nobody(|| choose(name)).unwrap()));
        let offered = settings::allowed();
        assert!(
            before.iter().all(|name| offered.contains(name)) && offered.len() == before.len() + NAMES.len()
        );
        pinned::unload().unwrap();
        assert_eq!(settings::allowed(), before);
        assert!(choose(NAMES[0]).is_err());
    });
}

#[test]
fn a_folder_that_another_user_has_made_is_left_alone() {
    alone(|| {
        umount2(pinned::BPFFS, MntFlags::MNT_DETACH).unwrap();
        // As by hand: every user may make folders in it.
        mount(Some("bpf"), pinned::BPFFS, Some("bpf"), MsFlags::empty(), None::<&str>).unwrap();
        let is_foreign = || {
            assert!(matches!(pinned::load(false), Err(Error::Foreign)));
            assert!(matches!(pinned::unload(), Err(Error::Foreign)));
            assert!(matches!(pinned::states(), Err(Error::Foreign)));
        };
        as_nobody(|| std::fs::DirBuilder::new().mode(0o777).create(pinned::FOLDER)).unwrap();
        is_foreign();
        std::fs::remove_dir(pinned::FOLDER).unwrap();
        let target = folder();
        std::fs::write(target.join("file"), "kept").unwrap();
        as_nobody(|| std::os::unix::fs::symlink(&target, pinned::FOLDER)).unwrap();
        is_foreign();
        assert!(target.join("file").exists());
        std::fs::remove_dir_all(target).unwrap();
    });
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("afteryou-pins-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A connection within this machine that sends until it is stopped.
struct Traffic {
    port: u16,
    stop: Arc<AtomicBool>,
    /// Returns the number of bytes received.
    receiver: JoinHandle<u64>,
}

impl Traffic {
    fn start(name: &str) -> Traffic {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut socket = choose(name).unwrap();
        socket.connect(&listener.local_addr().unwrap().into()).unwrap();
        let port = socket.local_addr().unwrap().as_socket().unwrap().port();
        let mut peer = listener.accept().unwrap().0;
        peer.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        thread::spawn(move || {
            while !is_stopped.load(Ordering::Relaxed) && socket.write_all(&[0; 16_384]).is_ok() {
                thread::sleep(Duration::from_millis(2));
            }
        });
        let is_stopped = Arc::clone(&stop);
        let receiver = thread::spawn(move || {
            let (mut block, mut received) = (vec![0; 65_536], 0);
            let mut stopped_at = None;
            loop {
                match peer.read(&mut block) {
                    Ok(0) => return received,
                    Ok(bytes) => received += bytes as u64,
                    Err(_) => {}
                }
                if is_stopped.load(Ordering::Relaxed) {
                    let since = stopped_at.get_or_insert_with(Instant::now).elapsed();
                    assert!(since < MOST_STUCK, "what was queued has not arrived {since:?} later");
                }
            }
        });
        Traffic { port, stop, receiver }
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.receiver.join().unwrap()
    }
}

#[test]
fn the_state_of_each_connection_is_read() {
    alone(|| {
        pinned::load(false).unwrap();
        let traffic: Vec<_> = NAMES.iter().map(|name| (*name, Traffic::start(name))).collect();
        thread::sleep(Duration::from_millis(300));
        let listed = sockets::connections(&pinned::states().unwrap()).unwrap();
        for (name, traffic) in &traffic {
            let connection =
                listed.iter().find(|one| one.local.port() == traffic.port).expect("it is listed");
            let state = connection.state.expect("a state");
            let (base, _) = state.delays.expect("delays");
            assert_eq!(connection.controller, *name);
            assert!(!base.is_zero() && base <= connection.rtt && connection.window > 0, "{connection:?}");
            assert_eq!(state.phase.is_some(), ["afteryou", "ay_ledbatpp"].contains(name), "{connection:?}");
        }
        // Users see everything but the states.
        let port = traffic[0].1.port;
        let listed = as_nobody(|| sockets::connections(&[])).unwrap();
        let seen = listed.iter().find(|one| one.local.port() == port).unwrap();
        assert!(seen.controller == NAMES[0] && seen.state.is_none());
        assert!(traffic.into_iter().all(|(_, traffic)| traffic.stop() > 0));
        pinned::unload().unwrap();
    });
}

#[test]
fn loading_and_unloading_under_traffic_leaves_nothing() {
    alone(|| {
        let cycles = std::env::var("CYCLES").map_or(CYCLES, |cycles| cycles.parse().expect("a number"));
        let began = Instant::now();
        let mut before: Option<Traffic> = None;
        // Other processes may load controllers by other names meanwhile.
        let mut own = Vec::new();
        for cycle in 0..cycles {
            pinned::load(false).unwrap();
            own.extend(pinned::states().unwrap().iter().map(|states| states.id));
            let traffic = Traffic::start(NAMES[cycle as usize % NAMES.len()]);
            thread::sleep(Duration::from_millis(20));
            pinned::unload().unwrap();
            // The connection of the cycle before has outlived two sets of controllers.
            let received = before.replace(traffic).map(Traffic::stop);
            assert!(received.is_none_or(|received| received > 0));
        }
        let port = before.as_ref().unwrap().port;
        let listed = sockets::connections(&[]).unwrap();
        let kept = listed.iter().find(|one| one.local.port() == port).unwrap();
        assert!(NAMES.contains(&kept.controller.as_str()), "{kept:?}");
        before.map(Traffic::stop);
        assert_eq!(own.len(), cycles as usize * NAMES.len());
        assert!(are_freed(&own), "maps of connections are left: {:?}", left(&own));
        println!("{cycles} cycles in {:.1} s", began.elapsed().as_secs_f64());
    });
}

/// Returns the maps among `own` that are loaded still.
fn left(own: &[u32]) -> Vec<String> {
    let maps = MapInfoIter::default().filter(|map| own.contains(&map.id));
    maps.map(|map| map.name.to_string_lossy().into_owned()).collect()
}

/// Returns whether none of these maps is loaded within two seconds.
fn are_freed(own: &[u32]) -> bool {
    (0..200).any(|_| {
        thread::sleep(Duration::from_millis(10));
        left(own).is_empty()
    })
}
