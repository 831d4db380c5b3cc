//! What a hostile source makes a sink hold: nothing without bound.

use super::*;

/// In a process of its own: other tests' memory would count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_never_listens_is_bounded() {
    if alone::part().is_none() {
        let test = "jobs::hostile::memory::a_source_that_never_listens_is_bounded";
        return alone::assert_passes(alone::again(test, ""));
    }
    let victim = Victim::new();
    let before = resident_bytes();
    // Files: each is wanted, so they pile up, and that is against the rules.
    let mut raw = victim.raw().await;
    let (entry, _) = file(b"a", b"x");
    let all = async {
        for id in 0..100_000 {
            let mut entry = entry.clone();
            entry.path.0 = format!("many/{id}").into_bytes();
            let offer = bytes(&FromSource::Offer { id, entry });
            if raw.send.write_all(&offer).await.is_err() {
                return id;
            }
        }
        100_000
    };
    let taken = timeout(SOON, all).await.expect("ends");
    assert!(taken >= MAX_UNSETTLED as u64 && taken < 100_000, "{taken} offers");
    assert!(raw.closed().await.contains("too many offers"));

    // Refused paths are settled at once, by answers that nobody takes: the sink stops reading.
    let connection = Dial::dial(&*victim.far.dialer()).await.unwrap();
    connection.set_receive_window(1000_u32.into());
    let (mut send, _receive) = connection.open_bi().await.unwrap();
    send.write_all(&bytes(&Greeting::Push { job: rand(), lane: 0, wishes: Default::default() }))
        .await
        .unwrap();
    let mut taken = 0;
    let all = async {
        for id in 0..100_000 {
            let offer = bytes(&FromSource::Offer { id, entry: link(b"../a", &[b'x'; 1000]) });
            if send.write_all(&offer).await.is_err() {
                return;
            }
            taken = id;
        }
    };
    _ = timeout(Duration::from_secs(3), all).await;
    let grown = resident_bytes().saturating_sub(before);
    println!("{taken} offers of 1 kB without reading an answer: {} MB more", grown / 1_000_000);
    assert!(grown < 150_000_000, "{grown} bytes");
    connection.close(0_u32.into(), b"");
    victim.still_serves().await;
}

/// In a process of its own: other tests' memory would count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_description_in_tiny_pieces_is_refused_and_takes_no_memory() {
    const SIZE: u64 = 64 << 20;
    const PIECES: usize = 4_000_000;
    if alone::part().is_none() {
        let test = "jobs::hostile::memory::a_description_in_tiny_pieces_is_refused_and_takes_no_memory";
        return alone::assert_passes(alone::again(test, ""));
    }
    let victim = Victim::new();
    // Its last chunk is one byte long.
    let older = [vec![0; 65_536], b"x".to_vec()].concat();
    std::fs::write(victim.pair.to().join("file"), older).unwrap();
    let mut raw = victim.raw().await;
    raw.offer(0, entry(b"file", Kind::File { size: SIZE, root: [7; 32] })).await;
    assert!(matches!(raw.answer().await, FromSink::Describe { how: How::Groups, .. }));
    raw.data(0, &vec![1; (SIZE / GROUP_BYTES) as usize * 16]).await;
    assert!(matches!(raw.answer().await, FromSink::Describe { how: How::Chunks, .. }));
    // Each second one is in the older version, so no two of them touch.
    let piece = |hash: &[u8]| [&hash[..16], &1_u32.to_be_bytes()].concat();
    let there = blake3::hash(b"x");
    let two = [piece(there.as_bytes()), piece(&[1; 32])].concat();
    let before = resident_bytes();
    let description = two.repeat(10_000);
    let mut stream = raw.some_data(0, b"").await.expect("a stream");
    let mut highest = before;
    for _ in 0..PIECES / 20_000 {
        // The sink stops to read.
        if stream.write_all(&description).await.is_err() {
            break;
        }
        highest = highest.max(resident_bytes());
    }
    let grown = highest - before;
    println!("{grown} bytes more after {PIECES} pieces");
    assert!(grown < 16 << 20, "{grown} bytes more");
    let answer = raw.answer().await;
    assert!(matches!(answer, FromSink::Failed { id: 0, why: Why::Io(_) }), "{answer:?}");
    drop(raw);
    victim.still_serves().await;
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
