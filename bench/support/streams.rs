//! A program that moves data over some connections, and its server: neither knows anything of this project.

#[path = "congestion.rs"]
mod congestion;

use congestion::set_congestion_control;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 7000;

/// Returns a time shortly before the end of a run that begins now, so that programs end by themselves.
///
/// # Errors
/// A number that is none.
pub fn until(seconds: &str) -> Result<Instant, Box<dyn Error>> {
    Ok(Instant::now() + Duration::from_secs_f64(seconds.parse::<f64>()? - 0.6))
}

/// Serves every client: reads from a client that sends, and sends to one that requests data.
///
/// # Errors
/// The port is taken.
pub fn serve(congestion_control: &str, until: Instant) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    let congestion_control = congestion_control.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            set_congestion_control(&stream, &congestion_control);
            thread::spawn(move || serve_one(stream));
        }
    });
    thread::sleep(until.saturating_duration_since(Instant::now()));
    Ok(())
}

fn serve_one(mut stream: TcpStream) {
    let mut request = [0; 1];
    if stream.read_exact(&mut request).is_err() {
        return;
    }
    let mut buffer = vec![0; 1 << 16];
    match request {
        [b'?'] => while stream.write_all(&buffer).is_ok() {},
        _ => while stream.read(&mut buffer).is_ok_and(|length| length > 0) {},
    }
}

/// Moves data over connections, one a thread.
pub fn go(peer: &str, connections: u32, congestion_control: &str, is_upload: bool, until: Instant) {
    for _ in 0..connections {
        let (peer, congestion_control) = (peer.to_owned(), congestion_control.to_owned());
        thread::spawn(move || {
            let mut stream = loop {
                match TcpStream::connect((peer.as_str(), PORT)) {
                    Ok(stream) => break stream,
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            };
            set_congestion_control(&stream, &congestion_control);
            let mut buffer = vec![0; 1 << 16];
            if stream.write_all(if is_upload { b"!" } else { b"?" }).is_err() {
                return;
            }
            while if is_upload {
                stream.write_all(&buffer).is_ok()
            } else {
                stream.read(&mut buffer).is_ok_and(|length| length > 0)
            } {}
        });
    }
    thread::sleep(until.saturating_duration_since(Instant::now()));
}
