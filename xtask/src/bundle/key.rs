//! The keys that bundles are signed with: minisign's, made and used by its own format.

use std::{
    env, fmt,
    fs::OpenOptions,
    io::{self, Cursor, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use minisign::{KeyPair, PError, PublicKey, SecretKey, SecretKeyBox};
use toolbay_loader::SignatureText;

/// The environment variable with the password of a key.
const PASSWORD: &str = "TOOLBAY_KEY_PASSWORD";

/// The most bytes of a secret key's file; minisign writes some 300.
const MAX_KEY_FILE: usize = 4096;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file can't be read.
    ///
    /// Resolution: name one that can.
    #[error("secret key {} can't be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It holds no key, or there is nobody to type its password.
    ///
    /// Resolution: name the file that `minisign -G` wrote as the secret key, or set the password.
    #[error("secret key {}: expected the file that minisign wrote as the secret key, with its password in {PASSWORD} or typed on a terminal; found: {cause}", .path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What minisign says.
        cause: PError,
    },
    /// The password is of another key.
    ///
    /// Resolution: correct it.
    #[error("secret key {}: expected its password in {PASSWORD} or typed on a terminal, found another", .path.display())]
    WrongPassword {
        /// The file.
        path: PathBuf,
    },
    /// Something went wrong in minisign.
    #[error("minisign failed: {0}")]
    Minisign(PError),
    /// A key can't be written.
    ///
    /// Resolution: name a file that is not there, in a folder that can be written to. A key that is there is never replaced.
    #[error("key {} can't be written", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

/// A secret key that is ready to sign, with its public key.
pub struct SigningKey {
    secret: SecretKey,
    public: PublicKey,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The derived one would print the secret.
        f.debug_struct("SigningKey").field("public", &self.public()).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Reads the file of a secret key. Where it is encrypted, the password is in `TOOLBAY_KEY_PASSWORD`, or asked for on the terminal.
    ///
    /// # Errors
    ///
    /// [`KeyError`] where it can't be read, is no key, or the password is another's.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::read_with(path, env::var(PASSWORD).ok())
    }

    fn read_with(path: &Path, password: Option<String>) -> Result<Self, KeyError> {
        let path = || path.to_owned();
        let text = std::fs::read_to_string(path());
        let text = text.map_err(|cause| KeyError::Read { path: path(), cause })?;
        if text.len() > MAX_KEY_FILE {
            let cause = io::Error::other(format!("more than {MAX_KEY_FILE} bytes"));
            return Err(KeyError::Read { path: path(), cause });
        }
        let key = SecretKeyBox::from(text);
        let secret = match key.clone().into_unencrypted_secret_key() {
            Ok(secret) => secret,
            Err(_) => key.into_secret_key(password).map_err(|cause| match cause.kind() {
                minisign::ErrorKind::Verify => KeyError::WrongPassword { path: path() },
                _ => KeyError::NotAKey { path: path(), cause },
            })?,
        };
        let public = PublicKey::from_secret_key(&secret).map_err(KeyError::Minisign)?;
        Ok(Self { secret, public })
    }

    /// The public key in one line of base64.
    #[must_use]
    pub fn public(&self) -> String {
        self.public.to_base64()
    }

    /// The signature of a manifest: the one that is there, where it says the same, so that packing again changes nothing, or a new one. It
    /// has no time in it, but noise, which minisign adds against attacks on the signer's machine.
    pub(super) fn sign_again(
        &self,
        there: Option<&[u8]>,
        manifest: &[u8],
        comment: &str,
    ) -> Result<Vec<u8>, KeyError> {
        let is_same = |there: &&[u8]| {
            let signature = SignatureText::parse(there).ok();
            let key = self.public().parse().ok();
            let verified =
                signature.zip(key).map(|(signature, key)| signature.verify(manifest, &key));
            matches!(verified, Some(Ok(found)) if found.as_str() == comment)
        };
        there.filter(is_same).map_or_else(|| self.sign(manifest, comment), |same| Ok(same.to_vec()))
    }

    fn sign(&self, manifest: &[u8], comment: &str) -> Result<Vec<u8>, KeyError> {
        let untrusted = Some("signature of toolbay.json");
        let content = Cursor::new(manifest);
        minisign::sign(Some(&self.public), &self.secret, content, Some(comment), untrusted)
            .map(|signature| signature.into_string().into_bytes())
            .map_err(KeyError::Minisign)
    }
}

/// A pair of keys that was made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MadeKey {
    /// The file of the secret key.
    pub secret: PathBuf,
    /// The file of the public key.
    pub public: PathBuf,
    /// The public key in one line of base64.
    pub key: String,
}

impl fmt::Display for MadeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "secret key  {}", self.secret.display())?;
        writeln!(f, "public key  {}", self.public.display())?;
        write!(f, "            {}", self.key)
    }
}

/// Makes a pair of keys: the secret one in this file, for its owner alone, and the public one beside it, in FILE.pub. Unless no password is
/// wanted, it is in `TOOLBAY_KEY_PASSWORD`, or asked for on the terminal.
///
/// # Errors
///
/// [`KeyError`] where they can't be made. No file that is there is ever replaced.
pub fn make_key(file: &Path, no_password: bool) -> Result<MadeKey, KeyError> {
    make_with(file, no_password, env::var(PASSWORD).ok())
}

fn make_with(
    file: &Path,
    no_password: bool,
    password: Option<String>,
) -> Result<MadeKey, KeyError> {
    let mut public = file.as_os_str().to_owned();
    public.push(".pub");
    let public = PathBuf::from(public);
    // Both are there before anybody types a password, and neither was before.
    let mut secret_file = create(file, 0o600)?;
    let made = create(&public, 0o644).and_then(|mut public_file| {
        let pair = match no_password {
            true => KeyPair::generate_unencrypted_keypair(),
            false => KeyPair::generate_encrypted_keypair(password),
        };
        let written = pair.map_err(KeyError::Minisign).and_then(|KeyPair { pk, sk }| {
            let id = pk.to_box().map_err(KeyError::Minisign)?.into_string();
            let secret = sk.to_box(Some("minisign secret key")).map_err(KeyError::Minisign)?;
            write(file, &mut secret_file, &secret.into_string())?;
            write(&public, &mut public_file, &id)?;
            Ok(pk.to_base64())
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&public);
        }
        written
    });
    if made.is_err() {
        let _ = std::fs::remove_file(file);
    }
    Ok(MadeKey { secret: file.to_owned(), key: made?, public })
}

fn create(path: &Path, mode: u32) -> Result<std::fs::File, KeyError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    opened.map_err(|cause| KeyError::Write { path: path.to_owned(), cause })
}

fn write(path: &Path, file: &mut std::fs::File, text: &str) -> Result<(), KeyError> {
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|cause| KeyError::Write { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn password(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_key_is_made_once_and_signs_with_its_password_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vendor.key");
        let made = make_with(&file, false, password("open sesame")).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let public: toolbay_loader::PublicKey =
            fs::read_to_string(&made.public).unwrap().parse().unwrap();
        assert_eq!(public.to_string(), made.key);

        let key = SigningKey::read_with(&file, password("open sesame")).unwrap();
        assert_eq!(key.public(), made.key);
        assert!(!format!("{key:?}").contains("secret"), "{key:?}");
        let text = key.sign(b"{}\n", "toolbay bundle a 1.0.0").unwrap();
        let signature = SignatureText::parse(&text).unwrap();
        let comment = signature.verify(b"{}\n", &public).unwrap();
        assert_eq!(comment.as_str(), "toolbay bundle a 1.0.0");

        let wrong = SigningKey::read_with(&file, password("open barley")).unwrap_err();
        assert!(matches!(wrong, KeyError::WrongPassword { .. }), "{wrong}");
        let before = fs::read(&file).unwrap();
        let again = make_with(&file, true, None).unwrap_err();
        assert!(matches!(again, KeyError::Write { .. }), "{again}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }

    #[test]
    fn nothing_is_left_of_a_key_that_can_not_be_made_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vendor.key");
        fs::write(folder.path().join("vendor.key.pub"), "somebody's").unwrap();
        let error = make_with(&file, true, None).unwrap_err();
        assert!(matches!(error, KeyError::Write { .. }), "{error}");
        assert!(!file.exists());
        assert_eq!(fs::read_to_string(folder.path().join("vendor.key.pub")).unwrap(), "somebody's");
    }

    #[test]
    fn a_signature_that_says_the_same_stays() {
        let folder = tempfile::tempdir().unwrap();
        let keys = ["a", "b"].map(|name| {
            let file = folder.path().join(name);
            make_with(&file, true, None).unwrap();
            SigningKey::read_with(&file, None).unwrap()
        });
        let [key, other] = &keys;
        let there = key.sign(b"1", "one").unwrap();
        let again = |key: &SigningKey, there: &[u8], manifest: &[u8], comment: &str| {
            let text = key.sign_again(Some(there), manifest, comment).unwrap();
            let public = key.public().parse().unwrap();
            let verified = SignatureText::parse(&text).unwrap().verify(manifest, &public).unwrap();
            assert_eq!(verified.as_str(), comment);
            text == there
        };
        assert!(again(key, &there, b"1", "one"));
        assert!(!again(key, &there, b"2", "one"));
        assert!(!again(key, &there, b"1", "two"));
        assert!(!again(other, &there, b"1", "one"));
        assert!(!again(key, b"no signature", b"1", "one"));
    }

    #[test]
    fn what_is_no_secret_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vendor.key");
        make_with(&file, true, None).unwrap();
        let key = fs::read_to_string(&file).unwrap();
        let public = fs::read_to_string(folder.path().join("vendor.key.pub")).unwrap();
        assert!(SigningKey::read_with(&file, None).is_ok());
        let mut damaged = key.into_bytes();
        // In the middle of the key itself, behind the comment.
        damaged[120] = if damaged[120] == b'A' { b'B' } else { b'A' };
        let cases: [&[u8]; 4] = [b"", b"a\nb\n", public.as_bytes(), &damaged];
        for content in cases {
            fs::write(&file, content).unwrap();
            let error = SigningKey::read_with(&file, password("")).unwrap_err();
            assert!(matches!(error, KeyError::NotAKey { .. }), "{content:?}: {error}");
        }
        let missing = SigningKey::read_with(&folder.path().join("none"), None).unwrap_err();
        assert!(matches!(missing, KeyError::Read { .. }), "{missing}");
    }
}
