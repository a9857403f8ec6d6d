//! Links to URLs of other slots, for the next commit.

use ndcrawl_model::{CanonicalUrl, Mailed, OwnSlots, Slot};

/// The slots of this frontier, and its mail to others.
pub(super) struct Outbox {
    own: Option<OwnSlots>,
    mail: Vec<(Slot, Mailed)>,
}

impl Outbox {
    pub(super) fn new(own: Option<OwnSlots>) -> Self {
        Self { own, mail: Vec::new() }
    }

    /// Returns the slot of a URL, if it is not one of the frontier's own.
    pub(super) fn other_slot(&self, url: &CanonicalUrl) -> Option<Slot> {
        self.own.as_ref()?.other_slot(url)
    }

    pub(super) fn push(&mut self, slot: Slot, mail: Mailed) {
        self.mail.push((slot, mail));
    }

    /// Takes the mail since the last call.
    pub(super) fn take(&mut self) -> Vec<(Slot, Mailed)> {
        std::mem::take(&mut self.mail)
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let referrer = |mail: &Mailed| mail.referrer.as_ref().map_or(0, |referrer| referrer.url.capacity());
        let texts = self.mail.iter().map(|(_, mail)| mail.url.capacity() + referrer(mail));
        self.mail.capacity() * size_of::<(Slot, Mailed)>() + texts.sum::<usize>()
    }
}
