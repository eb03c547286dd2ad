//! What is mapped against what was verified, with libraries of C whose root symbol is there and holds no module.

use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::not_opened::NotOpened;

const ROOT: &str = "char _1as_0lib_1header_0root_bmodule_bloader[4096] = \"not a header\";";

/// Where every check of what is mapped has passed, and the header's is reached.
const PASSED: &str = "other_abi";

/// A folder with libraries.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn build(&self, name: &str, source: &str, arguments: &[&str]) -> PathBuf {
        let (input, output) = (self.0.path().join("source.c"), self.0.path().join(name));
        fs::write(&input, source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&output).arg(&input);
        compiler.arg("-L").arg(self.0.path()).args(arguments);
        assert!(compiler.status().unwrap().success());
        output
    }

    /// A plugin.
    fn plugin(&self, number: u32, arguments: &[&str]) -> PathBuf {
        self.build("plugin.so", &format!("{ROOT} int number = {number};"), arguments)
    }

    /// A plugin, and a library of this name and content beside it that it needs.
    fn with_companion(&self, name: &str, content: u32) -> [PathBuf; 2] {
        let source = format!("int companion(void) {{ return {content}; }}");
        let companion = self.build(&format!("lib{name}.so"), &source, &[]);
        let source =
            format!("{ROOT} int companion(void); int call(void) {{ return companion(); }}");
        let needs = format!("-l{name}");
        [self.build("plugin.so", &source, &["-Wl,-rpath,$ORIGIN", &needs]), companion]
    }
}

/// The code with which opening these files ends, of which the first is the plugin.
fn opened(paths: &[PathBuf]) -> &'static str {
    let files: Vec<File> = paths.iter().map(|path| File::open(path).unwrap()).collect();
    code(paths, &files)
}

fn code(paths: &[PathBuf], files: &[File]) -> &'static str {
    let verified = paths.iter().zip(files).map(|(path, file)| VerifiedFile { path, file });
    let verified: Vec<_> = verified.collect();
    let (plugin, companions) = verified.split_first().unwrap();
    match open_library(*plugin, companions, &|_| ()) {
        Ok(_) => "opened",
        Err(error) => NotOpened::from(&error).reason().code,
    }
}

/// Puts another file in the place of one that is open.
fn exchange(path: &Path, content: &Path) {
    let beside = path.with_extension("new");
    fs::copy(content, &beside).unwrap();
    fs::rename(beside, path).unwrap();
}

#[test]
fn a_library_that_was_exchanged_after_it_was_verified_is_not_used() {
    let (folder, other) = (Folder::new(), Folder::new());
    let plugin = [folder.plugin(1, &[])];
    let verified = [File::open(&plugin[0]).unwrap()];
    exchange(&plugin[0], &other.plugin(2, &[]));
    assert_eq!(code(&plugin, &verified), "other_file_mapped");

    let (folder, twin) = (Folder::new(), Folder::new());
    assert_eq!(opened(&[folder.plugin(1, &[])]), PASSED, "the twin");
    // Once loaded, the linker answers with the old file under the same path.
    let plugin = [twin.plugin(1, &[])];
    assert_eq!(opened(&plugin), PASSED);
    exchange(&plugin[0], &other.plugin(3, &[]));
    assert_eq!(opened(&plugin), "other_file_mapped");
}

#[test]
fn a_companion_that_was_exchanged_after_it_was_verified_is_not_used() {
    let (folder, other) = (Folder::new(), Folder::new());
    let paths = folder.with_companion("exchanged", 1);
    let verified = paths.each_ref().map(|path| File::open(path).unwrap());
    exchange(&paths[1], &other.with_companion("another", 2)[1]);
    assert_eq!(code(&paths, &verified), "other_file_mapped");
    assert_eq!(opened(&Folder::new().with_companion("unchanged", 1)), PASSED, "the twin");
}

#[test]
fn a_companion_of_a_name_that_is_taken_by_other_content_is_refused() {
    let folders: [Folder; 4] = std::array::from_fn(|_| Folder::new());
    let [first, second, same, third] = &folders;
    let one = first.with_companion("private", 1);
    assert_eq!(opened(&one), PASSED);
    assert_eq!(opened(&second.with_companion("private", 2)), "companion_name_taken");
    assert_eq!(opened(&same.with_companion("private", 1)), PASSED, "of the same content");
    assert_eq!(opened(&third.with_companion("of_its_own", 2)), PASSED, "under a name of its own");
    // The linker knows it under its name also when the file is gone, and so nobody can tell what its content was.
    fs::remove_file(&one[1]).unwrap();
    assert_eq!(opened(&Folder::new().with_companion("private", 2)), "companion_name_taken");
}

#[test]
fn a_companion_that_the_linker_found_elsewhere_is_used_only_where_it_has_the_content() {
    // As LD_LIBRARY_PATH does, which goes before the plugin's own folder, this run path leads to another file of the name.
    let opened_with = |name: &str, elsewhere: u32| {
        let (own, other) = (Folder::new(), Folder::new());
        let verified = own.with_companion(name, 1);
        other.with_companion(name, elsewhere);
        let source =
            format!("{ROOT} int companion(void); int call(void) {{ return companion(); }}");
        let (needs, other) =
            (format!("-l{name}"), format!("-Wl,-rpath,{}", other.0.path().display()));
        let plugin = own.build("plugin.so", &source, &[&other, &needs]);
        opened(&[plugin, verified[1].clone()])
    };
    assert_eq!(opened_with("elsewhere_other", 2), "other_file_mapped");
    assert_eq!(opened_with("elsewhere_same", 1), PASSED, "the twin");
}

#[test]
fn two_libraries_of_one_soname_are_two() {
    let (first, second) = (Folder::new(), Folder::new());
    let soname = ["-Wl,-soname,libplugin.so"];
    let paths = [first.plugin(1, &soname), second.plugin(2, &soname)];
    for path in &paths {
        assert_eq!(opened(std::slice::from_ref(path)), PASSED);
    }
    let mapped = mappings::all().unwrap();
    assert!(paths.iter().all(|path| mapped.iter().any(|mapping| mapping.path == *path)));
}
