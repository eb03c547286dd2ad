//! A bundle that was packed and tried: what its publisher should know of it.

use std::{fmt, path::PathBuf};

use toolbay_loader::{ContentHash, ToolName};

/// A bundle that was packed, and that a host takes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Packed {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes.
    pub len: u64,
    /// The SHA-256 of its content.
    pub sha256: ContentHash,
    /// Who stands for it, in a host's words.
    pub signer: String,
    /// The public key that operators need to trust, where it is signed.
    pub key: Option<String>,
    /// The tools, and whether the manifest promises what models read of them.
    pub tools: Vec<(ToolName, bool)>,
    /// The oldest version of the C library that it runs with, where it needs one.
    pub glibc: Option<(u32, u32)>,
    /// The compilers that its code is from.
    pub rustc: Vec<String>,
}

impl fmt::Display for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.tools.iter().map(|(name, is_fixed)| match is_fixed {
            true => name.to_string(),
            false => format!("{name} (as configured)"),
        });
        writeln!(f, "{}", self.path.display())?;
        writeln!(f, "  bytes   {}", self.len)?;
        writeln!(f, "  sha256  {}", self.sha256)?;
        writeln!(f, "  signer  {}", self.signer)?;
        if let Some(key) = &self.key {
            writeln!(f, "  key     {key}")?;
        }
        writeln!(f, "  tools   {}", tools.collect::<Vec<_>>().join(", "))?;
        match self.glibc {
            Some((major, minor)) => writeln!(f, "  glibc   {major}.{minor} or later")?,
            None => writeln!(f, "  glibc   not needed")?,
        }
        write!(f, "  rustc   {}", self.rustc.join(", "))
    }
}
