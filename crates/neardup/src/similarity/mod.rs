//! *How similar are two records, exactly?*
//!
//! Minimum weight overlapping (MWO), after "Web Document Duplicate Detection Using Minimum Weight Overlapping",
//! section 3. Every record is normalized to a total weight of one. The similarity is what two records have in common,
//! term by term:
//!
//! ```text
//! MWO(r, r_i) = Σ_x min(w_x(r), w_x(r_i)),   w_x(r) = W_x(r) / W(r)
//! ```
//!
//! It lies in [0, 1], is symmetric, and equals `1 − ½·‖r − r_i‖₁`.
//!
//! | paper | here |
//! |---|---|
//! | `W_x`, the weighted count of a term | the second half of [`Record::terms`], in hundredths |
//! | `W_r`, the record's total | [`Record::total`], in hundredths |
//! | `MWO(r, r_i)` | [`score`], in millionths, rounded down |
//! | `MWO(r, r_i) ≥ t` | [`reaches`], not rounded at all |
//!
//! **Departures.** The paper uses real numbers. Here everything is an integer, so that a tie at exactly `t` is
//! reached on every machine:
//!
//! ```text
//! MWO(a, b) ≥ t   ⟺   10⁶ · Σ min(c_a·W_b, c_b·W_a)  ≥  (10⁶·t) · W_a · W_b
//! ```
//!
//! At `t = 0` the paper returns every record that shares a term; so does this room, and none that shares nothing. A
//! record without terms is never a near-duplicate. Dynamic thresholding happens before the record is made: dropped
//! terms do not count.
//!
//! Invariants: a [`Record`] keeps its terms sorted. Nothing here can fail, does I/O, or knows an index.

mod mwo;
mod record;

pub use mwo::{reaches, score, score_reaching};
pub use record::Record;
