//! Connections of uTP, each with an endpoint of its own, so that its port names it.

use super::course::Course;
use super::Directable;
use crate::error::Error;
use crate::run::transfer::{totals_of, Senders};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::senders::{Observers, Time};
use afteryou_scenario::Flow;
use afteryou_sim::director::Remote;
use afteryou_utp::{Endpoint, EndpointConfig, Monitor, Stream};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tokio::task::JoinHandle;

/// The uTP of a flow.
pub(super) struct Utp {
    senders: Senders,
}

impl Utp {
    pub(super) fn new(index: usize, spec: &Flow, observers: Option<&Observers>) -> Result<Utp, Error> {
        Ok(Utp { senders: Senders::new(spec, observers.map(|observers| (index, observers)))? })
    }

    /// Returns the settings of the receiver's endpoint.
    pub(super) fn receiver(&self) -> EndpointConfig {
        self.senders.receiver()
    }

    /// Opens a connection, which does not connect yet.
    pub(super) fn dial(&self, flow: &Directable, course: &Arc<Course>) -> Result<Box<dyn Remote>, Error> {
        let address = SocketAddr::new(flow.from, 0);
        let inside = flow.shared.runtime.enter();
        let (mut config, zero) = self.senders.sender();
        config.connection.send_buffer = config.connection.send_buffer.min(flow.shared.unsent_bytes.into());
        let socket_error = |source| Error::Socket { address, source };
        let endpoint = Endpoint::bind(address, config).map_err(socket_error)?;
        drop(inside);
        flow.receiver.expect(endpoint.local_addr().map_err(socket_error)?.port(), course);
        let monitor = Arc::new(OnceLock::new());
        let begin = {
            let (course, shared, log) = (Arc::clone(course), flow.shared.clone(), Arc::clone(&flow.log));
            let (name, to, place) = (flow.spec.name.clone(), flow.receiver.address, Arc::clone(&monitor));
            zero.get_or_init(|| Time(endpoint.now().0.saturating_sub(shared.timing.now().0)));
            move || {
                let runtime = shared.runtime.clone();
                runtime.spawn(async move {
                    let connected = async {
                        let stream = endpoint.connect(to).await.map_err(io::Error::from)?;
                        let monitor = place.get_or_init(|| stream.monitor());
                        log.watch(monitor.clone());
                        run(stream, &course).await
                    };
                    if let Err(error) = connected.await {
                        shared.broken.set(&name, error);
                    }
                })
            }
        };
        Ok(Box::new(Line {
            course: Arc::clone(course),
            begin: Some(Box::new(begin)),
            task: None,
            monitor,
            totals: Totals::default(),
        }))
    }
}

async fn run(mut stream: Stream, course: &Course) -> io::Result<()> {
    let is_acknowledged = |stream: &Stream, written: u64| Ok(stream.statistics().bytes_delivered >= written);
    course.send(&mut stream, is_acknowledged).await
}

/// The director's hold on a connection.
struct Line {
    course: Arc<Course>,
    begin: Option<Box<dyn FnOnce() -> JoinHandle<()>>>,
    task: Option<JoinHandle<()>>,
    /// The sender, once it is connected.
    monitor: Arc<OnceLock<Monitor>>,
    /// When it was closed.
    totals: Totals,
}

impl Line {
    /// Closes it: in good order if everything is acknowledged, else at once.
    fn close(&mut self) {
        self.totals = self.totals();
        let Some(task) = self.task.take() else { return };
        if !self.course.is_flushed() {
            self.monitor.get().into_iter().for_each(Monitor::abort);
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
        let Some(statistics) = self.monitor.get().and_then(Monitor::statistics) else {
            return self.totals.clone();
        };
        totals_of(&statistics)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.close();
    }
}
