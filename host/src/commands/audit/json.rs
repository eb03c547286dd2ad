//! Records as JSON. They are printed as they stand in the log, so that none loses what this release does not know.

use std::{borrow::Cow, io::Write};

use super::records::Records;
use crate::{
    commands::CommandError,
    output::{Output, OutputError},
};

/// One object, with a record on each line of it.
pub(super) fn object(records: &mut Records, output: &mut Output) -> Result<(), CommandError> {
    let mut writer = output.writer();
    let mut between = "\n";
    writer.write_all(b"{\"records\":[").map_err(OutputError::from)?;
    records.each(|entry| {
        write!(writer, "{between}{}", printable(&entry.line)).map_err(OutputError::from)?;
        between = ",\n";
        Ok(())
    })?;
    let end = format!("\n],\"damaged\":{}}}\n", records.damaged());
    Ok(writer.write_all(end.as_bytes()).and_then(|()| writer.flush()).map_err(OutputError::from)?)
}

/// A record on each line.
pub(super) fn lines(records: &mut Records, output: &mut Output) -> Result<(), CommandError> {
    let mut writer = output.writer();
    records.each(|entry| {
        Ok(writeln!(writer, "{}", printable(&entry.line)).map_err(OutputError::from)?)
    })?;
    Ok(writer.flush().map_err(OutputError::from)?)
}

/// JSON has its control characters escaped but for these, which some terminals obey as well. They can only stand in texts, where the
/// escape is the same value.
fn printable(line: &str) -> Cow<'_, str> {
    let obeyed = |character: char| matches!(character, '\u{7f}'..='\u{9f}');
    if !line.contains(obeyed) {
        return line.into();
    }
    let mut printable = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        match obeyed(character) {
            true => printable.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => printable.push(character),
        }
    }
    printable.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_has_no_control_character_and_is_the_same_value() {
        for line in [r#"{"tool":"a\tb"}"#, "{\"tool\":\"a\u{9b}31m\u{7f}b\"}"] {
            let printed = printable(line);
            assert!(!printed.contains(char::is_control), "{printed:?}");
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&printed), value(line));
        }
    }
}
