//! What a crawl is not trusted to, and what to do instead.

/// Why a crawl is not trusted to a server, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A version that is too old.
    #[error("PostgreSQL {0} is too old: upgrade the server to 15 or newer")]
    TooOld(String),
    /// A setting without which a crash loses or damages data.
    #[error(
        "{0} is off on this server, so that a crash could damage the crawl: set it to on in postgresql.conf and reload \
         the server"
    )]
    SettingOff(&'static str),
    /// Only standbys answer.
    #[error(
        "no server of the address takes writes, those that answer are standbys: start the primary, promote a standby, or \
         name all servers in the address"
    )]
    InRecovery,
    /// Commits do not wait for a second server.
    #[error(
        "the server has no synchronous standby, so that a lost disk loses the crawl: set synchronous_standby_names and \
         start a standby, or accept one copy with --one-copy"
    )]
    NoStandby,
    /// The standby is not there.
    #[error(
        "no synchronous standby is connected to the server, so that no commit would end: start the standby, or accept one \
         copy with --one-copy after emptying synchronous_standby_names"
    )]
    StandbyAway,
    /// Sessions do not keep their server process.
    #[error(
        "the address leads to a connection pooler in transaction mode, behind which sessions lose their settings and their \
         notifications: name the server itself, or switch the pooler to session mode"
    )]
    Pooler,
    /// The name of a crawl.
    #[error("'{0}' is no name of a crawl: use at most 40 of the characters a-z, 0-9 and _, a letter first")]
    Name(String),
    /// No such crawl.
    #[error("there is no crawl '{0}' in this database: `ndcrawl cluster init` makes one")]
    NoCrawl(String),
    /// Another crawl of that name.
    #[error(
        "there is a crawl '{name}' with another {difference}: join it with the same settings, or choose another name"
    )]
    OtherCrawl {
        /// Its name.
        name: String,
        /// The first setting that differs.
        difference: &'static str,
    },
    /// Tables of another version of this program.
    #[error(
        "the crawl '{name}' has tables of format {found}, this program has format {ours}: use the version that made it"
    )]
    Format {
        /// Its name.
        name: String,
        /// The format of its tables.
        found: i32,
        /// The format that this program writes.
        ours: i32,
    },
    /// A crawl at work.
    #[error("{runs} workers are at work on the crawl '{name}': stop it first (`ndcrawl cluster stop`)")]
    AtWork {
        /// Its name.
        name: String,
        /// The runs that are alive.
        runs: i64,
    },
    /// More pages than a crawl can have.
    #[error(
        "the crawl has {0} pages, and can have no more: gather it, and begin another one (--cluster-name) with other hosts"
    )]
    TooManyPages(i64),
    /// Two workers that would write the same files.
    #[error("another worker writes its archive to '{0}': give each worker a folder of its own with --archive")]
    ArchiveInUse(String),
    /// Workers that would write different files of one manifest.
    #[error(
        "other workers of this manifest have {flag} {there}, and this one has {flag} {here}: start all of them alike, or \
         wait until they are done"
    )]
    OtherFlag {
        /// The first flag that differs.
        flag: String,
        /// What the others have.
        there: String,
        /// What this worker has.
        here: String,
    },
    /// A crawl that somebody has worked on.
    #[error(
        "the crawl '{0}' is there and has its own pages: move the folder into another one with --cluster-name NAME"
    )]
    HasWork(String),
    /// A move that was interrupted, of another folder.
    #[error("the folder {0} is being moved into this crawl: move that one again, or choose another --cluster-name")]
    OtherFolder(String),
    /// Another process moves a folder into the crawl.
    #[error("another process moves a folder into the crawl '{0}': wait for it")]
    Moving(String),
    /// A move was interrupted.
    #[error("a folder was moved into the crawl '{0}' in part only: run ndcrawl cluster move again, it goes on")]
    HalfMoved(String),
}
