//! What `[static_audit]` says: a level for each check, and what the checks go by.

use std::collections::BTreeSet;

use semver::{Version, VersionReq};
use serde::Deserialize;
use toolbay_loader::{Check, DeniedCrate, Level, StaticAuditPolicy};

use super::file::Parsed;

/// Makes the section from one line for each check: the key, which is the check's word, and the check.
macro_rules! section {
    ($($key:ident = $check:ident,)+) => {
        #[derive(Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct StaticAuditSection {
            $($key: Option<LevelWord>,)+
            #[serde(default)]
            allowed_libraries: BTreeSet<String>,
            #[serde(default)]
            allowed_imports: BTreeSet<String>,
            #[serde(default)]
            more_denied_imports: BTreeSet<String>,
            #[serde(default)]
            crates: BTreeSet<Parsed<Denied>>,
            static_tls_bytes: Option<u64>,
            max_constructors: Option<u64>,
            oldest_rustc: Option<Parsed<Version>>,
        }

        impl StaticAuditSection {
            fn levels(&self) -> impl Iterator<Item = (Check, Level)> {
                [$((Check::$check, self.$key),)+]
                    .into_iter()
                    .filter_map(|(check, level)| Some((check, level?.into())))
            }
        }

        #[cfg(test)]
        const KEYS: &[(&str, Check)] = &[$((stringify!($key), Check::$check),)+];
    };
}

section! {
    machine = Machine,
    os_abi = OsAbi,
    other_libc = OtherLibc,
    glibc = Glibc,
    root_module = RootModule,
    panic_strategy = PanicStrategy,
    rustc = Rustc,
    needed_libraries = NeededLibraries,
    run_path = RunPath,
    linker_hooks = LinkerHooks,
    static_tls = StaticTls,
    exec_stack = ExecStack,
    text_relocations = TextRelocations,
    writable_code = WritableCode,
    constructors = Constructors,
    denied_imports = DeniedImports,
    exports = Exports,
    dependency_list = DependencyList,
    denied_crates = DeniedCrates,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LevelWord {
    Allow,
    Warn,
    Deny,
}

impl From<LevelWord> for Level {
    fn from(word: LevelWord) -> Self {
        match word {
            LevelWord::Allow => Self::Allow,
            LevelWord::Warn => Self::Warn,
            LevelWord::Deny => Self::Deny,
        }
    }
}

/// A crate that may not be in a plugin: its name, or `NAME@VERSIONS`, such as `time@<0.2.23`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Denied(DeniedCrate);

impl std::str::FromStr for Denied {
    type Err = semver::Error;

    fn from_str(text: &str) -> Result<Self, semver::Error> {
        Ok(Self(match text.split_once('@') {
            None => DeniedCrate::new(text, None),
            Some((name, versions)) => DeniedCrate::new(name, Some(&VersionReq::parse(versions)?)),
        }))
    }
}

impl StaticAuditSection {
    /// The policy that it describes; what it does not say is the default.
    pub(super) fn policy(self) -> StaticAuditPolicy {
        let default = StaticAuditPolicy::default();
        let mut policy = StaticAuditPolicy {
            levels: self.levels().collect(),
            allowed_libraries: self.allowed_libraries,
            static_tls_bytes: self.static_tls_bytes.unwrap_or(default.static_tls_bytes),
            constructors: self.max_constructors.unwrap_or(default.constructors),
            oldest_rustc: self.oldest_rustc.map(Parsed::into_inner),
            denied_crates: self.crates.into_iter().map(|denied| denied.into_inner().0).collect(),
            ..default
        };
        policy.denied_imports.retain(|name| !self.allowed_imports.contains(name));
        policy.denied_imports.extend(self.more_denied_imports);
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_key_of_its_own_name() {
        let checks: Vec<(&str, Check)> =
            Check::ALL.iter().map(|&check| (check.as_str(), check)).collect();
        assert_eq!(KEYS, checks);
    }

    #[test]
    fn every_setting_arrives_where_it_belongs() {
        let section: StaticAuditSection = toml::from_str(
            r#"
            exports = "deny"
            glibc = "warn"
            allowed_libraries = ["libssl.so.3"]
            allowed_imports = ["fork"]
            more_denied_imports = ["exit"]
            crates = ["openssl", "time@<0.2.23"]
            static_tls_bytes = 64
            max_constructors = 9
            oldest_rustc = "1.80.0"
            "#,
        )
        .unwrap();
        let policy = section.policy();
        assert_eq!(policy.level(Check::Exports), Level::Deny);
        assert_eq!(policy.level(Check::Glibc), Level::Warn);
        assert_eq!(policy.level(Check::RunPath), Level::Deny, "the default");
        assert!(policy.allowed_libraries.contains("libssl.so.3"));
        let denied = |name: &str| policy.denied_imports.contains(name);
        assert!(denied("exit") && denied("vfork") && !denied("fork"));
        let crates: Vec<String> = policy.denied_crates.iter().map(ToString::to_string).collect();
        assert_eq!(crates, ["openssl", "time <0.2.23"]);
        assert_eq!((policy.static_tls_bytes, policy.constructors), (64, 9));
        assert_eq!(policy.oldest_rustc, Some(Version::new(1, 80, 0)));
    }

    #[test]
    fn an_empty_section_is_the_default() {
        assert_eq!(StaticAuditSection::default().policy(), StaticAuditPolicy::default());
    }
}
