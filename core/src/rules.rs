//! Rules that judge single calls, after the gates and on their final arguments.

use std::{collections::BTreeSet, error::Error as StdError, fmt, sync::Arc};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{
    arguments::ValidCall, caller::Caller, excerpt::excerpt, history::PastCall, name::RuleId,
    registry::Entry,
};

/// A call that a rule judges.
pub struct Invocation<'a> {
    /// The tool and who contributed it.
    pub entry: &'a Entry,
    /// The final arguments.
    pub arguments: &'a Map<String, Value>,
    /// Who calls.
    pub caller: &'a Caller,
    /// The earlier calls of the run; empty for a rule that does not need them.
    pub history: &'a [PastCall],
}

/// What a rule says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// It has nothing against it.
    Allow,
    /// It refuses it, with a short code of its own, such as `outside_hours`.
    Deny(&'static str),
}

/// A host's own rule about single calls, such as "no deletes on Fridays". It can only refuse what the gates allow.
///
/// ```
/// use std::error::Error;
/// use toolbay_core::{Invocation, InvocationRule, Judgement, RuleId};
///
/// struct SmallFiles(RuleId);
///
/// impl InvocationRule for SmallFiles {
///     fn id(&self) -> &RuleId {
///         &self.0
///     }
///
///     fn judge(&self, call: &Invocation<'_>) -> Result<Judgement, Box<dyn Error + Send + Sync>> {
///         match call.arguments.get("limit").and_then(|limit| limit.as_u64()) {
///             Some(limit) if limit > 100 => Ok(Judgement::Deny("too_many")),
///             _ => Ok(Judgement::Allow),
///         }
///     }
/// }
/// # let rule = SmallFiles("acme.small-files".parse()?);
/// # assert_eq!(rule.id().as_str(), "acme.small-files");
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
pub trait InvocationRule: Send + Sync {
    /// The rule's id, which the model and the audit log see.
    fn id(&self) -> &RuleId;

    /// Whether it judges by the earlier calls of the run. Where they are not known, such a rule's answer is no.
    fn needs_history(&self) -> bool {
        false
    }

    /// Judges a call. It must not change anything: a call may be judged more often than it is made.
    ///
    /// # Errors
    ///
    /// Whatever kept the rule from judging: the call is refused.
    fn judge(&self, call: &Invocation<'_>) -> Result<Judgement, Box<dyn StdError + Send + Sync>>;
}

/// A call that a rule refused. The code is the rule's own, `rule_failed` or `history_incomplete`.
#[derive(Debug, Error)]
#[error("rule {rule} refused it: {code}")]
pub struct RuleDenial {
    /// The rule.
    pub rule: RuleId,
    /// Why, as a short code, cut to 64 characters.
    pub code: String,
    /// What kept the rule from judging, where something did.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Two rules have one id. The host must not start.
///
/// Resolution: give each rule an id of its own.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invocation rule {0} is there twice: expected a different id for each")]
pub struct DuplicateRule(pub RuleId);

/// The rules of a host, in the order in which they judge.
#[derive(Clone, Default)]
pub struct Rules(Vec<Arc<dyn InvocationRule>>);

impl Rules {
    /// These rules, in this order.
    ///
    /// # Errors
    ///
    /// [`DuplicateRule`] where two have one id.
    pub fn new(rules: Vec<Arc<dyn InvocationRule>>) -> Result<Self, DuplicateRule> {
        let mut ids = BTreeSet::new();
        match rules.iter().find(|rule| !ids.insert(rule.id())) {
            Some(twice) => Err(DuplicateRule(twice.id().clone())),
            None => Ok(Self(rules)),
        }
    }

    /// Whether any of them judges by the earlier calls of a run.
    pub(crate) fn need_history(&self) -> bool {
        self.0.iter().any(|rule| rule.needs_history())
    }

    /// Asks every rule about a call, until one refuses.
    pub(crate) fn judge(&self, call: &ValidCall<'_>) -> Result<(), RuleDenial> {
        if self.0.is_empty() {
            return Ok(());
        }
        // The arguments were checked to be an object; anything else could only be refused.
        let arguments: Map<String, Value> =
            serde_json::from_str(call.arguments()).unwrap_or_default();
        let history = call.history().and_then(|history| history.calls());
        self.0.iter().try_for_each(|rule| judge(&**rule, call, &arguments, history.as_deref()))
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|rule| rule.id().as_str())).finish()
    }
}

fn judge(
    rule: &dyn InvocationRule,
    call: &ValidCall<'_>,
    arguments: &Map<String, Value>,
    history: Option<&[PastCall]>,
) -> Result<(), RuleDenial> {
    let denied = |code: &str, source| {
        Err(RuleDenial { rule: rule.id().clone(), code: excerpt(code, 64).into_owned(), source })
    };
    if rule.needs_history() && history.is_none() {
        return denied("history_incomplete", None);
    }
    let invocation = Invocation {
        entry: call.entry(),
        arguments,
        caller: call.caller(),
        history: history.filter(|_| rule.needs_history()).unwrap_or_default(),
    };
    match rule.judge(&invocation) {
        Ok(Judgement::Allow) => Ok(()),
        Ok(Judgement::Deny(code)) => denied(code, None),
        Err(source) => denied("rule_failed", Some(source)),
    }
}
