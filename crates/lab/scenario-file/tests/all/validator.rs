//! A validator for the part of JSON Schema (draft 2020-12) that our schemas use. A keyword that it does not know is a panic:
//! a schema with more keywords than are checked would prove nothing. `all/validator.rs` holds each keyword to its definition.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Keywords that restrict nothing. `format` is one in this draft, unless a validator is configured otherwise.
const ANNOTATIONS: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

/// A schema.
pub struct Validator<'a> {
    root: &'a Value,
}

impl<'a> Validator<'a> {
    pub fn new(root: &'a Value) -> Validator<'a> {
        Validator { root }
    }

    /// Returns what is wrong with a value, each with the path to it.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(self.root, value, "", &mut errors);
        errors
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.errors(value).is_empty()
    }

    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(schema, value, "", &mut errors);
        errors.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return errors.push(format!("{at}: nothing is allowed here")),
            Value::Object(keywords) => keywords,
            other => panic!("{other} is no schema"),
        };
        for (keyword, rule) in keywords {
            self.check_keyword(keyword, rule, keywords, value, at, errors);
        }
    }

    fn check_keyword(
        &self,
        keyword: &str,
        rule: &Value,
        all: &Map<String, Value>,
        value: &Value,
        at: &str,
        errors: &mut Vec<String>,
    ) {
        let is_kept = match keyword {
            _ if ANNOTATIONS.contains(&keyword) => true,
            "$ref" => return self.check(self.resolve(rule), value, at, errors),
            "properties" | "additionalProperties" => {
                return self.check_fields(keyword, rule, all, value, at, errors)
            }
            "items" | "prefixItems" => return self.check_elements(keyword, rule, all, value, at, errors),
            "type" => types(rule).any(|name| is_of_type(value, name)),
            "enum" => list(rule).iter().any(|choice| is_same(choice, value)),
            "const" => is_same(rule, value),
            "pattern" => value
                .as_str()
                .is_none_or(|text| Regex::new(text_of(rule)).expect("a regular expression").is_match(text)),
            "minimum" => value.as_f64().is_none_or(|number| number >= number_of(rule)),
            "maximum" => value.as_f64().is_none_or(|number| number <= number_of(rule)),
            "minItems" => value.as_array().is_none_or(|list| list.len() as f64 >= number_of(rule)),
            "maxItems" => value.as_array().is_none_or(|list| list.len() as f64 <= number_of(rule)),
            "required" => value
                .as_object()
                .is_none_or(|fields| list(rule).iter().all(|name| fields.contains_key(text_of(name)))),
            "anyOf" => list(rule).iter().any(|schema| self.accepts(schema, value)),
            "oneOf" => list(rule).iter().filter(|schema| self.accepts(schema, value)).count() == 1,
            unknown => panic!("{unknown}: this validator does not know the keyword: teach it"),
        };
        if !is_kept {
            errors.push(format!("{at}: {value} is not {keyword} {rule}"));
        }
    }

    /// Resolves "#/$defs/Name", as schemars writes it.
    fn resolve(&self, reference: &Value) -> &'a Value {
        let pointer = text_of(reference).strip_prefix('#').expect("a reference within the schema");
        self.root.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"))
    }

    fn check_fields(
        &self,
        keyword: &str,
        rule: &Value,
        all: &Map<String, Value>,
        value: &Value,
        at: &str,
        errors: &mut Vec<String>,
    ) {
        let Value::Object(fields) = value else { return };
        let named = all.get("properties").and_then(Value::as_object);
        for (name, field) in fields {
            let own = named.and_then(|named| named.get(name));
            let schema = if keyword == "properties" { own } else { own.is_none().then_some(rule) };
            if let Some(schema) = schema {
                self.check(schema, field, &format!("{at}/{name}"), errors);
            }
        }
    }

    fn check_elements(
        &self,
        keyword: &str,
        rule: &Value,
        all: &Map<String, Value>,
        value: &Value,
        at: &str,
        errors: &mut Vec<String>,
    ) {
        let Value::Array(elements) = value else { return };
        let first = all.get("prefixItems").map_or(&[][..], list);
        for (index, element) in elements.iter().enumerate() {
            let own = first.get(index);
            let schema = if keyword == "prefixItems" { own } else { own.is_none().then_some(rule) };
            if let Some(schema) = schema {
                self.check(schema, element, &format!("{at}/{index}"), errors);
            }
        }
    }
}

/// Returns the names of a `type`: one, or a list.
fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_array().map_or(&[][..], Vec::as_slice);
    rule.as_str().into_iter().chain(several.iter().map(text_of))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        // 1.0 is an integer, too (JSON Schema Core, 4.2.3).
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("{unknown} is no type"),
    }
}

/// Compares two values; numbers are compared by their value (JSON Schema Core, 4.2.2).
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("a list")
}

fn text_of(rule: &Value) -> &str {
    rule.as_str().expect("a text")
}

fn number_of(rule: &Value) -> f64 {
    rule.as_f64().expect("a number")
}

mod tests {
    use super::Validator;
    use serde_json::{json, Value};

    /// Asserts that a schema accepts values, and that it refuses others.
    fn assert_judged(schema: Value, good: &[Value], bad: &[Value]) {
        let validator = Validator::new(&schema);
        good.iter().for_each(|value| assert!(validator.is_valid(value), "{schema} refuses {value}"));
        bad.iter().for_each(|value| assert!(!validator.is_valid(value), "{schema} accepts {value}"));
    }

    #[test]
    fn types_choices_and_numbers_are_judged() {
        assert_judged(
            json!({"type": "integer"}),
            &[json!(1), json!(1.0)],
            &[json!(1.5), json!("1"), json!(null)],
        );
        assert_judged(
            json!({"type": ["string", "null"]}),
            &[json!("a"), json!(null)],
            &[json!(1), json!({})],
        );
        for (name, one) in [("boolean", json!(true)), ("object", json!({})), ("array", json!([]))] {
            assert_judged(json!({"type": name}), &[one], &[json!(1.5)]);
        }
        assert_judged(
            json!({"enum": ["a", 2]}),
            &[json!("a"), json!(2), json!(2.0)],
            &[json!("b"), json!("2")],
        );
        assert_judged(json!({"const": false}), &[json!(false)], &[json!(true), json!(0)]);
        assert_judged(
            json!({"minimum": 1, "maximum": 2}),
            &[json!(1), json!(2), json!("0")],
            &[json!(0.9), json!(3)],
        );
        assert_judged(json!(false), &[], &[json!(1)]);
        assert_judged(json!(true), &[json!(1)], &[]);
    }

    #[test]
    fn patterns_are_searched_for_in_texts_alone() {
        let time = json!({"pattern": "^\\s*[0-9.]+\\s*(us|µs|ms|s)\\s*$"});
        assert_judged(time, &[json!("5 ms"), json!(" 1.5µs "), json!(5)], &[json!("5"), json!("5 msx")]);
        assert_judged(json!({"pattern": "b"}), &[json!("abc")], &[json!("ac")]);
    }

    #[test]
    fn fields_of_objects_are_judged() {
        let schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        assert_judged(
            schema,
            &[json!({"a": "x"}), json!(3)],
            &[json!({}), json!({"a": 1}), json!({"a": "x", "b": 1})],
        );
        let others = json!({"properties": {"a": {}}, "additionalProperties": {"type": "number"}});
        assert_judged(others, &[json!({"a": "x", "b": 1})], &[json!({"b": "x"})]);
    }

    #[test]
    fn elements_of_lists_are_judged() {
        let schema = json!({"items": {"type": "number"}, "minItems": 1, "maxItems": 2});
        assert_judged(
            schema,
            &[json!([1]), json!([1, 2]), json!("a")],
            &[json!([]), json!([1, 2, 3]), json!(["a"])],
        );
        let pair = json!({"prefixItems": [{"type": "string"}], "items": {"type": "number"}});
        assert_judged(pair, &[json!(["a"]), json!(["a", 1, 2])], &[json!([1]), json!(["a", "b"])]);
    }

    #[test]
    fn alternatives_and_references_are_judged() {
        let any = json!({"anyOf": [{"type": "string"}, {"minimum": 3}]});
        assert_judged(any, &[json!("a"), json!(3)], &[json!(1)]);
        let one = json!({"oneOf": [{"type": "number"}, {"type": "integer"}, {"const": "a"}]});
        assert_judged(one, &[json!(1.5), json!("a")], &[json!(1), json!("b")]);
        let tree = json!({
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        });
        assert_judged(tree, &[json!([[], [[]]])], &[json!([[1]])]);
    }

    #[test]
    fn an_error_names_the_place() {
        let schema = json!({"properties": {"flow": {"items": {"properties": {"rtt": {"type": "string"}}}}}});
        let errors = Validator::new(&schema).errors(&json!({"flow": [{"rtt": "1 ms"}, {"rtt": 1}]}));
        assert_eq!(errors, ["/flow/1/rtt: 1 is not type \"string\""]);
    }

    #[test]
    #[should_panic(expected = "does not know the keyword")]
    fn a_keyword_that_is_not_checked_is_never_passed_over() {
        Validator::new(&json!({"uniqueItems": true})).is_valid(&json!([]));
    }
}
