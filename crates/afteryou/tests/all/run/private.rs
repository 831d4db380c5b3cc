//! The private proxy of a run.

use super::run;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// A shell script that prints the variables.
const PRINT: &str =
    "echo http=$http_proxy; echo HTTPS=$HTTPS_PROXY; echo no=$no_proxy; echo all=$ALL_PROXY$all_proxy";
/// Begins with a filter of system calls that refuses `pidfd_getfd`, number 438 on every architecture.
const FILTERED: &str = "
import ctypes, os, struct, sys
program = b''.join(struct.pack('HBBI', *line) for line in [(0x20, 0, 0, 0), (0x15, 0, 1, 438), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)])
code = ctypes.create_string_buffer(program)
class Prog(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4
prog = Prog(4, ctypes.addressof(code))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.addressof(prog), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
";

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Returns the value of a variable, as a test's program has printed it.
fn value<'a>(printed: &'a str, name: &str) -> &'a str {
    printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).expect(name)
}

#[test]
fn a_program_finds_its_private_proxy_in_its_variables_and_nobody_else_may_use_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("a port");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nserved");
        }
    });
    // The script ends when this test closes its input.
    let mut child = run(&["--proxy", "--", "sh", "-c", &format!("{PRINT}; read end")])
        .env("no_proxy", "own.example")
        .env_remove("ALL_PROXY")
        .env_remove("all_proxy")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut printed = String::new();
    let mut output = child.stdout.take().expect("piped");
    while !printed.contains("all=") {
        let mut buffer = [0; 1024];
        let bytes = output.read(&mut buffer).expect("text");
        assert!(bytes > 0, "{printed}");
        printed += &String::from_utf8_lossy(&buffer[..bytes]);
    }
    assert_eq!(value(&printed, "http"), value(&printed, "HTTPS"));
    assert_eq!(value(&printed, "no"), "own.example,localhost,127.0.0.1,::1");
    assert_eq!(value(&printed, "all"), "");
    let (user, address) =
        value(&printed, "http").strip_prefix("http://").and_then(|rest| rest.split_once('@')).expect("a URL");
    assert!(user.len() > 32, "{user}");
    let encoded = base64(user.as_bytes());
    for (header, status) in
        [(String::new(), " 407 "), (format!("Proxy-Authorization: Basic {encoded}\r\n"), " 200 ")]
    {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET http://{server}/ HTTP/1.0\r\n{header}\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        assert!(answer.contains(status), "{answer}");
    }
    drop(child.stdin.take());
    let mut errors = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
    child.wait().expect("it ends");
    assert_eq!(errors.matches("a private proxy steers what honours http_proxy").count(), 1, "{errors}");
    // The second process ends a moment later.
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < until, "the proxy outlives its program");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Encodes in base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| {
        let number =
            three.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let digit = |at: usize| match at <= three.len() {
            true => char::from(DIGITS[(number >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(digits).collect()
}

#[test]
fn a_run_without_need_has_no_proxy() {
    let output = run(&["--", "sh", "-c", PRINT]).env_remove("http_proxy").output().expect("it runs");
    let (printed, errors) = text(&output);
    // Unless this test itself runs where sockets of children may not be touched.
    if errors.is_empty() {
        assert_eq!(value(&printed, "http"), "", "{printed}");
    } else {
        assert!(errors.contains("a private proxy"), "{errors}");
    }
}

#[test]
fn where_a_filter_forbids_to_touch_sockets_a_private_proxy_takes_their_place() {
    let own = run(&[]).get_program().to_owned();
    let filtered = |proxy: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", FILTERED]).arg(&own).args(["run", "--", "sh", "-c", PRINT]);
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(name);
        }
        command.env("http_proxy", proxy).output().ok().filter(|output| output.status.code() != Some(77))
    };
    let Some(output) = filtered("") else {
        return println!("SKIPPED: no python3 here, or no filter can be set");
    };
    let (printed, errors) = text(&output);
    assert!(value(&printed, "http").starts_with("http://afteryou:"), "{printed}{errors}");
    assert!(errors.contains("(a filter of system calls (seccomp) forbids to touch sockets)"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    // Another proxy may be the only way out.
    let (printed, errors) = text(&filtered("http://other.example:3128").expect("as before"));
    assert!(errors.contains("the program is not steered") && errors.contains("--proxy"), "{errors}");
    assert_eq!(value(&printed, "http"), "http://other.example:3128");
}
