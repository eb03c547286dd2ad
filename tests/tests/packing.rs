//! The packer, from a library to a bundle that a host takes, and what it refuses.
#![cfg(test)]

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use toolbay_loader::{
    Bundle, BundledDefinition, Config, Manifest, PublicKey, SignatureText, Stage, Toolbay,
    Unsigned, examine,
};
use toolbay_tests::{
    Ended, bay::operator, c_library, call, changed_note_define, library, note_define, stripped,
    xtask_binary,
};

const GREETING: &str = "toolbay-plugin-greeting";
const NOTES: &str = "toolbay-plugin-notes";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

/// A vendor's workspace of one package, whose library is built already, gone when it is dropped.
struct Vendor {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Vendor {
    /// The vendor of one of the repository's packages.
    fn of(package: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = stripped(&library(package), folder.path());
        Self { folder, library }.with(package, env!("CARGO_PKG_VERSION"), settings)
    }

    /// The vendor of a C fixture.
    fn of_c(note: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("audited.so");
        let arguments: Vec<&OsStr> =
            [&note].into_iter().chain(arguments).chain(&["-lgcc_s"]).map(AsRef::as_ref).collect();
        c_library("audited.c", &library, &arguments);
        Self { folder, library }.with("audited", "1.0.0", "vendor = \"Example Ltd\"")
    }

    fn with(self, package: &str, version: &str, settings: &str) -> Self {
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"{version}\"\nedition = \"2024\"\nlicense = \"MIT\"\n\
             [lib]\ncrate-type = [\"cdylib\"]\n[package.metadata.toolbay]\n{settings}\n"
        );
        self.write("Cargo.toml", &manifest);
        self.write("src/lib.rs", "");
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn xtask(&self, words: &[&str], password: Option<&str>) -> Ended {
        xtask(self.folder.path(), words, password)
    }

    /// Packs the library into a folder.
    fn pack(&self, output: &str, words: &[&str]) -> Ended {
        let library = self.library.to_str().unwrap();
        let own = ["bundle", "--library", library, "--output", output];
        self.xtask(&[&own, words].concat(), None)
    }

    /// The bundles in a folder, of which there is one at most.
    fn bundle(&self, output: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.path(output)).into_iter().flatten();
        let found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert!(found.len() <= 1, "{found:?}");
        found.into_iter().next()
    }
}

fn xtask(folder: &Path, words: &[&str], password: Option<&str>) -> Ended {
    let mut command = Command::new(xtask_binary());
    command.args(words).current_dir(folder).env_remove("TOOLBAY_KEY_PASSWORD");
    command.envs(password.map(|password| ("TOOLBAY_KEY_PASSWORD", password)));
    Ended::of(command.output().unwrap())
}

fn manifest(bundle: &Path) -> Manifest {
    Bundle::open(bundle).unwrap().manifest().clone()
}

#[test]
fn a_signed_bundle_is_installed_where_its_key_is_trusted_alone() {
    let vendor = Vendor::of(GREETING, "vendor = \"Example Ltd\"");
    vendor.xtask(&["bundle-key", "v.key", "--no-password"], None).with(0);
    let printed = vendor.pack("out", &["--key", "v.key"]).with(0).output;
    let bundle = vendor.bundle("out").unwrap();
    assert_eq!(bundle.file_name().unwrap(), "greeting-0.1.0.toolbay");
    let key: PublicKey = fs::read_to_string(vendor.path("v.key.pub")).unwrap().parse().unwrap();
    let says = ["sha256", "tools   greet", "glibc", "rustc"].map(str::to_owned);
    for text in says.into_iter().chain([key.to_string(), key.id().to_string()]) {
        assert!(printed.contains(&text), "{text}: {printed}");
    }

    let toolbay = Toolbay::open(Config::new(vendor.path("home"))).unwrap();
    let install =
        || toolbay.install(std::slice::from_ref(&bundle), &operator(), Default::default()).unwrap();
    let refused = install().rejections;
    let codes: Vec<_> = refused.iter().map(|one| (one.reason.stage, one.reason.code)).collect();
    assert_eq!(codes, [(Stage::Signature, "unknown_key")]);
    toolbay.trust_key(&key.to_string(), "Example Ltd", &operator()).unwrap();
    let report = install();
    assert_eq!((report.rejections, report.warnings), (vec![], vec![]));
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

#[test]
fn a_packer_whose_own_file_is_gone_goes_on() {
    // As where it is built anew while it runs.
    let vendor = Vendor::of(GREETING, "vendor = \"Example Ltd\"");
    fs::copy(xtask_binary(), vendor.path("packer")).unwrap();
    let script =
        "exec 3<packer; rm packer; exec /proc/self/fd/3 bundle --library \"$0\" --output out";
    let mut packer = Command::new("sh");
    packer.args(["-c", script]).arg(&vendor.library).current_dir(vendor.path(""));
    Ended::of(packer.output().unwrap()).with(0);
    assert!(vendor.bundle("out").is_some());
    assert!(!vendor.path("packer").exists());
}

#[test]
fn packing_again_gives_the_same_bytes() {
    let vendor = Vendor::of(GREETING, "vendor = \"Example Ltd\"");
    vendor.xtask(&["bundle-key", "v.key", "--no-password"], None).with(0);
    let packed = |output: &str, words: &[&str]| {
        let ended = vendor.pack(output, words).with(0);
        assert_eq!(ended.errors.contains("UNSIGNED"), words.is_empty(), "{ended:?}");
        fs::read(vendor.bundle(output).unwrap()).unwrap()
    };
    assert!(packed("a", &[]) == packed("b", &[]), "unsigned bundles are the same");
    let signed = packed("a", &["--key", "v.key"]);
    assert!(packed("a", &["--key", "v.key"]) == signed, "a signature that is there stays");
    // Elsewhere there is another signature of the same manifest, with nothing of the time in it.
    packed("b", &["--key", "v.key"]);
    let [a, b] = ["a", "b"].map(|output| Bundle::open(&vendor.bundle(output).unwrap()).unwrap());
    assert_eq!(a.manifest(), b.manifest());
    let key = fs::read_to_string(vendor.path("v.key.pub")).unwrap().parse().unwrap();
    for bundle in [a, b] {
        let signature = SignatureText::parse(bundle.signature().unwrap()).unwrap();
        let comment = signature.verify(bundle.manifest().bytes(), &key).unwrap();
        assert_eq!(comment.as_str(), "toolbay bundle greeting 0.1.0");
    }
}

#[test]
fn all_that_the_settings_name_is_in_the_bundle() {
    let vendor = Vendor::of(
        GREETING,
        "vendor = \"Example Ltd\"\nminimum_host = \"0.1.0\"\ndocumentation = \"README.md\"\nicon = \"art/icon.png\"\n\
         files = [\"LICENSE\"]\ncompanions = [\"lib/libprivate.so\"]",
    );
    vendor.write("README.md", "Greets.");
    vendor.write("art/icon.png", "a picture");
    vendor.write("LICENSE", "MIT");
    fs::create_dir(vendor.path("lib")).unwrap();
    c_library("dependency.c", &vendor.path("lib/libprivate.so"), &[]);
    vendor.pack("out", &[]).with(0);
    let manifest = manifest(&vendor.bundle("out").unwrap());
    let parts = manifest.parts();
    let system = toolbay_abi::note::TARGET;
    let paths: Vec<_> = parts.listed().map(|file| file.path.to_string()).collect();
    let expected = [
        format!("{system}/libtoolbay_plugin_greeting.so"),
        format!("{system}/libprivate.so"),
        "docs/README.md".to_owned(),
        "icons/icon.png".to_owned(),
        "LICENSE".to_owned(),
    ];
    assert_eq!(paths, expected);
    let path = |path: &Option<toolbay_loader::BundlePath>| path.as_ref().map(ToString::to_string);
    assert_eq!(path(&parts.documentation).as_deref(), Some("docs/README.md"));
    assert_eq!(path(&parts.icon).as_deref(), Some("icons/icon.png"));
    assert_eq!((&*parts.vendor, &*parts.license), ("Example Ltd", "MIT"));

    fs::remove_file(vendor.path("LICENSE")).unwrap();
    let ended = vendor.pack("other", &[]).with(1);
    assert!(ended.errors.contains("files: ") && ended.errors.contains("LICENSE"), "{ended:?}");
    assert_eq!(vendor.bundle("other"), None);
}

#[test]
fn what_a_host_refuses_is_refused_in_its_words() {
    let aborts = changed_note_define("audited", |note| note["panic"] = json!("abort"));
    let other_id = changed_note_define("audited", |note| note["id"] = json!("No Id"));
    let plain = note_define("audited");
    let cases: [(&str, &[&str], &[&str]); 4] = [
        (&plain, &["-Wl,-rpath,/usr/lib"], &["foreign_run_path"]),
        (&plain, &["-Wl,-z,execstack", "-DSTATIC_TLS"], &["static_tls", "executable_stack"]),
        (&aborts, &[], &["panic_abort"]),
        (&other_id, &[], &["bad_provider_id"]),
    ];
    for (note, arguments, codes) in cases {
        let vendor = Vendor::of_c(note, arguments);
        let mut config = Config::new(vendor.path("home"));
        config.policy.unsigned = Unsigned::Allow;
        let examination = examine(&vendor.library, &config).unwrap();
        let found: Vec<_> = examination.problems.iter().map(|reason| reason.code).collect();
        assert_eq!(found.len(), codes.len(), "{found:?}");
        let ended = vendor.pack("out", &[]).with(1);
        for (reason, code) in examination.problems.iter().zip(&found) {
            assert!(codes.contains(code), "{found:?}");
            assert!(ended.errors.contains(&format!("\n  {reason}")), "{reason}: {ended:?}");
        }
        assert_eq!(vendor.bundle("out"), None);
    }
}

#[test]
fn a_plugin_that_ends_its_process_ends_no_packer() {
    let cases = [
        ("-DDIES", "signal: "),
        ("-DEXITS", "found none: the plugin ended its process as if all were well"),
        // Nothing ends it, and a host refuses what is no root module.
        ("-DHARMLESS", "(load): expected a library that opens"),
    ];
    for (argument, expected) in cases {
        let vendor = Vendor::of_c(&note_define("audited"), &[argument]);
        let ended = vendor.pack("out", &[]).with(1);
        assert!(ended.errors.contains(expected), "{argument}: {ended:?}");
        assert_eq!(vendor.bundle("out"), None);
    }
}

/// What the manifest promises of each tool: its description, or nothing where the configuration decides.
fn promised(bundle: &Path) -> Vec<(String, bool)> {
    let is_fixed = |definition: &BundledDefinition| *definition != BundledDefinition::Configured;
    let manifest = manifest(bundle);
    let tools = manifest.parts().tools.iter();
    tools.map(|tool| (tool.declared.name.to_string(), is_fixed(&tool.definition))).collect()
}

#[test]
fn every_tool_is_listed_or_said_to_depend_on_the_configuration() {
    const ALL: &str = "configured = [\"notes_list\", \"notes_read\", \"notes_create\", \"notes_append\", \"notes_delete\"]";
    // It is declared, and listed only by a lie.
    const BROKEN: &str = "configured = [\"broken_schema\"]";
    let folder = tempfile::tempdir().unwrap();
    let notes = json!({ "notes": { "folder": folder.path() } });
    let other_words = json!({ "misbehaving": { "words": "Beware." } });
    let panics = json!({ "misbehaving": { "panic_in": "create" } });
    let none = json!({});
    let unlisted = format!(
        "found notes_list, notes_read, notes_create, notes_append, notes_delete left out; write {ALL}"
    );
    let cases: [(&str, &str, &Value, Result<bool, &str>); 8] = [
        (NOTES, "", &none, Err(&unlisted)),
        (NOTES, ALL, &none, Ok(false)),
        (NOTES, "", &notes, Ok(true)),
        (NOTES, ALL, &notes, Ok(false)),
        (MISBEHAVING, BROKEN, &none, Ok(true)),
        (
            MISBEHAVING,
            BROKEN,
            &other_words,
            Err("tool misbehave: expected the same definition under each configuration"),
        ),
        (MISBEHAVING, "configured = [\"misbehave\", \"broken_schema\"]", &other_words, Ok(false)),
        (MISBEHAVING, BROKEN, &panics, Err("(create): ")),
    ];
    for (package, settings, configuration, expected) in cases {
        let vendor = Vendor::of(package, &format!("vendor = \"Example Ltd\"\n{settings}"));
        vendor.write("settings.json", &configuration.to_string());
        let ended = vendor.pack("out", &["--configuration", "settings.json"]);
        match (expected, vendor.bundle("out")) {
            (Ok(fixed), Some(bundle)) => {
                assert_eq!(ended.code, 0, "{ended:?}");
                let tools = promised(&bundle);
                let others = tools.iter().filter(|(name, _)| name != "broken_schema");
                assert!(others.map(|(_, is_fixed)| is_fixed).all(|is| *is == fixed), "{tools:?}");
            }
            (Err(words), None) => {
                assert_eq!(ended.code, 1, "{ended:?}");
                assert!(ended.errors.contains(words), "{words}: {ended:?}");
            }
            (_, bundle) => panic!("{package} {settings}: {bundle:?}: {ended:?}"),
        }
    }
}

#[test]
fn a_library_of_another_version_or_tool_is_refused() {
    let vendor = Vendor::of(GREETING, "vendor = \"A\"\nconfigured = [\"greeet\"]");
    let ended = vendor.pack("out", &[]).with(1);
    assert!(ended.errors.contains("declares, found greeet"), "{ended:?}");
    let vendor = vendor.with(GREETING, "0.2.0", "vendor = \"A\"");
    let ended = vendor.pack("out", &[]).with(1);
    assert!(ended.errors.contains("expected version 0.2.0, which its package has, found 0.1.0"));
    let vendor = vendor.with(GREETING, "0.1.0", "vendor = \"A\"");
    vendor.pack("out", &[]).with(0);
}

#[test]
fn only_the_password_opens_the_key() {
    let vendor = Vendor::of(GREETING, "vendor = \"A\"");
    vendor.xtask(&["bundle-key", "v.key"], Some("open sesame")).with(0);
    let library = vendor.library.to_str().unwrap();
    let pack = |password| {
        let words = ["bundle", "--library", library, "--output", "out", "--key", "v.key"];
        vendor.xtask(&words, Some(password))
    };
    let ended = pack("open barley").with(1);
    let expected =
        "expected its password in TOOLBAY_KEY_PASSWORD or typed on a terminal, found another";
    assert!(ended.errors.contains(expected), "{ended:?}");
    assert_eq!(vendor.bundle("out"), None);
    pack("open sesame").with(0);
}
