//! The programs.

use super::servers::Folder;
use super::Result;
use std::fs;

/// A program, its server, and how long CUBIC is beside it.
pub struct Row {
    pub name: &'static str,
    /// Commands that have to be installed.
    needs: &'static [&'static str],
    pub is_upload: bool,
    /// nginx, or else sshd.
    is_http: bool,
    /// The shell's command. `RUN` is `afteryou run --` or nothing, `DATA` is `small` or `large`, `$F` the folder with the data, `$OUT` one
    /// to write into, `$WEB` the server, and `$SSH` an ssh client with its options.
    script: &'static str,
    /// CUBIC begins at this time, s.
    pub begin_s: f64,
    pub beside_s: f64,
    /// A transfer of 30 MB is over by then, s.
    pub alone_s: f64,
}

const HTTP: Row = Row {
    name: "",
    needs: &["nginx", "curl"],
    is_upload: false,
    is_http: true,
    script: "",
    begin_s: 6.0,
    beside_s: 15.0,
    alone_s: 24.0,
};
const SSH: Row = Row { needs: &["sshd", "ssh"], is_http: false, ..HTTP };

pub const ROWS: &[Row] = &[
    Row { name: "curl-4", script: "RUN curl -sfZ --parallel-max 4 $WEB/DATA-4.[1-4] -o /dev/null", ..HTTP },
    Row {
        name: "curl-4-nobody",
        needs: &["nginx", "curl", "setpriv"],
        script: "setpriv --reuid=65534 --regid=65534 --clear-groups RUN curl -sfZ --parallel-max 4 $WEB/DATA-4.[1-4] -o /dev/null",
        ..HTTP
    },
    // Long enough for a server that gives up after 10 s.
    Row {
        name: "curl-16",
        script: "RUN curl -sfZ --parallel-max 16 $WEB/DATA-16.[1-16] -o /dev/null",
        beside_s: 45.0,
        ..HTTP
    },
    Row {
        name: "pip",
        needs: &["nginx", "curl", "pip"],
        script: "RUN pip download -q --no-deps --no-cache-dir --disable-pip-version-check --isolated --index-url $WEB/simple --trusted-host $AFTERYOU_PEER -d $OUT DATA",
        ..HTTP
    },
    Row {
        name: "aria2-16",
        needs: &["nginx", "curl", "aria2c"],
        script: "RUN aria2c -q -x16 -s16 -k1M --allow-overwrite=true --file-allocation=none -d $OUT -o aria2 $WEB/DATA",
        ..HTTP
    },
    Row {
        name: "rclone-3",
        needs: &["nginx", "curl", "rclone"],
        script: "RUN rclone --config /dev/null copy --transfers 3 --multi-thread-streams 0 --http-url $WEB/DATA-three/ :http: $OUT/three",
        ..HTTP
    },
    Row { name: "curl-upload", is_upload: true, script: "RUN curl -sf -o /dev/null -T $F/web/DATA $WEB/up/", ..HTTP },
    Row {
        name: "rsync-down",
        needs: &["sshd", "ssh", "rsync"],
        script: "RUN rsync -e \"$SSH\" root@$AFTERYOU_PEER:$F/web/DATA $OUT/",
        ..SSH
    },
    Row {
        name: "rsync-up",
        needs: &["sshd", "ssh", "rsync"],
        is_upload: true,
        script: "RUN rsync -e \"$SSH\" $F/web/DATA root@$AFTERYOU_PEER:$OUT/",
        ..SSH
    },
    Row {
        name: "restic",
        needs: &["sshd", "ssh", "restic"],
        is_upload: true,
        script: "export RESTIC_PASSWORD=secret; R=\"restic -q --no-cache -o sftp.command='$SSH root@$AFTERYOU_PEER -s sftp' -r sftp:root@$AFTERYOU_PEER:$OUT/repository\"; \
                 eval $R init && begin && eval RUN $R backup $F/web/DATA",
        // It makes 256 folders first, one a round trip.
        begin_s: 25.0,
        alone_s: 50.0,
        ..SSH
    },
    Row {
        name: "git-ssh",
        needs: &["sshd", "ssh", "git"],
        script: "export GIT_SSH_COMMAND=\"$SSH\"; RUN git clone -q --bare ssh://root@$AFTERYOU_PEER$F/DATA.git $OUT/clone",
        ..SSH
    },
    // 2 % of the link: a page of 100 kB every two seconds, over a connection of its own. Its own pauses do not count.
    Row {
        name: "pages",
        script: "RUN sh -c 'for page in 1 2 3 4 5 6 7 8; do curl -sf -o /dev/null -w \"%{time_total}\\n\" $WEB/page || exit 1; sleep 1.9; done' >$OUT/pages; \
                 code=$?; spent=$(awk '{ sum += $1 } END { print sum }' $OUT/pages)",
        ..HTTP
    },
];

impl Row {
    /// Returns a program that is not installed.
    pub fn missing(&self) -> Option<&'static str> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&folders).chain(["/usr/sbin".into()]).collect();
        self.needs.iter().copied().find(|name| !folders.iter().any(|folder| folder.join(name).exists()))
    }

    /// Returns the script of the server.
    pub fn serve(&self, folder: &Folder) -> String {
        folder.path(if self.is_http { "nginx.sh" } else { "sshd.sh" }).display().to_string()
    }

    /// Writes the script of the program, which notes its end, and returns its path.
    pub fn client(&self, folder: &Folder, is_under: bool, is_small: bool) -> Result<String> {
        let own = std::env::current_exe()?;
        let above = own.parent().and_then(|folder| folder.parent()).ok_or("this program is in no folder")?;
        let run =
            if is_under { format!("{} run --", above.join("afteryou").display()) } else { String::new() };
        let script =
            self.script.replace("RUN", &run).replace("DATA", if is_small { "small" } else { "large" });
        let (shown, port) = (folder.path("").display().to_string(), if self.is_http { 8080 } else { 2222 });
        let text = format!(
            "F={shown}; export WEB=http://$AFTERYOU_PEER:8080 OUT=$(mktemp -d $F/out/XXXXXX); chmod 777 $OUT\n\
             SSH=\"ssh -p 2222 -i $F/user -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR\"\n\
             begin() {{ began=$(date +%s.%N); }}\n\
             until bash -c \"exec 3<>/dev/tcp/$AFTERYOU_PEER/{port}\" 2>/dev/null; do sleep 0.1; done\n\
             begin; code= spent=\n\
             {script}\n\
             code=${{code:-$?}}; spent=${{spent:-$(echo \"$(date +%s.%N) $began\" | awk '{{ print $1 - $2 }}')}}\n\
             echo $code $spent >$F/end; rm -rf $OUT; exec sleep 1000\n"
        );
        let path = folder.path("client.sh");
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }
}
