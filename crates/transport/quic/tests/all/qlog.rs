//! qlog files.
#![cfg(feature = "qlog")]

use crate::common::{client, connect, receive_pattern, runtime, send_pattern, server};
use afteryou_quic::{background_transport, qlog};

#[test]
fn one_line_writes_a_file_with_the_windows_of_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.sqlog");
    runtime().block_on(async {
        let (server, _) = server("127.0.0.1:0", background_transport());
        let to = server.local_addr().unwrap();
        let receiver = tokio::spawn(receive_pattern(server, 200_000));
        let mut transport = background_transport();
        qlog::write_to(&mut transport, &file, "backup").unwrap();
        let client = client("127.0.0.1:0").0;
        let connection = connect(&client, to, transport).await.unwrap();
        send_pattern(&connection, 200_000).await.unwrap();
        receiver.await.unwrap().unwrap();
        connection.close(0u32.into(), b"");
        drop(connection);
        client.wait_idle().await;
    });
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("backup") && text.contains("congestion_window"), "{} bytes", text.len());
    let again = qlog::write_to(&mut background_transport(), &file, "backup");
    assert!(again.is_err(), "a file that exists is not overwritten");
}
