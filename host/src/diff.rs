//! The difference between two texts, line by line, for whoever reviews a change.

use similar::TextDiff;

use crate::json_text::lay_out;

/// Lines around a change that stay as they were.
const CONTEXT: usize = 2;

/// The most lines of a difference that are shown.
const MAX_LINES: usize = 200;

/// What was removed and added, with some lines around it. JSON is laid out first, so that a change within it is one of few lines.
pub(crate) fn diff(before: &str, after: &str) -> String {
    // Without a line end, a last line would differ from the same line in the middle.
    let (before, after) = (lay_out(before) + "\n", lay_out(after) + "\n");
    let diff = TextDiff::from_lines(&before, &after);
    let mut lines: Vec<String> = Vec::new();
    for (at, hunk) in diff.grouped_ops(CONTEXT).into_iter().enumerate() {
        if at > 0 {
            lines.push("...".to_owned());
        }
        for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n');
            lines.push(format!("{} {line}", change.tag()).trim_end().to_owned());
        }
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if more > 0 {
        lines.push(format!("[{more} more lines; --json has everything]"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_what_is_around_it() {
        let cases = [
            ("read_only", "non_idempotent_write", "- read_only\n+ non_idempotent_write"),
            ("a\nb\nc\nd\ne", "a\nb\nc\nd\nf", "  c\n  d\n- e\n+ f"),
            (
                r#"{"a":1,"b":[true]}"#,
                r#"{"a":2,"b":[true]}"#,
                "  {\n-   \"a\": 1,\n+   \"a\": 2,\n    \"b\": [\n      true",
            ),
            ("same", "same", ""),
        ];
        for (before, after, expected) in cases {
            assert_eq!(diff(before, after), expected);
        }
    }

    #[test]
    fn a_long_difference_is_cut_and_says_so() {
        let after: String = (0..500).map(|line| format!("{line}\n")).collect();
        let shown = diff("", &after);
        assert_eq!(shown.lines().count(), MAX_LINES + 1);
        assert!(shown.ends_with("more lines; --json has everything]"), "{shown}");
    }
}
