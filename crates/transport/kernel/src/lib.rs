//! The rules of the LEDBAT family in C for eBPF, to run inside the Linux kernel.
//!
//! ```
//! // The headers for a program's own build, as files.
//! let folder = std::env::temp_dir();
//! for (name, text) in afteryou_kernel::HEADERS {
//!     std::fs::write(folder.join(name), text)?;
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Each rule is one header: `ledbat.h`, `fledbat.h` and `ledbatpp.h`. It has the arithmetic of `afteryou_cc::ledbat_core` with the same names,
//! and functions for acks, losses, timeouts and idle periods. The others have the parts that rules share.
//!
//! # Restrictions
//! The verifier of eBPF accepts neither floating point nor signed division, and no variable index into the private data of a socket. The C has none
//! of them, calls no function of a library, and needs no header of a system. So it compiles for eBPF and for any machine.
//!
//! # Tests
//! `tests/all` compiles the headers with the C compiler of the machine and compares the whole state after each event with the one of
//! `afteryou_cc`: for the vectors recorded there and for millions of random events. The compiled program traps on undefined behaviour. Without a C
//! compiler these tests print `SKIPPED`.

/// The headers: file name and text.
pub const HEADERS: [(&str, &str); 9] = [
    ("delay.h", include_str!("../c/delay.h")),
    ("event.h", include_str!("../c/event.h")),
    ("fixed.h", include_str!("../c/fixed.h")),
    ("fledbat.h", include_str!("../c/fledbat.h")),
    ("integers.h", include_str!("../c/integers.h")),
    ("ledbat.h", include_str!("../c/ledbat.h")),
    ("ledbatpp.h", include_str!("../c/ledbatpp.h")),
    ("slowdown.h", include_str!("../c/slowdown.h")),
    ("window_use.h", include_str!("../c/window_use.h")),
];
