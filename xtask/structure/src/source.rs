//! A crate's files, parsed: a tree of scopes (modules, inline ones included), with the items that each defines, imports and names.

use crate::error::Error;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A crate.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) files: Vec<File>,
    /// The root comes first.
    pub(crate) scopes: Vec<Scope>,
}

pub(crate) struct File {
    pub(crate) path: PathBuf,
    /// The file that declares this one as a module.
    parent: Option<usize>,
}

/// A module, in a file of its own or inline.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) parent: Option<usize>,
    pub(crate) file: usize,
    /// Several under one name where platforms differ.
    pub(crate) children: BTreeMap<String, Vec<usize>>,
    /// Names of the items defined here.
    pub(crate) items: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in the code.
    pub(crate) paths: Vec<Named>,
}

/// One name brought into a scope.
pub(crate) struct Import {
    /// None: every name of the module (`*`).
    pub(crate) name: Option<String>,
    pub(crate) path: Named,
    /// Handed on to others (`pub use`).
    pub(crate) is_reexport: bool,
}

/// A path as written, without generic arguments.
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

impl Source {
    /// Reads a crate from its root file (`lib.rs`) on.
    pub(crate) fn read(root: &Path) -> Result<Source, Error> {
        let mut source = Source::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        source.read_file(root.to_owned(), folder, None)?;
        Ok(source)
    }

    /// Returns true if one of two files declares the other, directly or through modules between them.
    pub(crate) fn are_nested(&self, a: usize, b: usize) -> bool {
        self.is_inside(a, b) || self.is_inside(b, a)
    }

    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.outwards(inner).any(|file| file == outer)
    }

    /// Returns the module declared by `folder` that a file is, or is inside of.
    pub(crate) fn child_around(&self, file: usize, folder: usize) -> Option<usize> {
        self.outwards(file).find(|file| self.files[*file].parent == Some(folder))
    }

    /// Returns a file, the one that declares it, and so on to the root.
    fn outwards(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(file), |file| self.files[*file].parent)
    }

    /// Reads one file as a scope; its child modules are files in `folder`.
    fn read_file(&mut self, file: PathBuf, folder: PathBuf, parent: Option<usize>) -> Result<usize, Error> {
        let text =
            std::fs::read_to_string(&file).map_err(|source| Error::Read { file: file.clone(), source })?;
        let parsed = syn::parse_file(&text).map_err(|source| {
            let line = source.span().start().line;
            Error::Parse { file: file.clone(), line, source }
        })?;
        self.files.push(File { path: file, parent: parent.map(|scope| self.scopes[scope].file) });
        self.add_scope(parsed.items, self.files.len() - 1, folder, parent)
    }

    fn add_scope(
        &mut self,
        items: Vec<syn::Item>,
        file: usize,
        folder: PathBuf,
        parent: Option<usize>,
    ) -> Result<usize, Error> {
        let id = self.scopes.len();
        self.scopes.push(Scope { parent, file, ..Scope::default() });
        for item in items {
            match item {
                syn::Item::Mod(module) if !is_for_tests(&module.attrs) => {
                    self.add_child(module, id, &folder)?;
                }
                item => self.scopes[id].visit_item(&item),
            }
        }
        Ok(id)
    }

    fn add_child(&mut self, module: syn::ItemMod, parent: usize, folder: &Path) -> Result<(), Error> {
        let name = module.ident.to_string();
        let inner = folder.join(&name);
        let child = match module.content {
            Some((_, items)) => self.add_scope(items, self.scopes[parent].file, inner, Some(parent))?,
            None => {
                let (file, inner) = locate(folder, &name, path_attribute(&module.attrs));
                self.read_file(file, inner, Some(parent))?
            }
        };
        self.scopes[parent].children.entry(name).or_default().push(child);
        Ok(())
    }
}

/// Returns the file of `mod name;` and the folder of its own children.
fn locate(folder: &Path, name: &str, path: Option<String>) -> (PathBuf, PathBuf) {
    if let Some(path) = path {
        let file = folder.join(path);
        return (file.clone(), file.parent().unwrap_or(folder).to_owned());
    }
    let (flat, nested) = (folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs"));
    (if nested.exists() { nested } else { flat }, folder.join(name))
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let syn::Meta::NameValue(value) = &attribute.meta else { return None };
    match &value.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Returns `true` for `#[cfg(test)]` and `#[cfg(all(test, …))]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Meta>().is_ok_and(|condition| needs_test(&condition))
    })
}

fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated)
            .is_ok_and(|parts| parts.iter().any(needs_test)),
        _ => false,
    }
}

impl Scope {
    fn define(&mut self, item: &syn::Item) {
        let ident = match item {
            syn::Item::Const(item) => &item.ident,
            syn::Item::Enum(item) => &item.ident,
            syn::Item::Fn(item) => &item.sig.ident,
            syn::Item::Macro(syn::ItemMacro { ident: Some(ident), .. }) => ident,
            syn::Item::Static(item) => &item.ident,
            syn::Item::Struct(item) => &item.ident,
            syn::Item::Trait(item) => &item.ident,
            syn::Item::TraitAlias(item) => &item.ident,
            syn::Item::Type(item) => &item.ident,
            syn::Item::Union(item) => &item.ident,
            _ => return,
        };
        self.items.insert(ident.to_string());
    }

    fn import(&mut self, tree: &syn::UseTree, prefix: &[String], is_reexport: bool) {
        let mut segments = prefix.to_vec();
        let (name, end) = match tree {
            syn::UseTree::Path(path) => {
                segments.push(path.ident.to_string());
                return self.import(&path.tree, &segments, is_reexport);
            }
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, prefix, is_reexport));
            }
            syn::UseTree::Glob(glob) => (None, glob.star_token.spans[0]),
            syn::UseTree::Name(name) => (Some(add_last(&mut segments, &name.ident)), name.ident.span()),
            syn::UseTree::Rename(rename) => {
                add_last(&mut segments, &rename.ident);
                (Some(rename.rename.to_string()), rename.ident.span())
            }
        };
        let line = end.start().line;
        self.imports.push(Import { name, path: Named { segments, line }, is_reexport });
    }

    /// Notes every path among the tokens of a macro's argument.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let (mut segments, mut line) = (Vec::new(), 0);
        let (mut colons, mut after_dot) = (0, false);
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.note(std::mem::take(&mut segments), line);
                        line = ident.span().start().line;
                    }
                    if !after_dot {
                        segments.push(ident.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !segments.is_empty() => colons += 1,
                other => {
                    self.note(std::mem::take(&mut segments), line);
                    colons = 0;
                    after_dot = matches!(other, TokenTree::Punct(punct) if punct.as_char() == '.');
                    if let TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.note(segments, line);
    }

    fn note(&mut self, segments: Vec<String>, line: usize) {
        if !segments.is_empty() {
            self.paths.push(Named { segments, line });
        }
    }
}

fn add_last(segments: &mut Vec<String>, ident: &syn::Ident) -> String {
    let name = ident.to_string();
    // `use a::{self, B}` imports `a` itself.
    if name != "self" || segments.is_empty() {
        segments.push(name);
    }
    segments.last().cloned().unwrap_or_default()
}

impl<'ast> Visit<'ast> for Scope {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        self.define(item);
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.note(path.segments.iter().map(|segment| segment.ident.to_string()).collect(), line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.visit_path(&invoked.path);
        self.read_tokens(invoked.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
