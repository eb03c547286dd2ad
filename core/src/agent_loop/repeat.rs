//! Whether a model makes the same call again, and what then.

use foldhash::HashSet;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    audit::Outcome,
    canonical::{self, Digest},
    declaration::Effect,
};

/// Which call it is: a hash over the tool's name and all of its arguments, in their [canonical](crate::canonical) form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallSignature(Digest);

impl CallSignature {
    /// The signature of a call. The name is the tool's own, not an alias, and the arguments are a JSON text, where an empty one means
    /// `{}`. What is no JSON is the same call only where it is the same text.
    ///
    /// ```
    /// use toolbay_core::CallSignature;
    ///
    /// let call = CallSignature::of("search", r#"{"query": "x", "limit": 3}"#);
    /// assert_eq!(call, CallSignature::of("search", r#"{"limit":3.0,"query":"x"}"#));
    /// assert_ne!(call, CallSignature::of("search", r#"{"query": "y", "limit": 3}"#));
    /// ```
    pub fn of(tool: &str, arguments: &str) -> Self {
        let arguments = arguments.trim_ascii();
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        let mut hasher = Sha256::new();
        // The length keeps a name apart from what follows.
        hasher.update((tool.len() as u64).to_le_bytes());
        hasher.update(tool);
        match serde_json::from_str::<Value>(arguments) {
            Ok(value) => {
                hasher.update("json:");
                canonical::update(&mut hasher, &value);
            }
            Err(_) => {
                hasher.update("text:");
                hasher.update(arguments);
            }
        }
        Self(Digest::of(hasher))
    }

    /// The hash.
    pub fn digest(&self) -> Digest {
        self.0
    }
}

/// Which round it is: its calls in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundSignature(Digest);

impl RoundSignature {
    /// The signature of a round with these calls, those that were refused or answered from before included.
    pub fn of(calls: &[CallSignature]) -> Self {
        let hasher =
            calls.iter().fold(Sha256::new(), |hasher, call| hasher.chain_update(call.0.as_bytes()));
        Self(Digest::of(hasher))
    }

    /// The hash.
    pub fn digest(&self) -> Digest {
        self.0
    }
}

/// What to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub enum Repeat {
    /// It is new in this run: run it.
    Fresh,
    /// It was made before, and making it twice is like making it once: run it.
    RunAgain,
    /// It was answered before and changes nothing: give the earlier result with the note.
    AlreadyAnswered,
    /// It was made before and would do it once more: refuse it.
    Refused,
}

impl Repeat {
    /// Whether the call runs.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Fresh | Self::RunAgain)
    }

    /// What the model reads where the call does not run: a note to the earlier result, or the refusal.
    pub const fn model_text(self) -> Option<&'static str> {
        match self {
            Self::Fresh | Self::RunAgain => None,
            Self::AlreadyAnswered => Some(
                "The same call was answered earlier in this run, and this is the result from then. Use it, or call with other \
                 arguments.",
            ),
            Self::Refused => Some(
                "The same call was already made in this run and would change the same thing once more. Nothing was run. If it is \
                 meant twice, tell the user.",
            ),
        }
    }
}

/// What a run has called so far.
///
/// A host asks [`judge`](Self::judge) before each call, tells the end of each that ran by [`note`](Self::note), and that of each
/// round by [`close_round`](Self::close_round), which counts the calls that did not run, too. A run that is resumed tells it again.
///
/// Only the same round again and again is counted: a model that takes turns between two of them is not stopped by this, but by the
/// limit of rounds.
///
/// ```
/// use toolbay_core::{CallSignature, Effect, Outcome, Repeat, RoundSignature, RunSignatures};
///
/// let mut history = RunSignatures::default();
/// let call = CallSignature::of("create_note", r#"{"title": "x"}"#);
/// assert_eq!(history.judge(&call, Effect::NonIdempotentWrite), Repeat::Fresh);
/// history.note(call, Effect::NonIdempotentWrite, Outcome::Ok);
/// assert_eq!(history.close_round(RoundSignature::of(&[call])), 1);
/// assert_eq!(history.judge(&call, Effect::NonIdempotentWrite), Repeat::Refused);
/// assert_eq!(history.close_round(RoundSignature::of(&[call])), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunSignatures {
    reads: HashSet<CallSignature>,
    writes: HashSet<CallSignature>,
    last: Option<RoundSignature>,
    repeats: usize,
}

impl RunSignatures {
    /// What to do with a call of a tool with this effect.
    pub fn judge(&self, call: &CallSignature, effect: Effect) -> Repeat {
        match effect {
            Effect::ReadOnly if self.reads.contains(call) => Repeat::AlreadyAnswered,
            Effect::IdempotentWrite if self.writes.contains(call) => Repeat::RunAgain,
            Effect::NonIdempotentWrite if self.writes.contains(call) => Repeat::Refused,
            _ => Repeat::Fresh,
        }
    }

    /// Takes note of a call that was made, and how it ended.
    ///
    /// A read counts as answered where it gave a result, until something is written: then reading again can give another. A write
    /// counts as made where it may have happened, also where nobody knows, as after a fault or when time was over.
    pub fn note(&mut self, call: CallSignature, effect: Effect, outcome: Outcome) {
        if !effect.is_write() {
            if outcome == Outcome::Ok {
                self.reads.insert(call);
            }
        } else if !matches!(outcome, Outcome::Refused | Outcome::Limited | Outcome::Unavailable) {
            self.reads.clear();
            if outcome != Outcome::Failed {
                self.writes.insert(call);
            }
        }
    }

    /// Takes note of a whole round and says how many like it stand at the end of the run, this one included. At the round's
    /// [budget](crate::batch_budget) the host stops offering tools and asks for an answer; below it, rounds alike do run.
    pub fn close_round(&mut self, round: RoundSignature) -> usize {
        self.repeats = if self.last == Some(round) { self.repeats.saturating_add(1) } else { 1 };
        self.last = Some(round);
        self.repeats
    }
}

#[cfg(test)]
mod tests {
    use Effect::{IdempotentWrite, NonIdempotentWrite, ReadOnly};

    use super::*;
    use crate::{agent_loop::budget::batch_budget, declaration::Declarations};

    #[test]
    fn a_signature_takes_in_the_name_and_every_argument() {
        let call = CallSignature::of("a", r#"{"x":1,"y":2}"#);
        for same in [r#"{"y":2,"x":1}"#, r#" {"x": 1.0, "y": 2} "#] {
            assert_eq!(CallSignature::of("a", same), call, "{same}");
        }
        assert_eq!(CallSignature::of("a", ""), CallSignature::of("a", "{ }"));
        assert_eq!(CallSignature::of("a", "{x"), CallSignature::of("a", " {x"));
        let long = |end: &str| format!(r#"{{"text":"{}{end}"}}"#, "x".repeat(10_000));
        let different = [
            CallSignature::of("b", r#"{"x":1,"y":2}"#),
            CallSignature::of("a", r#"{"x":1,"y":"2"}"#),
            CallSignature::of("a", &long("1")),
            CallSignature::of("a", &long("2")),
            CallSignature::of("a", "{x"),
            CallSignature::of("a", "{"),
            CallSignature::of("a", ""),
            CallSignature::of("a", "xtext:y"),
            CallSignature::of("atext:x", "y"),
            call,
        ];
        let distinct: std::collections::BTreeSet<_> = different.into_iter().collect();
        assert_eq!(distinct.len(), different.len());
    }

    #[test]
    fn a_round_is_its_calls_in_their_order() {
        let (one, two) = (CallSignature::of("a", ""), CallSignature::of("b", ""));
        let rounds = [
            RoundSignature::of(&[]),
            RoundSignature::of(&[one]),
            RoundSignature::of(&[one, one]),
            RoundSignature::of(&[one, two]),
            RoundSignature::of(&[two, one]),
        ];
        let distinct: std::collections::BTreeSet<_> = rounds.into_iter().collect();
        assert_eq!(distinct.len(), rounds.len());
    }

    /// After how many rounds with the arguments that `of` gives for each a loop over one tool stops; at most 20.
    fn stops_after(budget: u8, of: impl Fn(usize) -> String) -> usize {
        let mut history = RunSignatures::default();
        let round = |at| RoundSignature::of(&[CallSignature::of("t", &of(at))]);
        let is_over = |at: &usize| {
            history.close_round(round(*at)) >= usize::from(batch_budget([Some(budget)]))
        };
        (1..=20).find(is_over).unwrap_or(20)
    }

    // Edge case 41.
    #[test]
    fn rounds_alike_stop_at_the_budget_and_others_do_not() {
        use crate::{agent_loop::budget::loop_budget, declaration::Kind};
        for (effect, kind, expected) in [
            (NonIdempotentWrite, Kind::Write, 4),
            (ReadOnly, Kind::Read, 8),
            (ReadOnly, Kind::Search, 10),
        ] {
            let declarations = Declarations { effect, kind, ..Declarations::default() };
            let budget = loop_budget(&declarations);
            assert_eq!(stops_after(budget, |_| "{}".to_owned()), expected);
            assert_eq!(stops_after(budget, |at| format!(r#"{{"page":{at}}}"#)), 20);
            // What takes turns is not seen.
            assert_eq!(stops_after(budget, |at| format!(r#"{{"page":{}}}"#, at % 2)), 20);
        }
    }

    #[test]
    fn only_the_rounds_at_the_end_count() {
        let mut history = RunSignatures::default();
        let [a, b] = ["a", "b"].map(|tool| RoundSignature::of(&[CallSignature::of(tool, "")]));
        let counted = [a, a, b, a, a, a].map(|round| history.close_round(round));
        assert_eq!(counted, [1, 2, 1, 1, 2, 3]);
    }

    #[test]
    fn what_happens_to_a_repeated_call_depends_on_its_effect() {
        let cases = [
            (ReadOnly, Repeat::AlreadyAnswered, false),
            (IdempotentWrite, Repeat::RunAgain, true),
            (NonIdempotentWrite, Repeat::Refused, false),
        ];
        for (effect, expected, runs) in cases {
            let mut history = RunSignatures::default();
            let (call, other) =
                (CallSignature::of("t", "{}"), CallSignature::of("t", r#"{"a":1}"#));
            assert_eq!(history.judge(&call, effect), Repeat::Fresh);
            history.note(call, effect, Outcome::Ok);
            assert_eq!(history.judge(&call, effect), expected);
            assert_eq!(history.judge(&other, effect), Repeat::Fresh);
            assert_eq!((expected.runs(), expected.model_text().is_none()), (runs, runs));
        }
    }

    #[test]
    fn only_what_may_have_happened_counts_as_made() {
        let cases = [
            (ReadOnly, Outcome::Failed, true),
            (ReadOnly, Outcome::TimedOut, true),
            (ReadOnly, Outcome::Refused, true),
            (NonIdempotentWrite, Outcome::Failed, true),
            (NonIdempotentWrite, Outcome::Refused, true),
            (NonIdempotentWrite, Outcome::Limited, true),
            (NonIdempotentWrite, Outcome::Unavailable, true),
            (NonIdempotentWrite, Outcome::TimedOut, false),
            (NonIdempotentWrite, Outcome::Fault, false),
            (NonIdempotentWrite, Outcome::Crashed, false),
            (NonIdempotentWrite, Outcome::Cancelled, false),
            (NonIdempotentWrite, Outcome::Aborted, false),
        ];
        for (effect, outcome, may_run) in cases {
            let mut history = RunSignatures::default();
            let call = CallSignature::of("t", "");
            history.note(call, effect, outcome);
            assert_eq!(history.judge(&call, effect).runs(), may_run, "{effect} {outcome}");
        }
    }

    #[test]
    fn a_read_is_no_answer_any_more_once_something_was_written() {
        for (outcome, expected) in [
            (Outcome::Ok, Repeat::Fresh),
            (Outcome::Failed, Repeat::Fresh),
            (Outcome::Refused, Repeat::AlreadyAnswered),
        ] {
            let mut history = RunSignatures::default();
            let (read, write) = (CallSignature::of("list", ""), CallSignature::of("create", ""));
            history.note(read, ReadOnly, Outcome::Ok);
            history.note(write, IdempotentWrite, outcome);
            assert_eq!(history.judge(&read, ReadOnly), expected, "{outcome}");
        }
    }
}
