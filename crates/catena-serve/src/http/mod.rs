//! Connections, access, routes and replies.

mod body;
mod events;
mod guard;
mod metrics;
mod page;
mod picture;
mod query;
mod questions;
mod reply;
mod routes;
mod writes;

pub(crate) use guard::{Limits, Tokens};
pub(crate) use metrics::Metrics;

use std::sync::Arc;
use std::time::Duration;

use catena_store::About;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::arguments::Settings;
use crate::error::ServeError;
use crate::model::Opened;
use crate::owner::{Owner, Service};
use guard::Guard;

/// Threads that read requests and write replies. The posterior has a thread of its own.
const WORKERS: usize = 2;
/// How long replies may take after the posterior has ended.
const LAST_REPLIES: Duration = Duration::from_millis(200);

/// What every request may use.
pub(crate) struct App {
    pub(crate) owner: Owner,
    pub(crate) about: Arc<About>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) changes: watch::Sender<u64>,
}

/// Serves until the process is told to end.
pub(crate) fn serve(opened: Opened, settings: Settings, is_quiet: bool) -> Result<(), ServeError> {
    let Settings { listen, tokens, origins, limits, .. } = settings;
    let failed = |source| ServeError::Listen { address: listen, source };
    let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let metrics = Arc::new(Metrics::new(opened.about.outputs.len()));
    let changes = watch::channel(0).0;
    let service = Service::new(opened, Arc::clone(&metrics), changes.clone());
    let about = Arc::clone(&service.about);
    let (name, lines) = (service.journal.name().to_string(), service.journal.lines());
    let (owner, thread) = Owner::start(service).map_err(ServeError::Start)?;
    let guard = Guard::new(tokens, origins, limits);
    let app = Arc::new(App { owner: owner.clone(), about, metrics, guard, limits, changes });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    if !is_quiet {
        crate::say(format!("{name} has lines up to {lines}; listening on http://{address}"));
    }
    let served = runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(failed)?;
        let end = told_to_end().map_err(ServeError::Start)?;
        tokio::select! {
            () = accept(&listener, app) => {}
            () = end => {}
        }
        Ok(())
    });
    // Requests that wait are answered; those that come later are not.
    owner.tell(Service::end);
    let _ = thread.join();
    // The last replies are on their way to their clients.
    runtime.block_on(async { tokio::time::sleep(LAST_REPLIES).await });
    runtime.shutdown_background();
    served
}

/// Accepts connections, as many at once as the limit allows.
async fn accept(listener: &TcpListener, app: Arc<App>) {
    let free = Arc::new(Semaphore::new(app.limits.connections));
    let router = routes::router(Arc::clone(&app));
    loop {
        // Closed connections give their permit back; until then, others wait in the queue of the system.
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Too many open files, or a client that has gone already.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (service, timeout) = (TowerToHyperService::new(router.clone()), app.limits.timeout);
        let metrics = Arc::clone(&app.metrics);
        tokio::spawn(async move {
            metrics.connections.add(1);
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(timeout).max_buf_size(64 << 10);
            // An error here is a client that broke the protocol or has gone.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            metrics.connections_closed.add(1);
            drop(permit);
        });
    }
}

/// Waits for Ctrl-C, or for the signal by which a service manager ends a service.
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut ended = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = ended.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}
