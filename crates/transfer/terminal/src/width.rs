//! Columns that text takes.

use unicode_width::UnicodeWidthStr;

/// Returns `text` in at most `width` columns, with an ellipsis if something is missing.
pub fn cut(text: &str, width: u16) -> String {
    let width = usize::from(width);
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if kept.width() + 1 > width {
            kept.pop();
            break;
        }
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_the_columns_that_it_may_and_shows_that_something_is_missing() {
        assert_eq!(cut("upload", 6), "upload");
        assert_eq!(cut("upload", 5), "uplo…");
        assert_eq!(cut("文件文件", 5), "文件…", "a letter of two columns");
        assert_eq!(cut("upload", 0), "");
        for width in 0..8 {
            assert!(cut("文a件b", width).width() <= usize::from(width));
        }
    }
}
