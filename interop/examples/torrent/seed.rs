//! We have it all, and peers get it.

use crate::metainfo::Torrent;
use crate::wire::Wire;
use afteryou_interop::torrent::{Message, Request};
use afteryou_utp::{Endpoint, EndpointConfig};
use anyhow::ensure;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Longest block that is served.
const LONGEST: u32 = 128 << 10;

pub async fn run(
    torrent: Torrent,
    file: &Path,
    listen: SocketAddr,
    config: EndpointConfig,
    once: bool,
) -> anyhow::Result<()> {
    let (torrent, file) = (Arc::new(torrent), Arc::new(File::open(file)?));
    for piece in 0..torrent.pieces() {
        let bytes = read(&torrent, &file, piece, 0, torrent.len_of(piece))?;
        ensure!(torrent.is_piece(piece, &bytes), "piece {piece} of the file has a wrong hash");
    }
    let endpoint = Endpoint::bind(listen, config)?;
    println!("seeding at {}", endpoint.local_addr()?);
    let (finished, mut all) = tokio::sync::mpsc::unbounded_channel();
    loop {
        let stream = tokio::select! {
            stream = endpoint.accept() => stream?,
            Some(()) = all.recv(), if once => break,
        };
        let (torrent, file, finished) = (Arc::clone(&torrent), Arc::clone(&file), finished.clone());
        tokio::spawn(async move {
            let peer = stream.peer_addr();
            match serve(&torrent, &file, Wire::new(stream)).await {
                Ok(served) => {
                    println!("{peer} got {served} bytes");
                    if served >= torrent.len {
                        _ = finished.send(());
                    }
                }
                Err(error) => println!("{peer}: {error}"),
            }
        });
    }
    endpoint.close().await;
    Ok(())
}

/// Serves one peer until it leaves; returns the bytes that it got.
async fn serve(torrent: &Torrent, file: &File, mut wire: Wire) -> anyhow::Result<u64> {
    wire.be_greeted(&torrent.info_hash).await?;
    wire.greet(&torrent.info_hash).await?;
    let mut bits = vec![0xFF; torrent.pieces().div_ceil(8) as usize];
    let spare = bits.len() as u32 * 8 - torrent.pieces();
    bits.last_mut().into_iter().for_each(|last: &mut u8| *last <<= spare);
    wire.send(&Message::Bitfield(&bits)).await?;
    wire.flush().await?;
    let mut served = 0;
    loop {
        let answer = match wire.next().await {
            Ok(Some(Message::Interested)) => Some(None),
            Ok(Some(Message::Request(request))) => Some(Some(request)),
            Ok(Some(_)) => None,
            // A client that is complete may leave by a reset.
            Ok(None) => break,
            Err(_) if served >= torrent.len => break,
            Err(error) => return Err(error),
        };
        match answer {
            None => continue,
            Some(None) => wire.send(&Message::Unchoke).await?,
            Some(Some(Request { index, begin, length })) => {
                let in_piece = index < torrent.pieces()
                    && length <= LONGEST
                    && u64::from(begin) + u64::from(length) <= torrent.len_of(index).into();
                ensure!(in_piece, "it asks for what does not exist");
                let block = read(torrent, file, index, begin, length)?;
                wire.send(&Message::Piece { index, begin, block: &block }).await?;
                served += u64::from(length);
            }
        }
        wire.flush().await?;
    }
    wire.end().await;
    Ok(served)
}

fn read(torrent: &Torrent, file: &File, piece: u32, begin: u32, len: u32) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, torrent.offset(piece) + u64::from(begin))?;
    Ok(bytes)
}
