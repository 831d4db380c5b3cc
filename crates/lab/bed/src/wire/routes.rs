//! Routes of connections between hosts. All connections are at the addresses of one flow, and their senders' ports
//! distinguish them.

use afteryou_scenario::network::Route;
use std::collections::BTreeMap;
use std::sync::mpsc;

/// A connection with a route of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laid {
    /// The flow's index.
    pub flow: usize,
    /// Its sender's port.
    pub port: u16,
    /// The flow's route.
    pub route: Route,
}

/// The routes of connections that have sent nothing yet.
#[derive(Debug, Default)]
pub struct Routes {
    laid: Option<mpsc::Receiver<Laid>>,
    ahead: BTreeMap<(usize, u16), Route>,
}

impl Routes {
    /// Creates the routes that `laid` brings, if there are any.
    pub fn new(laid: Option<mpsc::Receiver<Laid>>) -> Routes {
        Routes { laid, ahead: BTreeMap::new() }
    }

    /// Takes the route of a connection whose first packet has come from this port. Returns none if the connection has
    /// no route of its own or has sent before. A port that is used again has a new route.
    pub fn take(&mut self, flow: usize, port: u16) -> Option<Route> {
        let laid = self.laid.as_ref()?;
        for Laid { flow, port, route } in laid.try_iter() {
            self.ahead.insert((flow, port), route);
        }
        self.ahead.remove(&(flow, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;

    fn route(link: usize) -> Route {
        let delay = Span::from_millis(1);
        Route { forward: vec![link], reverse: vec![0], forward_delay: delay, reverse_delay: delay }
    }

    #[test]
    fn a_route_is_taken_once_and_a_port_used_again_has_the_new_one() {
        let (sender, laid) = mpsc::channel();
        let mut routes = Routes::new(Some(laid));
        let lay = |port, link| sender.send(Laid { flow: 3, port, route: route(link) }).unwrap();
        lay(1000, 1);
        lay(1001, 2);
        assert_eq!(routes.take(3, 1001), Some(route(2)));
        assert_eq!(routes.take(3, 1001), None);
        assert_eq!(routes.take(4, 1000), None);
        assert_eq!(routes.take(3, 1000), Some(route(1)));
        lay(1000, 5);
        assert_eq!(routes.take(3, 1000), Some(route(5)));
    }
}
