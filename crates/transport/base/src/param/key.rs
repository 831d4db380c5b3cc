//! Keys: the rows of a table, with the type of their values.

use super::{Advice, Kind, Param, Value};
use crate::units::Span;

/// A row of a parameter table that knows the type of its value.
///
/// An algorithm declares its keys and its table together, by [`params!`](crate::params), and reads each value by its key.
///
/// ```
/// use afteryou_base::param::{Key, Settings, Value};
/// use afteryou_base::{params, Span};
///
/// params! {
///     /// Parameters.
///     pub table PARAMS;
///
///     const TARGET: Key<Span> = Key::millis("target", 60, (1, 100)).explained("queuing delay to stay below", "draft-01 §4.5");
///     const RESTART: Key<bool> = Key::flag("restart", false).explained("slow start again once the path is empty", "afteryou");
/// }
///
/// let overrides = [("target", Value::Time(Span::from_millis(25)))];
/// let settings = Settings::new(PARAMS, &overrides)?;
/// let (target, restarts): (Span, bool) = (settings.get(&TARGET), settings.get(&RESTART));
/// assert_eq!((target, restarts), (Span::from_millis(25), false));
/// # Ok::<(), afteryou_base::param::ParamError>(())
/// ```
///
/// A wrong name does not compile:
///
/// ```compile_fail,E0425
/// # use afteryou_base::param::{Key, Settings};
/// # use afteryou_base::{params, Span};
/// # params! {
/// #     /// Parameters.
/// #     pub table PARAMS;
/// #     const TARGET: Key<Span> = Key::millis("target", 60, (1, 100));
/// # }
/// let target = Settings::defaults(PARAMS).get(&TRAGET);
/// ```
///
/// Nor does a wrong type:
///
/// ```compile_fail,E0308
/// # use afteryou_base::param::{Key, Settings};
/// # use afteryou_base::{params, Span};
/// # params! {
/// #     /// Parameters.
/// #     pub table PARAMS;
/// #     const TARGET: Key<Span> = Key::millis("target", 60, (1, 100));
/// # }
/// let target: f64 = Settings::defaults(PARAMS).get(&TARGET);
/// ```
#[must_use = "a key does nothing by itself"]
#[derive(Debug)]
pub struct Key<T: 'static> {
    row: Param,
    /// The meanings of a choice's words, in their order.
    meanings: &'static [T],
    read: fn(&Key<T>, Value) -> Option<T>,
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Key<T> {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl Key<Span> {
    /// Declares a span of time in milliseconds.
    pub const fn millis(name: &'static str, default: u64, range: (u64, u64)) -> Key<Span> {
        Key::spans(name, [Span::from_millis(default), Span::from_millis(range.0), Span::from_millis(range.1)])
    }

    /// Declares a span of time in microseconds, shown in milliseconds.
    pub const fn micros(name: &'static str, default: u64, range: (u64, u64)) -> Key<Span> {
        Key::spans(name, [Span::from_micros(default), Span::from_micros(range.0), Span::from_micros(range.1)])
    }

    const fn spans(name: &'static str, [default, min, max]: [Span; 3]) -> Key<Span> {
        let values = [Value::Time(default), Value::Time(min), Value::Time(max)];
        Key::quantity(name, Kind::Time, "ms", values, |_, value| match value {
            Value::Time(span) => Some(span),
            _ => None,
        })
    }

    /// Returns the key with another default.
    pub const fn with_default(mut self, default: Span) -> Key<Span> {
        self.row.default = Value::Time(default);
        self
    }

    /// Adds the bound in milliseconds that the source states, with its words.
    pub const fn at_most_millis(mut self, most: u64, reason: &'static str) -> Key<Span> {
        self.row.advice = Some(Advice { most: Value::Time(Span::from_millis(most)), reason });
        self
    }
}

impl Key<f64> {
    /// Declares a plain number.
    pub const fn number(name: &'static str, unit: &'static str, default: f64, range: (f64, f64)) -> Key<f64> {
        let values = [Value::Number(default), Value::Number(range.0), Value::Number(range.1)];
        Key::quantity(name, Kind::Number, unit, values, |_, value| match value {
            Value::Number(number) => Some(number),
            _ => None,
        })
    }

    /// Returns the key with another default.
    pub const fn with_default(mut self, default: f64) -> Key<f64> {
        self.row.default = Value::Number(default);
        self
    }
}

impl Key<u64> {
    /// Declares a whole number.
    pub const fn count(name: &'static str, unit: &'static str, default: u64, range: (u64, u64)) -> Key<u64> {
        let values = [Value::Count(default), Value::Count(range.0), Value::Count(range.1)];
        Key::quantity(name, Kind::Count, unit, values, |_, value| match value {
            Value::Count(count) => Some(count),
            _ => None,
        })
    }

    /// Declares a size in bytes.
    pub const fn bytes(name: &'static str, default: u64, range: (u64, u64)) -> Key<u64> {
        let values = [Value::Bytes(default), Value::Bytes(range.0), Value::Bytes(range.1)];
        Key::quantity(name, Kind::Bytes, "B", values, |_, value| match value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// Returns the key with another default, a size or a number as before.
    pub const fn with_default(mut self, default: u64) -> Key<u64> {
        self.row.default = match self.row.kind {
            Kind::Bytes => Value::Bytes(default),
            _ => Value::Count(default),
        };
        self
    }
}

impl Key<bool> {
    /// Declares a yes or no.
    pub const fn flag(name: &'static str, default: bool) -> Key<bool> {
        let values = [Value::Flag(default), Value::Flag(false), Value::Flag(true)];
        Key::quantity(name, Kind::Flag, "", values, |_, value| match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        })
    }

    /// Returns the override that sets the parameter to `on`. A flag has no range to be outside of.
    pub const fn set(&self, on: bool) -> (&'static str, Value) {
        (self.row.name, Value::Flag(on))
    }
}

impl Key<&'static str> {
    /// Declares one of several words, of which the first is the default.
    pub const fn word(name: &'static str, words: &'static [&'static str]) -> Key<&'static str> {
        Key::choice(name, words, words)
    }
}

impl<T: Copy> Key<T> {
    /// Declares one of several words, of which the first is the default. Each has a meaning, in the same order.
    ///
    /// # Panics
    /// If there are no words, or not as many meanings; in a constant, when compiled.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        meanings: &'static [T],
    ) -> Key<T> {
        assert!(!words.is_empty() && words.len() == meanings.len(), "each word has a meaning");
        let first = Value::Choice(words[0]);
        let key = Key::quantity(name, Kind::Choice(words), "", [first; 3], |key, value| {
            let (Kind::Choice(words), Value::Choice(chosen)) = (key.row.kind, value) else { return None };
            let place = words.iter().position(|word| *word == chosen)?;
            key.meanings.get(place).copied()
        });
        Key { meanings, ..key }
    }
}

impl<T> Key<T> {
    const fn quantity(
        name: &'static str,
        kind: Kind,
        unit: &'static str,
        [default, min, max]: [Value; 3],
        read: fn(&Key<T>, Value) -> Option<T>,
    ) -> Key<T> {
        let row = Param { name, kind, unit, default, min, max, help: "", source: "", advice: None };
        Key { row, meanings: &[], read }
    }

    /// Returns the key with the sentence that explains it and where it comes from.
    pub const fn explained(self, help: &'static str, source: &'static str) -> Key<T> {
        Key { row: Param { help, source, ..self.row }, ..self }
    }

    /// Returns the key with the source of another default.
    pub const fn after(self, source: &'static str) -> Key<T> {
        Key { row: Param { source, ..self.row }, ..self }
    }

    /// Returns the name of the parameter.
    pub const fn name(&self) -> &'static str {
        self.row.name
    }

    /// Returns the row of the table.
    pub const fn row(&self) -> Param {
        self.row
    }

    /// Returns the value as the key's type, if it is of the key's kind.
    pub fn read(&self, value: Value) -> Option<T> {
        (self.read)(self, value)
    }
}

/// Declares keys together with the table that has their rows, in their order. `use` lists a key of another module, `use all` the
/// rows of another table. [`Key`] has an example.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis table $table:ident; $($items:tt)*) => {
        $crate::params!(@ [$(#[$meta])*] [$vis] $table [] $($items)*);
    };
    (@ $meta:tt $vis:tt $table:ident [$($part:expr,)*]
        $(#[$key_meta:meta])* $key_vis:vis const $key:ident: $type:ty = $row:expr; $($items:tt)*) => {
        $(#[$key_meta])*
        #[allow(missing_docs, reason = "the row explains it")]
        $key_vis const $key: $type = $row;
        $crate::params!(@ $meta $vis $table [$($part,)* &[$key.row()],] $($items)*);
    };
    (@ $meta:tt $vis:tt $table:ident [$($part:expr,)*] use all $other:path; $($items:tt)*) => {
        $crate::params!(@ $meta $vis $table [$($part,)* $other,] $($items)*);
    };
    (@ $meta:tt $vis:tt $table:ident [$($part:expr,)*] use $($key:path),+; $($items:tt)*) => {
        $crate::params!(@ $meta $vis $table [$($part,)* &[$($key.row()),+],] $($items)*);
    };
    (@ [$($meta:tt)*] [$vis:vis] $table:ident [$($part:expr,)*]) => {
        $($meta)*
        $vis const $table: &[$crate::param::Param] = {
            const PARTS: &[&[$crate::param::Param]] = &[$($part),*];
            &$crate::param::joined::<{ $crate::param::rows(PARTS) }>(PARTS)
        };
    };
}

/// Returns the number of rows of tables that become one.
pub const fn rows(parts: &[&[Param]]) -> usize {
    let (mut all, mut part) = (0, 0);
    while part < parts.len() {
        all += parts[part].len();
        part += 1;
    }
    all
}

/// Returns the rows of all `parts`, one after the other; `N` is their [number](rows).
pub const fn joined<const N: usize>(parts: &[&[Param]]) -> [Param; N] {
    let mut all = [Key::flag("", false).row(); N];
    let (mut part, mut row, mut i) = (0, 0, 0);
    while i < N {
        if row == parts[part].len() {
            (part, row) = (part + 1, 0);
            continue;
        }
        all[i] = parts[part][row];
        (row, i) = (row + 1, i + 1);
    }
    all
}
