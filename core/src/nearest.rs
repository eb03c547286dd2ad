//! Finds the known names that somebody may have meant by an unknown one.

/// Up to `limit` of the `known` names that resemble `wanted`, the most similar first.
///
/// A name resembles another that it begins, or that about a third of its letters turn it into; upper and lower case count the same.
///
/// ```
/// assert_eq!(toolbay_core::similar("serach", ["read", "search"].into_iter(), 1), ["search"]);
/// ```
pub fn similar<N: AsRef<str> + Ord>(
    wanted: &str,
    known: impl Iterator<Item = N>,
    limit: usize,
) -> Vec<N> {
    let wanted = wanted.to_ascii_lowercase();
    let tolerance = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, N)> = known
        .filter_map(|name| {
            let distance = distance(&wanted, &name.as_ref().to_ascii_lowercase(), tolerance)?;
            Some((distance, name))
        })
        .collect();
    found.sort_unstable();
    found.truncate(limit);
    found.into_iter().map(|(_, name)| name).collect()
}

/// The edit distance where it is within `tolerance`; one for a beginning of three letters or more.
fn distance(wanted: &str, name: &str, tolerance: usize) -> Option<usize> {
    let begins = |whole: &str, part: &str| part.len() >= 3 && whole.starts_with(part);
    if wanted != name && (begins(name, wanted) || begins(wanted, name)) {
        return Some(1);
    }
    if wanted.len().abs_diff(name.len()) > tolerance {
        return None;
    }
    Some(strsim::osa_distance(wanted, name)).filter(|distance| *distance <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_first_and_others_not_at_all() {
        let known = ["read_file", "read_files", "search", "write_file", "urls"];
        let cases: [(&str, &[&str]); 7] = [
            ("read_fiel", &["read_file", "read_files"]),
            ("Search", &["search"]),
            ("url", &["urls"]),
            ("search_catalogue", &["search"]),
            ("rea", &["read_file", "read_files"]),
            ("zzz", &[]),
            ("", &[]),
        ];
        for (wanted, expected) in cases {
            assert_eq!(similar(wanted, known.into_iter(), 2), expected, "{wanted:?}");
        }
    }
}
