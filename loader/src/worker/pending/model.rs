//! Tries orders of asking, answering, abandoning and the end of the process. Whoever waits in vain is a deadlock, which shuttle reports.

use std::{sync::Arc, time::Instant};

use super::Pending;
use crate::{
    awaited::Waited,
    entries::Crash,
    sync::{Mutex, explore, thread},
};

const FIRST: u64 = 1;

/// A table, and the questions that the worker has been sent.
struct Asked {
    pending: Pending<u64>,
    sent: Mutex<Vec<u64>>,
}

fn crash() -> Crash {
    Crash { how: "ended".to_owned(), hung: false }
}

fn asked() -> Arc<Asked> {
    Arc::new(Asked { pending: Pending::from(FIRST), sent: Mutex::new(Vec::new()) })
}

impl Asked {
    /// Asks and waits for good.
    fn ask(&self) -> Result<u64, Crash> {
        let question = self.pending.ask(None)?;
        self.sent.lock().push(question.number);
        match question.answer.wait(None, None) {
            Waited::Answered(answer) => {
                assert_eq!(question.answer.wait(Some(Instant::now()), None), Waited::Late);
                answer.inspect(|answer| assert_eq!(*answer, question.number * 10))
            }
            other => panic!("{other:?}"),
        }
    }

    /// Asks, and waits no longer than until now.
    fn ask_and_abandon(&self) -> Result<(), Crash> {
        let question = self.pending.ask(None)?;
        self.sent.lock().push(question.number);
        if question.answer.wait(Some(Instant::now()), None) == Waited::Late {
            self.pending.abandon(question.number, Instant::now());
        }
        Ok(())
    }

    /// Answers this many questions, or until there are no more to come. Tells how many were there.
    fn answer(&self, count: usize) -> usize {
        let mut there = 0;
        let mut answered = 0;
        while answered < count && self.pending.closed().is_none() {
            let next = self.sent.lock().pop();
            let Some(number) = next else {
                thread::yield_now();
                continue;
            };
            answered += 1;
            there += usize::from(self.pending.answer(number, number * 10));
            assert!(!self.pending.answer(number, 0), "the second answer is nobody's");
        }
        there
    }

    fn assert_nothing_is_left(&self) {
        let state = self.pending.0.lock();
        assert!(state.waiting.is_empty(), "{:?}", state.waiting);
        assert!(state.overdue.is_empty(), "{:?}", state.overdue);
    }
}

#[test]
fn each_question_is_answered_once_and_nothing_is_left() {
    explore(|| {
        let asked = asked();
        let [one, other, worker] = [&asked; 3].map(Arc::clone);
        let one = thread::spawn(move || one.ask());
        let other = thread::spawn(move || other.ask_and_abandon());
        let worker = thread::spawn(move || worker.answer(2));
        assert!(one.join().unwrap().is_ok());
        assert_eq!(other.join().unwrap(), Ok(()));
        assert_eq!(worker.join().unwrap(), 2, "also the one that nobody waits for is there");
        asked.assert_nothing_is_left();
    });
}

#[test]
fn the_end_of_the_process_is_the_answer_to_what_is_left_and_to_come() {
    explore(|| {
        let asked = asked();
        let [one, other, worker, end] = [&asked; 4].map(Arc::clone);
        let one = thread::spawn(move || one.ask());
        let other = thread::spawn(move || other.ask_and_abandon());
        let worker = thread::spawn(move || worker.answer(2));
        let end = thread::spawn(move || end.pending.close(&crash()));
        end.join().unwrap();
        let answer = one.join().unwrap();
        assert!(answer.is_ok() || answer == Err(crash()), "{answer:?}");
        other.join().unwrap().unwrap_or_else(|said| assert_eq!(said, crash()));
        worker.join().unwrap();
        assert_eq!(asked.pending.ask(None).unwrap_err(), crash());
        asked.assert_nothing_is_left();
    });
}
