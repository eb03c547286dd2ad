//! The questions that a worker has not answered yet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use toolbay_core::ProgressSink;

use crate::{awaited::Awaited, entries::Crash, sync::Mutex};

/// The questions that have a number and no answer.
#[derive(Debug)]
pub(super) struct Pending<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    next: u64,
    waiting: HashMap<u64, Arc<Question<T>>>,
    /// Those that nobody waits for any more, and by when they must be over all the same.
    overdue: BTreeMap<u64, Instant>,
    /// Why nothing is answered any more.
    closed: Option<Crash>,
}

/// A question that was asked, or is about to be.
pub(super) struct Question<T> {
    pub(super) number: u64,
    progress: Option<Arc<dyn ProgressSink>>,
    pub(super) answer: Awaited<Result<T, Crash>>,
}

impl<T> std::fmt::Debug for Question<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<T> Pending<T> {
    /// The first question has this number.
    pub(super) fn from(first: u64) -> Self {
        let (waiting, overdue) = (HashMap::new(), BTreeMap::new());
        Self(Mutex::new(State { next: first, waiting, overdue, closed: None }))
    }

    /// A further question, unless nothing is answered any more.
    pub(super) fn ask(
        &self,
        progress: Option<Arc<dyn ProgressSink>>,
    ) -> Result<Arc<Question<T>>, Crash> {
        let mut state = self.0.lock();
        if let Some(crash) = &state.closed {
            return Err(crash.clone());
        }
        let number = state.next;
        state.next += 1;
        let question = Arc::new(Question { number, progress, answer: Awaited::default() });
        state.waiting.insert(number, Arc::clone(&question));
        Ok(question)
    }

    /// Takes an answer. Tells whether the question was there.
    pub(super) fn answer(&self, number: u64, answer: T) -> bool {
        let question = {
            let mut state = self.0.lock();
            state.overdue.remove(&number);
            state.waiting.remove(&number)
        };
        question.as_ref().inspect(|question| question.answer.give(Ok(answer))).is_some()
    }

    /// Takes a question back that could not be asked.
    pub(super) fn forget(&self, number: u64) {
        self.0.lock().waiting.remove(&number);
    }

    /// Where the progress of a question goes.
    pub(super) fn sink(&self, number: u64) -> Option<Arc<dyn ProgressSink>> {
        self.0.lock().waiting.get(&number).and_then(|question| question.progress.clone())
    }

    /// Says that nobody waits for the answer any more, which must come until then all the same. Tells whether it has not come yet.
    pub(super) fn abandon(&self, number: u64, until: Instant) -> bool {
        let mut state = self.0.lock();
        let is_waiting = state.waiting.contains_key(&number);
        if is_waiting {
            state.overdue.insert(number, until);
        }
        is_waiting
    }

    /// When the first of those that nobody waits for must be over.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.0.lock().overdue.values().min().copied()
    }

    /// Answers everything that is left, and whatever will be asked, with the end of the process.
    pub(super) fn close(&self, crash: &Crash) {
        let waiting = {
            let mut state = self.0.lock();
            state.closed.get_or_insert_with(|| crash.clone());
            state.overdue.clear();
            std::mem::take(&mut state.waiting)
        };
        for question in waiting.into_values() {
            question.answer.give(Err(crash.clone()));
        }
    }

    /// Why nothing is answered any more; `None` while it is.
    pub(super) fn closed(&self) -> Option<Crash> {
        self.0.lock().closed.clone()
    }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::awaited::Waited;

    fn crash() -> Crash {
        Crash { how: "ended".to_owned(), hung: false }
    }

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn each_question_gets_its_own_answer_once() {
        let pending = Pending::from(7);
        let questions: Vec<_> = (0..3).map(|_| pending.ask(None).unwrap()).collect();
        let numbers: Vec<_> = questions.iter().map(|question| question.number).collect();
        assert_eq!(numbers, [7, 8, 9]);
        for number in [9, 7, 8] {
            assert!(pending.answer(number, number * 10));
            assert!(!pending.answer(number, 0), "the second answer is nobody's");
        }
        for question in questions {
            let expected = Waited::Answered(Ok(question.number * 10));
            assert_eq!(question.answer.wait(soon(), None), expected);
        }
        assert!(!pending.answer(70, 0), "nobody has asked");
    }

    #[test]
    fn whoever_waits_hears_of_the_end() {
        let pending = Pending::<u32>::from(1);
        let question = pending.ask(None).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| question.answer.wait(soon(), None));
            pending.close(&crash());
            assert_eq!(waiting.join().unwrap(), Waited::Answered(Err(crash())));
        });
        assert_eq!(pending.ask(None).unwrap_err(), crash());
        assert!(!pending.answer(question.number, 1), "an answer after the end is nobody's");
    }

    #[test]
    fn what_nobody_waits_for_is_due_until_it_is_answered() {
        let pending = Pending::from(1);
        let now = Instant::now();
        let [first, second] = [1, 2].map(|_| pending.ask(None).unwrap().number);
        assert_eq!(pending.first_due(), None);
        assert!(pending.abandon(second, now + Duration::from_secs(2)));
        assert!(pending.abandon(first, now + Duration::from_secs(1)));
        assert_eq!(pending.first_due(), Some(now + Duration::from_secs(1)));
        pending.answer(first, ());
        assert!(!pending.abandon(first, now), "it has been answered");
        assert_eq!(pending.first_due(), Some(now + Duration::from_secs(2)));
        pending.answer(second, ());
        assert_eq!(pending.first_due(), None);
    }
}
