//! Reports to systemd that a service is ready, and its state: `systemctl status` shows it.
//!
//! The protocol of sd_notify(3): lines of NAME=value in one datagram to the socket that NOTIFY_SOCKET names.

/// Reports that the service is ready; `status` is one line for people.
pub fn ready(status: &str) {
    notify(&format!("READY=1\nSTATUS={}", one_line(status)));
}

/// Reports the service's present state.
pub fn status(status: &str) {
    notify(&format!("STATUS={}", one_line(status)));
}

/// Reports that the service ends.
pub fn stopping() {
    notify("STOPPING=1");
}

/// Returns the text on one line: a line break would begin another variable, and `systemctl` has no lines to show.
fn one_line(text: &str) -> String {
    afteryou_terminal::output::printable(&text.replace('\n', " "))
}

#[cfg(unix)]
fn notify(message: &str) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET") {
        // Who started us may not listen; that is no reason to fail.
        let _ = send(&socket, message);
    }
}

#[cfg(not(unix))]
fn notify(_: &str) {}

#[cfg(unix)]
fn send(socket: &std::ffi::OsStr, message: &str) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let sender = std::os::unix::net::UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.as_bytes().strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
        return sender.send_to_addr(message.as_bytes(), &address).map(drop);
    }
    let _ = socket.as_bytes();
    sender.send_to(message.as_bytes(), socket).map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn the_socket_gets_one_datagram() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let systemd = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), &format!("READY=1\nSTATUS={}", one_line("a\nMAINPID=1"))).unwrap();
        let mut buffer = [0; 100];
        let length = systemd.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"READY=1\nSTATUS=a MAINPID=1");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_socket_may_have_no_file() {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("afteryou-test-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let systemd = UnixDatagram::bind_addr(&address).unwrap();
        send(format!("@{name}").as_ref(), "READY=1").unwrap();
        let mut buffer = [0; 100];
        assert_eq!(systemd.recv(&mut buffer).unwrap(), 7);
    }
}
