//! The rules that a program can check.

/// Finds the first excluded phrase or form of a sentence.
pub type Rules = fn(&str) -> Option<&'static str>;

/// Words of the longest sentence.
pub const LONGEST: usize = 25;

/// Phrases that have a better word: private words where the field has a term, and verbs of speech for programs. The glossary and
/// CONTRIBUTING.md have the words to use instead. In lower case, and found at the bounds of words only.
const PHRASES: &[&str] = &[
    "way there",
    "way back",
    "empty path",
    "far end",
    "the other side",
    "by lot",
    "for ever",
    "on end",
    "nothing to say",
    "on its way",
    "come to rest",
    "comes to rest",
    "came to rest",
    "step aside",
    "steps aside",
    "stepped aside",
    "stepping aside",
    "goes beyond",
    "want",
    "wants",
    "wanted",
    "tell",
    "tells",
    "told",
    "hear",
    "hears",
    "heard",
    "believe",
    "believes",
    "so many",
    "so much",
    "those who",
    "put up with",
    "puts up with",
    "nothing has happened",
    "go on",
    "goes on",
    "going on",
    "stand still",
    "stands still",
    "stood still",
    "lie there",
    "lies there",
    "lie here",
    "lies here",
    "lie in",
    "lies in",
    "lie at",
    "lies at",
    "come to its end",
    "comes to its end",
    "came to its end",
    "come to their end",
    "came to their end",
];

/// Phrases that mislead the user of a program: a message may be printed by the peer of the program that wrote it.
const NOT_FOR_USERS: &[&str] = &["this side"];

/// Base forms of verbs with which descriptions of functions begin in other projects. Each is rarely a noun.
const IMPERATIVES: &[&str] = &[
    "add",
    "append",
    "apply",
    "build",
    "call",
    "check",
    "compute",
    "convert",
    "create",
    "decode",
    "encode",
    "ensure",
    "find",
    "get",
    "handle",
    "initialise",
    "initialize",
    "insert",
    "make",
    "parse",
    "print",
    "read",
    "remove",
    "return",
    "run",
    "send",
    "start",
    "take",
    "update",
    "wait",
    "write",
];

/// Beginnings of sentences without a named subject.
const BEGINNINGS: &[&str] = &["who", "whoever", "what"];

/// Returns the first excluded phrase of a sentence. A question may begin with any word.
pub fn excluded(sentence: &str) -> Option<&'static str> {
    let lower = sentence.to_lowercase();
    let words = words(&lower);
    let begins = |beginning: &&&str| !is_question(sentence) && words.first() == Some(*beginning);
    BEGINNINGS.iter().find(begins).copied().or_else(|| first_of(PHRASES, &words))
}

/// Returns the first phrase of a sentence that only doc comments may have.
pub fn excluded_for_users(sentence: &str) -> Option<&'static str> {
    let lower = sentence.to_lowercase();
    first_of(NOT_FOR_USERS, &words(&lower))
}

/// Returns the form of a sentence that doc comments may not have. It is a question ("Is it open?"), with or without its mark
/// ("How many."), or a riddle whose answer is the item's name ("Its name.", "Does it.").
pub fn excluded_from_comments(sentence: &str) -> Option<&'static str> {
    if is_question(sentence) {
        return Some("a question");
    }
    // Longer ones name their subject: "How often senders are looked at."
    match sentence.split_whitespace().collect::<Vec<_>>()[..] {
        ["How" | "Where" | "Which", _] | ["How" | "Where" | "Which", _, _] => Some("a question"),
        ["Its", _] => Some("its"),
        ["Does", "it." | "so." | "this." | "that."] => Some("does"),
        _ => None,
    }
}

/// Returns the imperative with which the description of a function begins, if it does: "Return the delay." instead of "Returns …".
pub fn imperative(description: &str) -> Option<&'static str> {
    let first = description.split_whitespace().next()?.to_lowercase();
    IMPERATIVES.iter().find(|verb| **verb == first).copied()
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end().ends_with('?')
}

fn words(lower: &str) -> Vec<&str> {
    lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

fn first_of(phrases: &[&'static str], words: &[&str]) -> Option<&'static str> {
    let has = |phrase: &&&'static str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    phrases.iter().find(has).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_at_the_bounds_of_words_only() {
        assert_eq!(excluded("The sender tells it."), Some("tells"));
        assert_eq!(excluded("A packet on its way."), Some("on its way"));
        assert_eq!(excluded("The scroll wheel moves on."), None);
        assert_eq!(excluded("A wanton act."), None);
    }

    #[test]
    fn a_sentence_names_its_subject_and_a_question_need_not() {
        assert_eq!(excluded("What is there is found by hashing."), Some("what"));
        assert_eq!(excluded("Whoever connects is served."), Some("whoever"));
        assert_eq!(excluded("What is a scavenger?"), None);
    }

    #[test]
    fn an_amount_is_named_and_not_pointed_at() {
        assert_eq!(excluded("So many packets may be in flight."), Some("so many"));
        assert_eq!(excluded("Waits for so much time."), Some("so much"));
        assert_eq!(excluded("Most packets in flight."), None);
    }

    #[test]
    fn a_noun_stands_where_it_exists() {
        assert_eq!(excluded("Those who look on."), Some("those who"));
        assert_eq!(excluded("The pause of the peer that is put up with."), Some("put up with"));
        assert_eq!(excluded("Nothing has happened."), Some("nothing has happened"));
        assert_eq!(excluded("The observers, and the longest pause of the peer."), None);
    }

    #[test]
    fn states_have_verbs_of_their_own() {
        assert_eq!(excluded("The job goes on where it was."), Some("goes on"));
        assert_eq!(excluded("The window stands still."), Some("stands still"));
        assert_eq!(excluded("Every task comes to its end."), Some("comes to its end"));
        assert_eq!(excluded("A newer file lies there."), Some("lies there"));
        assert_eq!(excluded("A newer file is there, and its size lies between two others."), None);
        assert_eq!(excluded("The job continues, the window is frozen, and every task ends."), None);
    }

    #[test]
    fn a_message_says_whose_side_it_means() {
        assert_eq!(excluded_for_users("this side does not receive"), Some("this side"));
        assert_eq!(excluded_for_users("the receiver does not allow it"), None);
        assert_eq!(excluded("This side has dropped the connection."), None);
    }

    #[test]
    fn a_doc_comment_asks_nothing() {
        assert_eq!(excluded_from_comments("Is it open?"), Some("a question"));
        assert_eq!(excluded_from_comments("How many."), Some("a question"));
        assert_eq!(excluded_from_comments("Where it goes."), Some("a question"));
        assert_eq!(excluded_from_comments("How often senders are looked at."), None);
        assert_eq!(excluded_from_comments("Returns whether it is open."), None);
    }

    #[test]
    fn a_doc_comment_is_no_riddle() {
        assert_eq!(excluded_from_comments("Its name."), Some("its"));
        assert_eq!(excluded_from_comments("Does it."), Some("does"));
        assert_eq!(excluded_from_comments("The flow's name."), None);
        assert_eq!(excluded_from_comments("Its name, or none."), None);
        assert_eq!(excluded_from_comments("Does nothing."), None);
    }

    #[test]
    fn the_description_of_a_function_is_in_the_third_person() {
        assert_eq!(imperative("Return the base delay."), Some("return"));
        assert_eq!(imperative("Returns the base delay."), None);
        assert_eq!(imperative("(start, end) of each packet."), None);
    }
}
