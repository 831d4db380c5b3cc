//! Ebb and the rules of the LEDBAT family in C for eBPF, to run inside the Linux kernel.
//!
//! ```
//! // The lines that a build of one's own has to compile.
//! let lines: usize = afteryou_kernel::HEADERS.iter().map(|(_, text)| text.lines().count()).sum();
//! assert!(lines < 4000);
//! ```
//!
//! Each rule is one header: `ebb.h`, `ledbat.h`, `fledbat.h` and `ledbatpp.h`. It has the arithmetic of `afteryou_cc::ebb_core` or
//! `afteryou_cc::ledbat_core` with the same names, and functions for acks, losses, timeouts and idle periods. `ebb/` has a header for each file of
//! `ebb_core`. The others have the parts that rules share.
//!
//! # Restrictions
//! The verifier of eBPF accepts neither floating point nor signed division, and no variable index into the private data of a socket. The C has none
//! of them, calls no function of a library, and needs no header of a system. So it compiles for eBPF and for any machine.
//!
//! Functions whose branches would multiply are not inlined in eBPF. They are global, so the verifier checks each of them once, for any
//! arguments. Ebb's state of 512 bytes has more than one array, so it is in the storage of the socket, as the others are.
//!
//! # Controllers
//! `bpf/afteryou.bpf.c` makes congestion controllers of Linux of the rules: `afteryou`, which is ebb, `ay_ledbat`, `ay_fledbat` and `ay_ledbatpp`.
//! With the feature `kernel`, `Loaded::new` registers them until it is dropped, and a socket chooses one by `TCP_CONGESTION`. Loading requires Linux
//! 6.10 with BTF, root or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN. The programs use the round-trip time as the delay.
//!
//! `pinned::load` registers them until `pinned::unload`: their links and maps are pinned on bpffs, for root alone. `sockets::connections` lists
//! connections with the states of their rules, which the kernel's `sock_diag` has. The object's BTF describes where a state has base delay, queue and
//! phase, so `layout.rs` knows fields by name. `choosers` finds what else chooses controllers.
//!
//! `afteryou` sets the pacing rate as well as the window, by `cong_control`. A segment of 64 KB would be 26 ms of a link of 20 Mbit/s. Its segments are
//! what the rate carries in a millisecond, at least one packet. The others set the window by `cong_avoid`.
//!
//! `bpf/afteryou.bpf.o` is the compiled object, so that nobody needs clang. Its sources need clang alone: `bpf/kernel.h` has the fields of the
//! kernel's structs that they use, and the loader finds them in the running kernel by name. Two thirds of its 97 kB are code. It has no lines of
//! inlined functions, no text of lines and no relocations that the loader ignores, which would double it.
//!
//! The loader is libbpf-rs, which needs the headers of libelf and zlib, so the feature is off by default. It adds four packages and 10 s of a
//! processor to a build. A loader of its own would have to relocate the fields by the kernel's BTF, which libbpf does in thousands of lines.
//!
//! # Tests
//! `tests/all` compiles the headers with the C compiler of the machine and compares the whole state after each event with the one of
//! `afteryou_cc`: for the vectors recorded there and for millions of random events. Of ebb it compares window, rate, pairs, phase and estimates, on
//! random paths in closed loop. The compiled program traps on undefined behaviour. Another test
//! makes the object again. With the feature `kernel` and as root, the kernel runs the same rules as eBPF on the vectors and on random events. The
//! controllers are loaded and send through a bottleneck between network namespaces. Pinned ones are in a mount namespace of the test, with which the pins
//! go. One test at a time loads controllers: all wait for a lock. A test that cannot run prints `SKIPPED` and why.

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod linux;
mod release;

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
pub use linux::*;
pub use release::{is_older, OLDEST};

/// The headers: file name and text.
pub const HEADERS: [(&str, &str); 27] = [
    ("delay.h", include_str!("../c/delay.h")),
    ("ebb.h", include_str!("../c/ebb.h")),
    ("ebb/burst.h", include_str!("../c/ebb/burst.h")),
    ("ebb/cap.h", include_str!("../c/ebb/cap.h")),
    ("ebb/capacity.h", include_str!("../c/ebb/capacity.h")),
    ("ebb/cruise.h", include_str!("../c/ebb/cruise.h")),
    ("ebb/evidence.h", include_str!("../c/ebb/evidence.h")),
    ("ebb/floor.h", include_str!("../c/ebb/floor.h")),
    ("ebb/losses.h", include_str!("../c/ebb/losses.h")),
    ("ebb/noise.h", include_str!("../c/ebb/noise.h")),
    ("ebb/params.h", include_str!("../c/ebb/params.h")),
    ("ebb/path.h", include_str!("../c/ebb/path.h")),
    ("ebb/ramp.h", include_str!("../c/ebb/ramp.h")),
    ("ebb/recent.h", include_str!("../c/ebb/recent.h")),
    ("ebb/round.h", include_str!("../c/ebb/round.h")),
    ("ebb/state.h", include_str!("../c/ebb/state.h")),
    ("ebb/together.h", include_str!("../c/ebb/together.h")),
    ("ebb/units.h", include_str!("../c/ebb/units.h")),
    ("ebb/wait.h", include_str!("../c/ebb/wait.h")),
    ("event.h", include_str!("../c/event.h")),
    ("fixed.h", include_str!("../c/fixed.h")),
    ("fledbat.h", include_str!("../c/fledbat.h")),
    ("integers.h", include_str!("../c/integers.h")),
    ("ledbat.h", include_str!("../c/ledbat.h")),
    ("ledbatpp.h", include_str!("../c/ledbatpp.h")),
    ("slowdown.h", include_str!("../c/slowdown.h")),
    ("window_use.h", include_str!("../c/window_use.h")),
];
