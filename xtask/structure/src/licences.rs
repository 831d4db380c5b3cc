//! Whether everything that the workspace is built with has a licence that it may have, and comes from the registry.
//!
//! This is the part of `cargo deny check` that needs neither its database nor the minutes that compiling it takes. Advisories, yanked
//! versions and licence texts are left to it.

use crate::Error;
use serde::Deserialize;
use spdx::{Expression, ParseMode};

/// The registry that Cargo names unless a manifest says otherwise.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `cargo metadata --format-version 1` that counts here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for a package of the workspace.
    source: Option<String>,
}

/// The part of `deny.toml` that counts here.
#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

impl Licenses {
    fn accept(&self, package: &Package) -> bool {
        let Some(license) = &package.license else { return false };
        // Some packages still separate alternatives by a slash.
        let Ok(expression) = Expression::parse_mode(license, ParseMode::LAX) else { return false };
        expression.evaluate(|required| {
            let required = required.to_string();
            let excepted = self.exceptions.iter().filter(|exception| exception.name == package.name);
            self.allow
                .iter()
                .chain(excepted.flat_map(|exception| &exception.allow))
                .any(|allowed| *allowed == required)
        })
    }
}

/// Returns a sentence for each package that `rules` refuses: the text of `deny.toml`, and the output of
/// `cargo metadata --format-version 1`.
///
/// # Errors
/// One of the two texts is something else.
pub fn refused_packages(metadata: &str, rules: &str) -> Result<Vec<String>, Error> {
    let metadata: Metadata = serde_json::from_str(metadata).map_err(Error::Metadata)?;
    let rules: Rules = toml::from_str(rules).map_err(Error::Rules)?;
    let mut refused = Vec::new();
    for package in &metadata.packages {
        let Package { name, version, .. } = package;
        if !rules.licenses.accept(package) {
            let license = package.license.as_deref().unwrap_or("none");
            refused.push(format!("{name} {version} has a licence that deny.toml does not allow: {license}"));
        }
        if let Some(source) = package.source.as_ref().filter(|source| *source != REGISTRY) {
            refused.push(format!("{name} {version} does not come from the registry: {source}"));
        }
    }
    Ok(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0 WITH LLVM-exception", "ISC"]
        exceptions = [{ crate = "header", allow = ["MPL-2.0"] }]
    "#;

    fn of(name: &str, license: &str, source: &str) -> Vec<String> {
        let package =
            format!(r#"{{"name":"{name}","version":"1.0.0","license":{license},"source":{source}}}"#);
        refused_packages(&format!(r#"{{"packages":[{package}]}}"#), RULES).unwrap()
    }

    #[test]
    fn one_of_several_licences_suffices_and_of_joined_ones_each_counts() {
        for accepted in [
            "MIT",
            "GPL-3.0-only OR MIT",
            "GPL-3.0-only/MIT",
            "Apache-2.0 WITH LLVM-exception",
            "ISC AND MIT",
        ] {
            assert!(of("one", &format!("{accepted:?}"), "null").is_empty(), "{accepted}");
        }
        for refused in ["GPL-3.0-only", "Apache-2.0", "ISC AND GPL-3.0-only", "no licence at all"] {
            assert_eq!(of("one", &format!("{refused:?}"), "null").len(), 1, "{refused}");
        }
        assert_eq!(
            of("one", "null", "null"),
            ["one 1.0.0 has a licence that deny.toml does not allow: none"]
        );
    }

    #[test]
    fn an_exception_holds_for_its_package_alone() {
        assert!(of("header", "\"MPL-2.0\"", "null").is_empty());
        assert_eq!(of("other", "\"MPL-2.0\"", "null").len(), 1);
    }

    #[test]
    fn a_package_from_elsewhere_is_refused() {
        assert!(of("one", "\"MIT\"", &format!("{REGISTRY:?}")).is_empty());
        let elsewhere = of("one", "\"MIT\"", "\"git+https://example.org/one\"");
        assert_eq!(elsewhere, ["one 1.0.0 does not come from the registry: git+https://example.org/one"]);
    }
}
