//! One thread owns the live posterior: it takes all waiting requests, writes their readings to the journal at once, then answers.

mod keys;
mod questions;
mod relearn;
mod service;
mod surprises;
mod write;

pub(crate) use keys::request_key;
pub(crate) use questions::{Ahead, Answer, MOST_ROWS_OF_RANGE, Window};
pub(crate) use relearn::Parameters;
pub(crate) use service::Service;
pub(crate) use surprises::SURPRISING;
pub(crate) use write::{Refusal, Write, WriteRow, Written};

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Instant;

use tokio::sync::oneshot;

/// Requests that may wait. Those beyond are refused, so that memory stays bounded.
const LONGEST_QUEUE: usize = 4096;
/// Most requests, and most readings, of one commit.
const MOST_AT_ONCE: usize = 512;
const MOST_ROWS_AT_ONCE: usize = 20_000;

/// A request to the owner.
enum Request {
    Write(Write, oneshot::Sender<Result<Written, Refusal>>),
    Question(Box<dyn FnOnce(&mut Service) + Send>),
}

/// Too many requests wait, or the owner has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// Sends requests to the thread that owns the posterior.
#[derive(Clone)]
pub(crate) struct Owner {
    sender: SyncSender<Request>,
}

impl Owner {
    /// Starts the thread.
    pub(crate) fn start(mut service: Service) -> std::io::Result<(Self, std::thread::JoinHandle<()>)> {
        let (sender, receiver) = sync_channel(LONGEST_QUEUE);
        service.relearning.owner = Some(Self { sender: sender.clone() });
        let thread = std::thread::Builder::new().name("posterior".to_owned());
        let thread = thread.spawn(move || run(service, &receiver))?;
        Ok((Self { sender }, thread))
    }

    /// Asks something.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Service) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (reply, answer) = oneshot::channel();
        let answered = move |service: &mut Service| {
            // The client may have gone.
            let _ = reply.send(question(service));
        };
        self.send(Request::Question(Box::new(answered)))?;
        answer.await.map_err(|_| Busy)
    }

    /// Writes readings; they are in the journal when it returns.
    pub(crate) async fn write(&self, write: Write) -> Result<Result<Written, Refusal>, Busy> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Write(write, reply))?;
        answer.await.map_err(|_| Busy)
    }

    /// Hands something over without waiting for an answer; from a thread that may wait.
    pub(crate) fn tell(&self, what: impl FnOnce(&mut Service) + Send + 'static) {
        // The owner ends with the process.
        let _ = self.sender.send(Request::Question(Box::new(what)));
    }

    fn send(&self, request: Request) -> Result<(), Busy> {
        self.sender.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Disconnected(_) => Busy,
        })
    }
}

/// Answers requests until the service is told to end.
fn run(mut service: Service, receiver: &Receiver<Request>) {
    while !service.is_ending {
        let first = match receiver.try_recv() {
            Ok(request) => request,
            Err(TryRecvError::Disconnected) => return,
            // Nobody waits: there is time to judge the last readings.
            Err(TryRecvError::Empty) if service.check_next() => continue,
            Err(TryRecvError::Empty) => match receiver.recv() {
                Ok(request) => request,
                Err(_) => return,
            },
        };
        let began = Instant::now();
        let mut batch = vec![first];
        let mut n_rows = 0;
        while batch.len() < MOST_AT_ONCE && n_rows < MOST_ROWS_AT_ONCE {
            let Ok(request) = receiver.try_recv() else { break };
            if let Request::Write(write, _) = &request {
                n_rows += write.rows.len();
            }
            batch.push(request);
        }
        commit(&mut service, batch);
        service.metrics.commits.record(began.elapsed());
    }
}

/// Writes the readings of a batch to the journal, then applies and answers its requests in their order.
fn commit(service: &mut Service, batch: Vec<Request>) {
    let planned = service.plan(batch.iter().filter_map(|request| match request {
        Request::Write(write, _) => Some(write),
        Request::Question(_) => None,
    }));
    let mut outcomes = service.journal(planned).into_iter();
    for request in batch {
        match request {
            Request::Question(question) => question(service),
            Request::Write(write, reply) => {
                let Some(outcome) = outcomes.next() else { continue };
                let _ = reply.send(service.apply(&write, outcome));
            }
        }
    }
    service.publish();
}
