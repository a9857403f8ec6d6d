//! A forwarder between programs and a server, which delays, cuts and swallows what it carries.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What happens to the bytes of all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// They arrive.
    Fair,
    /// They arrive later, in both directions.
    Slow(Duration),
    /// Connections are closed, present and new ones.
    Cut,
    /// They are confirmed and thrown away. Connections that were swallowed from once stay so for ever, and none is closed.
    Swallowing,
}

/// A forwarder to a port of this machine. Dropping it cuts all connections.
pub struct Forwarder {
    pub port: u16,
    weather: watch::Sender<Weather>,
    listening: JoinHandle<()>,
}

impl Forwarder {
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let (weather, seen) = watch::channel(Weather::Fair);
        let target = SocketAddr::from(([127, 0, 0, 1], port));
        let listening = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(carry_both(client, target, seen.clone()));
            }
        });
        Self { port: own, weather, listening }
    }

    /// Changes what happens, at once and for all connections.
    pub fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// Cuts all connections. New ones are carried.
    pub async fn cut_once(&self) {
        self.set(Weather::Cut);
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.set(Weather::Fair);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.set(Weather::Cut);
        self.listening.abort();
    }
}

async fn carry_both(client: TcpStream, target: SocketAddr, weather: watch::Receiver<Weather>) {
    if *weather.borrow() == Weather::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let deaf = Arc::new(watch::channel(false).0);
    let both = [
        tokio::spawn(carry(from_client, to_server, weather.clone(), Arc::clone(&deaf))),
        tokio::spawn(carry(from_server, to_client, weather, deaf)),
    ];
    for one in both {
        let _ = one.await;
    }
}

/// Carries one direction until it ends or is cut. An end that is swallowed, too, is told to nobody.
async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
    deaf: Arc<watch::Sender<bool>>,
) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let now = *weather.borrow_and_update();
        if now == Weather::Swallowing {
            deaf.send_replace(true);
        }
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            changed = weather.changed() => match changed {
                Ok(()) if *weather.borrow() != Weather::Cut => continue,
                _ => return,
            },
        };
        if *deaf.borrow() {
            if read == 0 {
                // The other side is told nothing, until all is cut.
                let _ = weather.wait_for(|weather| *weather == Weather::Cut).await;
                return;
            }
            continue;
        }
        if let Weather::Slow(delay) = now {
            tokio::time::sleep(delay).await;
        }
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
