//! Calls of a request that can't be read, beside those that can: each of the others keeps its place.

use serde_json::value::RawValue;
use toolbay_core::CallResult;

/// The calls that can't be read, by their places among all calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost(Vec<(usize, Box<RawValue>)>);

impl Lost {
    /// Adds a call behind those that are there.
    pub(super) fn push(&mut self, place: usize, call: Box<RawValue>) {
        self.0.push((place, call));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place among the calls that were read; `None` for one that was not.
    pub(super) fn to_read(&self, place: usize) -> Option<usize> {
        let before = self.0.iter().take_while(|(lost, _)| *lost < place).count();
        let is_lost = self.0.iter().any(|(lost, _)| *lost == place);
        (!is_lost).then(|| place - before)
    }

    /// The place among all calls.
    pub(super) fn to_all(&self, place: usize) -> usize {
        self.0.iter().fold(place, |place, (lost, _)| place + usize::from(*lost <= place))
    }

    /// What belongs to the calls that were read, of what belongs to all.
    pub(super) fn leave_out<T>(&self, all: Vec<T>) -> Vec<T> {
        let places = all.into_iter().enumerate();
        places.filter(|(place, _)| self.to_read(*place).is_some()).map(|(_, one)| one).collect()
    }

    /// What belongs to all calls, of what belongs to those that were read.
    pub(super) fn put_back<T>(&self, mut read: Vec<T>, lost: impl Fn(&RawValue) -> T) -> Vec<T> {
        for (place, call) in &self.0 {
            read.insert((*place).min(read.len()), lost(call));
        }
        read
    }

    /// The results of all calls.
    pub(super) fn results(&self, read: Vec<CallResult>) -> Vec<CallResult> {
        self.put_back(read, |_| CallResult::Refused {
            code: "damaged".to_owned(),
            model_text: "This call could not be read back, and was not run. The other calls of the request are not affected."
                .to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_there_and_back() {
        let mut lost = Lost::default();
        for place in [0, 2, 3] {
            lost.push(place, RawValue::from_string(format!("\"{place}\"")).unwrap());
        }
        let read: Vec<_> = (0..6).map(|place| lost.to_read(place)).collect();
        assert_eq!(read, [None, Some(0), None, None, Some(1), Some(2)]);
        assert_eq!([0, 1, 2].map(|place| lost.to_all(place)), [1, 4, 5]);
        assert_eq!(lost.leave_out(vec!['a', 'b', 'c', 'd', 'e']), ['b', 'e']);
        let all = lost.put_back(vec!["b".to_owned(), "e".to_owned()], |call| call.get().to_owned());
        assert_eq!(all, ["\"0\"", "b", "\"2\"", "\"3\"", "e"]);
    }
}
