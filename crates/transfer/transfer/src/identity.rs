//! The listening side's identity, which lasts as long as its state directory.
//!
//! # Model
//! One file, `identity`, holds a TLS key (Ed25519) with its self-signed certificate, a random seed, and for every service (a role
//! and a directory) a generation and the UDP port it had last. The secret in a service's ticket is derived from the seed,
//! so a restarted `receive DIR` prints the ticket it printed before, and a job of weeks survives reboots. Asking for a fresh
//! ticket raises the generation: the old secret is then nowhere accepted any more.
//!
//! Generations are in the same file as the seed on purpose: a generation that was lost alone would bring revoked tickets back.
//!
//! # The file
//! A line of text with the version, BLAKE3 of what follows, then a postcard encoding. It is written under another name
//! with mode 0600 and renamed, so it is always whole. A process that changes it holds a lock on `identity.lock` and
//! reads it anew first. On systems without `flock` two processes that start at the same moment may overwrite each
//! other's ports. A file that others may read is refused, as ssh does with its keys.
//!
//! # Not implemented
//! Certificates do not expire and are not rotated: the fingerprint in a ticket is trusted for as long as the ticket is. Services whose
//! directories are gone stay in the list (some dozens of bytes each).

use crate::ticket::{Fingerprint, Role, Secret};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// First line of the file.
const MAGIC: &[u8] = b"afteryou identity 1\n";

/// The context that keeps the derived secrets apart from those of other purposes. Never changes.
const SECRET_CONTEXT: &str = "afteryou 2026-11 secret of a ticket from an identity's seed";

const HASH_BYTES: usize = 32;

/// Errors of the state directory.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// No place is known.
    #[error(
        "no home directory is known to keep the identity in: set XDG_STATE_HOME, or name a state directory"
    )]
    NoPlace,
    /// The file system refused.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// "read", "write", …
        doing: &'static str,
        /// The file's path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not what was written.
    #[error("the identity in {path} is damaged: restore it from a backup, or move it away to get a new one (tickets given out so far then stop working)")]
    Damaged {
        /// The file's path.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error("the identity in {path} was written by a newer afteryou: update this one")]
    Newer {
        /// The file's path.
        path: PathBuf,
    },
    /// The permissions are too wide.
    #[error("{path} holds secrets and others may read it: chmod 600 it, and ask for a fresh ticket if someone did")]
    Exposed {
        /// The file's path.
        path: PathBuf,
    },
    /// The system's random numbers or the key's algorithm failed.
    #[error("cannot make a key: {0}")]
    Key(String),
}

#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    /// PKCS#8.
    key: Vec<u8>,
    /// DER.
    certificate: Vec<u8>,
    seed: [u8; 32],
    services: Vec<KeptService>,
}

#[derive(Clone, Serialize, Deserialize)]
struct KeptService {
    role: Role,
    directory: Vec<u8>,
    generation: u64,
    port: Option<u16>,
}

/// The listening side's key, certificate and seed.
pub struct Identity {
    /// None: it lives in memory only.
    state: Option<PathBuf>,
    kept: Kept,
}

/// Shows the fingerprint and nothing secret.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("state", &self.state)
            .field("fingerprint", &self.fingerprint())
            .finish_non_exhaustive()
    }
}

/// Returns the identity's default directory: `$STATE_DIRECTORY` (systemd), `$XDG_STATE_HOME/afteryou`,
/// `%LOCALAPPDATA%\afteryou` on Windows, `~/.local/state/afteryou`.
///
/// # Errors
/// [`IdentityError::NoPlace`] if none of these is set and the user has no home.
pub fn default_directory() -> Result<PathBuf, IdentityError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    place(variable, std::env::home_dir()).ok_or(IdentityError::NoPlace)
}

fn place(variable: impl Fn(&str) -> Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    if let Some(given) = variable("STATE_DIRECTORY") {
        // systemd joins several by colons.
        return std::env::split_paths(&given).next();
    }
    // The specification says to ignore a relative one.
    if let Some(state) = variable("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return Some(state.join("afteryou"));
    }
    if let Some(local) = variable("LOCALAPPDATA").filter(|_| cfg!(windows)) {
        return Some(local.join("afteryou"));
    }
    home.filter(|path| path.is_absolute()).map(|home| home.join(".local/state/afteryou"))
}

impl Identity {
    /// Opens the identity in directory `state`; makes one if there is none.
    ///
    /// # Errors
    /// A directory or file that cannot be read or written, is damaged, is of a newer version or may be read by others. A system without random
    /// numbers.
    pub fn open(state: &Path) -> Result<Identity, IdentityError> {
        create_private(state).map_err(at("create", state))?;
        let _lock = lock(state)?;
        let kept = match read(state)? {
            Some(kept) => kept,
            None => {
                let kept = generate()?;
                write(state, &kept)?;
                kept
            }
        };
        Ok(Identity { state: Some(state.to_owned()), kept })
    }

    /// Creates a new identity that is forgotten with the process.
    ///
    /// # Errors
    /// A system without random numbers.
    pub fn ephemeral() -> Result<Identity, IdentityError> {
        Ok(Identity { state: None, kept: generate()? })
    }

    /// Returns the fingerprint of the certificate.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.kept.certificate)
    }

    /// Returns the certificate, DER.
    pub fn certificate(&self) -> &[u8] {
        &self.kept.certificate
    }

    /// Returns the private key, PKCS#8.
    pub(crate) fn key(&self) -> &[u8] {
        &self.kept.key
    }

    /// Returns a client's knowledge of this service. `directory` must exist: links in its path are followed, so that two
    /// names of one directory are one service.
    ///
    /// # Errors
    /// A directory that does not exist or cannot be looked up.
    pub fn secret(&self, role: Role, directory: &Path) -> Result<Secret, IdentityError> {
        let directory = canonical(directory)?;
        let generation = self.find(role, &directory).map_or(0, |service| service.generation);
        let mut hasher = blake3::Hasher::new_derive_key(SECRET_CONTEXT);
        hasher
            .update(&self.kept.seed)
            .update(&[role.byte()])
            .update(&generation.to_be_bytes())
            .update(&directory);
        let mut secret = [0; Secret::BYTES];
        hasher.finalize_xof().fill(&mut secret);
        Ok(Secret::new(secret))
    }

    /// Returns the UDP port that this service had last.
    ///
    /// # Errors
    /// A directory that does not exist or cannot be looked up.
    pub fn port(&self, role: Role, directory: &Path) -> Result<Option<u16>, IdentityError> {
        Ok(self.find(role, &canonical(directory)?).and_then(|service| service.port))
    }

    /// Returns whether another service had this port last, and asks for it again.
    ///
    /// # Errors
    /// A directory that does not exist or cannot be looked up.
    pub fn is_of_another(&self, port: u16, role: Role, directory: &Path) -> Result<bool, IdentityError> {
        let directory = canonical(directory)?;
        let is_other = |service: &&KeptService| service.role != role || service.directory != directory;
        Ok(self.kept.services.iter().filter(is_other).any(|service| service.port == Some(port)))
    }

    /// Keeps the port, which this service shall have next time, too, so that its ticket stays the same.
    ///
    /// # Errors
    /// A directory that does not exist, and an identity that cannot be read or written or is damaged.
    pub fn remember_port(&mut self, role: Role, directory: &Path, port: u16) -> Result<(), IdentityError> {
        self.change(role, directory, |service| service.port = Some(port))
    }

    /// Gives the service a new secret: tickets given out for it stop working (when it is started the next time).
    ///
    /// # Errors
    /// A directory that does not exist, and an identity that cannot be read or written or is damaged.
    pub fn renew(&mut self, role: Role, directory: &Path) -> Result<(), IdentityError> {
        self.change(role, directory, |service| service.generation += 1)
    }

    fn find(&self, role: Role, directory: &[u8]) -> Option<&KeptService> {
        self.kept.services.iter().find(|service| service.role == role && service.directory == directory)
    }

    fn change(
        &mut self,
        role: Role,
        directory: &Path,
        change: impl FnOnce(&mut KeptService),
    ) -> Result<(), IdentityError> {
        let directory = canonical(directory)?;
        let _lock = match &self.state {
            Some(state) => {
                let lock = lock(state)?;
                // Another service of this identity may have written since.
                self.kept = read(state)?.ok_or_else(|| IdentityError::Damaged { path: file(state) })?;
                Some(lock)
            }
            None => None,
        };
        let services = &mut self.kept.services;
        let known =
            services.iter().position(|service| service.role == role && service.directory == directory);
        let index = known.unwrap_or_else(|| {
            services.push(KeptService { role, directory, generation: 0, port: None });
            services.len() - 1
        });
        change(&mut services[index]);
        match &self.state {
            Some(state) => write(state, &self.kept),
            None => Ok(()),
        }
    }
}

fn generate() -> Result<Kept, IdentityError> {
    let failed = |error: rcgen::Error| IdentityError::Key(error.to_string());
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).map_err(failed)?;
    let certificate = self_signed(&key).map_err(failed)?;
    let mut seed = [0; 32];
    let random = ring::rand::SystemRandom::new();
    ring::rand::SecureRandom::fill(&random, &mut seed)
        .map_err(|_| IdentityError::Key("no random numbers from the system".into()))?;
    Ok(Kept { key: key.serialize_der(), certificate, seed, services: Vec::new() })
}

/// Makes a certificate that states nothing but its key: no host name, no user, no date of making.
pub(crate) fn self_signed(key: &rcgen::KeyPair) -> Result<Vec<u8>, rcgen::Error> {
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "afteryou");
    Ok(parameters.self_signed(key)?.der().to_vec())
}

fn canonical(directory: &Path) -> Result<Vec<u8>, IdentityError> {
    let path = directory.canonicalize().map_err(at("find", directory))?;
    Ok(path.as_os_str().as_encoded_bytes().to_vec())
}

fn file(state: &Path) -> PathBuf {
    state.join("identity")
}

fn at<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> IdentityError + 'a {
    move |source| IdentityError::Io { doing, path: path.to_owned(), source }
}

fn read(state: &Path) -> Result<Option<Kept>, IdentityError> {
    let path = file(state);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at("read", &path)(error)),
    };
    if exposed(&path) {
        return Err(IdentityError::Exposed { path });
    }
    decode(&bytes, &path).map(Some)
}

fn decode(bytes: &[u8], path: &Path) -> Result<Kept, IdentityError> {
    let damaged = || IdentityError::Damaged { path: path.to_owned() };
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return match bytes.starts_with(b"afteryou identity ") {
            true => Err(IdentityError::Newer { path: path.to_owned() }),
            false => Err(damaged()),
        };
    };
    let (hash, body) = rest.split_at_checked(HASH_BYTES).ok_or_else(damaged)?;
    if blake3::hash(body).as_bytes() != hash {
        return Err(damaged());
    }
    postcard::from_bytes(body).map_err(|_| damaged())
}

fn write(state: &Path, kept: &Kept) -> Result<(), IdentityError> {
    let body = postcard::to_allocvec(kept).map_err(|error| IdentityError::Key(error.to_string()))?;
    let new = state.join("identity.new");
    let written = || -> io::Result<()> {
        // What a killed process left may have any mode.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private_options().create_new(true).write(true).open(&new)?;
        file.write_all(MAGIC)?;
        file.write_all(blake3::hash(&body).as_bytes())?;
        file.write_all(&body)?;
        file.sync_all()?;
        fs::rename(&new, self::file(state))?;
        sync_directory(state)
    };
    written().map_err(at("write", &file(state)))
}

/// Locks the directory until the file is dropped.
fn lock(state: &Path) -> Result<File, IdentityError> {
    let path = state.join("identity.lock");
    let file =
        private_options().create(true).truncate(false).write(true).open(&path).map_err(at("open", &path))?;
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| at("lock", &path)(error.into()))?;
    Ok(file)
}

#[cfg(unix)]
fn private_options() -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private_options() -> fs::OpenOptions {
    // A user's local application data is the user's own.
    fs::OpenOptions::new()
}

#[cfg(unix)]
fn create_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn create_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(unix)]
fn exposed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn exposed(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
