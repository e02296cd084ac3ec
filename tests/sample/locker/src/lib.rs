//! Firmware of the parcel lockers.

/// A door of the locker, opened with a code of six digits.
pub struct Door {
    code: String,
    failures: u32,
}

/// After so many wrong codes a door stays shut until somebody from the quay comes.
const MAX_FAILURES: u32 = 5;

impl Door {
    pub fn new(code: &str) -> Self {
        Door { code: code.to_string(), failures: 0 }
    }

    /// Try a code. A door with too many failures does not open any more.
    pub fn unlock(&mut self, code: &str) -> bool {
        if self.failures >= MAX_FAILURES {
            return false;
        }
        let fits = self.code == code;
        self.failures = if fits { 0 } else { self.failures + 1 };
        fits
    }
}
