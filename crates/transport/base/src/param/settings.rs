//! The values of a table's parameters: overrides, a preset, defaults.

use super::{Key, Param, ParamError, Value};

/// A set of defaults that a parameter named `preset` chooses: another implementation's, or another document's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// The word.
    pub name: &'static str,
    /// Whose values they are, one sentence.
    pub help: &'static str,
    /// Where they differ from the table.
    pub rows: &'static [(&'static str, Value)],
}

/// A parameter table with some values overridden.
///
/// An algorithm reads a value by its [`Key`]; code that knows the table only at run time reads it by name.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    table: &'static [Param],
    preset: &'static [(&'static str, Value)],
    overrides: &'a [(&'static str, Value)],
}

impl<'a> Settings<'a> {
    /// Returns the table's defaults with `overrides` on top.
    ///
    /// # Errors
    /// An override that is no row of the table, of another kind, or out of its range.
    pub fn new(
        table: &'static [Param],
        overrides: &'a [(&'static str, Value)],
    ) -> Result<Settings<'a>, ParamError> {
        for (name, value) in overrides {
            let param = table.iter().find(|param| param.name == *name);
            param.ok_or(ParamError::Unknown { name, table })?.check(*value)?;
        }
        Ok(Settings::of_checked(table, overrides))
    }

    /// Returns the table's defaults.
    pub const fn defaults(table: &'static [Param]) -> Settings<'static> {
        Settings::of_checked(table, &[])
    }

    /// Returns the defaults with `overrides` that [`Settings::new`] has accepted for this table before.
    pub const fn of_checked(table: &'static [Param], overrides: &'a [(&'static str, Value)]) -> Settings<'a> {
        Settings { table, preset: &[], overrides }
    }

    /// Returns the settings with the defaults of the preset that the parameter `preset` names; what is overridden stays so.
    /// Without presets, as it is.
    pub fn with_preset(mut self, presets: &'static [Preset]) -> Settings<'a> {
        if !presets.is_empty() {
            let chosen = self.value("preset");
            let preset = presets.iter().find(|preset| chosen == Some(Value::Choice(preset.name)));
            self.preset = preset.map_or(&[], |preset| preset.rows);
        }
        self
    }

    /// Returns the value of the parameter `name`; `None` if the table has no such row.
    pub fn value(&self, name: &str) -> Option<Value> {
        let mut rows = self.preset.iter().chain(self.overrides).rev();
        let overridden = rows.find(|(n, _)| *n == name).map(|(_, value)| *value);
        overridden.or_else(|| self.table.iter().find(|param| param.name == name).map(|param| param.default))
    }

    /// Returns the value of a parameter.
    ///
    /// # Panics
    /// If the table has no such row, or one of another kind. That is a bug in an algorithm that reads a key of another module and
    /// does not list it; the list's own test finds it for every entry.
    #[inline(never)]
    pub fn get<T>(&self, key: &Key<T>) -> T {
        let value = self.value(key.name());
        value.and_then(|value| key.read(value)).unwrap_or_else(|| unlisted(key.name(), value))
    }
}

#[cold]
fn unlisted(name: &str, value: Option<Value>) -> ! {
    panic!("bug: no parameter {name} of this kind in the table, which has {value:?}")
}
