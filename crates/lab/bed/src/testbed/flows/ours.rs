//! Connections of uTP and QUIC, each with an endpoint of its own, so that its port names it.

use super::course::Course;
use super::Directable;
use crate::error::Error;
use crate::run::controllers::Zero;
use crate::run::ends::Client;
use crate::run::quic::Quic;
use crate::run::utp::Utp;
use crate::run::watched::Watched;
use afteryou_cc::Time;
use afteryou_scenario::outcome::Totals;
use afteryou_sim::director::Remote;
use afteryou_utp::Endpoint;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tokio::task::JoinHandle;

/// Opens a connection of uTP, which does not connect yet.
pub(super) fn dial_utp(flow: &Directable, utp: &Utp, course: &Arc<Course>) -> Result<Box<dyn Remote>, Error> {
    let (mut config, zero) = utp.sender();
    config.connection.send_buffer = config.connection.send_buffer.min(flow.shared.unsent_bytes.into());
    let client = inside(flow, |address| Endpoint::bind(address, config))?;
    dial(flow, course, client, &zero)
}

/// Opens a connection of QUIC, which does not connect yet.
pub(super) fn dial_quic(
    flow: &Directable,
    quic: &Quic,
    course: &Arc<Course>,
) -> Result<Box<dyn Remote>, Error> {
    let unsent = Some(flow.shared.unsent_bytes.into());
    let (client, zero) = inside(flow, |address| quic.sender(address, unsent))?;
    dial(flow, course, client, &zero)
}

/// Opens a socket at the flow's sender: the calling thread is in its namespace.
fn inside<S>(flow: &Directable, open: impl FnOnce(SocketAddr) -> io::Result<S>) -> Result<S, Error> {
    let address = SocketAddr::new(flow.from, 0);
    let _inside = flow.shared.runtime.enter();
    open(address).map_err(|source| Error::Socket { address, source })
}

fn dial<C: Client>(
    flow: &Directable,
    course: &Arc<Course>,
    client: C,
    zero: &Zero,
) -> Result<Box<dyn Remote>, Error> {
    let asked = SocketAddr::new(flow.from, 0);
    let address = client.address().map_err(|source| Error::Socket { address: asked, source })?;
    flow.expect(address.port(), course);
    let sender = Arc::new(OnceLock::new());
    let (shared, log, place) = (flow.shared.clone(), Arc::clone(&flow.log), Arc::clone(&sender));
    let (name, to, on) = (flow.spec.name.clone(), flow.receiver.address, Arc::clone(course));
    zero.get_or_init(|| Time(client.now().0.saturating_sub(shared.timing.now().0)));
    let begin = move || {
        let runtime = shared.runtime.clone();
        runtime.spawn(async move {
            let connected = async {
                let (mut stream, watched) = client.connect(to).await?;
                log.watch(Arc::clone(place.get_or_init(|| watched)));
                on.send(&mut stream, |stream, written| Ok(C::has_acknowledged(stream, written))).await
            };
            if let Err(error) = connected.await {
                shared.broken.set(&name, error);
            }
        })
    };
    Ok(Box::new(Line {
        course: Arc::clone(course),
        begin: Some(Box::new(begin)),
        task: None,
        sender,
        totals: Totals::default(),
    }))
}

/// The director's hold on a connection.
struct Line {
    course: Arc<Course>,
    begin: Option<Box<dyn FnOnce() -> JoinHandle<()>>>,
    task: Option<JoinHandle<()>>,
    /// The sender, once it is connected.
    sender: Arc<OnceLock<Watched>>,
    /// When it was closed.
    totals: Totals,
}

impl Line {
    /// Closes it: in good order if everything is acknowledged, else at once.
    fn close(&mut self) {
        self.totals = self.totals();
        let Some(task) = self.task.take() else { return };
        if !self.course.is_flushed() {
            self.sender.get().into_iter().for_each(|sender| sender.abort());
        }
        task.abort();
    }
}

impl Remote for Line {
    fn connect(&mut self) {
        self.task = self.begin.take().map(|begin| begin());
    }

    fn give(&mut self, bytes: u64) {
        self.course.give(bytes);
    }

    fn take_back(&mut self) -> u64 {
        self.course.take_back()
    }

    fn send_datagram(&mut self) {}

    fn stop(&mut self) {
        self.close();
    }

    fn received(&self) -> u64 {
        self.course.received()
    }

    fn is_flushed(&self) -> bool {
        self.course.is_flushed()
    }

    fn totals(&self) -> Totals {
        let state = self.sender.get().and_then(|sender| sender.state());
        state.map_or_else(|| self.totals.clone(), |state| state.totals)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.close();
    }
}
