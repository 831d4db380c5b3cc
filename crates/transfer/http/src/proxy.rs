//! Proxies from the environment, with curl's rules.
//!
//! `http_proxy` is read in lower case only: a server that runs programs for clients (CGI) sets `HTTP_PROXY` to a header of the request.
//! `https_proxy` and `all_proxy` may be in capital letters, too. `no_proxy` lists hosts that are reached directly, with what is below them.

use crate::error::Error;
use crate::url::{Url, User};

/// The proxies of an environment.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    exempt: Vec<String>,
}

/// A proxy that speaks HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    pub url: Url,
}

impl Proxies {
    /// Reads the proxies of this process's environment.
    pub fn from_env() -> Proxies {
        Proxies::from(|name| std::env::var(name).ok())
    }

    /// Reads the proxies of an environment. An empty variable counts as none.
    pub fn from(variable: impl Fn(&str) -> Option<String>) -> Proxies {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| variable(name).filter(|value| !value.trim().is_empty()))
        };
        let exempt = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Proxies {
            http: first(&["http_proxy", "all_proxy", "ALL_PROXY"]),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            exempt: exempt.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_lowercase).collect(),
        }
    }

    /// Returns the proxy for `url`, if it needs one.
    ///
    /// # Errors
    /// A proxy of a kind that is not supported.
    pub(crate) fn of(&self, url: &Url) -> Result<Option<Proxy>, Error> {
        let value = if url.is_https() { &self.https } else { &self.http };
        match value {
            Some(value) if !self.is_exempt(url) => Proxy::parse(value).map(Some),
            _ => Ok(None),
        }
    }

    fn is_exempt(&self, url: &Url) -> bool {
        let host = url.bare_host();
        self.exempt.iter().any(|name| {
            let name = match name.rsplit_once(':') {
                Some((name, port)) if port.parse() == Ok(url.port()) && !name.contains(':') => name,
                _ => name,
            };
            let name = name.trim_start_matches('[').trim_end_matches(']');
            let name = name.trim_start_matches('.');
            let is_below = || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
            name == "*" || (!name.is_empty() && (name == host || is_below()))
        })
    }
}

impl Proxy {
    fn parse(value: &str) -> Result<Proxy, Error> {
        let value = value.trim();
        let refused = |reason| Error::ProxyKind { reason };
        let scheme = value.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http") => Ok(Proxy { url: Url::parse(value)? }),
            None => Ok(Proxy { url: Url::parse(&format!("http://{value}"))? }),
            Some("https") => Err(refused("a proxy that is reached over https")),
            Some("socks5" | "socks5h" | "socks4" | "socks4a" | "socks") => Err(refused("a SOCKS proxy")),
            Some(_) => Err(refused("a proxy of an unknown scheme")),
        }
    }

    /// Returns name and password for the proxy.
    pub(crate) fn user(&self) -> Option<&User> {
        self.url.user()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &'static [(&'static str, &'static str)]) -> Proxies {
        Proxies::from(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn of(proxies: &Proxies, url: &str) -> Option<String> {
        proxies.of(&Url::parse(url).unwrap()).unwrap().map(|proxy| proxy.url.to_string())
    }

    #[test]
    fn each_scheme_has_its_variable_and_capital_letters_do_not_set_that_of_http() {
        let named =
            proxies(&[("HTTP_PROXY", "http://evil:1"), ("HTTPS_PROXY", "p:8080"), ("https_proxy", "")]);
        assert_eq!(of(&named, "http://h/"), None);
        assert_eq!(of(&named, "https://h/").as_deref(), Some("http://p:8080/"));
        let all = proxies(&[("ALL_PROXY", "http://me:pw@q:3128"), ("http_proxy", "http://p:1")]);
        assert_eq!(of(&all, "http://h/").as_deref(), Some("http://p:1/"));
        assert_eq!(of(&all, "https://h/").as_deref(), Some("http://q:3128/"));
    }

    #[test]
    fn exempt_hosts_are_reached_directly() {
        let some = proxies(&[
            ("https_proxy", "p:1"),
            ("no_proxy", "a.example, .b.example,10.0.0.1,[::1],c.example:8443"),
        ]);
        for direct in
            ["a.example", "x.a.example", "b.example", "x.b.example", "10.0.0.1", "[::1]", "c.example:8443"]
        {
            assert_eq!(of(&some, &format!("https://{direct}/")), None, "{direct}");
        }
        for proxied in ["ba.example", "10.0.0.10", "example", "c.example"] {
            assert!(of(&some, &format!("https://{proxied}/")).is_some(), "{proxied}");
        }
        let every = proxies(&[("https_proxy", "p:1"), ("NO_PROXY", "*")]);
        assert_eq!(of(&every, "https://h/"), None);
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_and_not_gone_around() {
        for value in ["socks5h://p:1080", "https://p", "quic://p"] {
            let named = Proxies::from(|name| (name == "all_proxy").then(|| value.to_owned()));
            let error = named.of(&Url::parse("https://h/").unwrap()).unwrap_err();
            assert!(matches!(error, Error::ProxyKind { .. }), "{value}");
        }
    }
}
