use super::*;

fn filter(patterns: &[&str]) -> Filter {
    Filter::new(patterns.iter().collect(), 0).unwrap()
}

fn path(text: &str) -> EntryPath {
    EntryPath(text.as_bytes().to_vec())
}

#[test]
fn patterns_mean_what_gitignore_says() {
    for (patterns, text, is_directory, expected) in [
        // "If there is a separator at the beginning or middle, the pattern is relative to the directory level."
        (&["*.o"][..], "a/b/c.o", false, true),
        (&["/c.o"], "a/c.o", false, false),
        (&["a/c.o"], "b/a/c.o", false, false),
        (&["a/*.o"], "a/b/c.o", false, false),
        (&["a/**/c.o"], "a/b/b/c.o", false, true),
        (&["a/**/c.o"], "a/c.o", false, true),
        (&["a/**"], "a/b/c", false, true),
        (&["**/x"], "a/b/x", false, true),
        (&["x/"], "a/x", false, false),
        (&["x/"], "a/x", true, true),
        // "The last matching pattern decides the outcome."
        (&["*.o", "!keep.o"], "keep.o", false, false),
        (&["!keep.o", "*.o"], "keep.o", false, true),
        (&["!a", "a"], "a", false, true),
        (&["\\!a"], "!a", false, true),
        (&["!!a", ""], "!a", false, false),
        // On the command line neither is special.
        (&["#recycle"], "a/#recycle", true, true),
        (&["a "], "a", false, false),
        (&["a "], "a ", false, true),
        (&["{a,b}"], "a", false, false),
        (&["{a,b}"], "{a,b}", false, true),
        (&["{a"], "{a", false, true),
        (&["[ab].c"], "b.c", false, true),
        (&["[[:digit:]].log"], "7.log", false, true),
        (&["[[:digit:]].log"], ":.log", false, false),
        (&["[[:none:]]"], "n", false, false),
        (&["a/x[!b]c"], "a/x/c", false, false),
        (&["a/x[!b]c", "[^b]"], "a/xac", false, true),
        (&["[]a]"], "]", false, true),
        (&["[a"], "[a", false, false),
        (&["a\\"], "a\\", false, false),
        (&["a\\\\"], "a\\", false, true),
        (&["a?"], "a/", false, false),
    ] {
        let filters = Filters::new(EntryPath::default(), filter(patterns), Filter::default());
        assert_eq!(filters.exclude(&path(text), is_directory), expected, "{patterns:?} {text}");
    }
}

#[test]
fn bytes_that_are_no_text_match_themselves_and_wildcards_match_bytes() {
    let excluded = |pattern: &[u8], name: &[u8]| {
        let own = Filter::new([pattern].into_iter().collect(), 0).unwrap();
        Filters::new(EntryPath::default(), own, Filter::default()).exclude(&EntryPath(name.to_vec()), false)
    };
    assert!(excluded(b"\xff*", b"\xffa"));
    assert!(excluded(b"??", "é".as_bytes()) && !excluded(b"?", "é".as_bytes()));
    assert!(excluded(b"[\x80-\xff]", b"\xe9"));
}

#[test]
fn patterns_begin_at_the_served_directory_whatever_part_is_asked_for() {
    let filters = Filters::new(path("a"), filter(&["/a/secret"]), Filter::default());
    assert!(filters.exclude(&path("secret"), true));
    assert!(!filters.exclude(&path("a/secret"), true));
    assert!(filters.exclude_parents_of(&path("a/secret/x")));
    assert!(!filters.exclude_parents_of(&path("a/secrets/x")));
}

#[test]
fn more_patterns_than_fit_a_message_are_refused() {
    let most = MAX_PATTERNS / (1 + EACH);
    assert!(Filter::new((0..most).map(|_| "a").collect(), 0).is_ok());
    for over in [vec!["a".to_owned(); most + 1], vec!["a".repeat(MAX_PATTERNS)]] {
        let error = Filter::new(over.into_iter().collect(), 0).unwrap_err().to_string();
        assert!(error.contains("more than 32768 bytes"), "{error}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_known_unless_it_came_from_a_file() {
    let own = Filter::new(["*.tmp", "*.bak", "*.o", "a.o", "!keep.o", "/no"].iter().collect(), 2).unwrap();
    let filters = Filters::new(EntryPath::default(), own.clone(), Filter::default());
    assert!(filters.exclude(&path("a.o"), false));
    assert_eq!(own.unmatched(), [path("!keep.o"), path("/no")]);
    // Positions count all of them.
    assert_eq!(own.unmatched_at(), [0, 1, 4, 5]);
    own.clone().found_but(&[0, 5]);
    assert_eq!(own.unmatched(), [path("/no")]);
}

/// Returns lists of patterns of many kinds, as long as a list may be. No pattern has enough wildcards that a matcher which
/// tries all ways would not end.
fn longest() -> Vec<Vec<String>> {
    let fill = |pattern: String| vec![pattern.clone(); MAX_PATTERNS / (pattern.len() + EACH)];
    let braces = ["{a,".repeat(8), "b".to_owned(), "}".repeat(8)].concat();
    let kinds = ["*a", "**/", "a/**/", "[!b-d]", "[[:alpha:]]", "\\", "*?"].map(|piece| piece.repeat(8));
    let long = ["?", "a", "a/"].map(|piece| piece.repeat((MAX_PATTERNS - EACH) / piece.len()));
    kinds.into_iter().chain(long).chain([braces]).map(fill).collect()
}

#[test]
fn the_longest_lists_are_read_and_matched_on_a_small_stack() {
    let work = || {
        let long = EntryPath([b"a".repeat(255), b"/".to_vec()].concat().repeat(15));
        for list in longest() {
            let own = Filter::new(list.into_iter().collect(), 0).unwrap();
            let filters = Filters::new(EntryPath::default(), own, Filter::default());
            std::hint::black_box(filters.exclude(&long, true));
        }
    };
    std::thread::Builder::new().stack_size(64 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_list_keeps_less_than_160_kib() {
    let most = MAX_PATTERNS / (1 + EACH);
    let List { patterns, parsed, matched, .. } =
        &*Filter::new((0..most).map(|_| "a").collect(), 0).unwrap().0;
    let bytes = patterns.bytes().len() + parsed.capacity() * size_of::<Pattern>() + matched.capacity();
    assert!(bytes <= 160 * 1024, "{bytes}");
}
