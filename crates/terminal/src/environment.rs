//! Settings of the environment that concern output.

/// Does the environment say that the terminal knows no commands?
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Does the environment ask for no colours? (<https://no-color.org>: set and not empty.)
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
