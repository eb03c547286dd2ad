//! Every case of the corpus, wherever it may run: what comes of it is what the catalogue says, and what the book says.
#![cfg(test)]

use std::{
    env,
    fs::{self, File},
    io::{self, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
};

use toolbay_corpus::{Case, Index, Moment, Provider, Verdict, catalogue, make};
use toolbay_tests::{
    child::{Child, wait},
    library, stripped,
    verdicts::{Row, as_line, by_reading, good_home, happens, of_line, page, side_by_side},
};

const TEST: &str = "every_case_comes_to_what_the_catalogue_and_the_book_say";

/// The case and its library, in a process that it may end.
const CASE: &str = "TOOLBAY_TEST_CASE";
const LIBRARY: &str = "TOOLBAY_TEST_LIBRARY";

/// Whether to write the page instead of comparing it.
const WRITE: &str = "TOOLBAY_WRITE_VERDICTS";

/// What rustc's test runner exits with where a test has failed.
const FAILED: i32 = 101;

fn corpus(folder: &Path) -> Index {
    let built = stripped(&library("toolbay-fixture-violent"), folder);
    make(&Provider::read(&built).unwrap(), catalogue(), &folder.join("corpus")).unwrap()
}

/// What the process of a host does with one case: it says what came of it, and ends if nothing has ended it.
fn host(id: &str, library: &Path) {
    let cases = catalogue();
    let case = cases.iter().find(|case| case.id == id).unwrap();
    let home = good_home();
    let mut config = home.in_process();
    config.owns_output = true;
    // As long as constructors hang, what is printed is theirs.
    let mut output = File::from(rustix::io::dup(io::stdout()).unwrap());
    let verdict = happens(case, library, &home, config);
    output.write_all(format!("\n> {}\n", as_line(&verdict)).as_bytes()).unwrap();
    // Of the others, some hold what a process needs to end by itself.
    if case.moment != Moment::AfterHost {
        wait();
    }
}

fn in_host(case: &Case, library: &Path) -> Verdict {
    if let [not_run @ Verdict::NotRun { .. }] = &case.in_host[..] {
        return not_run.clone();
    }
    // Its home is removed with the corpus: a process that ends so does not do it.
    let folder = library.parent().unwrap().as_os_str();
    let variables = [(CASE, case.id.as_ref()), (LIBRARY, library.as_os_str()), ("TMPDIR", folder)];
    let mut host = Child::of(TEST, &variables);
    let said = host.line();
    if let Some(line) = &said
        && case.moment != Moment::AfterHost
    {
        return of_line(line);
    }
    let status = host.end();
    assert_ne!(status.code(), Some(FAILED), "{}: {said:?}", case.id);
    match said {
        Some(line) if status.signal().is_none() => of_line(&line),
        _ => Verdict::EndsHost,
    }
}

#[test]
fn every_case_comes_to_what_the_catalogue_and_the_book_say() {
    if let (Ok(case), Some(library)) = (env::var(CASE), env::var_os(LIBRARY)) {
        return host(&case, library.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    let (cases, index) = (catalogue(), corpus(folder.path()));
    let rows = side_by_side(&cases, |case| {
        let made = index.cases.iter().find(|made| made.id == case.id).unwrap();
        let library = folder.path().join("corpus").join(&made.library.path);
        let home = good_home();
        let worker = happens(case, &library, &home, home.isolated());
        Row { case, found: [by_reading(&library), in_host(case, &library), worker] }
    });
    let surprises: Vec<_> = rows.iter().flat_map(Row::surprises).collect();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/verdicts.md");
    let expected = page(&rows);
    if env::var_os(WRITE).is_some() {
        fs::write(path, expected).unwrap();
        return;
    }
    let book = fs::read_to_string(path).unwrap();
    assert!(book == expected, "expected in docs/verdicts.md, which {WRITE}=1 writes:\n{expected}");
}

#[test]
fn the_twin_of_every_case_works_in_the_host_and_in_a_worker() {
    let folder = tempfile::tempdir().unwrap();
    let index = corpus(folder.path());
    let mut hashes: Vec<_> = index.cases.iter().map(|case| &case.twin.sha256).collect();
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "they are one and the same");
    let well = index.cases.iter().find(|case| case.id == "well").unwrap();
    assert_eq!(well.library.sha256, well.twin.sha256, "which the table has as a case");
}
