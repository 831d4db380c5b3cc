//! `afteryou proxy`: a forward proxy whose transfers yield.

mod args;
#[cfg(target_os = "linux")]
mod steered;

pub use args::ProxyArgs;

use afteryou_proxy::{variables, Credentials, Options, Proxy};
use afteryou_terminal::failure::reason;
use afteryou_terminal::{output, Failure};
use afteryou_transfer_cli::{log, open_files, ready, signals, threads};
use std::path::Path;
use tokio::sync::watch;

/// Files that are open beside connections, of which each has two.
const OTHER_FILES: usize = 64;

impl ProxyArgs {
    /// Runs the command until somebody ends it.
    ///
    /// # Errors
    /// The address cannot be listened at; the file of the credentials cannot be read, or others can read it.
    pub fn run(&self) -> Result<(), Failure> {
        log::start(&self.log, false);
        let credentials = self.credentials.as_deref().map(read).transpose()?;
        if self.env {
            return output::print_whole(&lines(self, credentials.as_ref()));
        }
        open_files::raise_limit();
        let connections = affordable(self.max_connections as usize);
        let runtime = threads::runtime()?;
        let options = Options { credentials, connections, ..Options::default() };
        let done = runtime.block_on(serve(self, options));
        runtime.shutdown_background();
        done
    }
}

async fn serve(args: &ProxyArgs, options: Options) -> Result<(), Failure> {
    let stop = watch::Sender::new(false);
    let watching = tokio::spawn(signals::watch(stop.clone()));
    #[cfg(target_os = "linux")]
    let (options, roster) = steered::with_roster(options);
    #[cfg(not(target_os = "linux"))]
    let options = hinted(options);
    let proxy = Proxy::listen(args.listen, options).await.map_err(|error| match error {
        afteryou_proxy::Error::Open { .. } => Failure::usage(error),
        error => error.into(),
    })?;
    let address = proxy.address();
    #[cfg(target_os = "linux")]
    let _steering = steered::Steering::begin(args, roster, address, proxy.clients(), stop.clone())?;
    output::complain(&format!(
        "afteryou: proxy at {address} (HTTP and SOCKS5); `afteryou proxy --env` prints the variables\n"
    ));
    ready::ready(&format!("proxy at {address}"));
    let mut stopped = stop.subscribe();
    tokio::select! {
        () = proxy.run() => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
    ready::stopping();
    watching.abort();
    Ok(())
}

/// Returns options by which each connection to a server is the system's own background transfer, which is reported once.
#[cfg(not(target_os = "linux"))]
fn hinted(options: Options) -> Options {
    let reported = std::sync::Once::new();
    let opened = move |socket: &std::sync::Arc<tokio::net::TcpStream>| {
        let text = match afteryou_background::set_background(&**socket) {
            Ok(background) => format!("each connection {background}"),
            Err(error) => error.to_string(),
        };
        reported.call_once(|| output::complain(&format!("afteryou: {text}\n")));
    };
    Options { opened: Some(std::sync::Arc::new(opened)), ..options }
}

/// Returns how many connections there may be, and prints it if that is less than were asked for.
fn affordable(wanted: usize) -> usize {
    let Some(files) = open_files::limit() else { return wanted };
    let connections = (files.saturating_sub(OTHER_FILES) / 2).clamp(1, wanted);
    if connections < wanted {
        output::complain(&format!(
            "afteryou: {connections} connections at most: this process may open {files} files, and {} are required for {wanted}; raise the limit (ulimit -n)\n",
            2 * wanted + OTHER_FILES
        ));
    }
    connections
}

/// Reads NAME:PASSWORD from a file.
fn read(path: &Path) -> Result<Credentials, Failure> {
    let shown = path.display();
    let refused = |why: String| Failure::usage(format!("{shown}: {why}"));
    let text = std::fs::read_to_string(path).map_err(|error| refused(reason(&error)))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_err(|error| refused(reason(&error)))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(refused("other users can read it: chmod 600 makes it yours alone".to_owned()));
        }
    }
    Credentials::parse(text.lines().next().unwrap_or_default()).map_err(|error| refused(error.to_string()))
}

/// Returns the variables as lines of a POSIX shell.
fn lines(args: &ProxyArgs, credentials: Option<&Credentials>) -> String {
    let no_proxy = ["no_proxy", "NO_PROXY"].iter().find_map(|name| std::env::var(name).ok());
    variables(args.listen, credentials, no_proxy.as_deref())
        .iter()
        .map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', "'\\''")))
        .collect()
}
