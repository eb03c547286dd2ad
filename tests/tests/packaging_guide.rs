//! The guide to packaging, followed to the letter: what it shows happens, and the same source gives the same bytes in any folder.
#![cfg(test)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use toolbay_loader::{Bundle, SignatureText};
use toolbay_tests::{host_binary, xtask_binary};

/// The workspace of the plugin that the README shows, with copies of the crates that it depends on.
struct Workspace(PathBuf);

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The code blocks of this language from a heading on.
fn blocks(document: &str, heading: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let parts: Vec<&str> = text[text.find(heading).unwrap()..].split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside
        .filter_map(|block| block.strip_prefix(&format!("{language}\n")))
        .map(str::to_owned)
        .collect()
}

/// Writes a file where it is another, so that cargo builds nothing that has not changed.
fn write(path: &Path, content: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(content) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => write(&to, &fs::read(path).unwrap()),
        }
    }
}

impl Workspace {
    /// Lays one out in a folder that stays, with what was built there.
    fn at(name: &str) -> Self {
        let root = host_binary().ancestors().nth(2).unwrap().join("packing").join(name);
        let repository = repository();
        copy(&repository.join("plugin-api"), &root.join("toolbay/plugin-api"));
        let manifest = fs::read_to_string(repository.join("Cargo.toml")).unwrap();
        let (start, end) = (manifest.find("members = [").unwrap(), manifest.find(']').unwrap());
        let end = end + manifest[end..].find("\n]").unwrap() + 2;
        let members = "members = [\"plugin-api\", \"plugin-api/abi\", \"plugin-api/macros\"]";
        let manifest = format!("{}{members}{}", &manifest[..start], &manifest[end..]);
        write(&root.join("toolbay/Cargo.toml"), manifest.as_bytes());

        let readme = |language| blocks("README.md", "## Write a plugin", language).remove(0);
        let settings = blocks("docs/packaging.md", "## Once", "toml").remove(0);
        let edition = "edition = \"2024\"\n";
        let manifest = readme("toml").replace(edition, &format!("{edition}{settings}"));
        let manifest = manifest.replace("../toolbay/", "toolbay/");
        assert!(manifest.contains("vendor") && manifest.contains("\"toolbay/plugin-api\""));
        let manifest = format!("{manifest}\n[workspace]\nexclude = [\"toolbay\"]\n");
        write(&root.join("Cargo.toml"), manifest.as_bytes());
        write(&root.join("src/lib.rs"), readme("rust").as_bytes());
        // The versions that are tested here, without those that nothing needs there.
        fs::copy(repository.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
        let workspace = Self(root);
        workspace.run("cargo update --workspace --quiet --offline");
        workspace
    }

    /// Runs a script, which must go well.
    fn run(&self, script: &str) -> Output {
        let others = env::var_os("PATH").unwrap_or_default();
        let own = host_binary().parent().unwrap().to_owned();
        let path = env::join_paths(std::iter::once(own).chain(env::split_paths(&others)));
        let output = Command::new("sh")
            .args(["-e", "-c", script])
            .current_dir(&self.0)
            .env("PATH", path.unwrap())
            .env("TOOLBAY_HOME", self.0.join("home"))
            // Whatever the profile, the bytes are the same; this one takes the least time.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("TOOLBAY_KEY_PASSWORD")
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        output
    }

    /// Packs without a key, and returns the bundle.
    fn plain(&self) -> PathBuf {
        let output = self.run(&format!("'{}' bundle --output plain", xtask_binary().display()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("the library names"), "{said}");
        self.0.join("plain/my-plugin-0.1.0.toolbay")
    }
}

#[test]
fn the_guide_is_true_and_the_folder_does_not_matter() {
    let one = Workspace::at("a");
    for there in ["home", "vendor.key", "vendor.key.pub"] {
        let path = one.0.join(there);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
    let commands = blocks("docs/packaging.md", "## Once", "sh").concat();
    let xtask = format!("'{}'", xtask_binary().display());
    let output = one.run(&commands.replace("cargo xtask", &xtask));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.lines().last(), Some("3"), "{printed}");

    let other = Workspace::at("elsewhere/in another folder");
    let [plain, elsewhere] = [one.plain(), other.plain()];
    assert!(fs::read(&plain).unwrap() == fs::read(&elsewhere).unwrap(), "{plain:?} {elsewhere:?}");
    // So anybody can hold the vendor's signature against their own build.
    let signed = Bundle::open(&one.0.join("target/bundle/my-plugin-0.1.0.toolbay")).unwrap();
    let built = Bundle::open(&elsewhere).unwrap();
    let signature = SignatureText::parse(signed.signature().unwrap()).unwrap();
    let key = fs::read_to_string(one.0.join("vendor.key.pub")).unwrap().parse().unwrap();
    signature.verify(built.manifest().bytes(), &key).unwrap();
}
