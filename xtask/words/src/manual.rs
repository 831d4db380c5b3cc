//! Manual pages, which the program makes of its help.

/// A manual page.
#[derive(Clone, Copy, Debug)]
pub struct Manual<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// Its source, in roff.
    pub text: &'a str,
}

impl Manual<'_> {
    /// Returns the lines of text. Each option's help is a line.
    pub(crate) fn paragraphs(&self) -> Vec<String> {
        let lines = self.text.lines().filter(|line| !line.starts_with(['.', '\'']));
        lines
            .map(|line| line.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "").replace('\\', ""))
            .collect()
    }
}
