//! Content from elsewhere than a file, such as standard input: kept until it was sent.
//!
//! # Model
//! A file has to be hashed before it is offered, so all of the input is kept, in a file without a name. No end of the process
//! leaves anything of it, a kill neither.
//!
//! # Known bad case
//! Where the system makes no files without a name, the file has one for a moment, as long as it is empty.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// All that an input gave.
#[derive(Debug)]
pub struct Input(pub(super) File);

impl Input {
    /// Keeps everything that `from` gives in the file system of `directory`. Blocks.
    ///
    /// # Errors
    /// An input that cannot be read, and a directory that cannot be written or has no room.
    pub fn keep(directory: &Path, mut from: impl Read) -> io::Result<Self> {
        let mut file = unnamed(directory)?;
        io::copy(&mut from, &mut file)?;
        Ok(Self(file))
    }
}

/// Opens a file without a name. It arrives with the mode of any new file, so the process's mask decides.
fn unnamed(directory: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{openat, Mode, OFlags, CWD};
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        if let Ok(file) = openat(CWD, directory, flags, Mode::from_bits_truncate(0o666)) {
            return Ok(file.into());
        }
    }
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let (file, path) = builder.tempfile_in(directory)?.into_parts();
    path.close()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Item, Source, SourceOptions};
    use crate::wire::SMALL;

    #[test]
    fn an_input_is_offered_and_sent_while_nothing_of_it_has_a_name() {
        for bytes in [0, 5, SMALL as usize + 5] {
            let dir = tempfile::tempdir().expect("a directory");
            let content = vec![7; bytes];
            let input = Input::keep(dir.path(), &content[..]).expect("kept");
            let source = Source::of(&[], SourceOptions::default()).expect("a source");
            let source = source.with_input("x", input).expect("a name");
            assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
            assert_eq!((source.scan().files, source.scan().bytes), (1, bytes as u64));
            let items: Vec<Item> = source.entries().collect();
            let [Item::Entry(prepared)] = &items[..] else { panic!("{items:?}") };
            assert_eq!(prepared.entry().path.to_string(), "x");
            let mut encoded = Vec::new();
            for _ in 0..2 {
                encoded.clear();
                let wanted = crate::entry::Wanted(vec![(0, bytes as u64)]);
                prepared.encode(&wanted, &mut encoded).expect("it is still there");
            }
            assert!(encoded.len() >= bytes && encoded.iter().filter(|&&byte| byte == 7).count() >= bytes);
        }
    }

    #[test]
    fn an_input_has_a_name_of_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("x"), b"").expect("a file");
        let source = || Source::of(&[dir.path().join("x")], SourceOptions::default()).expect("a source");
        let input = || Input::keep(dir.path(), &b"content"[..]).expect("kept");
        assert!(source().with_input("x", input()).is_err());
        assert!(source().with_input(".afteryou", input()).is_err());
        assert_eq!(source().with_input("a", input()).expect("a name").scan().files, 2);
    }
}
