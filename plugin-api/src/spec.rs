//! What a tool says about itself before any of its code runs.

/// What a call of the tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// It changes nothing.
    ReadOnly,
    /// It changes something, and doing it twice is like doing it once.
    IdempotentWrite,
    /// It changes something, and doing it twice does it twice.
    NonIdempotentWrite,
}

/// The class of data that the tool's results may hold, from harmless to secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataClass {
    /// Anybody may read it.
    PublicContent,
    /// What the people who write the content may read.
    EditorContent,
    /// Source code.
    SourceCode,
    /// How the system is set up.
    InternalConfiguration,
    /// How the system is doing.
    SystemDiagnostics,
    /// Next to passwords and keys.
    SecretAdjacent,
}

/// Where the tool may open network connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Egress {
    /// Nowhere.
    None,
    /// To the site that the host serves.
    OwnSite,
    /// To the endpoints in the provider's configuration.
    ConfiguredEndpoint,
}

/// What the tool is for; a host budgets repeated calls by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It finds things.
    Search,
    /// It reads one thing.
    Read,
    /// It works something out.
    Analyze,
    /// It turns speech into text.
    Transcribe,
    /// It writes.
    Write,
    /// It removes what can't be brought back.
    Destructive,
}

impl Effect {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::IdempotentWrite => "idempotent_write",
            Self::NonIdempotentWrite => "non_idempotent_write",
        }
    }
}

impl DataClass {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::PublicContent => "public_content",
            Self::EditorContent => "editor_content",
            Self::SourceCode => "source_code",
            Self::InternalConfiguration => "internal_configuration",
            Self::SystemDiagnostics => "system_diagnostics",
            Self::SecretAdjacent => "secret_adjacent",
        }
    }
}

impl Egress {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OwnSite => "own_site",
            Self::ConfiguredEndpoint => "configured_endpoint",
        }
    }
}

impl Kind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Analyze => "analyze",
            Self::Transcribe => "transcribe",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// A tool's static metadata: what stands in the note, and what no running code can change.
///
/// [`ToolSpec::new`] starts with the strictest declarations: a write that must not be repeated, secret data, off until an
/// administrator turns it on, and a person's approval for each call. Each method below relaxes or names one of them.
///
/// ```
/// use toolbay_plugin_api::{Effect, ToolSpec};
///
/// const SPEC: ToolSpec = ToolSpec::new("greet", "Greets in English or German.")
///     .label("Greeting")
///     .effect(Effect::ReadOnly)
///     .enabled();
/// assert_eq!(SPEC.name(), "greet");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSpec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) label: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) effect: Option<Effect>,
    pub(crate) data_class: Option<DataClass>,
    pub(crate) group: Option<&'static str>,
    pub(crate) egress: Option<Egress>,
    pub(crate) kind: Option<Kind>,
    pub(crate) requires_admin: bool,
    pub(crate) enabled: bool,
    pub(crate) approval: bool,
    pub(crate) input: Option<&'static str>,
    pub(crate) loop_budget: Option<u8>,
}

/// The longest schema of typed input, in bytes: the note is written at compile time, and a form that people fill in is short.
const MAX_INPUT: usize = 16 << 10;

impl ToolSpec {
    /// A tool of this name and description, with the strictest declarations.
    ///
    /// The name has 1 to 64 characters of `A-Z a-z 0-9 _ -`, which is what every model provider accepts; 40 leave room for the
    /// prefixes that MCP clients add. The description is what the model reads.
    ///
    /// # Panics
    ///
    /// Where the name or the description breaks the rule. In a constant, which is where specs stand, that is a compile error.
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        if !is_tool_name(name) {
            panic!("a tool's name has 1 to 64 characters of A-Z a-z 0-9 _ -");
        }
        if description.is_empty() {
            panic!(
                "a tool needs a description: without one no model knows when to call it (write a doc comment)"
            );
        }
        Self {
            name,
            description,
            aliases: &[],
            label: "",
            summary: "",
            effect: None,
            data_class: None,
            group: None,
            egress: None,
            kind: None,
            requires_admin: false,
            enabled: false,
            approval: false,
            input: None,
            loop_budget: None,
        }
    }

    /// Former names, under which stored assignments still reach the tool. They follow the rule for names.
    ///
    /// # Panics
    ///
    /// Where an alias breaks the rule for names; a compile error in a constant.
    #[must_use]
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        let mut at = 0;
        while at < aliases.len() {
            if !is_tool_name(aliases[at]) {
                panic!("an alias has 1 to 64 characters of A-Z a-z 0-9 _ -");
            }
            at += 1;
        }
        self.aliases = aliases;
        self
    }

    /// The name that people read; without one it is the name.
    #[must_use]
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    /// One line for people; without one it is the first paragraph of the description, at most some 256 bytes of it.
    #[must_use]
    pub const fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// What a call does to the world. A tool that writes needs a person's approval for each call.
    #[must_use]
    pub const fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// The class of data in the results.
    #[must_use]
    pub const fn data_class(mut self, class: DataClass) -> Self {
        self.data_class = Some(class);
        self
    }

    /// The group that the tool is switched with: a lower-case letter, then lower-case letters, digits, `_` and `-`, 64 at most.
    ///
    /// # Panics
    ///
    /// Where it breaks the rule; a compile error in a constant.
    #[must_use]
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn group(mut self, group: &'static str) -> Self {
        if !is_id(group) {
            panic!(
                "a group is a lower-case letter, then lower-case letters, digits, _ and -, 64 at most"
            );
        }
        self.group = Some(group);
        self
    }

    /// Where the tool may open network connections.
    #[must_use]
    pub const fn egress(mut self, egress: Egress) -> Self {
        self.egress = Some(egress);
        self
    }

    /// What the tool is for.
    #[must_use]
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Only administrators may use it.
    #[must_use]
    pub const fn requires_admin(mut self) -> Self {
        self.requires_admin = true;
        self
    }

    /// On before an administrator decides.
    #[must_use]
    pub const fn enabled(mut self) -> Self {
        self.enabled = true;
        self
    }

    /// A person must approve each call, also of a tool that only reads.
    #[must_use]
    pub const fn requires_approval(mut self) -> Self {
        self.approval = true;
        self
    }

    /// A person must type something in before the call runs: what this JSON Schema says, whose root is an object, in at most 16 KiB.
    ///
    /// The host adds the members that the schema names to the arguments, and drops what the model wrote there: make each of them an
    /// optional argument too. A tool with input only reads and needs no approval, which its spec must say; an export of another
    /// does not compile.
    ///
    /// # Panics
    ///
    /// Where the text is longer, or does not stand in braces; a compile error in a constant.
    #[must_use]
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn input(mut self, schema: &'static str) -> Self {
        if schema.len() > MAX_INPUT {
            panic!("the schema of a tool's input has at most 16 KiB");
        }
        if !matches!(schema.as_bytes().trim_ascii(), [b'{', .., b'}']) {
            panic!("the input of a tool is a JSON Schema in braces, whose root is an object");
        }
        self.input = Some(schema);
        self
    }

    /// How often the same call may be repeated in a row before a host stops offering the tool; without it the host decides by effect
    /// and kind.
    ///
    /// # Panics
    ///
    /// Where it is 0; a compile error in a constant.
    #[must_use]
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn loop_budget(mut self, calls: u8) -> Self {
        if calls == 0 {
            panic!("a loop budget is at least 1: with 0 the tool could never be called");
        }
        self.loop_budget = Some(calls);
        self
    }

    /// The spec, unless its declarations contradict each other.
    ///
    /// [`tool`](crate::tool) and [`export_provider!`](crate::export_provider) ask for it, since no method above sees the whole. This
    /// compiles, and with `requires_approval` it does not:
    ///
    /// ```
    /// # use toolbay_plugin_api::prelude::*;
    /// # #[arguments] struct Order { name: Option<String> }
    /// /// Greets by a name that a person types in.
    /// #[tool(effect = ReadOnly, input = r#"{ "properties": { "name": { "type": "string" } } }"#)]
    /// fn greet(order: Order) -> Result<Reply, Failure> {
    ///     Ok(Reply::text(format!("Hello, {}", order.name.unwrap_or_default())))
    /// }
    ///
    /// export_provider! { id: "greeter", tools: [greet] }
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use toolbay_plugin_api::prelude::*;
    /// # #[arguments] struct Order { name: Option<String> }
    /// /// Greets by a name that a person types in.
    /// #[tool(effect = ReadOnly, input = r#"{ "properties": { "name": { "type": "string" } } }"#, requires_approval)]
    /// fn greet(order: Order) -> Result<Reply, Failure> {
    ///     Ok(Reply::text(format!("Hello, {}", order.name.unwrap_or_default())))
    /// }
    ///
    /// export_provider! { id: "greeter", tools: [greet] }
    /// ```
    ///
    /// # Panics
    ///
    /// Where a tool with [`input`](Self::input) does not only read, or needs approval; a compile error in a constant.
    #[must_use]
    #[expect(
        clippy::panic,
        reason = "in a constant, where specs stand, it is the compile error that the vendor should see"
    )]
    pub const fn checked(self) -> Self {
        let only_reads = matches!(self.effect, Some(Effect::ReadOnly)) && !self.approval;
        if self.input.is_some() && !only_reads {
            panic!(
                "a tool with `input` waits for a person already: declare `effect = ReadOnly`, and leave out `requires_approval`"
            );
        }
        self
    }

    /// The name that models call.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the model reads of the tool, unless the provider says something else at run time.
    pub const fn description(&self) -> &'static str {
        self.description
    }
}

/// The rule for groups and providers.
pub(crate) const fn is_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    let mut good = !bytes.is_empty() && bytes.len() <= 64 && bytes[0].is_ascii_lowercase();
    let mut at = 0;
    while good && at < bytes.len() {
        good = matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        at += 1;
    }
    good
}

const fn is_tool_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 64 {
        return false;
    }
    let mut at = 0;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] == b'-') {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const FORM: &str = r#" { "properties": { "word": { "type": "string" } } }
"#;

    /// What the vendor reads as the compile error, where `make` stands in a constant.
    fn refusal(make: impl FnOnce() -> ToolSpec + Send + 'static) -> Option<&'static str> {
        let payload = thread::spawn(make).join().err()?;
        payload.downcast_ref::<&'static str>().copied()
    }

    fn reader() -> ToolSpec {
        ToolSpec::new("ask", "Asks a person.").effect(Effect::ReadOnly)
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let waits = "a tool with `input` waits for a person already: declare `effect = ReadOnly`, and leave out `requires_approval`";
        let no_schema = "the input of a tool is a JSON Schema in braces, whose root is an object";
        type Case = (fn() -> ToolSpec, Option<&'static str>);
        let cases: [Case; 10] = [
            (|| reader().input(FORM).checked(), None),
            (|| reader().requires_approval().checked(), None),
            (|| ToolSpec::new("ask", "Says nothing of itself.").checked(), None),
            // Edge case 7.
            (|| reader().input(FORM).requires_approval().checked(), Some(waits)),
            (|| reader().effect(Effect::IdempotentWrite).input(FORM).checked(), Some(waits)),
            (|| ToolSpec::new("ask", "Says no effect.").input(FORM).checked(), Some(waits)),
            (|| reader().input("true"), Some(no_schema)),
            (|| reader().input(" "), Some(no_schema)),
            (|| reader().loop_budget(1), None),
            (
                || reader().loop_budget(0),
                Some("a loop budget is at least 1: with 0 the tool could never be called"),
            ),
        ];
        for (at, (make, expected)) in cases.into_iter().enumerate() {
            assert_eq!(refusal(make), expected, "case {at}");
        }
    }

    #[test]
    fn a_schema_of_input_has_at_most_16_kib() {
        let schema = |len: usize| -> &'static str { format!("{{{:1$}}}", "", len - 2).leak() };
        assert_eq!(refusal(move || reader().input(schema(MAX_INPUT))), None);
        assert_eq!(
            refusal(move || reader().input(schema(MAX_INPUT + 1))),
            Some("the schema of a tool's input has at most 16 KiB")
        );
    }
}
