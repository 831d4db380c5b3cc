use super::*;

fn secret(identity: &Identity, role: Role, directory: &Path) -> [u8; 16] {
    *identity.secret(role, directory).unwrap().expose()
}

#[test]
fn a_restart_gives_the_same_certificate_secret_and_port() {
    let (state, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut first = Identity::open(state.path()).unwrap();
    first.remember_port(Role::Receive, files.path(), 4711).unwrap();
    let second = Identity::open(state.path()).unwrap();
    assert_eq!(second.certificate(), first.certificate());
    assert_eq!(second.key(), first.key());
    assert_eq!(secret(&second, Role::Receive, files.path()), secret(&first, Role::Receive, files.path()));
    assert_eq!(second.port(Role::Receive, files.path()).unwrap(), Some(4711));
    assert_eq!(second.port(Role::Serve, files.path()).unwrap(), None);
}

#[test]
fn every_role_and_directory_has_a_secret_of_its_own() {
    let identity = Identity::ephemeral().unwrap();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let receive = secret(&identity, Role::Receive, one.path());
    assert_ne!(receive, secret(&identity, Role::Serve, one.path()));
    assert_ne!(receive, secret(&identity, Role::Receive, other.path()));
    assert_ne!(receive, secret(&Identity::ephemeral().unwrap(), Role::Receive, one.path()));
}

#[test]
fn another_name_of_a_directory_is_the_same_service() {
    let identity = Identity::ephemeral().unwrap();
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("a")).unwrap();
    let detour = root.path().join("a").join("..").join("a");
    assert_eq!(
        secret(&identity, Role::Serve, &detour),
        secret(&identity, Role::Serve, &root.path().join("a"))
    );
    assert!(matches!(identity.secret(Role::Serve, &root.path().join("none")), Err(IdentityError::Io { .. })));
}

#[test]
fn a_renewed_service_has_a_new_secret_that_stays_and_the_others_keep_theirs() {
    let (state, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut identity = Identity::open(state.path()).unwrap();
    let old = secret(&identity, Role::Receive, files.path());
    let serve = secret(&identity, Role::Serve, files.path());
    identity.renew(Role::Receive, files.path()).unwrap();
    let new = secret(&identity, Role::Receive, files.path());
    assert_ne!(old, new);
    let again = Identity::open(state.path()).unwrap();
    assert_eq!(secret(&again, Role::Receive, files.path()), new);
    assert_eq!(secret(&again, Role::Serve, files.path()), serve);
}

#[test]
fn two_processes_do_not_undo_each_others_changes() {
    let state = tempfile::tempdir().unwrap();
    let directories: Vec<_> = (0..8).map(|_| tempfile::tempdir().unwrap()).collect();
    std::thread::scope(|scope| {
        for (port, directory) in (5000..).zip(&directories) {
            let state = state.path();
            scope.spawn(move || {
                Identity::open(state).unwrap().remember_port(Role::Serve, directory.path(), port).unwrap()
            });
        }
    });
    let identity = Identity::open(state.path()).unwrap();
    for (port, directory) in (5000..).zip(&directories) {
        assert_eq!(identity.port(Role::Serve, directory.path()).unwrap(), Some(port));
    }
}

#[test]
fn every_damaged_byte_and_every_length_is_noticed() {
    let state = tempfile::tempdir().unwrap();
    Identity::open(state.path()).unwrap();
    let whole = fs::read(file(state.path())).unwrap();
    for index in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[index] ^= 0x10;
        assert!(decode(&damaged, Path::new("x")).is_err(), "byte {index}");
        assert!(decode(&whole[..index], Path::new("x")).is_err(), "length {index}");
    }
    fs::write(file(state.path()), &whole[..whole.len() - 1]).unwrap();
    let error = Identity::open(state.path()).unwrap_err().to_string();
    assert!(error.contains("damaged") && error.contains("move it away"), "{error}");
    fs::write(file(state.path()), b"afteryou identity 2\n...").unwrap();
    assert!(matches!(Identity::open(state.path()), Err(IdentityError::Newer { .. })));
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let state = root.path().join("new").join("state");
    let mut identity = Identity::open(&state).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file(&state)), mode(&state)), (0o600, 0o700));
    // What a killed process left does not lend its mode.
    fs::write(state.join("identity.new"), b"rest").unwrap();
    identity.renew(Role::Serve, root.path()).unwrap();
    assert_eq!(mode(&file(&state)), 0o600);
    fs::set_permissions(file(&state), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(Identity::open(&state), Err(IdentityError::Exposed { .. })));
}

#[test]
fn the_state_directory_follows_the_environment() {
    let home = std::env::temp_dir().join("home");
    let at = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(name, value)| (name.to_string(), PathBuf::from(value))).collect();
        place(
            |name| set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
            Some(home.clone()),
        )
        .unwrap()
    };
    assert_eq!(at(&[]), home.join(".local/state/afteryou"));
    #[cfg(unix)]
    {
        assert_eq!(at(&[("XDG_STATE_HOME", "/x")]), Path::new("/x/afteryou"));
        assert_eq!(
            at(&[("STATE_DIRECTORY", "/var/lib/a:/var/lib/b"), ("XDG_STATE_HOME", "/x")]),
            Path::new("/var/lib/a")
        );
    }
    assert_eq!(at(&[("XDG_STATE_HOME", "relative")]), home.join(".local/state/afteryou"));
    assert!(place(|_| None, None).is_none());
}

#[test]
fn what_is_printed_of_an_identity_is_not_secret() {
    let identity = Identity::ephemeral().unwrap();
    let shown = format!("{identity:?}");
    assert!(shown.contains("fingerprint") && !shown.contains("seed") && !shown.contains("key"), "{shown}");
}
