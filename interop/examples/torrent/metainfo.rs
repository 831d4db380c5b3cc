//! The torrent file: BEP 3.

use afteryou_interop::torrent::InfoHash;
use anyhow::{bail, ensure, Context};
use ring::digest::{digest, SHA1_FOR_LEGACY_USE_ONLY};
use serde::Deserialize;
use serde_bencode::value::Value;
use std::path::Path;

/// The dictionary of the file.
#[derive(Deserialize)]
struct Metainfo {
    info: Value,
}

/// The dictionary `info`, as far as a file on its own needs it.
#[derive(Deserialize)]
struct Info {
    /// Not in a torrent of several files.
    length: Option<u64>,
    #[serde(rename = "piece length")]
    piece_len: u32,
    #[serde(with = "serde_bytes")]
    pieces: Vec<u8>,
}

/// The parts of a torrent file that a peer needs.
pub struct Torrent {
    pub info_hash: InfoHash,
    /// Bytes of the file.
    pub len: u64,
    /// Bytes of each piece but the last.
    pub piece_len: u32,
    /// SHA-1 of each piece.
    hashes: Vec<u8>,
}

impl Torrent {
    pub fn read(path: &Path) -> anyhow::Result<Torrent> {
        let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let metainfo: Metainfo = serde_bencode::from_bytes(&bytes)?;
        // The keys of a dictionary are in order, so these are the bytes of the file.
        let bytes = serde_bencode::to_bytes(&metainfo.info)?;
        let info: Info = serde_bencode::from_bytes(&bytes)?;
        let Some(len) = info.length else {
            bail!("a torrent of several files: only those of one are supported")
        };
        let torrent = Torrent {
            info_hash: digest(&SHA1_FOR_LEGACY_USE_ONLY, &bytes).as_ref().try_into()?,
            len,
            piece_len: info.piece_len,
            hashes: info.pieces,
        };
        ensure!(torrent.piece_len > 0 && len > 0, "an empty torrent");
        let pieces = len.div_ceil(torrent.piece_len.into());
        ensure!(torrent.hashes.len() as u64 == 20 * pieces, "as many hashes as pieces are required");
        Ok(torrent)
    }

    pub fn pieces(&self) -> u32 {
        (self.hashes.len() / 20) as u32
    }

    /// Returns where a piece begins in the file.
    pub fn offset(&self, piece: u32) -> u64 {
        u64::from(piece) * u64::from(self.piece_len)
    }

    pub fn len_of(&self, piece: u32) -> u32 {
        (self.len - self.offset(piece)).min(self.piece_len.into()) as u32
    }

    /// Returns whether these are the bytes of the piece.
    pub fn is_piece(&self, piece: u32, bytes: &[u8]) -> bool {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes);
        self.hashes.chunks(20).nth(piece as usize) == Some(hash.as_ref())
    }
}
