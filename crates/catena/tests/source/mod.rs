//! Imports and public names, read from the text of source files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// By file, the files it imports from; files are named by their module paths, such as `structure::tree`.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

type Module = Vec<String>;

/// The module of a file of the source folder; empty for the library's root.
pub(crate) fn module_path(file: &Path) -> Module {
    let parts = file.with_extension("");
    let mut parts: Module = parts.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    parts.retain(|part| part != "mod" && part != "lib");
    parts
}

/// The code of a file without comments and tests.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]").next().unwrap();
    let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// All `use` items of a file, each as (is public, path).
fn uses(code: &str) -> Vec<(bool, Module)> {
    let mut found = vec![];
    for statement in code.split(';') {
        let line_start =
            |word: &str| statement.rfind(word).filter(|at| *at == 0 || statement[..*at].ends_with('\n'));
        let items = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        for (at, item) in items.iter().filter_map(|item| Some((line_start(item)?, item))) {
            let tree = &statement[at + item.len()..];
            found.extend(expand(tree).into_iter().map(|path| (item.starts_with("pub"), path)));
        }
    }
    found
}

/// The paths of a `use` tree such as `a::{b, c::{d, e as f}}`.
fn expand(tree: &str) -> Vec<Module> {
    let split = |text: &str| -> Module {
        let text = text.split(" as ").next().unwrap();
        text.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    };
    let Some(open) = tree.find('{') else { return vec![split(tree)] };
    let (head, inside) = (split(&tree[..open]), &tree[open + 1..tree.rfind('}').unwrap()]);
    let (mut depth, mut entries) = (0, vec![String::new()]);
    for letter in inside.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            entries.push(String::new());
        } else {
            entries.last_mut().unwrap().push(letter);
        }
    }
    let entries = entries.iter().filter(|entry| !entry.trim().is_empty());
    entries.flat_map(|entry| expand(entry)).map(|path| [head.clone(), path].concat()).collect()
}

/// Paths in code outside of `use` items, from `crate::` or `super::` on.
fn paths_in_code(code: &str) -> Vec<Module> {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(|letter: char| !is_path(letter));
    let words = words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    words.map(|word| word.trim_end_matches(':').split("::").map(str::to_owned).collect()).collect()
}

struct Source {
    code: BTreeMap<Module, String>,
    /// By module, the paths behind the names it re-exports.
    re_exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Source {
    /// The file that defines what a path of a module names; `None` outside of the library.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (vec![], &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            part if self.code.contains_key(&[at.clone(), vec![part.to_owned()]].concat()) => {}
            _ => return None,
        }
        while let Some(part) = rest.first() {
            let below = [at.clone(), vec![part.clone()]].concat();
            if !self.code.contains_key(&below) {
                break;
            }
            (at, rest) = (below, &rest[1..]);
        }
        let re_export = rest.first().and_then(|name| self.re_exports.get(&at)?.get(name));
        match re_export {
            Some(path) if depth < 8 => self.resolve(&at, path, depth + 1).or(Some(at)),
            _ => Some(at),
        }
    }
}

/// The imports between files. A name that is re-exported counts for the file that defines it.
pub(crate) fn imports(files: &[(Module, String)]) -> Imports {
    let code: BTreeMap<Module, String> =
        files.iter().map(|(path, text)| (path.clone(), code(text))).collect();
    let public = |code: &String| uses(code).into_iter().filter(|(is_public, _)| *is_public);
    let re_exports = code.iter().map(|(module, code)| {
        let names = public(code).map(|(_, path)| (path.last().unwrap().clone(), path));
        (module.clone(), names.collect())
    });
    let source = Source { re_exports: re_exports.collect(), code: code.clone() };
    let mut imports = Imports::new();
    for (module, code) in &code {
        let private = uses(code).into_iter().filter(|(is_public, _)| !is_public).map(|(_, path)| path);
        let paths = private.chain(paths_in_code(code));
        let found = paths.filter_map(|path| source.resolve(module, &path, 0)).filter(|found| found != module);
        imports.insert(module.join("::"), found.map(|found| found.join("::")).collect());
    }
    imports
}

/// The groups of files that reach one another, each in order of their names.
pub(crate) fn cycles(imports: &Imports) -> Vec<Vec<String>> {
    let reach = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            open.extend(imports[file].iter().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|file| (file, reach(file))).collect();
    let on_cycle = imports.keys().filter(|file| reached[*file].contains(*file));
    let group = |file: &String| -> Vec<String> {
        reached[file].iter().filter(|other| reached[*other].contains(file)).cloned().collect()
    };
    on_cycle.map(group).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The public names of a library, each with its module; those of the prelude are not counted twice.
pub(crate) fn names(source: &Path) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(source.join("lib.rs"), String::new())];
    while let Some((file, prefix)) = open.pop() {
        let code = code(&fs::read_to_string(&file).unwrap());
        found.extend(
            uses(&code)
                .iter()
                .filter(|(is_public, path)| *is_public && is_exported(&code, path))
                .map(|(_, path)| format!("{prefix}{}", path.last().unwrap())),
        );
        found.extend(declared(&code).into_iter().map(|name| format!("{prefix}{name}")));
        for module in code.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
            let folder = if file.ends_with("lib.rs") || file.ends_with("mod.rs") {
                file.parent().unwrap().to_owned()
            } else {
                file.with_extension("")
            };
            let (flat, nested) = (folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs"));
            if module != "prelude" {
                open.push((if flat.exists() { flat } else { nested }, format!("{prefix}{module}::")));
            }
        }
    }
    found.into_iter().collect()
}

/// Whether a `use` is `pub use`, not `pub(crate) use`.
fn is_exported(code: &str, path: &Module) -> bool {
    let exported = code
        .split(';')
        .filter(|statement| statement.trim_start().lines().any(|line| line.starts_with("pub use ")));
    exported
        .map(|statement| statement.rsplit("pub use ").next().unwrap())
        .any(|tree| expand(tree).contains(path))
}

/// The public items that a file declares, itself or by a macro that takes the name in a line of its own.
fn declared(code: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let mut names = vec![];
    let mut lines = code.lines().peekable();
    while let Some(line) = lines.next() {
        if line.ends_with("! {") && !line.starts_with("macro_rules") {
            let argument = lines.peek().map_or("", |next| next.trim());
            if !argument.is_empty() && name(argument) == argument {
                names.push(argument.to_owned());
            }
        }
        let is_inside = line.starts_with(' ');
        let Some(item) = line.trim_start().strip_prefix("pub ") else { continue };
        let kinds = ["struct ", "enum ", "trait ", "type ", "const fn ", "fn ", "const "];
        let Some(rest) = kinds.iter().find_map(|kind| item.strip_prefix(kind)) else { continue };
        let is_type = ["struct ", "enum ", "trait "].iter().any(|kind| item.starts_with(kind));
        if !name(rest).is_empty() && (!is_inside || is_type) {
            names.push(name(rest));
        }
    }
    names
}
