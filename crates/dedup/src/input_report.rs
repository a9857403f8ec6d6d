//! What each input gave: the summary names those that gave nothing or were not read to their end.

use super::input::{IgnoredFile, InputDamage, InputFile};

/// Most inputs that are listed. All of them are counted.
const MOST_LISTED: usize = 1000;
/// Most pieces of damaged input that are named. All of them are counted.
const MOST_NAMED: usize = 20;

/// What one input gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputReport {
    /// Its name and format.
    pub file: InputFile,
    /// Answers and documents, whatever became of them.
    pub answers: u64,
    /// Records that speak of no answer of their own.
    pub passed: u64,
    /// Records, lines and rows that could not be read.
    pub damaged: u64,
    /// Whether a part of it was not read, because of damage before it.
    pub breaks_off: bool,
    /// Why the first piece could not be read.
    pub why: Option<String>,
}

impl InputReport {
    fn new(file: InputFile) -> Self {
        Self { file, answers: 0, passed: 0, damaged: 0, breaks_off: false, why: None }
    }

    /// Whether it gave an answer, and all of it was read.
    fn is_good(&self) -> bool {
        self.answers > 0 && !self.breaks_off
    }
}

/// What the inputs gave, in the order of reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputReports {
    /// Inputs that were opened.
    pub opened: u64,
    /// Inputs that gave an answer or a document.
    pub fruitful: u64,
    /// Inputs that gave none or were not read to their end.
    pub poor: u64,
    /// Files of folders that may hold documents and were not read.
    pub lost: u64,
    /// Records, lines and rows that could not be read.
    pub damaged: u64,
    /// The first of them.
    pub damages: Vec<InputDamage>,
    /// The first of the poor ones.
    pub listed: Vec<InputReport>,
    current: Option<InputReport>,
}

impl InputReports {
    /// Begins with the next input.
    pub(super) fn open(&mut self, file: InputFile) {
        self.close();
        self.opened += 1;
        self.current = Some(InputReport::new(file));
    }

    pub(super) fn ignored(&mut self, file: &IgnoredFile) {
        self.lost += u64::from(file.is_lost);
    }

    pub(super) fn answer(&mut self) {
        self.change(|input| input.answers += 1);
    }

    pub(super) fn passed(&mut self) {
        self.change(|input| input.passed += 1);
    }

    pub(super) fn damaged(&mut self, damage: &InputDamage) {
        self.damaged += 1;
        if self.damages.len() < MOST_NAMED {
            self.damages.push(damage.clone());
        }
        self.change(|input| {
            input.damaged += 1;
            input.breaks_off |= damage.breaks_off;
            input.why.get_or_insert_with(|| damage.why.clone());
        });
    }

    /// Ends the reading. An input in which the user stopped it is no poor one.
    pub(super) fn end(&mut self, is_stopped: bool) {
        if is_stopped && self.current.as_ref().is_some_and(|input| !input.is_good()) {
            self.current = None;
            self.opened -= 1;
        }
        self.close();
    }

    fn change(&mut self, change: impl FnOnce(&mut InputReport)) {
        if let Some(input) = &mut self.current {
            change(input);
        }
    }

    fn close(&mut self) {
        let Some(input) = self.current.take() else { return };
        self.fruitful += u64::from(input.answers > 0);
        if !input.is_good() {
            self.poor += 1;
            if self.listed.len() < MOST_LISTED {
                self.listed.push(input);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> InputFile {
        InputFile { name: name.to_owned(), format: "WARC" }
    }

    #[test]
    fn inputs_that_gave_nothing_or_broke_off_are_listed() {
        let mut inputs = InputReports::default();
        inputs.open(file("good"));
        inputs.answer();
        inputs.damaged(&InputDamage::new("good, record 2", "no status"));
        inputs.open(file("empty"));
        inputs.passed();
        inputs.open(file("cut"));
        inputs.answer();
        inputs.damaged(&InputDamage::end("cut, record 2", "cut"));
        inputs.end(false);
        assert_eq!((inputs.opened, inputs.fruitful, inputs.poor), (3, 2, 2));
        let told = |input: &InputReport| (input.file.name.clone(), input.answers, input.breaks_off, input.why.clone());
        let [empty, cut] = &inputs.listed[..] else { panic!("{inputs:?}") };
        assert_eq!(told(empty), ("empty".to_owned(), 0, false, None));
        assert_eq!(told(cut), ("cut".to_owned(), 1, true, Some("cut; the rest of the file is not read".to_owned())));
    }

    #[test]
    fn an_input_in_which_the_user_stopped_is_not_poor() {
        let mut inputs = InputReports::default();
        inputs.open(file("a"));
        inputs.end(true);
        assert_eq!((inputs.opened, inputs.poor), (0, 0));
    }
}
