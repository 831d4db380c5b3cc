//! One peer has it all, and we get it.

use crate::metainfo::Torrent;
use crate::wire::Wire;
use afteryou_interop::torrent::{Message, Request};
use afteryou_utp::{Endpoint, EndpointConfig};
use anyhow::{bail, ensure};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Bytes of a block, as every client asks for.
const BLOCK: u32 = 16 << 10;
/// Requests under way: 4 MiB.
const PIPELINE: usize = 256;

/// A piece of which some blocks are missing.
struct Partial {
    bytes: Vec<u8>,
    missing: u32,
}

struct Fetch<'a> {
    torrent: &'a Torrent,
    file: File,
    /// Blocks to ask for.
    wanted: VecDeque<(u32, u32)>,
    /// Blocks asked for, the oldest first.
    asked: VecDeque<(u32, u32)>,
    partial: HashMap<u32, Partial>,
    complete: u32,
}

pub async fn run(
    torrent: &Torrent,
    into: &Path,
    peer: SocketAddr,
    listen: SocketAddr,
    config: EndpointConfig,
) -> anyhow::Result<()> {
    let endpoint = Endpoint::bind(listen, config)?;
    let began = Instant::now();
    let mut wire = Wire::new(endpoint.connect(peer).await?);
    let mut fetch = Fetch {
        torrent,
        file: File::create(into)?,
        wanted: (0..torrent.pieces()).flat_map(|piece| blocks(torrent, piece)).collect(),
        asked: VecDeque::new(),
        partial: HashMap::new(),
        complete: 0,
    };
    wire.greet(&torrent.info_hash).await?;
    wire.be_greeted(&torrent.info_hash).await?;
    wire.send(&Message::Interested).await?;
    wire.flush().await?;
    let (mut is_choked, mut has) = (true, 0);
    while fetch.complete < torrent.pieces() {
        let Some(message) = wire.next().await? else {
            bail!("the peer has left: {} pieces are missing", torrent.pieces() - fetch.complete)
        };
        let mut news = None;
        match message {
            Message::Bitfield(bits) => has = bits.iter().map(|byte| byte.count_ones()).sum(),
            Message::Have(_) => has += 1,
            Message::Unchoke => is_choked = false,
            Message::Choke => {
                is_choked = true;
                fetch.wanted.extend(fetch.asked.drain(..)); // the peer has forgotten them
            }
            Message::Piece { index, begin, block } => news = fetch.take(index, begin, block)?,
            _ => {}
        }
        if let Some(piece) = news {
            wire.send(&Message::Have(piece)).await?;
        }
        // One peer is all there is: it must be a seed.
        if !is_choked && has >= torrent.pieces() {
            fetch.ask(&mut wire).await?;
        }
        wire.flush().await?;
    }
    let (seconds, statistics) = (began.elapsed().as_secs_f64(), wire.statistics());
    wire.end().await;
    endpoint.close().await;
    println!(
        "fetched {} bytes in {} pieces, each with the right hash, in {seconds:.2} s: {:.1} Mbit/s; {} packets received",
        torrent.len,
        torrent.pieces(),
        torrent.len as f64 * 8e-6 / seconds,
        statistics.packets_received
    );
    Ok(())
}

/// Returns piece and offset of each block.
fn blocks(torrent: &Torrent, piece: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..torrent.len_of(piece)).step_by(BLOCK as usize).map(move |begin| (piece, begin))
}

impl Fetch<'_> {
    async fn ask(&mut self, wire: &mut Wire) -> anyhow::Result<()> {
        while self.asked.len() < PIPELINE {
            let Some((piece, begin)) = self.wanted.pop_front() else { return Ok(()) };
            let length = (self.torrent.len_of(piece) - begin).min(BLOCK);
            wire.send(&Message::Request(Request { index: piece, begin, length })).await?;
            self.asked.push_back((piece, begin));
        }
        Ok(())
    }

    /// Takes in a block; returns its piece if that is complete.
    fn take(&mut self, piece: u32, begin: u32, block: &[u8]) -> anyhow::Result<Option<u32>> {
        let Some(at) = self.asked.iter().position(|asked| *asked == (piece, begin)) else {
            return Ok(None); // asked for before a choke
        };
        self.asked.remove(at);
        let len = self.torrent.len_of(piece);
        let expected = (len - begin).min(BLOCK) as usize;
        ensure!(block.len() == expected, "a block of {} bytes", block.len());
        let partial = self
            .partial
            .entry(piece)
            .or_insert_with(|| Partial { bytes: vec![0; len as usize], missing: len });
        partial.bytes[begin as usize..][..expected].copy_from_slice(block);
        partial.missing -= expected as u32;
        if partial.missing > 0 {
            return Ok(None);
        }
        let Some(whole) = self.partial.remove(&piece) else { return Ok(None) };
        ensure!(self.torrent.is_piece(piece, &whole.bytes), "piece {piece} has a wrong hash");
        self.file.write_all_at(&whole.bytes, self.torrent.offset(piece))?;
        self.complete += 1;
        Ok(Some(piece))
    }
}
