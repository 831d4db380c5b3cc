//! Digests of files and messages: SHA-256 and SHA-512, as a command line and the headers of RFC 9530 have them.

use crate::error::Error;
use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::digest::{Context, SHA256, SHA512};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A digest that content should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    algorithm: Algorithm,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Sha256,
    Sha512,
}

impl Digest {
    /// Parses a SHA-256 in hexadecimal.
    ///
    /// # Errors
    /// Anything but 64 hexadecimal digits.
    pub fn sha256(hex: &str) -> Result<Digest, Error> {
        match HEXLOWER_PERMISSIVE.decode(hex.trim().as_bytes()) {
            Ok(value) if value.len() == 32 => Ok(Digest { algorithm: Algorithm::Sha256, value }),
            _ => Err(Error::Sha256),
        }
    }

    /// Parses a header Content-Digest or Repr-Digest: `sha-256=:BASE64:, sha-512=:BASE64:`. Returns the first digest of an algorithm
    /// that is known and safe, SHA-256 before SHA-512.
    pub(crate) fn of_header(header: &str) -> Option<Digest> {
        let of = |algorithm, key: &str, length: usize| {
            header.split(',').find_map(|member| {
                let (name, rest) = member.trim().split_once('=')?;
                let text = rest.strip_prefix(':')?;
                let text = &text[..text.find(':')?];
                let value = BASE64.decode(text.as_bytes()).ok()?;
                (name == key && value.len() == length).then_some(Digest { algorithm, value })
            })
        };
        of(Algorithm::Sha256, "sha-256", 32).or_else(|| of(Algorithm::Sha512, "sha-512", 64))
    }

    /// Begins to hash content.
    pub(crate) fn hasher(&self) -> Hasher {
        Hasher(Context::new(match self.algorithm {
            Algorithm::Sha256 => &SHA256,
            Algorithm::Sha512 => &SHA512,
        }))
    }

    /// Returns whether the hashed content has this digest; otherwise the digest that it has, in hexadecimal.
    pub(crate) fn check(&self, hasher: Hasher) -> Result<(), String> {
        let found = hasher.0.finish();
        match found.as_ref() == self.value {
            true => Ok(()),
            false => Err(HEXLOWER.encode(found.as_ref())),
        }
    }

    /// Returns the digest in hexadecimal.
    pub(crate) fn hex(&self) -> String {
        HEXLOWER.encode(&self.value)
    }

    /// Reads the file `path` and compares. The inner error is the digest that the file has.
    pub(crate) fn check_file(&self, path: &Path) -> io::Result<Result<(), String>> {
        let mut hasher = self.hasher();
        let mut file = File::open(path)?;
        let mut piece = vec![0; 1 << 18];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(self.check(hasher)),
                length => hasher.update(&piece[..length]),
            }
        }
    }
}

/// Content that is being hashed.
pub(crate) struct Hasher(Context);

impl Hasher {
    /// Adds content.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_digest_of_a_command_line_has_64_digits() {
        let digest = Digest::sha256(&EMPTY.to_uppercase()).unwrap();
        assert_eq!(digest.check(digest.hasher()), Ok(()));
        assert_eq!(digest.hex(), EMPTY);
        assert!(Digest::sha256(&EMPTY[1..]).is_err() && Digest::sha256("x").is_err());
    }

    /// The example of RFC 9530, appendix B.1.
    #[test]
    fn a_digest_of_a_header_is_found_among_others() {
        let content = b"{\"hello\": \"world\"}\n";
        let headers = [
            "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
            "md5=:x:, sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:;p=1, unknown=?1",
        ];
        for header in headers {
            let digest = Digest::of_header(header).unwrap();
            let mut hasher = digest.hasher();
            hasher.update(content);
            assert_eq!(digest.check(hasher), Ok(()), "{header}");
            assert!(digest.check(digest.hasher()).is_err());
        }
        for header in ["", "sha-256", "sha-256=:%%:", "sha-256=:AAAA:", "md5=:RK/0qy18MlBSVnWgjwz6lQ==:"] {
            assert_eq!(Digest::of_header(header), None, "{header}");
        }
    }
}
