//! A folder with the data, and the servers' settings.

use super::{End, Result};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Prepares what is served: random data, packages for pip, repositories for git, and pages.
const PREPARE: &str = r#"
set -e
mkdir -p web/simple/small web/simple/large web/small-three web/large-three web/up out
chmod 777 out web/up
head -c 30000000 /dev/urandom >web/small
head -c 120000000 /dev/urandom >web/large
head -c 100000 /dev/urandom >web/page
head -c 7500000 web/small >web/quarter
head -c 1875000 web/small >web/sixteenth
for part in 1 2 3 4; do ln -s large web/large-4.$part; ln -s quarter web/small-4.$part; done
for part in $(seq 16); do ln -s large web/large-16.$part; ln -s sixteenth web/small-16.$part; done
for part in 1 2 3; do head -c 10000000 web/small >web/small-three/$part; ln web/large web/large-three/$part; done
if command -v git >/dev/null; then
  for size in small large; do
    git init -q --bare $size.git
    blob=$(git -C $size.git -c core.compression=0 hash-object -w --stdin <web/$size)
    tree=$(printf '100644 blob %s\tdata\n' $blob | git -C $size.git mktree)
    commit=$(git -C $size.git -c user.name=a -c user.email=a@b commit-tree -m data $tree)
    git -C $size.git update-ref HEAD $commit
  done
fi
if command -v python3 >/dev/null; then
  for size in small large; do
    python3 - $size web/$size web/simple/$size/$size-1-py3-none-any.whl <<'END'
import sys, zipfile
name, data, wheel = sys.argv[1:]
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as out:
    out.write(data, name + "/data")
    out.writestr(name + "-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: 1\n" % name)
    out.writestr(name + "-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    out.writestr(name + "-1.dist-info/RECORD", "")
END
  done
fi
if command -v ssh-keygen >/dev/null; then
  ssh-keygen -q -t ed25519 -N '' -f host
  ssh-keygen -q -t ed25519 -N '' -f user
fi
"#;

/// The folder; it goes with this.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes it.
    pub fn new() -> Result<Folder> {
        let folder = Folder(tempfile::tempdir()?);
        // Programs of nobody read there.
        fs::set_permissions(folder.path(""), Permissions::from_mode(0o755))?;
        let mut prepare = Command::new("sh");
        let done =
            prepare.args(["-c", PREPARE]).current_dir(folder.path("")).stdin(Stdio::null()).status()?;
        if !done.success() {
            return Err("the data could not be made".into());
        }
        let at = folder.path("").display().to_string();
        let at = at.trim_end_matches('/');
        folder.write(
            "nginx.conf",
            &format!(
                "user root; worker_processes 1; daemon off; pid {at}/nginx.pid; error_log {at}/nginx.log;\n\
                 events {{ worker_connections 500; }}\n\
                 http {{ access_log off; client_max_body_size 0; send_timeout 10s; client_body_timeout 10s; client_body_temp_path {at}/body;\n\
                 server {{ listen 8080; root {at}/web; location /simple/ {{ autoindex on; }} location ~ three/ {{ autoindex on; }}\n\
                 location /up/ {{ dav_methods PUT; }} }} }}\n"
            ),
        )?;
        folder.write("nginx.sh", &format!("exec nginx -e {at}/nginx.log -c {at}/nginx.conf\n"))?;
        folder.write(
            "sshd.conf",
            &format!(
                "Port 2222\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nPidFile none\nStrictModes no\n\
                 PermitRootLogin yes\nPasswordAuthentication no\nUsePAM no\nLogLevel QUIET\nSubsystem sftp internal-sftp\n"
            ),
        )?;
        folder.write("sshd.sh", &format!("mkdir -p /run/sshd; PATH=$PATH:/usr/sbin; exec \"$(command -v sshd)\" -D -e -f {at}/sshd.conf\n"))?;
        Ok(folder)
    }

    /// Returns the path of what is in it.
    pub fn path(&self, name: &str) -> PathBuf {
        Path::join(self.0.path(), name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.path(name), text)?)
    }

    /// Returns how the program ended, if it has.
    pub fn end(&self) -> Option<End> {
        let text = fs::read_to_string(self.path("end")).ok()?;
        let (code, seconds) = text.trim().split_once(' ')?;
        Some(End { code: code.parse().ok()?, seconds: seconds.parse().ok()? })
    }
}
