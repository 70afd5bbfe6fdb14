//! The keys of the last requests, so that a request that is sent again changes nothing.

use std::collections::{HashMap, VecDeque};

use catena_io::journal::RequestKey;
use sha2::{Digest, Sha256};

/// Most keys that are remembered.
const MOST_KEYS: usize = 100_000;

/// What a key says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    New,
    /// The same key with the same body.
    Before,
    /// The same key with another body.
    Other,
}

/// The keys of the last requests, oldest first.
#[derive(Debug)]
pub(crate) struct Keys {
    order: VecDeque<RequestKey>,
    /// The half of a key that is made of the body, by the half that is made of the client's word.
    bodies: HashMap<[u8; 8], [u8; 8]>,
}

/// The key of a request: a half for the client's word, a half for the body.
pub(crate) fn request_key(word: &[u8], body: &[u8]) -> RequestKey {
    let mut key = RequestKey::default();
    key[..8].copy_from_slice(&Sha256::digest(word)[..8]);
    key[8..].copy_from_slice(&Sha256::digest(body)[..8]);
    // Zeros would be no key.
    key[15] |= 1;
    key
}

fn halves(key: &RequestKey) -> ([u8; 8], [u8; 8]) {
    let (mut word, mut body) = ([0; 8], [0; 8]);
    word.copy_from_slice(&key[..8]);
    body.copy_from_slice(&key[8..]);
    (word, body)
}

impl Keys {
    pub(crate) fn new(keys: VecDeque<RequestKey>) -> Self {
        let mut all = Self { order: VecDeque::new(), bodies: HashMap::new() };
        keys.into_iter().for_each(|key| all.add(key));
        all
    }

    pub(crate) fn seen(&self, key: &RequestKey) -> Seen {
        let (word, body) = halves(key);
        match self.bodies.get(&word) {
            None => Seen::New,
            Some(before) if *before == body => Seen::Before,
            Some(_) => Seen::Other,
        }
    }

    pub(crate) fn add(&mut self, key: RequestKey) {
        let (word, body) = halves(&key);
        if self.bodies.insert(word, body).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST_KEYS
            && let Some(oldest) = self.order.pop_front()
        {
            self.bodies.remove(&halves(&oldest).0);
        }
    }

    /// Forgets a key that was just added.
    pub(crate) fn forget(&mut self, key: &RequestKey) {
        if self.bodies.remove(&halves(key).0).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    /// All keys, oldest first.
    pub(crate) fn all(&self) -> Vec<RequestKey> {
        self.order.iter().copied().collect()
    }
}
