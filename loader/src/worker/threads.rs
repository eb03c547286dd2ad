//! The threads of a worker that run a plugin's code: as many as there are calls at once, and kept for the next ones.

use std::{collections::VecDeque, io, sync::Arc, thread};

use parking_lot::{Condvar, Mutex};

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work.
#[derive(Clone, Default)]
pub(super) struct Threads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    idle: usize,
}

impl Threads {
    /// Does something on a thread of its own.
    ///
    /// # Errors
    ///
    /// The system gives no further thread.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
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
            self.ready.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}

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
