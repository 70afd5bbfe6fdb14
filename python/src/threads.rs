//! The thread pool of the process, rebuilt after a fork.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::Python;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// The process that created the pool, and the pool. A forked child inherits the pool's memory without its threads and would wait for
/// them forever.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs a computation on the pool of this process.
pub(crate) fn on_pool<T: Send>(calculation: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    Ok(pool()?.install(calculation))
}

/// Runs a fallible computation on the pool, without the interpreter lock.
pub(crate) fn computed<T: Send, E: Into<Failure> + Send>(
    py: Python<'_>,
    calculation: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, Failure> {
    py.detach(|| on_pool(calculation))?.map_err(Into::into)
}

fn pool() -> Result<Arc<ThreadPool>, Failure> {
    let process = std::process::id();
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = slot.as_ref()
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().map_err(|_| Failure::Lost)?);
    if let Some(inherited) = slot.replace((process, Arc::clone(&pool))) {
        // Dropping it would wait for threads that do not exist.
        std::mem::forget(inherited);
    }
    Ok(pool)
}
