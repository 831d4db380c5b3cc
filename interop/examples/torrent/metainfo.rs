//! The torrent file: BEP 3.

use anyhow::{bail, ensure, Context};
use librqbit_core::hash_id::Id20;
use librqbit_core::torrent_metainfo::torrent_from_bytes;
use ring::digest::{digest, SHA1_FOR_LEGACY_USE_ONLY};
use std::path::Path;

/// What a peer needs of a torrent file.
pub struct Torrent {
    pub info_hash: Id20,
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
        let meta = torrent_from_bytes(&bytes)?;
        let info = &meta.info.data;
        let Some(len) = info.length else {
            bail!("a torrent of several files: only those of one are supported")
        };
        let torrent = Torrent {
            info_hash: meta.info_hash,
            len,
            piece_len: info.piece_length,
            hashes: info.pieces.as_ref().to_vec(),
        };
        ensure!(torrent.piece_len > 0 && len > 0, "an empty torrent");
        let pieces = len.div_ceil(torrent.piece_len.into());
        ensure!(torrent.hashes.len() as u64 == 20 * pieces, "as many hashes as pieces are required");
        Ok(torrent)
    }

    pub fn pieces(&self) -> u32 {
        (self.hashes.len() / 20) as u32
    }

    /// Where a piece begins in the file.
    pub fn offset(&self, piece: u32) -> u64 {
        u64::from(piece) * u64::from(self.piece_len)
    }

    pub fn len_of(&self, piece: u32) -> u32 {
        (self.len - self.offset(piece)).min(self.piece_len.into()) as u32
    }

    /// Are these the bytes of the piece?
    pub fn is_piece(&self, piece: u32, bytes: &[u8]) -> bool {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes);
        self.hashes.chunks(20).nth(piece as usize) == Some(hash.as_ref())
    }
}
