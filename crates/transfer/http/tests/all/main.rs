//! Downloads from servers on this machine that do what servers do, right and wrong.

mod bounds;
mod checks;
mod look;
mod mirrors;
mod proxies;
mod redirects;
mod resume;
mod secure;
mod support;
mod whole;
