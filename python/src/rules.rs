//! Controllers written in Python: a class registered by name runs in the simulator beside the built-in ones.
//!
//! The catalogue keeps entries for good, so an entry is leaked once per name. Its class may be replaced by another one with
//! the same parameters, as happens when a cell of a notebook is executed again.

use crate::errors;
use crate::events::{AckView, IdleView, LossView, SpuriousLossView, TimeoutView};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::param::{Key, Settings, Value};
use afteryou_base::{About, Time};
use afteryou_cc::list::{Class, Entry};
use afteryou_cc::{
    Ack, Controller, Directive, Idle, Loss, Needs, Pacing, Setup, Snapshot, SpuriousLoss, Timeout,
};
use afteryou_notation::catalogue;
use afteryou_scenario::Scenario;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::IntoPyObjectExt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A parameter of every rule, whose default names the rule: makers of entries carry no data.
const RULE: &str = "rule";
/// The widest range of a parameter.
const ANY: (f64, f64) = (-1e18, 1e18);
/// The largest window or rate that a rule may return; a window beyond it is a defect of the rule.
const MOST: f64 = 1e15;

struct Rule {
    class: Py<PyAny>,
    parameters: Vec<(String, f64)>,
}

static RULES: Mutex<BTreeMap<String, Rule>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The first failure of a rule in the run of this thread.
    static FAILED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Registers a class as a controller. `parameters` are numbers that scenarios may set.
#[pyfunction]
pub fn register(
    py: Python<'_>,
    name: &str,
    class: Py<PyAny>,
    parameters: Vec<(String, f64)>,
    background: bool,
) -> PyResult<()> {
    let mut rules = RULES.lock().even_poisoned();
    if let Some(known) = rules.get_mut(name) {
        if known.parameters != parameters {
            let reason = format!(
                "the rule {name:?} is registered with other parameters: choose another name, or start Python again"
            );
            return Err(PyValueError::new_err(reason));
        }
        known.class = class;
        return Ok(());
    }
    if let Some((parameter, value)) = parameters.iter().find(|(_, value)| !value.is_finite()) {
        return Err(PyValueError::new_err(format!(
            "the default of {parameter:?} is {value}: write a number"
        )));
    }
    catalogue::register(entry(name, &parameters, background)).map_err(|error| errors::other(py, &error))?;
    rules.insert(name.to_owned(), Rule { class, parameters });
    Ok(())
}

fn entry(name: &str, parameters: &[(String, f64)], background: bool) -> &'static Entry {
    let leaked = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let name = leaked(name);
    let words: &'static [&'static str] = Box::leak(Box::new([name]));
    let mut params = vec![Key::word(RULE, words).explained("the class that is registered", "Python").row()];
    let number = |(parameter, default): &(String, f64)| {
        Key::number(leaked(parameter), "", *default, ANY).explained("see the class", "Python").row()
    };
    params.extend(parameters.iter().map(number));
    Box::leak(Box::new(Entry {
        about: About {
            name,
            summary: "a rule written in Python",
            source: "registered by a program",
            params: params.leak(),
            presets: &[],
        },
        class: if background { Class::Background } else { Class::Foreground },
        make: |settings, setup| Box::new(PythonRule::new(settings, setup)),
    }))
}

/// Returns the first flow of `scenario` whose controller is a rule in Python, and the name of the rule.
pub fn used(scenario: &Scenario) -> Option<(String, String)> {
    let rules = RULES.lock().even_poisoned();
    scenario.flow.iter().find_map(|flow| {
        let rule = &flow.controller.as_ref()?.kind;
        rules.contains_key(rule).then(|| (flow.name.clone(), rule.clone()))
    })
}

/// Returns whether a controller of this name is a rule in Python.
pub fn is_rule(name: &str) -> bool {
    RULES.lock().even_poisoned().contains_key(name)
}

/// Returns whether a rule has failed in this thread.
pub fn have_failed() -> bool {
    FAILED.with_borrow(Option::is_some)
}

/// Takes the failure of a rule in this thread.
pub fn take_failure() -> Option<PyErr> {
    FAILED.take()
}

/// Methods of a rule; it need not have all.
#[derive(Debug)]
struct Methods {
    on_ack: Py<PyAny>,
    on_loss: Option<Py<PyAny>>,
    on_spurious_loss: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_mtu: Option<Py<PyAny>>,
}

/// An instance of a registered class.
#[derive(Debug)]
struct Instance {
    rule: Py<PyAny>,
    methods: Methods,
    paces: bool,
    needs: Needs,
}

impl Instance {
    fn of(py: Python<'_>, name: &str, settings: &Settings<'_>, setup: &Setup) -> PyResult<Instance> {
        let (class, parameters) = {
            let rules = RULES.lock().even_poisoned();
            let rule = rules.get(name).ok_or_else(|| PyValueError::new_err("not registered"))?;
            (
                rule.class.clone_ref(py),
                rule.parameters.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
            )
        };
        let words = PyDict::new(py);
        let number = |name: &str| match settings.value(name) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        parameters.iter().try_for_each(|name| words.set_item(name, number(name)))?;
        let rule = class.bind(py).call((setup.mss,), Some(&words))?;
        let method = |name: &str| rule.getattr_opt(name).map(|method| method.map(Bound::unbind));
        let on_ack = method("on_ack")?;
        let methods = Methods {
            on_ack: on_ack.ok_or_else(|| PyTypeError::new_err("a rule has a method on_ack(self, ack)"))?,
            on_loss: method("on_loss")?,
            on_spurious_loss: method("on_spurious_loss")?,
            on_timeout: method("on_timeout")?,
            on_idle: method("on_idle")?,
            on_mtu: method("on_mtu")?,
        };
        let flag = |name: &str| rule.getattr_opt(name)?.map_or(Ok(false), |value| value.is_truthy());
        let needs = Needs { delivery_rates: flag("delivery_rates")?, ..Needs::NONE };
        let paces = rule.hasattr("pacing_rate")?;
        Ok(Instance { rule: rule.unbind(), methods, paces, needs })
    }

    /// Returns the rule's window and rate.
    fn directive(&self, py: Python<'_>) -> PyResult<Directive> {
        let read = |name: &str| -> PyResult<Option<f64>> {
            let value = self.rule.bind(py).getattr(name)?;
            if value.is_none() && name == "pacing_rate" {
                return Ok(None);
            }
            let number: f64 = value.extract()?;
            match (0.0..=MOST).contains(&number) {
                true => Ok(Some(number)),
                false => {
                    Err(PyValueError::new_err(format!("{name} is {number}: it is between 0 and {MOST:e}")))
                }
            }
        };
        let cwnd = read("cwnd")?.unwrap_or_default();
        let rate = if self.paces { read("pacing_rate")? } else { None };
        let pacing = rate.map_or(Pacing::Window, |rate| Pacing::Rate(rate.max(1.0) as u64));
        Ok(Directive { pacing, ..Directive::window(cwnd as u64) })
    }
}

/// A rule in Python as a controller. After its first failure it sends nothing more than a packet at a time, and the run ends.
#[derive(Debug)]
struct PythonRule {
    name: &'static str,
    mss: u32,
    instance: Option<Instance>,
    directive: Directive,
}

impl PythonRule {
    fn new(settings: &Settings<'_>, setup: &Setup) -> PythonRule {
        let Some(Value::Choice(name)) = settings.value(RULE) else {
            unreachable!("every rule has that parameter")
        };
        let directive = Directive::window(setup.mss.into());
        let mut made = PythonRule { name, mss: setup.mss, instance: None, directive };
        Python::attach(|py| {
            let instance = Instance::of(py, name, settings, setup);
            match instance.and_then(|instance| Ok((instance.directive(py)?, instance))) {
                Ok((directive, instance)) => {
                    made.directive = directive;
                    made.instance = Some(instance);
                }
                Err(error) => made.fail(py, None, "__init__", error),
            }
        });
        made
    }

    /// Calls a method, if the rule has it, and reads the window.
    fn call(
        &mut self,
        now: Option<Time>,
        name: &str,
        method: fn(&Methods) -> Option<&Py<PyAny>>,
        argument: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
    ) {
        let Some(instance) = &self.instance else { return };
        let Some(method) = method(&instance.methods) else { return };
        let called = Python::attach(|py| {
            method.bind(py).call1((argument(py)?,))?;
            instance.directive(py)
        });
        match called {
            Ok(directive) => self.directive = directive,
            Err(error) => Python::attach(|py| self.fail(py, now, name, error)),
        }
    }

    fn fail(&mut self, py: Python<'_>, now: Option<Time>, method: &str, error: PyErr) {
        self.instance = None;
        self.directive = Directive::window(self.mss.into());
        // Ctrl-C and an exit are no failures of the rule.
        let failure = match error.is_instance_of::<PyException>(py) {
            true => errors::of_rule(py, self.name, method, now.map(Time::as_secs_f64), error),
            false => error,
        };
        FAILED.with_borrow_mut(|failed| failed.get_or_insert(failure).clone_ref(py));
    }
}

impl Controller for PythonRule {
    fn needs(&self) -> Needs {
        self.instance.as_ref().map_or(Needs::NONE, |instance| instance.needs)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.call(
            Some(ack.now),
            "on_ack",
            |methods| Some(&methods.on_ack),
            |py| AckView(*ack).into_py_any(py),
        );
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.call(
            Some(loss.now),
            "on_loss",
            |methods| methods.on_loss.as_ref(),
            |py| LossView(*loss).into_py_any(py),
        );
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let argument = |py: Python<'_>| SpuriousLossView(*spurious).into_py_any(py);
        let now = Some(spurious.now);
        self.call(now, "on_spurious_loss", |methods| methods.on_spurious_loss.as_ref(), argument);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let argument = |py: Python<'_>| TimeoutView(*timeout).into_py_any(py);
        self.call(Some(timeout.now), "on_timeout", |methods| methods.on_timeout.as_ref(), argument);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.call(
            Some(idle.now),
            "on_idle",
            |methods| methods.on_idle.as_ref(),
            |py| IdleView(*idle).into_py_any(py),
        );
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.call(None, "on_mtu", |methods| methods.on_mtu.as_ref(), |py| mss.into_py_any(py));
    }

    fn directive(&self) -> Directive {
        self.directive
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "rule in Python", cwnd: self.directive.cwnd, ..Snapshot::default() }
    }
}
