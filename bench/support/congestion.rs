//! The congestion control of a connection.

use std::net::TcpStream;

/// Sets a connection's congestion control, on Linux: elsewhere there is no testbed.
pub fn set_congestion_control(stream: &TcpStream, name: &str) {
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_congestion(stream, name);
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, name);
}
