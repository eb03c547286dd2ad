//! The threads that run a plugin's code where nobody may wait for it for good: as many as there are calls at once, and kept for the next ones.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use crate::sync::{Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// Threads that wait for work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    idle: usize,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let jobs = self.jobs.len();
        f.debug_struct("Queue").field("jobs", &jobs).field("idle", &self.idle).finish()
    }
}

impl Threads {
    /// Does something on a thread of its own.
    ///
    /// # Errors
    ///
    /// The system gives no further thread.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut queue = self.0.queue.lock();
        if queue.idle <= queue.jobs.len() {
            let shared = Arc::clone(&self.0);
            thread::Builder::new().name("call".to_owned()).spawn(move || shared.work())?;
        }
        queue.jobs.push_back(Box::new(job));
        self.0.ready.notify_one();
        Ok(())
    }
}

impl Shared {
    fn work(&self) {
        let mut queue = self.queue.lock();
        loop {
            while let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                job();
                queue = self.queue.lock();
            }
            queue.idle += 1;
            let is_over = self.ready.wait_for(&mut queue, IDLE).timed_out();
            queue.idle -= 1;
            // Work may have come just as the time was over.
            if is_over && queue.jobs.is_empty() {
                return;
            }
        }
    }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, mpsc};

    use super::*;

    #[test]
    fn as_many_jobs_as_there_are_run_at_once() {
        const JOBS: usize = 8;
        let threads = Threads::default();
        let (done, all) = mpsc::channel();
        for round in 0..3 {
            let barrier = Arc::new(Barrier::new(JOBS));
            for _ in 0..JOBS {
                let (barrier, done) = (Arc::clone(&barrier), done.clone());
                // Nobody goes on before all of them are there.
                let job = move || {
                    barrier.wait();
                    done.send(round).unwrap();
                };
                threads.run(job).unwrap();
            }
            let rounds: Vec<i32> = all.iter().take(JOBS).collect();
            assert_eq!(rounds, [round; JOBS]);
        }
    }
}
