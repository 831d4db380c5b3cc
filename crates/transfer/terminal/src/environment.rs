//! Settings of the environment that concern output.

/// Returns true if the environment names a terminal without escape sequences.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns true if `NO_COLOR` asks for no colours, which it does if it is set and not empty.
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
