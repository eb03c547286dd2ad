//! How many rounds alike a model may make in a row.

use crate::declaration::{Declarations, Kind};

/// The budget of calls that may change something, and of those nothing is known of.
const MUTATING: u8 = 4;

/// The budget of calls that only read.
const READING: u8 = 8;

/// The budget of searches, which a model often makes several times before it finds something.
const SEARCHING: u8 = 10;

/// The budget of a class of tools.
pub(crate) const fn class_budget(kind: Kind, read_only: bool) -> u8 {
    match kind {
        _ if !read_only => MUTATING,
        Kind::Destructive => MUTATING,
        Kind::Search => SEARCHING,
        _ => READING,
    }
}

/// How many identical rounds with a call of this tool a model may make in a row before it must answer: 4 where the tool writes or
/// destroys, 10 where it searches, 8 where it reads in another way. What the tool itself declares counts as far as it is less,
/// and at least 1.
///
/// ```
/// use toolbay_core::{Declarations, Effect, loop_budget};
///
/// let reader = Declarations { effect: Effect::ReadOnly, ..Declarations::default() };
/// assert_eq!(loop_budget(&reader), 8);
/// assert_eq!(loop_budget(&Declarations { loop_budget: Some(2), ..reader.clone() }), 2);
/// assert_eq!(loop_budget(&Declarations { loop_budget: Some(200), ..reader }), 8);
/// ```
pub fn loop_budget(declarations: &Declarations) -> u8 {
    let most = class_budget(declarations.kind, !declarations.effect.is_write());
    declarations.loop_budget.map_or(most, |declared| declared.clamp(1, most))
}

/// The budget of a round: the smallest of its calls, `None` standing for a name without a tool. A round without calls has that of
/// reading.
///
/// ```
/// use toolbay_core::batch_budget;
///
/// assert_eq!(batch_budget([Some(10), Some(8)]), 8);
/// assert_eq!(batch_budget([Some(10), None]), 4);
/// ```
pub fn batch_budget(calls: impl IntoIterator<Item = Option<u8>>) -> u8 {
    calls.into_iter().map(|budget| budget.unwrap_or(MUTATING)).min().unwrap_or(READING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::Effect;

    #[test]
    fn a_tools_budget_follows_its_class() {
        use Effect::{IdempotentWrite, NonIdempotentWrite, ReadOnly};
        let cases = [
            (ReadOnly, Kind::Search, 10),
            (ReadOnly, Kind::Read, 8),
            (ReadOnly, Kind::Analyze, 8),
            (ReadOnly, Kind::Transcribe, 8),
            (ReadOnly, Kind::Unknown, 8),
            (ReadOnly, Kind::Destructive, 4),
            (IdempotentWrite, Kind::Write, 4),
            (IdempotentWrite, Kind::Search, 4),
            (NonIdempotentWrite, Kind::Unknown, 4),
        ];
        for (effect, kind, expected) in cases {
            let declarations = Declarations { effect, kind, ..Declarations::default() };
            assert_eq!(loop_budget(&declarations), expected, "{effect} {kind}");
            for (declared, within) in
                [(0, 1), (1, 1), (3, 3), (expected, expected), (255, expected)]
            {
                let loop_budget = Some(declared);
                let declarations = Declarations { loop_budget, ..declarations.clone() };
                assert_eq!(super::loop_budget(&declarations), within, "{declared}");
            }
        }
        assert_eq!(loop_budget(&Declarations::default()), 4, "silence is strict");
    }

    #[test]
    fn a_round_has_the_smallest_budget_of_its_calls() {
        let cases: [(&[Option<u8>], u8); 5] = [
            (&[], 8),
            (&[Some(10)], 10),
            (&[Some(10), Some(8), Some(10)], 8),
            (&[Some(10), None], 4),
            (&[None, Some(2)], 2),
        ];
        for (calls, expected) in cases {
            assert_eq!(batch_budget(calls.iter().copied()), expected, "{calls:?}");
        }
    }
}
