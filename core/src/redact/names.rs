//! Which names stand for secrets.

use crate::words::words;

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// Nothing.
    Open,
    /// It is a secret, unless it is a number: `tokens` are counted more often than listed.
    UnlessNumber,
    /// It is a secret.
    Secret,
}

/// Words that stand for a secret wherever they are in a name.
const SECRET: &[&str] = &[
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "creds",
    "jwt",
    "kennwort",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "passwort",
    "pwd",
    "secret",
    "secrets",
    "sig",
    "signature",
    "signatures",
    "totp",
];

/// Words that stand for one at the end of a name only, as in `basic_auth` but not in `auth_method`.
const SECRET_AT_END: &[&str] = &["auth", "pass", "session"];

/// What stands for a secret however a name is taken apart, as `apikey`, `API_KEY` and `APIkey`.
const SECRET_WITHIN: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "clientkey",
    "consumerkey",
    "deploykey",
    "encryptionkey",
    "hmackey",
    "masterkey",
    "password",
    "passwd",
    "privatekey",
    "rsakey",
    "secretkey",
    "servicekey",
    "sessid",
    "sessionid",
    "sessionkey",
    "sharedkey",
    "signingkey",
    "sshkey",
    "storagekey",
    "subscriptionkey",
    "webhookkey",
];

/// Words at the end of a name that make it one about a secret.
const ABOUT: &[&str] = &[
    "algorithm",
    "count",
    "counts",
    "enabled",
    "endpoint",
    "expires",
    "expiry",
    "kind",
    "length",
    "lifetime",
    "limit",
    "method",
    "name",
    "policy",
    "required",
    "size",
    "ttl",
    "type",
    "uri",
    "url",
    "version",
];

/// Words beside which a token is one that is counted.
const COUNTING: &[&str] = &[
    "budget",
    "cached",
    "completion",
    "input",
    "max",
    "min",
    "num",
    "output",
    "per",
    "prompt",
    "reasoning",
    "remaining",
    "total",
    "usage",
    "used",
];

impl Secrecy {
    /// What the name of a member, header or variable says.
    pub(super) fn of(name: &str) -> Self {
        let words = words(name);
        let Some(last) = words.last().map(String::as_str) else { return Self::Open };
        let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let joined = words.concat();
        if ABOUT.contains(&last) {
            return Self::Open;
        }
        let is_secret = any(SECRET)
            || SECRET_WITHIN.iter().any(|part| joined.contains(part))
            || ["secret", "cookie"].iter().any(|end| words.iter().any(|word| word.ends_with(end)));
        if is_secret || last == "auth" {
            return Self::Secret;
        }
        let has_token = words.iter().any(|word| word.ends_with("token"));
        if has_token && !any(COUNTING) {
            return Self::Secret;
        }
        if has_token || any(&["tokens"]) || SECRET_AT_END.contains(&last) {
            return Self::UnlessNumber;
        }
        Self::Open
    }

    /// Whether a value that is written like this stays as it is.
    pub(super) fn spares(self, value: &str) -> bool {
        let is_number = || value.parse::<f64>().is_ok_and(f64::is_finite);
        match self {
            Self::Open => true,
            Self::UnlessNumber => matches!(value, "" | "true" | "false" | "null") || is_number(),
            Self::Secret => matches!(value, "" | "true" | "false" | "null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_whole_words_in_any_spelling() {
        for name in [
            "token",
            "Token",
            "access_token",
            "accessToken",
            "ACCESS-TOKEN",
            "accesstoken",
            "x-auth-token",
            "csrftoken",
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "set-cookie",
            "cookies",
            "password",
            "user.password",
            "dbPassword",
            "dbpassword",
            "password_hash",
            "passwd",
            "PGPASSWORD",
            "pwd",
            "passphrase",
            "secret",
            "client_secret",
            "clientSecret",
            "clientsecret",
            "secrets",
            "api_key",
            "apiKey",
            "APIKey",
            "API_KEY",
            "APIkey",
            "apikey",
            "api-key",
            "api key",
            "x-api-key",
            "openai_api_keys",
            "private_key",
            "privateKey",
            "ssh_key",
            "aws_secret_access_key",
            "signature",
            "X-Amz-Signature",
            "sig",
            "credential",
            "credentials",
            "gcpCredentials",
            "session_id",
            "sessionId",
            "JSESSIONID",
            "PHPSESSID",
            "jwt",
            "basic_auth",
            "auth",
            "otp",
            "Passwort",
            "tokens_secret",
        ] {
            assert_eq!(Secrecy::of(name), Secrecy::Secret, "{name}");
        }
    }

    #[test]
    fn numbers_under_ambiguous_names_are_counted() {
        for name in [
            "tokens",
            "max_tokens",
            "maxTokens",
            "prompt_tokens",
            "completion_tokens",
            "total_tokens",
            "tokens_used",
            "max_token",
            "input_tokens",
            "cached_tokens",
            "session",
            "user_session",
            "db_pass",
        ] {
            assert_eq!(Secrecy::of(name), Secrecy::UnlessNumber, "{name}");
        }
        assert!(Secrecy::UnlessNumber.spares("4096") && Secrecy::UnlessNumber.spares("-0.5"));
        assert!(!Secrecy::UnlessNumber.spares("abc") && !Secrecy::UnlessNumber.spares("inf"));
        assert!(!Secrecy::Secret.spares("4096"));
    }

    #[test]
    fn names_about_secrets_and_names_that_only_look_alike_are_open() {
        for name in [
            "",
            "-",
            "token_count",
            "token_limit",
            "tokenizer",
            "tokenize",
            "token_type",
            "token_url",
            "session_title",
            "sessions",
            "password_policy",
            "passwordLength",
            "secretary",
            "author",
            "auth_method",
            "authority",
            "key",
            "keys",
            "keyboard",
            "public_key",
            "monkey",
            "pin",
            "passenger",
            "bypass",
            "compass",
            "signal",
            "design",
            "query",
            "cookie_name",
            "signature_version",
        ] {
            assert_eq!(Secrecy::of(name), Secrecy::Open, "{name}");
        }
    }
}
